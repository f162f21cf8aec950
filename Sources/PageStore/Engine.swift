/// The front door of a store's file: snapshots for readers, one transaction at a time for the
/// writer.
package final class Engine: @unchecked Sendable {
    package struct Options: Sendable {
        package var pageSizeInBytes = 16_384
        package var unitSizeInBytes = 1024
        package var cacheSizeInBytes = 64 << 20
        package var isReadOnly = false
        package var isCompressed = true
        /// How long opening for writing waits for another process that has the writer's lock.
        package var writerTimeout = Duration.zero
        /// Shows the store as it was at the checkpoint before the newest one. For reading only.
        package var opensPreviousGeneration = false
        /// Readers that hold a generation for longer may lose it when its space is needed; nil lets
        /// them keep it for as long as they like.
        package var snapshotAgeMax: Duration?
        /// For tools that look into a damaged file: a map or a log that cannot be read is noted in
        /// `damage`, and what the rest shows is shown. For reading only.
        package var toleratesDamage = false
        /// Whether checkpoints run beside commits, on a thread of their own. Without, the commit
        /// that makes one due waits for it.
        package var checkpointsInBackground = true
        /// The length of a log segment where commits do not ask for more.
        package var logSegmentSizeInBytes = 128 << 10
        /// A checkpoint follows the commit that takes the log past this many bytes.
        package var logBytesMax: UInt64 = 16 << 20
        /// A checkpoint follows the commit that takes the images in memory past this many bytes,
        /// when three quarters of it are left without those that no snapshot shows.
        package var versionBytesMax = 32 << 20
        /// A checkpoint follows the commit that takes the bytes written out of line past this many
        /// and an eighth of the file: what they replaced cannot be used again before.
        package var outOfLineBytesMax: UInt64 = 16 << 20
        /// A store that nobody has written to for so long makes a checkpoint of a log of at least
        /// `idleLogBytesMin`, or where one would free much space. Only in the background.
        package var idleIntervalInMilliseconds = 2000
        package var idleLogBytesMin: UInt64 = 1 << 20
        /// While a checkpoint runs, log and images may grow to this many times their limits; then
        /// transactions wait for it to end before they begin.
        package var hardLimitFactor = 4
        /// A relaxed commit is durable after this time at the latest…
        package var relaxedIntervalInMilliseconds = 1000
        /// … or when this many bytes of log are not.
        package var relaxedBytesMax: UInt64 = 1 << 20
        /// What a transaction may hold of pages that it changed before it writes some out.
        package var dirtyBytesMax = 48 << 20
        /// A free end of the file of at least this many bytes, and an eighth of it, is cut off.
        package var tailBytesMin: UInt64 = 256 << 10
        /// An empty tree that gets so many bytes of entries at once is built bottom-up, and its
        /// pages are written straight to their extents.
        package var bulkBytesMin = 1 << 20
        /// A transaction with more bytes of pages writes them straight to their extents.
        package var outOfLineBytesMin = 8 << 20
        /// For tests: who goes on where threads meet. Nil leaves that to the system.
        package var schedule: (any Schedule)?

        package init() {}
    }

    package let path: String
    package let options: Options
    package let uuid: StoreUUID
    let file: MeteredFile
    let files: any FileSystem
    private let processID: Int32
    /// Guards `state`, and lends the cache; held for short, seldom over a read of a map node. The
    /// cache is what it lends because each lookup asks it, and access to what an object holds is
    /// checked each time.
    let lock: Guarded<PageCache>
    let state: EngineState
    /// What scans have kept with pages, for which the cache gives way.
    let keptBytes: KeptBytes
    /// Which parts of the file are taken.
    let space: Guarded<SpaceMap>
    /// Closed while a checkpoint runs.
    let checkpointGate: Gate
    /// Guards `writer`: one transaction at a time, ended on whatever thread.
    let turn: Gate
    let writer: WriterState
    /// Guards `logTail`: one write of the log at a time. Taken after the turn, never before it.
    let logTurn: Gate
    let logTail: LogTail
    /// For a reader that follows another process.
    let follower = Guarded<Follower?>(nil)
    /// What opening passed over because the options ask for it.
    package internal(set) var damage: [StoreError] {
        get { state.damage }
        set { state.damage = newValue }
    }

    init(
        path: String, options: Options, uuid: StoreUUID, file: MeteredFile,
        files: any FileSystem, state: EngineState, cache: sending PageCache,
        writer: WriterState, logTail: LogTail
    ) {
        self.path = path
        self.options = options
        self.uuid = uuid
        self.file = file
        self.files = files
        self.processID = files.processID()
        self.state = state
        keptBytes = cache.keptBytes
        self.writer = writer
        self.logTail = logTail
        let schedule = options.schedule
        lock = Guarded(cache, at: .state, schedule)
        space = Guarded(
            SpaceMap(pageSizeInBytes: options.pageSizeInBytes), at: .space, schedule)
        checkpointGate = Gate(isOpen: true, schedule)
        turn = Gate(isOpen: true, schedule)
        logTurn = Gate(isOpen: true, schedule)
    }

    deinit {
        if !state.isClosed { release() }
    }

    /// A store that lives as long as this object.
    package static func inMemory(options: Options = Options()) throws(StoreError) -> Engine {
        try open(path: "memory", options: options, files: MemoryFileSystem())
    }

    /// Begins the one write transaction; waits for the one before to end.
    package func beginWrite() throws(StoreError) -> WriteTransaction {
        guard !options.isReadOnly else {
            throw StoreError(.readOnly, "the store was opened for reading only", path: path)
        }
        try checkProcess()
        waitAtHardLimit()
        turn.pass()
        do throws(StoreError) {
            try checkUsable()
            try prepareWriting()
            return WriteTransaction(engine: self, base: try stagedSnapshot())
        } catch {
            turn.open()
            throw error.at(path: path)
        }
    }

    func endWrite() { turn.open() }

    /// Stores what the log holds and gives the file back. Snapshots that are still held must not
    /// be read any more.
    package func close() throws(StoreError) {
        guard isOwnProcess else {
            // A child that was forked writes nothing to its parent's store, and the threads that
            // might hold the turn are not in it.
            release()
            return
        }
        turn.pass()
        defer { turn.open() }
        awaitCheckpoint()
        guard !state.isClosed else { return }
        defer { release() }
        guard !options.isReadOnly, state.poison == nil else { return }
        guard writer.isPrepared else {
            // What a process that died had written without waiting was shown: it must not go.
            if state.commitNumber > state.generation.checkpointCommit { try syncData() }
            return
        }
        // Also a commit that changed no page, such as one of the catalog's root alone.
        if writer.stagedCommit > state.generation.checkpointCommit { try checkpoint() }
    }

    private func release() {
        endFollowing()
        lock.withLock { cache in
            state.isClosed = true
            cache.removeAll()
        }
        returnMemory(freed: options.cacheSizeInBytes)
        if !options.isReadOnly { OpenStores.unregister(file.identity) }
        file.close()
    }

    /// Makes the newest state of every page part of the map and the log short. Waits for a
    /// checkpoint that runs already, then runs another, beside which transactions go on.
    package func checkpointNow() throws(StoreError) { try checkpointNow { _, _ in } }

    /// The same for a plan that is changed before it is run.
    func checkpointNow(
        _ change: (Engine, inout CheckpointPlan) throws(StoreError) -> Void
    ) throws(StoreError) {
        guard !options.isReadOnly else {
            throw StoreError(.readOnly, "the store was opened for reading only", path: path)
        }
        try checkPlace()
        var begun: CheckpointPlan?
        while begun == nil {
            awaitCheckpoint()
            turn.pass()
            defer { turn.open() }
            try checkUsable()
            try prepareWriting()
            begun = try beginCheckpoint()
        }
        guard var plan = begun else { return }
        do throws(StoreError) {
            try change(self, &plan)
        } catch {
            endCheckpoint()
            throw error
        }
        try run(plan)
    }

    private var isOwnProcess: Bool { files.processID() == processID }

    /// A child shares the parent's open file and its locks, so it must open the store itself.
    func checkProcess() throws(StoreError) {
        guard isOwnProcess else {
            throw StoreError(
                .invalidArgument, "the store was opened before this process was forked",
                path: path)
        }
    }

    /// Under the lock.
    func checkOpen() throws(StoreError) {
        guard !state.isClosed else {
            throw StoreError(.closed, "the store has been closed", path: path)
        }
    }

    private func checkUsable() throws(StoreError) {
        try lock.withLock { _ throws(StoreError) in
            try checkOpen()
            if let cause = state.poison {
                throw StoreError(
                    .poisoned,
                    "an earlier write failed, so the store must be opened anew: \(cause.message)",
                    byteOffset: cause.byteOffset, path: path, systemError: cause.systemError)
            }
        }
    }

    func checkNotPoisoned() throws(StoreError) {
        if let cause = lock.withLock({ _ in state.poison }) {
            throw StoreError(
                .poisoned, cause.message, byteOffset: cause.byteOffset, path: path,
                systemError: cause.systemError)
        }
    }

    /// After a failed write or sync nothing more is written: the system may have dropped what it
    /// could not write, and a second try would succeed without it.
    func poison(_ error: StoreError) {
        lock.withLock { _ in
            if state.poison == nil { state.poison = error }
        }
    }
}

