import RecordStore

/// A transaction whose task is done: it waits for its stores' logs, and then for its position in
/// the order in which steps are delivered.
final class StagedTransaction {
    private struct Part {
        var store: AttachedStore
        var commit: StagedRecordCommit
        /// The number of the commit before it, where several stacks may have the store.
        var previous: UInt64
    }

    private let steps: CommitSteps
    private let position: UInt64
    private let others: StepsOfOthers
    private let sourceIdentifier: SourceIdentifier?
    private var parts: [Part] = []
    private var isFinished = false
    /// Whether the thread that finishes it announces its step: ``CommitStep/isAnnounced``.
    var isAnnounced = false

    /// Made while the transaction holds the writer, which decides its position.
    init(steps: CommitSteps, sourceIdentifier: SourceIdentifier?) {
        self.steps = steps
        self.sourceIdentifier = sourceIdentifier
        others = StepsOfOthers(besides: steps)
        position = steps.reserve()
    }

    deinit {
        // If staging a later store fails, the earlier stores still commit.
        if !isFinished { _ = try? finish() }
    }

    /// Called while the transaction holds the writer.
    func add(_ store: AttachedStore, _ commit: StagedRecordCommit) {
        let previous = store.shared?.exchangeStaged(commit.number) ?? 0
        parts.append(Part(store: store, commit: commit, previous: previous))
        others.add(store)
    }

    /// Waits until every store has the transaction, and publishes its step. Each store commits for
    /// itself: the commits of the first ones are visible, also when a later one fails, and the
    /// error has a ``PartialCommit``.
    ///
    /// - Parameter completion: what runs when the view has the step; not run when this throws.
    /// - Returns: whether the completion will run with the step. Else nothing follows the stack.
    @discardableResult
    func finish(_ completion: (@Sendable () -> Void)? = nil) throws -> Bool {
        isFinished = true
        let outcomes = parts.map { part in
            Result { () throws(StoreError) in try part.commit.finish() }
        }
        let hasFailed = outcomes.contains { if case .failure = $0 { true } else { false } }
        // A subscriber that comes now finds the commits in its first snapshot.
        let isFollowed = steps.hasSubscribers
        let hasOtherReaders = others.hasReaders(of: parts.map(\.store))
        let delivered = isFollowed || hasOtherReaders ? delivered(outcomes) : []
        let step = isFollowed ? step(delivered, hasFailed ? nil : completion) : nil
        let isRun = steps.publish(step, at: position)
        others.publish(delivered, sourceIdentifier)
        try check(outcomes)
        return isRun && step?.completions.isEmpty == false
    }

    private func check(_ outcomes: [Result<Void, StoreError>]) throws(CoreStoreError) {
        var first: StoreError?
        var committed: [any StorageInterface] = []
        var failed: [any StorageInterface] = []
        for (part, outcome) in zip(parts, outcomes) {
            switch outcome {
            case .success: committed.append(part.store.storage)
            case .failure(let error):
                first = first ?? error
                failed.append(part.store.storage)
            }
        }
        guard let first else { return }
        guard parts.count > 1 else { throw CoreStoreError(first) }
        throw CoreStoreError(first, PartialCommit(committed: committed, failed: failed))
    }

    /// Commits in the stores that were added, as one that was to come after them could not be
    /// staged, and returns the error of the whole.
    func finish(without others: [AttachedStore], _ error: StoreError) -> CoreStoreError {
        guard !parts.isEmpty else { return CoreStoreError(error) }
        let rest = others.map(\.storage)
        do {
            _ = try finish()
            return CoreStoreError(
                error, PartialCommit(committed: parts.map(\.store.storage), failed: rest))
        } catch {
            // Where a commit is uncertain, no error may say that nothing was written.
            let failure = CoreStoreError(error)
            guard let cause = failure.storeError else { return failure }
            let known = failure.partialCommit
            return CoreStoreError(
                cause,
                PartialCommit(
                    committed: known?.committed ?? [],
                    failed: (known?.failed ?? parts.map(\.store.storage)) + rest))
        }
    }

    private func delivered(_ outcomes: [Result<Void, StoreError>]) -> [CommitStep.Part] {
        var delivered: [CommitStep.Part] = []
        for (part, outcome) in zip(parts, outcomes) {
            // A storage that was removed meanwhile has no snapshots any more.
            guard case .success = outcome, let snapshot = try? part.commit.snapshot() else {
                continue
            }
            delivered.append(
                CommitStep.Part(
                    store: part.store, snapshot: snapshot,
                    content: CommitStep.Content(part.commit.changes), previous: part.previous))
        }
        return delivered
    }

    private func step(
        _ delivered: [CommitStep.Part], _ completion: (@Sendable () -> Void)?
    ) -> CommitStep? {
        // Without changes it takes its turn for the completion alone.
        guard !delivered.isEmpty || (parts.isEmpty && completion != nil) else { return nil }
        var step = CommitStep(
            delivered, origin: .transaction, sourceIdentifier: sourceIdentifier,
            completion: completion)
        step.isAnnounced = isAnnounced
        return step
    }
}
