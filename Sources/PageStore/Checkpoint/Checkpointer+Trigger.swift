import Dispatch

/// When checkpoints run.
extension Checkpointer {
    private enum Limit: UInt64 {
        case due, hard
    }

    /// Whether the work of a checkpoint has passed a limit.
    private func hasReached(_ limit: Limit) -> Bool {
        let options = context.options
        let factor = limit == .hard ? UInt64(options.hardLimitFactor) : 1
        if log.byteCount >= options.logBytesMax * factor
            || pager.hasImageBytes(UInt64(options.versionBytesMax) * factor)
        {
            return true
        }
        let (unitCount, requiredLength) = pager.outOfLine
        return context.geometry.bytes(ofUnits: unitCount)
            >= max(options.outOfLineBytesMax, requiredLength / 8) * factor
    }

    /// Notes that a commit could not look whether a checkpoint is due.
    func noteMissedLook() { hasMissedLook.store(true, ordering: .relaxed) }

    /// Whether a look was missed. The caller, who has the writer lock, makes up for it.
    func takeMissedLook() -> Bool {
        hasMissedLook.load(ordering: .relaxed)
            && hasMissedLook.exchange(false, ordering: .relaxed)
    }

    /// Called by the thread that has the writer lock: after a commit, or before the next one.
    func startWhenDue(_ writer: inout WriterState) {
        let isInBackground = context.options.checkpointsInBackground
        let (mayStart, isFirst, retryBytes) = state.withLock { state in
            let isFirst = isInBackground && !state.isIdleLookPlanned
            if isFirst { state.isIdleLookPlanned = true }
            return (!state.isRunning, isFirst, state.retryBytes)
        }
        if isFirst { planIdleLook() }
        guard mayStart, !pager.isClosed, mayTry(from: retryBytes), hasReached(.due) else { return }
        start(&writer)
    }

    /// Whether there is enough work since a checkpoint that found no room.
    private func mayTry(from retryBytes: UInt64) -> Bool {
        retryBytes == 0 || workBytes >= retryBytes
    }

    /// What waits for a checkpoint, in the log and beside it: large values hardly write to the log.
    private var workBytes: UInt64 {
        let (units, imageBytes) = pager.withPublished {
            ($0.generation.extentUnits, $0.generation.imageBytes)
        }
        return log.byteCount + context.geometry.bytes(ofUnits: units) + UInt64(imageBytes)
    }

    /// A transaction has found no room: a checkpoint may free some, and there is none of its own
    /// accord while transactions fail. Each attempt may take a segment, so that they become rarer.
    func noteLackOfSpace() {
        let isTried = state.withLock { state in
            state.lackCount += 1
            guard state.lackCount.nonzeroBitCount == 1 else { return false }
            state.retryBytes = 0
            return true
        }
        if isTried { noteMissedLook() }
    }

    /// The commits stand whatever happens here.
    private func start(_ writer: inout WriterState) {
        do throws(StoreError) {
            guard var plan = try begin(&writer) else { return }
            if context.options.checkpointsInBackground {
                // To rest is a matter of time, which a schedule does not have.
                plan.rests = context.options.schedule == nil
                work.begin { [plan] in self.finish(plan) }
            } else {
                finish(plan)
            }
        } catch {
            noteFailure(error)
        }
    }

    private func finish(_ plan: CheckpointPlan) {
        do throws(StoreError) {
            try run(plan)
        } catch {
            noteFailure(error)
        }
    }

    /// For lack of space the log is kept and a later commit tries again; any other failure has
    /// poisoned the store.
    func noteFailure(_ error: StoreError) {
        if !error.isForLackOfSpace { context.health.poison(error) }
        // Each attempt takes a segment, so that not every commit may try.
        let retryBytes = workBytes + context.options.logBytesMax / 4
        state.withLock { $0.retryBytes = retryBytes }
    }

    /// Nothing grows without bound: a transaction begins only when the checkpoint that runs has
    /// not fallen too far behind.
    func waitAtHardLimit() {
        if state.withLock({ $0.isRunning }), hasReached(.hard) { awaitEnd() }
    }

    // MARK: Idle

    private func planIdleLook() {
        let commits = pager.withPublished { $0.commits }
        work.begin(after: .milliseconds(context.options.idleIntervalInMilliseconds)) {
            [weak self] in
            self?.lookWhetherIdle(since: commits)
        }
    }

    private func lookWhetherIdle(since commits: UInt64) {
        guard !pager.isClosed, !context.health.isPoisoned else { return }
        let isIdle = pager.withPublished({ $0.commits }) == commits
        if isIdle, !state.withLock({ $0.isRunning }) {
            let isDone = writer.withStateIfFree { writer in
                guard isWorthCheckpoint else {
                    state.withLock { $0.isIdleLookPlanned = false }
                    return true
                }
                start(&writer)
                return false
            }
            if isDone == true { return }
        }
        planIdleLook()
    }

    /// Whether reopening would replay much, or space waits only for a checkpoint to be free.
    private var isWorthCheckpoint: Bool {
        let logBytes = log.byteCount
        guard !pager.isClosed, mayTry(from: state.withLock { $0.retryBytes }) else { return false }
        let options = context.options
        if logBytes >= options.idleLogBytesMin { return true }
        let (length, previous) = pager.withPublished {
            ($0.superblock.requiredLength, $0.previousGeneration)
        }
        let units = space.withSpace { space in
            space.pending.reduce(UInt64(0)) { $0 + ($1.died > previous ? $1.unitCount : 0) }
        }
        return context.geometry.bytes(ofUnits: units) >= max(options.idleLogBytesMin, length / 8)
    }
}
