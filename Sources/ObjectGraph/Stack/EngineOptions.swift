import RecordStore

/// How the engine of a ``LocalStore`` works. The defaults suit most programs.
public struct EngineOptions: Hashable, Sendable {
    /// How safe a transaction is when its call returns, unless the call says otherwise.
    public var durability = Durability.durable
    /// Bytes of pages that are kept in memory, 64 MiB by default: those that were read, those that
    /// a transaction changed, and those that no checkpoint has stored yet. While there are many of
    /// the last two, a quarter more is used, for what was read. What scans keep of the columns that
    /// they read is part of it.
    public var cacheSizeInBytes = 64 << 20
    /// The size of a page of a file that is made anew: a power of two from 4096 to 65,536 bytes;
    /// 16,384 by default. A file keeps its own.
    public var pageSizeInBytes = 16_384
    /// How long opening waits for another process that has the file open for writing. By default
    /// it does not wait: it fails with `lockedByOther`.
    public var writerTimeout = Duration.zero
    /// Opens the file without writing a byte; transactions fail. The file and its folder may be
    /// write-protected, and another process may write it meanwhile.
    public var isReadOnly = false
    /// Shows the store as it was at the checkpoint before the newest one, for reading only: a way
    /// back behind a mistake that was just committed.
    public var opensPreviousGeneration = false
    /// For how long fetched objects may hold an old state of the store once its space is needed;
    /// afterwards reading them fails with `snapshotTooOld`. Nil, the default, is for as long as
    /// they like.
    public var snapshotAgeMax: Duration?

    /// About what a transaction may keep in changed objects before it lets them go.
    package var changedBytesMax: Int {
        get { changedBytesLimit ?? max(cacheSizeInBytes * 3 / 8, 1 << 20) }
        set { changedBytesLimit = newValue }
    }
    private var changedBytesLimit: Int?

    public init() {}

    var engine: RecordStore.EngineOptions {
        var options = RecordStore.EngineOptions()
        options.cacheSizeInBytes = cacheSizeInBytes
        options.dirtyBytesMax = max(cacheSizeInBytes * 3 / 4, 1 << 20)
        options.versionBytesMax = max(cacheSizeInBytes / 2, 1 << 20)
        options.pageSizeInBytes = pageSizeInBytes
        options.unitSizeInBytes = min(1024, pageSizeInBytes / 4)
        options.writerTimeout = writerTimeout
        options.isReadOnly = isReadOnly || opensPreviousGeneration
        options.opensPreviousGeneration = opensPreviousGeneration
        options.snapshotAgeMax = snapshotAgeMax
        return options
    }
}
