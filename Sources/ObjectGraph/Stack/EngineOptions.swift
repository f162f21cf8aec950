import RecordStore

/// The settings of the engine for a ``LocalStore``. The defaults suit most programs.
public struct EngineOptions: Hashable, Sendable {
    /// How safe a transaction is when its call returns, unless the call says otherwise.
    public var durability = Durability.durable
    /// Bytes of pages that are kept in memory. By default an eighth of the memory that the process
    /// may use, its control groups considered, but at least 64 MiB and at most 1 GiB.
    ///
    /// It bounds pages that were read, those that a transaction changed, and those that no
    /// checkpoint has stored yet. While there are many of the last two, another quarter is used for
    /// pages that were read. Columns that scans cache are part of it.
    public var cacheSizeInBytes = CacheBudget.ofMachine.sizeInBytes {
        didSet { isCacheSizeAssigned = true }
    }
    private var isCacheSizeAssigned = false
    /// The size of a page of a new file: a power of two from 4096 to 65,536 bytes; 16,384 by
    /// default. An existing file keeps its own.
    public var pageSizeInBytes = 16_384
    /// How long opening waits for another process that has the file open for writing. By default
    /// it does not wait: it fails with `lockedByOther`.
    public var writerTimeout = Duration.zero
    /// Opens the file without writing a byte. Transactions may read it; one that changes an object
    /// of it fails with `readOnly`, and its changes to other storages are discarded. The file and
    /// its folder may be write-protected, and another process may write it meanwhile. Indexes and
    /// unique constraints of the model that the file lacks are not used: such a fetch scans, as
    /// `explain` says. A file of an earlier model is shown as if it were migrated, where a
    /// migration would neither write nor check an object; any other fails with `schemaMismatch`.
    public var isReadOnly = false
    /// Opens the store as of the checkpoint before the newest one, for reading only: a way back to
    /// the state before a mistake that was just committed.
    public var opensPreviousGeneration = false
    /// The time for which fetched objects may hold an old state of the store once its space is
    /// needed; afterwards reading them fails with `snapshotTooOld`. Nil, the default, is no limit.
    public var snapshotAgeMax: Duration?

    /// About what a transaction may keep in changed objects before it lets them go.
    package var changedBytesMax: Int {
        get { changedBytesLimit ?? max(usableCacheSize / 8 * 3, 1 << 20) }
        set { changedBytesLimit = newValue }
    }
    private var changedBytesLimit: Int?
    /// How many objects a migration writes at once, in one transaction or in each of its chunks;
    /// nil for the limits of the engine.
    package var migrationChunkRowsMax: Int?
    /// How many pages of replaced trees a migration frees in one transaction; nil for the limit of
    /// the engine.
    package var migrationDropPagesMax: Int?

    /// The defaults.
    public init() {}

    /// More than any machine has, and far from where sums overflow.
    private static let cacheSizeInBytesMax = 1 << 42
    private static let pageSizesInBytes = 4096...65_536

    /// The budget of the cache, as ``DataStack/statistics`` has it.
    var cacheBudget: CacheBudget {
        isCacheSizeAssigned
            ? CacheBudget(sizeInBytes: usableCacheSize, origin: .options) : .ofMachine
    }

    private var usableCacheSize: Int { min(max(cacheSizeInBytes, 0), Self.cacheSizeInBytesMax) }

    /// Throws for sizes of pages that no file can have.
    func check() throws(StoreError) {
        guard Self.pageSizesInBytes.contains(pageSizeInBytes),
            pageSizeInBytes.nonzeroBitCount == 1
        else {
            throw StoreError(
                .invalidArgument,
                "a page takes a power of two from 4096 to 65,536 bytes, and not \(pageSizeInBytes)"
            )
        }
    }

    var engine: RecordStore.EngineOptions {
        var options = RecordStore.EngineOptions()
        options.cacheSizeInBytes = usableCacheSize
        options.dirtyBytesMax = max(usableCacheSize / 4 * 3, 1 << 20)
        options.versionBytesMax = max(usableCacheSize / 2, 1 << 20)
        options.pageSizeInBytes = pageSizeInBytes
        options.unitSizeInBytes = min(1024, pageSizeInBytes / 4)
        options.writerTimeout = writerTimeout
        options.mode =
            opensPreviousGeneration ? .readingPrevious : isReadOnly ? .reading : .writing
        options.snapshotAgeMax = snapshotAgeMax
        if let migrationChunkRowsMax {
            options.migrationRowsMax = migrationChunkRowsMax
            options.migrationChunkRowsMax = migrationChunkRowsMax
        }
        if let migrationDropPagesMax { options.migrationDropPagesMax = migrationDropPagesMax }
        return options
    }
}
