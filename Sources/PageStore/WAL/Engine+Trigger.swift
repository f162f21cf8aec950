import Dispatch

/// When checkpoints run, and how fast.
extension Engine {
    private enum Limit: UInt64 {
        case due, hard
    }

    /// Whether what a checkpoint would store has passed a limit; under the lock.
    private func hasReached(_ limit: Limit) -> Bool {
        let factor = limit == .hard ? UInt64(options.hardLimitFactor) : 1
        let generation = state.generation
        let outOfLineBytes = generation.extentUnits * UInt64(options.unitSizeInBytes)
        return state.logBytes >= options.logBytesMax * factor
            || isMemoryFull(UInt64(options.versionBytesMax) * factor)
            || outOfLineBytes
                >= max(options.outOfLineBytesMax, state.superblock.requiredLength / 8) * factor
    }

    /// Whether images are many still without those that nobody can see any more; under the lock.
    private func isMemoryFull(_ limit: UInt64) -> Bool {
        guard UInt64(state.generation.imageBytes) >= limit else { return false }
        state.generation.trim(keeping: state.generation.shown(besides: shownCommits))
        // With a little room: what goes at once comes back at once.
        return UInt64(state.generation.imageBytes) >= limit / 4 * 3
    }

    /// After a commit, by the thread that made it, which still holds the turn.
    func checkpointWhenDue() {
        let (isDue, isFirst) = lock.withLock { _ in
            let isFirst = options.checkpointsInBackground && !state.isIdleLookPlanned
            if isFirst { state.isIdleLookPlanned = true }
            let isDue =
                !state.isCheckpointing && !state.isClosed
                && state.logBytes >= state.checkpointRetryLogBytes && hasReached(.due)
            return (isDue, isFirst)
        }
        if isFirst { planIdleLook() }
        if isDue { startCheckpoint() }
    }

    /// The caller holds the turn. The commits stand whatever happens here.
    private func startCheckpoint() {
        do throws(StoreError) {
            guard var plan = try beginCheckpoint() else { return }
            if options.checkpointsInBackground {
                // To rest is a matter of time, which a schedule does not have.
                plan.rests = options.schedule == nil
                begin { [plan] in self.finish(plan) }
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
    private func noteFailure(_ error: StoreError) {
        if error.code != .diskFull { poison(error) }
        // Each attempt takes a segment, so that not every commit may try.
        lock.withLock { _ in
            state.checkpointRetryLogBytes = state.logBytes + options.logBytesMax / 4
        }
    }

    /// Nothing grows without bound: a transaction begins only when the checkpoint that runs has
    /// not fallen too far behind.
    func waitAtHardLimit() {
        let isBehind = lock.withLock { _ in state.isCheckpointing && hasReached(.hard) }
        if isBehind { awaitCheckpoint() }
    }

    /// Waits for the checkpoint that runs, if one does, which goes on without a rest.
    func awaitCheckpoint() {
        lock.withLock { _ in state.isCheckpointAwaited = state.isCheckpointing }
        checkpointGate.pass()
        checkpointGate.open()
    }

    /// Rests after some work for as long as the work took: commits that go on beside it find the
    /// disk free half of the time. Not when they would soon have to wait for it.
    func rest(_ pace: inout CheckpointPace) {
        guard let worked = pace.workedSinceRest() else { return }
        let isUrgent = lock.withLock { _ in
            state.isCheckpointAwaited
                || state.logBytes >= options.logBytesMax * UInt64(options.hardLimitFactor) / 2
        }
        if !isUrgent { pace.rest(for: worked) }
    }

    // MARK: Work beside

    private static let queue = DispatchQueue(
        label: "trellis.checkpoint", qos: .utility, attributes: .concurrent)

    /// Begins work on another thread, at once or after a while.
    func begin(
        after delay: DispatchTimeInterval? = nil, _ work: @escaping @Sendable () -> Void
    ) {
        if let schedule = options.schedule {
            schedule.begin(isTimed: delay != nil, work)
        } else if let delay {
            Self.queue.asyncAfter(deadline: .now() + delay, execute: work)
        } else {
            Self.queue.async(execute: work)
        }
    }

    // MARK: Idle

    private func planIdleLook() {
        let commits = lock.withLock { _ in state.commits }
        let delay = DispatchTimeInterval.milliseconds(options.idleIntervalInMilliseconds)
        begin(after: delay) { [weak self] in
            self?.lookWhetherIdle(since: commits)
        }
    }

    private func lookWhetherIdle(since commits: UInt64) {
        let (isOver, isIdle) = lock.withLock { _ in
            (
                state.isClosed || state.poison != nil,
                state.commits == commits && !state.isCheckpointing
            )
        }
        guard !isOver else { return }
        if isIdle, turn.passIfOpen() {
            defer { turn.open() }
            guard isWorthCheckpoint else {
                lock.withLock { _ in state.isIdleLookPlanned = false }
                return
            }
            startCheckpoint()
        }
        planIdleLook()
    }

    /// Whether reopening would replay much, or space waits only for a checkpoint to be free.
    private var isWorthCheckpoint: Bool {
        let (isPossible, logBytes, length, previous) = lock.withLock { _ in
            (
                !state.isClosed && state.logBytes >= state.checkpointRetryLogBytes,
                state.logBytes, state.superblock.requiredLength, state.previousGeneration
            )
        }
        guard isPossible else { return false }
        if logBytes >= options.idleLogBytesMin { return true }
        let units = space.withLock { space in
            space.pending.reduce(UInt64(0)) { $0 + ($1.died > previous ? $1.unitCount : 0) }
        }
        return units * UInt64(options.unitSizeInBytes) >= max(options.idleLogBytesMin, length / 8)
    }
}

/// How a checkpoint shares its time with commits.
struct CheckpointPace {
    private static let slice = Duration.milliseconds(4)

    private var start = ContinuousClock.now

    /// The time since the last rest, once it is worth one.
    func workedSinceRest() -> Duration? {
        let worked = ContinuousClock.now - start
        return worked >= Self.slice ? worked : nil
    }

    mutating func rest(for duration: Duration) {
        let nanoseconds = Int(duration / .nanoseconds(1))
        _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .nanoseconds(nanoseconds))
        start = .now
    }
}
