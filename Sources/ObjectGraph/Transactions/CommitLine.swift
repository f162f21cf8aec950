import Dispatch
import Primitives
import RecordStore

/// The commits of one unsafe transaction, one after the other, on whatever threads they run. The
/// transaction takes over what they left when it is next used and none is under way.
final class CommitLine: Sendable {
    /// The changes that the last commit took up, and the states in which it left the stores.
    struct Landing: @unchecked Sendable {
        var committed: [ObjectIdentifier: FrozenRecords]
        var bases: [ObjectIdentifier: RecordReader]
    }

    private struct State {
        var waitingCount = 0
        var landing: Landing?
        var conflicts: [CommitConflict] = []
    }

    let queue = DispatchQueue(label: "org.trellis.unsafe")
    private let state = Mutex(State())

    /// Those of the last commit that succeeded.
    var conflicts: [CommitConflict] { state.withLock { $0.conflicts } }

    /// Whether there are commits that the transaction has not taken over.
    var isUnderWay: Bool { state.withLock { $0.waitingCount > 0 || $0.landing != nil } }

    /// Counts a commit that is about to be queued.
    func begin() { state.withLock { $0.waitingCount += 1 } }

    /// The landing that is to be taken over, once.
    func takeLanding() -> Landing? {
        state.withLock { state in
            guard state.waitingCount == 0 else { return nil }
            defer { state.landing = nil }
            return state.landing
        }
    }

    /// Commits changes. Called on the queue, once for each `begin()`.
    func commit(
        _ changes: UnsafeChanges, to stack: DataStack, _ sourceIdentifier: Any?,
        _ durability: Durability?
    ) throws(CoreStoreError) {
        defer { state.withLock { $0.waitingCount -= 1 } }
        // A commit before it, which the transaction has not taken over yet, has a part of them.
        let before = state.withLock { $0.landing?.committed } ?? [:]
        let changes = changes.since(before)
        var conflicts: [CommitConflict] = []
        if changes.parts.contains(where: { !$0.touched.isEmpty }) {
            var context: TransactionContext?
            do throws(CoreStoreError) {
                conflicts = try stack.run(
                    SynchronousDataTransaction.self, sourceIdentifier, durability
                ) { transaction in
                    context = transaction.context as? TransactionContext
                    context?.listReplacements()
                    return try Self.merge(changes, transaction.context)
                }
            } catch {
                // Some storages may have their part. Committed again, it would be made twice.
                if let commit = error.partialCommit { land(changes, of: commit) }
                throw error
            }
            conflicts += context?.replacements ?? []
        } else {
            try secure(changes, durability)
        }
        land(changes, conflicts)
    }

    /// Without changes too, a durable commit means that what it was made from is durable.
    private func secure(
        _ changes: UnsafeChanges, _ durability: Durability?
    ) throws(CoreStoreError) {
        for part in changes.parts where (durability ?? part.store.durability) != .relaxed {
            do throws(StoreError) {
                try part.store.database.secureRelaxedCommits()
            } catch {
                // Of a storage that is gone, closing has made them durable or reported an error.
                if error.code == .closed { continue }
                let failure = CoreStoreError(error)
                Log.error(failure, "an unsafe transaction could not be committed.")
                throw failure
            }
        }
    }

    private static func merge(
        _ changes: UnsafeChanges, _ target: EditingContext
    ) throws(StoreError) -> [CommitConflict] {
        var bases: [ObjectIdentifier: RecordReader] = [:]
        for part in changes.parts where !part.touched.isEmpty {
            bases[ObjectIdentifier(part.store)] = try target.readerBefore(for: part.store)
        }
        var merge = ChangeMerge(changes, into: target, over: bases)
        try merge.apply()
        return merge.conflicts
    }

    private func land(_ changes: UnsafeChanges, _ conflicts: [CommitConflict]) {
        land(changes) { _ in true }
        state.withLock { $0.conflicts = conflicts }
    }

    /// Takes over the part of a commit that failed in some of the storages.
    private func land(_ changes: UnsafeChanges, of commit: PartialCommit) {
        land(changes) { part in commit.committed.contains { $0 === part.store.storage } }
    }

    private func land(_ changes: UnsafeChanges, _ isCommitted: (UnsafeChanges.Part) -> Bool) {
        var landing = state.withLock { $0.landing } ?? Landing(committed: [:], bases: [:])
        for part in changes.parts {
            let name = ObjectIdentifier(part.store)
            // Of a storage that is gone the transaction keeps what it has.
            guard let base = try? part.store.database.snapshot() else { continue }
            if isCommitted(part) {
                landing.committed[name] = part.to
                landing.bases[name] = base
            } else if landing.bases[name] == nil {
                landing.bases[name] = part.from
            }
        }
        state.withLock { $0.landing = landing }
    }
}
