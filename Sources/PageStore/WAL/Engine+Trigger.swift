/// When checkpoints run.
extension Engine {
    /// After a commit, by the thread that made it, which still holds the turn.
    func checkpointWhenDue() {
        let isDue = lock.withLock { _ in
            !state.isCheckpointing && !state.isClosed
                && state.logBytes >= state.checkpointRetryLogBytes
                && (state.logBytes >= options.logBytesMax
                    || state.generation.imageBytes >= options.versionBytesMax)
        }
        guard isDue else { return }
        // The commit stands whatever happens here.
        do throws(StoreError) {
            guard let plan = try beginCheckpoint() else { return }
            if options.checkpointsInBackground {
                Self.checkpointQueue.async { self.finish(plan) }
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
        let isBehind = lock.withLock { _ in
            state.isCheckpointing
                && (state.logBytes >= options.logBytesMax * UInt64(options.hardLimitFactor)
                    || state.generation.imageBytes
                        >= options.versionBytesMax * options.hardLimitFactor)
        }
        if isBehind { runningCheckpoint.wait() }
    }
}
