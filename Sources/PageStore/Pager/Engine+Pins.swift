/// Snapshots, and what is kept for them.
extension Engine {
    /// The newest commit, pinned: what it shows does not change.
    package func snapshot() throws(StoreError) -> Snapshot {
        try checkProcess()
        return try pin { (state.commitNumber, state.catalogRoot) }
    }

    /// What a checkpoint that has not been published yet will store.
    func snapshot(of plan: CheckpointPlan) throws(StoreError) -> Snapshot {
        try pin { (plan.commitNumber, plan.catalogRoot) }
    }

    /// What the next transaction builds on: all that is staged; the caller holds the turn.
    func stagedSnapshot() throws(StoreError) -> Snapshot {
        try pin { (writer.stagedCommit, writer.stagedRoot) }
    }

    /// Under the lock: the commits that the next snapshots may show, besides those to come.
    var shownCommits: [UInt64] {
        [state.commitNumber, state.writtenCommit]
            + (state.plannedCommit.map { [$0] } ?? [])
    }

    /// Takes generation and commit in one step, and keeps the generation for the snapshot.
    private func pin(_ newest: () -> (UInt64, PageID?)) throws(StoreError) -> Snapshot {
        let (generation, commit, root) = try lock.withLock {
            _ throws(StoreError) -> (Generation, UInt64, PageID?) in
            try checkOpen()
            let generation = state.generation
            if generation.pinCount == 0 {
                generation.pinnedSince = files.now()
                state.pinned[generation.number] = generation
            }
            let (commit, root) = newest()
            generation.pin(commit)
            return (generation, commit, root)
        }
        return Snapshot(
            engine: self, generation: generation, commitNumber: commit, catalogRoot: root)
    }

    func unpin(_ generation: Generation, _ commit: UInt64) {
        let isLast = lock.withLock { _ in
            generation.unpin(commit)
            if generation.pinCount == 0 { state.pinned[generation.number] = nil }
            return generation.pinCount == 0 && generation !== state.generation && !state.isClosed
        }
        if isLast && options.isReadOnly { unlock(generation) }
    }

    /// The generations that readers hold, of this process and of others. Those held past the cap
    /// lose their claim, all but the newest, which is kept for nobody's sake. To be asked after the
    /// newest superblock was written: whoever locks an older generation later finds that out.
    func heldGenerations() -> [Range<UInt64>] {
        let newest = newestGeneration
        // Without an answer all are taken for held.
        let asked = (try? file.heldGenerations(before: newest)) ?? [0..<newest]
        // One by one, so that each has an age of its own.
        let others = asked.flatMap { held in
            held.count > 1024 ? [held] : held.map { $0..<$0 + 1 }
        }
        return lock.withLock { _ in
            let now = files.now()
            for generation in state.pinned.values
            where generation !== state.generation && isTooOld(generation.pinnedSince, now) {
                generation.isRevoked = true
            }
            state.heldByOthers = Dictionary(
                others.map { ($0, state.heldByOthers[$0] ?? now) }, uniquingKeysWith: min)
            let own = state.pinned.values.filter { !$0.isRevoked }
                .map { $0.number..<$0.number + 1 }
            return own + state.heldByOthers.filter { !isTooOld($0.value, now) }.keys
        }
    }

    private func isTooOld(_ since: UInt64, _ now: UInt64) -> Bool {
        guard let limit = options.snapshotAgeMax else { return false }
        let (seconds, attoseconds) = limit.components
        let age =
            UInt64(max(seconds, 0)) &* 1_000_000_000
            &+ UInt64(max(attoseconds, 0)) / 1_000_000_000
        return now &- since > age
    }

    /// Space goes on being kept for these generations only. Called by whoever changed the
    /// superblocks.
    func releaseSpace() {
        let held = heldGenerations()
        let previous = lock.withLock { _ in state.previousGeneration }
        space.withLock { $0.release(previous: previous, held: held) }
    }

    package var statistics: StoreStatistics {
        var figures = StoreStatistics()
        figures.bytesRead = file.bytesRead
        figures.bytesWritten = file.bytesWritten
        figures.fileSizeInBytes = (try? file.size()) ?? 0
        let now = files.now()
        let previous = lock.withLock { cache in
            figures.pagesRead = state.pagesRead
            figures.pageLookups = cache.lookupCount
            figures.commits = state.commits
            figures.checkpoints = state.checkpoints
            figures.logBytes = state.logBytes
            figures.generation = state.generation.number
            figures.commitNumber = state.commitNumber
            figures.cacheBytes = UInt64(cache.sizeInBytes)
            figures.changedBytes = UInt64(state.generation.imageBytes + state.dirtyBytes)
            var readers = state.pinned.values.map { ($0.number, $0.pinnedSince) }
            readers += state.heldByOthers.map { ($0.key.lowerBound, $0.value) }
            if let (number, since) = readers.min(by: { $0 < $1 }) {
                figures.oldestReaderGeneration = number
                figures.oldestReaderAge = .nanoseconds(Int64(clamping: now &- since))
            }
            return state.previousGeneration
        }
        let unitSize = UInt64(options.unitSizeInBytes)
        space.withLock { space in
            figures.freeBytes = space.freeUnits * unitSize
            for pending in space.pending {
                figures.pendingBytes += pending.unitCount * unitSize
                // The superblocks do not need it any more: a reader does.
                if pending.died <= previous { figures.heldBytes += pending.unitCount * unitSize }
            }
        }
        return figures
    }
}
