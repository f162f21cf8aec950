import RecordStore

/// A transaction whose task is done: it waits for its stores' logs, and then for its place in the
/// order in which the view learns of changes.
final class StagedTransaction {
    private struct Part {
        var store: AttachedStore
        var commit: StagedCommit
        /// Nil when there was no view to tell.
        var names: CommittedChange.Names?
    }

    private let stack: DataStack
    private let ticket: UInt64
    private var parts: [Part] = []
    private var isFinished = false

    /// Made in the writer's turn, which gives the place in the order.
    init(stack: DataStack) {
        self.stack = stack
        ticket = stack.announcingTurn.reserve()
    }

    deinit {
        // A later store's failure to stage: what the first ones staged is committed all the same.
        if !isFinished { try? finish() }
    }

    func add(_ store: AttachedStore, _ commit: StagedCommit, _ names: CommittedChange.Names?) {
        parts.append(Part(store: store, commit: commit, names: names))
    }

    /// Waits until every store has the transaction. Each store commits for itself: what the first
    /// ones made durable is seen, also when a later one fails.
    func finish() throws {
        isFinished = true
        let outcomes = parts.map { part in
            Result { () throws(StoreError) in try part.commit.finish() }
        }
        stack.announcingTurn.wait(for: ticket)
        defer { stack.announcingTurn.give() }
        var change = CommittedChange(parts: [])
        for (part, outcome) in zip(parts, outcomes) {
            // A storage that was removed meanwhile shows nothing any more.
            guard case .success = outcome, let snapshot = try? part.store.database.snapshot()
            else { continue }
            change.parts.append(
                CommittedChange.Part(
                    store: part.store, snapshot: snapshot, updated: part.names?.updated ?? [],
                    deleted: part.names?.deleted ?? [], isUnknown: part.names == nil))
        }
        if !change.parts.isEmpty { stack.enqueue(change) }
        for outcome in outcomes { try outcome.get() }
    }
}
