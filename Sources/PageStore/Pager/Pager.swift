/// Pages in memory and in the file: the newest state of the store, its versions and its cache.
///
/// Its lock lends all of that at once, because a snapshot takes generation and commit in one step.
/// The lock is held for short: nothing is read from the file and no code of the program runs while
/// it is.
final class Pager: Sendable {
    let context: StoreContext
    let extents: ExtentReader
    let state: Guarded<PagerState>
    /// The columns that scans keep with pages, for which the cache gives way.
    let keptBytes: ColumnCacheBudget

    init(_ context: StoreContext, _ superblock: Superblock, previousGeneration: UInt64) {
        self.context = context
        extents = ExtentReader(context)
        let cache = PageCache(budgetInBytes: context.options.cacheSizeInBytes)
        keptBytes = cache.keptBytes
        let generation = Generation(
            number: superblock.generation, checkpointCommit: superblock.commitNumber,
            map: PageMap(pageSizeInBytes: context.geometry.pageSizeInBytes))
        let published = PublishedState(
            generation: generation, superblock: superblock,
            previousGeneration: previousGeneration)
        state = Guarded(
            PagerState(cache: cache, published), at: .state, context.options.schedule)
    }

    deinit {
        if !isClosed { returnMemory(freed: context.options.cacheSizeInBytes) }
    }

    // MARK: State

    var isClosed: Bool { state.withLock { $0.isClosed } }
    var superblock: Superblock { state.withLock { $0.published.superblock } }
    var generation: Generation { state.withLock { $0.published.generation } }
    var generationNumber: UInt64 { generation.number }
    var commitNumber: UInt64 { state.withLock { $0.published.commitNumber } }

    /// Lends the newest state, to look at it or to change it.
    func withPublished<Result>(
        _ body: (inout PublishedState) -> sending Result
    ) -> sending Result {
        state.withLock { body(&$0.published) }
    }

    func checkOpen() throws(StoreError) {
        try state.withLock { state throws(StoreError) in try checkOpen(state) }
    }

    private func checkOpen(_ state: borrowing PagerState) throws(StoreError) {
        guard !state.isClosed else {
            throw StoreError(.closed, "the store has been closed", path: context.path)
        }
    }

    func close() {
        state.withLock { state in
            state.isClosed = true
            state.cache.removeAll()
        }
        returnMemory(freed: context.options.cacheSizeInBytes)
    }

    // MARK: Snapshots

    /// Pins the newest commit.
    func pinNewest() throws(StoreError) -> SnapshotPin {
        let now = ContinuousClock.now
        return try state.withLock { state throws(StoreError) in
            try checkOpen(state)
            return state.pin(state.published.commitNumber, state.published.catalogRoot, now)
        }
    }

    /// Pins a commit of the newest generation that is not published yet, or not the newest.
    func pin(_ commit: UInt64, _ root: PageID?) throws(StoreError) -> SnapshotPin {
        let now = ContinuousClock.now
        return try state.withLock { state throws(StoreError) in
            try checkOpen(state)
            return state.pin(commit, root, now)
        }
    }

    /// Pins a pinned commit once more.
    func pinAgain(_ pin: SnapshotPin) {
        let now = ContinuousClock.now
        state.withLock { $0.readers.pin(pin.generation, pin.commitNumber, now: now) }
    }

    /// Pins a commit that its caller has pinned for one more reader: not one that is only staged.
    func pinFinished(_ pin: SnapshotPin) throws(StoreError) {
        let now = ContinuousClock.now
        try state.withLock { state throws(StoreError) in
            try checkOpen(state)
            precondition(
                state.published.commitNumber >= pin.commitNumber,
                "a commit is shown once it is finished")
            state.readers.pin(pin.generation, pin.commitNumber, now: now)
        }
    }

    func unpin(_ pin: SnapshotPin) {
        let isLast = state.withLock { state in
            state.readers.unpin(pin.generation, pin.commitNumber)
                && pin.generation !== state.published.generation && !state.isClosed
        }
        // No snapshot of this store shows the generation any more: its space may be used again.
        if isLast && context.options.mode.isReadOnly { unlockReader(of: pin.generation) }
    }

    /// Gives the lock of a generation back. It ends with the file at the latest.
    func unlockReader(of generation: Generation) {
        // A child that was forked shares the locks of its parent.
        guard context.isOwnProcess else { return }
        try? context.file.unlockReader(of: generation.number)
    }

    /// The generations that readers hold, of this process and of others. To be asked after the
    /// newest superblock was written: a process that locks an older one later finds that out.
    func heldGenerations() -> [Range<UInt64>] {
        let newest = generationNumber
        // Without an answer all are taken for held.
        let asked = (try? context.file.heldGenerations(before: newest)) ?? [0..<newest]
        // One by one, so that each has an age of its own.
        let others = asked.flatMap { held in
            held.count > 1024 ? [held] : held.map { $0..<$0 + 1 }
        }
        let now = ContinuousClock.now
        let ageMax = context.options.snapshotAgeMax
        return state.withLock { state in
            state.readers.held(
                newest: state.published.generation, others: others, now: now, ageMax: ageMax)
        }
    }

    // MARK: Memory

    /// How much must be freed at once before the system gets it back.
    private static let freedBytesMin = 4 << 20

    /// The budget that all pages in memory share is also that of the private copies of the
    /// transaction that runs.
    func noteDirtyBytes(_ bytes: Int) {
        state.withLock { state in
            state.dirtyBytes = bytes
            state.reserveMemory()
        }
    }

    /// After many pages were freed.
    func returnMemory(freed bytes: Int) {
        if bytes >= Self.freedBytesMin { AllocatorTrim.schedule() }
    }
}

extension PagerState {
    /// Takes generation and commit in one step, and keeps the generation for the snapshot.
    mutating func pin(
        _ commit: UInt64, _ root: PageID?, _ now: ContinuousClock.Instant
    ) -> SnapshotPin {
        readers.pin(published.generation, commit, now: now)
        return SnapshotPin(
            generation: published.generation, commitNumber: commit, catalogRoot: root)
    }
}