/// What readers and the writer share; guarded by the engine's lock.
final class EngineState: @unchecked Sendable {
    var generation: Generation
    /// The newest commit that readers see.
    var commitNumber: UInt64
    var catalogRoot: PageID?
    /// The last commit that is known to be durable.
    var durableCommit: UInt64
    var staged = StagedCommits()
    /// The last commit of the group that is being written, or was last: the next to be shown.
    var writtenCommit: UInt64 = 0
    /// Bytes of log that were written without waiting for them.
    var unsyncedLogBytes: UInt64 = 0
    var isSyncPlanned = false
    var waitingForCompany: [Gate] = []
    /// The generations that readers hold.
    var pinned: [UInt64: Generation] = [:]
    /// The generations that other processes were last seen to hold, and since when they are.
    var heldByOthers: [Range<UInt64>: UInt64] = [:]
    /// What the transaction that runs takes in private copies.
    var dirtyBytes = 0
    var poison: StoreError?
    var damage: [StoreError] = []
    var isClosed = false
    /// Whether the system was told that the rest of the file will be read.
    var isRestAskedFor = false
    var pagesRead: UInt64 = 0
    var commits: UInt64 = 0
    var checkpoints: UInt64 = 0
    var logBytes: UInt64 = 0

    /// After a checkpoint that found no room: the log bytes from which the next one is tried.
    var checkpointRetryLogBytes: UInt64 = 0
    /// Whether a checkpoint runs; one at a time.
    var isCheckpointing = false
    /// The last commit that it covers.
    var plannedCommit: UInt64?
    /// Whether somebody waits for the checkpoint that runs, so that it does not rest.
    var isCheckpointAwaited = false
    /// Whether a look at an idle store is planned.
    var isIdleLookPlanned = false
    var superblock: Superblock
    /// Whether the file's content has been read.
    var isRead = false
    /// The generation in the other superblock.
    var previousGeneration: UInt64
    /// The length of the file that the other superblock needs.
    var previousRequiredLength: UInt64 = 0
    /// Whether the other superblock was found invalid, and no checkpoint has replaced it yet.
    var isOnlySuperblock = false
    /// The segments from the head on.
    var segments: [LogSegment]

