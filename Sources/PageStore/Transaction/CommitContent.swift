/// A page as the log will hold it.
struct LoggedImage {
    let image: PageBuffer
    /// The page's version before, nil when a delta against it is not wanted.
    let base: PageBuffer?
    /// How the log holds it, once it does.
    var chain = DeltaChain()
}

/// How many deltas lead from the last whole image of a page to a version of it.
struct DeltaChain {
    /// Most chains end at half a page before (decisions/015).
    static let countMax = 64

    var count = 0
    /// Bytes of their payloads.
    var sizeInBytes = 0
}

/// The changes of a transaction, as the log gets them.
struct CommitContent {
    var images: [LoggedImage]
    var extents: [(id: PageID, address: ExtentAddress)]
    var drafts = DeltaDrafts()
    var freed: [PageID]
    var catalogRoot: PageID?
    var durability: Durability
}
