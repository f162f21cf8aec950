/// The state that a checkpoint stores: the store as it was between two transactions.
struct CheckpointPlan {
    /// The generation that the checkpoint makes.
    let number: UInt64
    /// The generation whose map it starts from.
    let base: Generation
    /// The last commit that it covers.
    let commitNumber: UInt64
    let catalogRoot: PageID?
    let pageCount: UInt64
    let freeIDs: [FreePageIDs.Run]
    /// The newest version of each page that changed since the last checkpoint, in the order in
    /// which they are stored.
    var versions: [(id: PageID, version: PageVersion)]
    let replacedExtents: [ExtentAddress]
    /// Where the log goes on.
    let head: LogSegment
    /// The log that the checkpoint makes needless.
    let oldSegments: [LogSegment]
    let oldLogBytes: UInt64
    /// What is stored once more because it lies high, and where it lies now: pages, nodes of the
    /// map by the IDs that they are stored under, and zones.
    var moves = Moves()
    /// Whether it leaves the disk and the processor to commits in between.
    var rests = false
    /// Whether it gives back any tail of the file that is free, however short.
    var cutsTail = false
}

extension CheckpointPlan {
    struct Moves {
        var pages: [PageID: UInt64] = [:]
        var nodes: [UInt64: UInt64] = [:]
        var zones: [Int: UInt64] = [:]
    }
}

/// Pages that a checkpoint has written and not yet published.
struct StoredPages {
    var map: PageMap
    /// For the cache: the next readers of these pages find them, though the log's images are
    /// given up.
    var images: [(image: PageBuffer, address: ExtentAddress)]
    /// Extents that only older generations need.
    var dropped: [ExtentAddress]
}
