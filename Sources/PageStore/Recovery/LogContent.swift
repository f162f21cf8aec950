/// The result of reading the log from a generation's head.
struct LogContent {
    /// The newest content of each page that the log changes.
    var pages: [PageID: PageVersion.Content] = [:]
    /// Out-of-line extents that a later commit of the log replaced.
    var replacedExtents: [ExtentAddress] = []
    var commitNumber: UInt64
    var pageCount: UInt64
    var catalogRoot: UInt64
    /// The segments in order, the head first.
    var segments: [LogSegment]
    /// Bytes of valid log.
    var byteCount: UInt64 = 0
    /// Where reading goes on when there is more.
    var end: LogEnd

    var root: PageID? { catalogRoot == 0 ? nil : PageID(catalogRoot) }

    /// The state before any frame was read.
    init(_ superblock: Superblock) {
        commitNumber = superblock.commitNumber
        pageCount = superblock.pageCount
        catalogRoot = superblock.catalogRoot
        segments = [superblock.head]
        end = LogEnd(chain: superblock.head.chainStart(superblock.uuid))
    }

    /// A copy without the pages, which were adopted: the position to read on from.
    func withoutPages() -> LogContent {
        var rest = self
        rest.pages = [:]
        rest.replacedExtents = []
        return rest
    }
}

/// A place between two transactions of the log.
struct LogEnd {
    var segmentCount = 1
    /// Bytes read of the last of these segments, and the hash that the next frame chains from.
    var position = 0
    var chain: UInt64
    /// Bytes of the segments before it.
    var linkedByteCount: UInt64 = 0
}