    init(
        generation: Generation, superblock: Superblock, previousGeneration: UInt64
    ) {
        self.generation = generation
        self.superblock = superblock
        self.previousGeneration = previousGeneration
        commitNumber = superblock.commitNumber
        durableCommit = superblock.commitNumber
        catalogRoot = superblock.root
        segments = [superblock.head]
    }
}

/// What only the writer touches; guarded by its turn.
final class WriterState: @unchecked Sendable {
    /// Whether the write part of recovery is done.
    var isPrepared = false
    var freeNames = PageNames()
    var nextPageID: UInt64
    /// The last commit that was staged, and its catalog.
    var stagedCommit: UInt64
    var stagedRoot: PageID?
    /// Bytes of the log's segment that are promised, its size, and so what is left.
    var reservedLogBytes: UInt64 = 0
    var segmentSizeInBytes: UInt64
    /// The blocks that hold the saved allocation state; the one checkpoint that runs changes it.
    var allocationBlocks: [ExtentAddress] = []

    init(_ superblock: Superblock) {
        nextPageID = superblock.pageCount
        stagedCommit = superblock.commitNumber
        stagedRoot = superblock.root
        segmentSizeInBytes = superblock.head.sizeInBytes
    }
}

/// Where the next group goes and what it chains from; guarded by the log's turn.
final class LogTail: @unchecked Sendable {
    var segment: LogSegment
    var position: UInt64 = 0
    var chain: UInt64 = 0
    var groupNumber: UInt64 = 1
    /// For a reader: how far it has read.
    var read: LogContent?

    init(segment: LogSegment) {
        self.segment = segment
    }
}
