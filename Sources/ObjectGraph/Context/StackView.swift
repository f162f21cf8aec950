import Primitives
import RecordStore

/// The context of fetches on a stack: one commit, until the view moves to a later one. Its objects
/// are never changed.
final class StackView: ObjectContext {
    private final class Access: StoreAccess {
        /// Of the snapshot that the view reads.
        var commitNumber: UInt64
        /// Whether an object of the view was deleted: its number may be inserted again, by an
        /// unsafe transaction that undoes a deletion after its commit.
        var hasDeletions = false

        init(_ store: AttachedStore, _ snapshot: RecordSnapshot) {
            commitNumber = snapshot.commitNumber
            super.init(store, snapshot)
        }
    }

    /// All of the view's accesses, as what they are.
    private var snapshots: [Access] = []
    /// Where the first use of a store begins; nil for stores that are in use. Set by threads that
    /// must not touch the accesses.
    private let starts = Mutex<[ObjectIdentifier: RecordSnapshot?]>([:])

    init(of stack: DataStack) { super.init(of: stack, allowsChanges: false) }

    override func openAccess(to store: AttachedStore) throws(StoreError) -> StoreAccess {
        guard !store.isDetached else {
            throw StoreError(.closed, "the storage of this object was removed from its stack")
        }
        let start = starts.withLock { starts in
            starts.updateValue(nil, forKey: ObjectIdentifier(store)) ?? nil
        }
        let snapshot = if let start { start } else { try store.database.snapshot() }
        let access = Access(store, snapshot)
        snapshots.append(access)
        return access
    }

    override func end() {
        super.end()
        snapshots = []
        starts.withLock { $0 = [:] }
    }

    /// Has the stores that are not in use begin with what they show now.
    func begin(_ stores: [AttachedStore]) {
        for store in stores {
            let key = ObjectIdentifier(store)
            guard starts.withLock({ $0[key] == nil }), let now = try? store.database.snapshot()
            else { continue }
            starts.withLock { starts in
                if starts[key] == nil { starts.updateValue(now, forKey: key) }
            }
        }
    }

    /// The snapshot that a store is read by; nil before its first use.
    func snapshot(of store: AttachedStore) -> RecordSnapshot? {
        snapshots.first { $0.store === store }?.reader as? RecordSnapshot
    }

    /// The snapshot that a store is read by, or that its first use will begin with; nil while
    /// neither is known.
    func shownSnapshot(of store: AttachedStore) -> RecordSnapshot? {
        snapshot(of: store) ?? starts.withLock { $0[ObjectIdentifier(store)] ?? nil }
    }

    /// Ends the reading of all stores. Their objects keep their values.
    func forgetAll() {
        for access in snapshots { forget(access.store) }
        end()
    }

    /// Ends the reading of a store. Its objects keep their values.
    func forget(_ store: AttachedStore) {
        starts.withLock { $0[ObjectIdentifier(store)] = nil }
        guard let access = snapshots.first(where: { $0.store === store }) else { return }
        for object in access.liveObjects { object.loadRow() }
        snapshots.removeAll { $0 === access }
        remove(access)
    }

    // MARK: Moving

    /// Takes over a step: live objects read their new values at the next access, and those that
    /// were deleted keep their last ones.
    func take(_ step: CommitStep) {
        for part in step.parts { take(part) }
    }

    private func take(_ part: CommitStep.Part) {
        // Dropped steps were the last but for those that were on their way.
        guard !part.store.isDetached else { return }
        guard let access = snapshots.first(where: { $0.store === part.store }) else {
            // Nothing of the store was read yet; the first use begins here.
            let key = ObjectIdentifier(part.store)
            starts.withLock { starts in
                let known = starts[key] ?? nil
                guard part.snapshot.commitNumber >= known?.commitNumber ?? 0 else { return }
                starts.updateValue(part.snapshot, forKey: key)
            }
            return
        }
        // The view may have opened the store after this step, or moved past it.
        guard part.snapshot.commitNumber >= access.commitNumber else { return }
        switch part.content(since: access.commitNumber) {
        case .changes(let changes): take(changes, access, part.snapshot)
        case .relocation where part.snapshot.commitNumber == access.commitNumber:
            move(access, to: part.snapshot, [], [])
        case .relocation, .unknown: readAgain(access, part.snapshot)
        }
    }

    /// An object that the view's commit does not have: the deleted one that the program holds, or
    /// another one, made so that it is deleted.
    func goneObject(
        _ number: ObjectNumber, _ kind: ObjectKind, _ access: StoreAccess
    ) -> CoreStoreObject {
        if let known = access.registered(number, in: kind.entity.hierarchy),
            known.change == .deleted
        {
            return known
        }
        let object = make(number, kind)
        object.apply(.delete)
        (access as? Access)?.hasDeletions = true
        return object
    }

    private func take(_ changes: ChangeSet, _ access: Access, _ snapshot: RecordSnapshot) {
        var (updated, deleted): ([CoreStoreObject], [CoreStoreObject]) = ([], [])
        for (hierarchy, objects) in access.identityMaps {
            guard let records = changes.records(in: hierarchy) else {
                sort(objects.liveObjects, snapshot, &updated, &deleted)
                continue
            }
            updated += live(records.updated, objects)
            if access.hasDeletions { updated += live(records.inserted, objects) }
            deleted += live(records.deleted, objects)
        }
        move(access, to: snapshot, updated, deleted)
    }

    /// The live objects of a set. The shorter of the two is walked through.
    private func live(_ numbers: NumberSet, _ objects: IdentityMap) -> [CoreStoreObject] {
        if numbers.isEmpty { return [] }
        return numbers.count <= objects.count
            ? numbers.compactMap { objects.object($0) }
            : objects.liveObjects.filter { object in
                object.raw.map { numbers.contains($0.number) } ?? false
            }
    }

    /// Moves to a commit and has every live object read its row there when it is next asked.
    private func readAgain(_ access: Access, _ snapshot: RecordSnapshot) {
        var (updated, deleted): ([CoreStoreObject], [CoreStoreObject]) = ([], [])
        sort(access.liveObjects, snapshot, &updated, &deleted)
        move(access, to: snapshot, updated, deleted)
    }

    /// Looks in a snapshot which objects are still there.
    private func sort(
        _ objects: [CoreStoreObject], _ snapshot: RecordSnapshot,
        _ updated: inout [CoreStoreObject], _ deleted: inout [CoreStoreObject]
    ) {
        for object in objects {
            guard let raw = object.raw else { continue }
            let isThere = try? snapshot.contains(raw.number, in: raw.entity.hierarchy)
            switch object.change {
            case .stored where isThere == false: deleted.append(object)
            case .stored: updated.append(object)
            case .deleted where isThere == true: updated.append(object)
            default: break
            }
        }
    }

    /// Of the same commit, the later snapshot keeps less of the file from being reused.
    private func move(
        _ access: Access, to snapshot: RecordSnapshot, _ updated: [CoreStoreObject],
        _ deleted: [CoreStoreObject]
    ) {
        // They keep their last values.
        for object in deleted { object.loadRow() }
        access.reader = snapshot
        access.commitNumber = snapshot.commitNumber
        for object in updated {
            if object.change == .deleted { object.apply(.rewind) }
            if object.change == .stored { forgetRow(of: object) }
        }
        for object in deleted where object.change != .deleted {
            object.apply(.delete)
            access.hasDeletions = true
        }
    }
}
