/// The counters of a store since it was opened, which only grow, and its current state.
public struct StoreStatistics: Hashable, Sendable {
    /// Bytes read from the file.
    public var bytesRead: UInt64 = 0
    /// Bytes written to the file: log, pages, maps and superblocks.
    public var bytesWritten: UInt64 = 0
    /// Pages read from the file because no copy was in memory.
    public var pagesRead: UInt64 = 0
    /// Pages looked up, in memory or not, but for branches that a snapshot has met before.
    public var pageLookups: UInt64 = 0
    /// Transactions committed.
    public var commits: UInt64 = 0
    /// Checkpoints completed.
    public var checkpoints: UInt64 = 0
    /// Bytes of log since the last checkpoint, which the next opening would replay.
    public var logBytes: UInt64 = 0
    /// The generation of the last checkpoint.
    public var generation: UInt64 = 0
    /// The number of the last commit.
    public var commitNumber: UInt64 = 0
    /// The oldest generation that a reader holds; nil without readers.
    public var oldestReaderGeneration: UInt64?
    /// The age of that reader; nil without readers.
    public var oldestReaderAge: Duration?
    /// Bytes of the file that only readers keep from being reused.
    public var heldBytes: UInt64 = 0
    /// Bytes that are not needed any more and are reused after the next checkpoints, or when
    /// readers move on.
    public var pendingBytes: UInt64 = 0
    /// Bytes inside the file that are free.
    public var freeBytes: UInt64 = 0
    /// Bytes of pages that are kept in memory.
    public var cacheBytes: UInt64 = 0
    /// Bytes of changed pages in memory that no checkpoint has stored yet.
    public var changedBytes: UInt64 = 0
    /// The size of the file.
    public var fileSizeInBytes: UInt64 = 0

    /// Counters at zero.
    public init() {}
}
