/// The state of the writer alone; it passes from transaction to transaction with the writer lock.
struct WriterState: ~Copyable {
    /// Whether the write part of recovery is done.
    var isPrepared = false
    /// Whether the other superblock was found invalid, and no checkpoint has replaced it yet.
    var isOnlySuperblock = false
    var freeIDs = FreePageIDs()
    var nextPageID: UInt64
    /// The last commit that was staged, and its catalog.
    var stagedCommit: UInt64
    var stagedRoot: PageID?
    /// Where the log goes on, and the bytes of that segment that are promised to commits.
    var segment: LogSegment
    var reservedLogBytes: UInt64 = 0

    init(_ superblock: Superblock) {
        nextPageID = superblock.pageCount
        stagedCommit = superblock.commitNumber
        stagedRoot = superblock.root
        segment = superblock.head
    }

    mutating func takePageID(_ context: StoreContext) throws(StoreError) -> PageID {
        if let id = freeIDs.take() { return id }
        guard nextPageID < Limits.pageCountMax else {
            throw StoreError(
                .tooLarge, "the store has as many pages as it can have", path: context.path)
        }
        defer { nextPageID += 1 }
        return PageID(nextPageID)
    }

    /// Adopts the log's newest commit.
    mutating func adopt(_ log: LogContent) {
        stagedCommit = log.commitNumber
        stagedRoot = log.root
        nextPageID = log.pageCount
    }

    /// All ids between these pages, which come in ascending order, are free.
    mutating func takeIDs(of pages: [PageID]) {
        var gaps: [FreePageIDs.Run] = []
        var next: UInt64 = 1
        for id in pages {
            gaps.append(FreePageIDs.Run(start: next, count: id.rawValue - next))
            next = id.rawValue + 1
        }
        nextPageID = next
        freeIDs = FreePageIDs(ascending: gaps)
    }
}
