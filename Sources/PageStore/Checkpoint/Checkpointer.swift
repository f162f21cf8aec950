import struct Synchronization.Atomic

/// Checkpoint: the newest image of every page becomes part of the map, and the log starts anew.
///
/// One runs at a time; it begins between two transactions, and after that transactions go on beside
/// it.
final class Checkpointer: Sendable {
    /// The state that the running checkpoint shares with the threads that wait for it.
    struct State {
        var isRunning = false
        /// Whether a thread waits for the one that runs, so that it does not rest.
        var isAwaited = false
        /// After a checkpoint that found no room: the bytes of work from which the next one is
        /// tried; 0 where none has failed.
        var retryBytes: UInt64 = 0
        /// How many transactions have found no room since the last checkpoint.
        var lackCount: UInt64 = 0
        /// Whether a look at an idle store is planned.
        var isIdleLookPlanned = false
        /// The blocks that hold the saved allocation state; the checkpoint that runs changes them.
        var allocationBlocks: [ExtentAddress] = []
    }

    let context: StoreContext
    let space: FileSpace
    let pager: Pager
    let log: LogWriter
    let writer: HandoffState<WriterState>
    let work: BackgroundWork
    let state: Guarded<State>
    /// Whether a commit could not look whether a checkpoint is due.
    let hasMissedLook = Atomic<Bool>(false)
    /// Locked while a checkpoint runs.
    private let running: HandoffLock

    init(
        _ context: StoreContext, _ space: FileSpace, _ pager: Pager, _ log: LogWriter,
        _ writer: HandoffState<WriterState>
    ) {
        self.context = context
        self.space = space
        self.pager = pager
        self.log = log
        self.writer = writer
        let schedule = context.options.schedule
        work = BackgroundWork(schedule: schedule)
        state = Guarded(State(), at: .state, schedule)
        running = HandoffLock(schedule)
    }

    /// A checkpoint from beginning to end; none is running.
    func checkpoint(_ writer: inout WriterState) throws(StoreError) {
        if let plan = try begin(&writer) { try run(plan) }
    }

    /// Whether there are numbers for another checkpoint and the superblocks that may follow it.
    var hasGeneration: Bool { pager.generationNumber + 8 <= Limits.numberMax }

    /// Begins a checkpoint, between two transactions. Nil when one runs already.
    func begin(_ writer: inout WriterState) throws(StoreError) -> CheckpointPlan? {
        guard !state.withLock({ $0.isRunning }) else { return nil }
        guard hasGeneration else { throw context.numbersUsedUp() }
        try log.rotate(to: log.allocateSegment(holding: 0), &writer)
        return plan(pager.generationNumber + 1, writer)
    }

    /// Records the state to store. The log goes on in the segment that was started last.
    func plan(_ number: UInt64, _ writer: borrowing WriterState) -> CheckpointPlan {
        running.lock()
        space.withSpace { $0.settle() }
        state.withLock { $0.isRunning = true }
        let found = pager.beginCheckpoint()
        let head = writer.segment
        return CheckpointPlan(
            number: number, base: found.base, commitNumber: found.commitNumber,
            catalogRoot: found.catalogRoot, pageCount: writer.nextPageID,
            freeIDs: writer.freeIDs.runs, versions: found.versions.sorted { $0.id < $1.id },
            replacedExtents: found.replaced, head: head,
            oldSegments: log.segments.filter { $0.number < head.number },
            oldLogBytes: log.byteCount)
    }

    /// Stores the state of a plan, on any thread.
    func run(_ plan: CheckpointPlan) throws(StoreError) {
        defer { end() }
        // Pages, map and allocation state: lack of space gives all of it up.
        var output = ExtentWriter(context, space, isRecent: false)
        let stored: StoredPages
        var dying: [PendingSpace]
        let saved: SavedAllocation
        do throws(StoreError) {
            stored = try storePages(plan, with: &output)
            dying = try dyingSpace(stored.dropped, plan)
            saved = try storeSpace(plan, &dying, with: &output)
        } catch {
            output.abandon()
            throw context.failedBeforeCommit(error)
        }
        // Durable before a superblock names it.
        try context.sync()
        let superblock = superblock(of: plan, map: stored.map, saved)
        try context.writeSuperblock(superblock)
        // Readers and writer go on from it.
        state.withLock { state in
            state.allocationBlocks = saved.blocks
            (state.retryBytes, state.lackCount) = (0, 0)
        }
        pager.publish(
            superblock, stored.map, covering: plan.commitNumber, images: stored.images,
            dropped: stored.dropped)
        log.release(plan.oldLogBytes, durable: plan.commitNumber)
        // The old generation's space becomes pending, and pending space without readers free.
        space.withSpace { space in
            space.retire(dying)
            space.zoneAddresses = saved.state.zoneAddresses
            space.noteSynced(upTo: saved.state.usedEnd)
        }
        releaseSpace()
        truncateTail(always: plan.cutsTail)
    }

    /// Gives up a plan that is not run, or ends one that was.
    func end() {
        pager.endCheckpoint()
        state.withLock { state in
            state.isRunning = false
            state.isAwaited = false
        }
        running.unlock()
    }

    /// Waits for the checkpoint that runs, if one does, which goes on without a rest.
    func awaitEnd() {
        state.withLock { $0.isAwaited = $0.isRunning }
        running.lock()
        running.unlock()
    }

    private func superblock(
        of plan: CheckpointPlan, map: PageMap, _ saved: SavedAllocation
    ) -> Superblock {
        var superblock = pager.superblock
        superblock.generation = plan.number
        superblock.mapDepth = map.depth
        superblock.commitNumber = plan.commitNumber
        superblock.commitTime = context.files.now()
        superblock.pageCount = plan.pageCount
        superblock.catalogRoot = plan.catalogRoot?.rawValue ?? 0
        superblock.mapRoot = map.root.address
        superblock.allocationRoot = saved.root
        superblock.head = plan.head
        superblock.requiredLength = context.geometry.byteOffset(ofUnit: saved.state.usedEnd)
        return superblock
    }

    /// Writes the newest state once more, as the next generation in the other slot, so that both
    /// superblocks lead to the same log.
    func writeMirrorSuperblock() throws(StoreError) {
        var mirror = pager.superblock
        mirror.generation += 1
        try context.writeSuperblock(mirror)
        pager.publishMirror(mirror)
        releaseSpace()
    }

    /// Frees pending space that no held generation needs. Called after the superblocks changed.
    func releaseSpace() {
        let held = pager.heldGenerations()
        let previous = pager.withPublished { $0.previousGeneration }
        space.release(previous: previous, held: held)
    }

    /// Gives the file's end back to the system when it is worth it: the file may soon grow again.
    private func truncateTail(always: Bool) {
        let needed = pager.withPublished { published in
            max(published.superblock.requiredLength, published.previousRequiredLength)
        }
        guard let size = try? context.file.size() else { return }
        do throws(StoreError) {
            // Under the lock, so that no thread takes space that is being cut off.
            try space.withSpace { space throws(StoreError) in
                let end = max(needed, context.geometry.byteOffset(ofUnit: space.usedEnd))
                let least = always ? 1 : max(context.options.tailBytesMin, size / 8)
                guard size > end, size - end >= least else { return }
                _ = space.trim()
                try context.file.truncate(to: end)
            }
        } catch {
            context.health.poison(error)
        }
    }
}
