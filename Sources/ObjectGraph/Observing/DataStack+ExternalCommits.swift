import Primitives
import RecordStore

extension DataStack {
    /// The commits of other processes to the storages that the stack opened for reading only, from
    /// now on. The view shows them at its next use, and so do observed lists and objects: code that
    /// runs where the view lives, after it received a commit here, finds it.
    ///
    /// Each access begins a sequence of its own. Commits in quick succession are combined, and a
    /// slow reader of the sequence misses some, never the last. Iterating throws when a storage
    /// cannot be followed any more; its ``CoreStoreError/storeError`` has the cause.
    public var externalCommits: ExternalCommits { steps.externalCommits(after: viewSteps) }

    /// A storage for reading only shows what another process commits to it.
    func follow(_ store: AttachedStore) {
        steps.forgetFailure(of: store.id)
        let hasEnded = Mutex(false)
        let last = Mutex(store.database.statistics.commitNumber)
        let id = store.id
        store.database.follow { [link] announced in
            guard let stack = link.object, let store = stack.store(id),
                !hasEnded.withLock({ $0 })
            else { return }
            do throws(StoreError) {
                let number = try announced.get()
                guard stack.steps.hasSubscribers else {
                    return last.withLock { $0 = max($0, number) }
                }
                let snapshot = try store.database.snapshot()
                let isNew = last.withLock { last in
                    defer { last = max(last, snapshot.commitNumber) }
                    return snapshot.commitNumber > last
                }
                stack.show(snapshot, of: store, isNew: isNew)
            } catch {
                hasEnded.withLock { $0 = true }
                guard error.code != .closed else { return }
                let failure = CoreStoreError(error)
                Log.error(failure, "a storage cannot follow another process any more.")
                stack.steps.fail(failure, of: id)
            }
        }
    }

    /// Which objects another process changed is not known. Where it changed none, the view only
    /// moves to where the same state is stored now, so that old space can be reused.
    private func show(_ snapshot: RecordSnapshot, of store: AttachedStore, isNew: Bool) {
        let part = CommitStep.Part(
            store: store, snapshot: snapshot, content: isNew ? .unknown : .relocation)
        steps.publish(CommitStep([part], origin: isNew ? .otherProcess : .maintenance))
    }
}
