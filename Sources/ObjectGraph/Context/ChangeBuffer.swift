import RecordStore

/// The changes of one editing context: the objects that are no longer what their records say, the
/// links that lie over those of the store, and what of it all is still to be flushed.
///
/// It reads no store. The context looks up objects and links, and passes in what takes a reader.
///
/// Invariants:
/// 1. `created`, `touched` and `removed` retain every object whose `kind` is not `stored`, in the
///    order of the first change, but those that were evicted.
/// 2. `pending` contains every object that is pending, and may contain others and some twice.
/// 3. `deletions` are the deleted objects whose record the record transaction still has.
/// 4. After `didFlush()` nothing is pending, and `links` is empty.
final class ChangeBuffer {
    struct Denial {
        var object: CoreStoreObject
        var relationship: RelationshipLayout
        var targets: [CoreStoreObject]
    }

    private var changed = ChangedObjects()
    private(set) var removed: [CoreStoreObject] = []
    private var deletions: [CoreStoreObject] = []
    /// Deleted objects that to-one links without an inverse may still lead to.
    private var deletedTargets: [CoreStoreObject] = []
    var links = LinkOverlay()
    /// Violations of deny rules, to be looked at again at commit.
    private(set) var denials: [Denial] = []
    /// The survivor of each object that lost a unique conflict.
    private(set) var replacements: [ObjectName: ObjectNumber] = [:]
    /// Offsets of assigned slots after the 63rd.
    private var farAssigned: [ObjectName: Set<UInt16>] = [:]
    private(set) var evicted: [EvictedTable] = []
    /// Of the last batch, for the next one.
    private var batchMemory = RecordBatch.Memory()

    var created: [CoreStoreObject] { changed.created }
    var touched: [CoreStoreObject] { changed.touched }
    var pending: [CoreStoreObject] { changed.pending }
    /// How many objects were created here, including those that were deleted again.
    var createdCount: Int { changed.createdCount }

    // MARK: Stores

    /// Prepares for changes of a store; returns where those are kept whose objects are evicted.
    func open(_ store: AttachedStore) -> EvictedTable {
        changed.lowerLimit(to: store.changedBytesMax)
        let table = EvictedTable(store)
        evicted.append(table)
        return table
    }

    // MARK: Changes

    var hasChanges: Bool {
        !removed.isEmpty || created.contains { $0.change.kind == .inserted }
            || touched.contains { $0.change.kind == .updated }
            || evicted.contains { !$0.isEmpty }
    }

    var isFlushNeeded: Bool { !pending.isEmpty || !deletions.isEmpty || !links.isEmpty }

    /// Whether there is anything to commit. A change that was discarded after a fetch had seen it
    /// is still to be taken back where that fetch looked.
    var isEmpty: Bool {
        !hasChanges && deletions.isEmpty && links.isEmpty
            && !pending.contains { $0.change.isPending }
    }

    /// Takes a new object in.
    func create(_ object: CoreStoreObject, _ kind: ObjectKind) {
        kind.createdCount += 1
        object.apply(.create)
        object.isListed = true
        changed.create(object)
    }

    /// Changes the state of an object by `writeRow` or `changeLinks`, and lists it.
    func note(_ object: CoreStoreObject, _ event: ObjectChangeState.Event) {
        let wasPending = object.change.isPending
        object.apply(event)
        guard object.change != .deleted else { return }
        let isNew = !object.isListed
        object.isListed = true
        if isNew || !wasPending { changed.add(object, isNew: isNew, isPending: !wasPending) }
    }

    /// Moves an object to the deleted ones. One that was never stored is only forgotten.
    func delete(_ object: CoreStoreObject, _ raw: RawObject) {
        if object.change.kind != .inserted { removed.append(object) }
        if object.change != .inserting { deletions.append(object) }
        if raw.kind.hasUnmirroredSources { deletedTargets.append(object) }
        raw.kind.evicted?.forget(raw.number)
        object.apply(.delete)
    }

    func deny(_ denial: Denial) { denials.append(denial) }

    /// Has those of a state that is restored.
    func replaceDenials(_ denials: [Denial]) { self.denials = denials }

    func replace(_ loser: RawObject, by survivor: ObjectNumber) {
        replacements[loser.name] = survivor
    }

    /// The objects deleted since the last call that to-one links without an inverse may lead to.
    func takeDeletedTargets() -> [CoreStoreObject] {
        defer { deletedTargets = [] }
        return deletedTargets
    }

    var hasDeletedTargets: Bool { !deletedTargets.isEmpty }

    /// Reads the rows of deleted objects that the program still has, before the commit that has
    /// them is given up: they keep their last values.
    func loadDeletedRows() {
        for index in removed.indices where !removed[index].isRowLoaded {
            if !isKnownUniquelyReferenced(&removed[index]) { removed[index].loadRow() }
        }
    }

    // MARK: Far slots

    func assignFar(_ name: ObjectName, _ offset: UInt16) {
        farAssigned[name, default: []].insert(offset)
    }

    func isAssignedFar(_ raw: RawObject, _ offset: Int) -> Bool {
        farAssigned[raw.name]?.contains(UInt16(offset)) == true
    }

    func forgetAssigned(_ object: CoreStoreObject, _ raw: RawObject) {
        object.assigned = 0
        farAssigned[raw.name] = nil
    }

    // MARK: Flushing

    /// All pending changes of a store, as one batch. The rows are lent: `pending` retains their
    /// objects, and nothing touches them, until the batch has been applied.
    ///
    /// - Parameter targets: the targets of a changed list that are still there.
    func batch(
        for store: AttachedStore,
        _ targets: (LinkOverlay.List, RawObject) throws(StoreError) -> [ObjectNumber]
    ) throws(StoreError) -> RecordBatch {
        var batch = RecordBatch(in: &batchMemory)
        for object in pending where object.change.isPending {
            guard let raw = object.raw, raw.kind.store === store else { continue }
            let state = object.change
            object.apply(.flush)
            if state == .inserting {
                batch.insert(raw.kind.entity, raw.number, row: object.row.buffer, isLent: true)
            } else if state.isRowPending {
                batch.update(raw.kind.entity, raw.number, row: object.row.buffer, isLent: true)
            }
        }
        for object in deletions {
            guard let raw = object.raw, raw.kind.store === store else { continue }
            let survivor = replacements.isEmpty ? nil : replacements[raw.name]
            batch.delete(raw.number, in: raw.kind.entity.hierarchy, replacement: survivor)
        }
        batch.sort()
        for list in links.lists.values {
            // A deleted owner's pairs go with its record.
            guard list.owner.change != .deleted, let raw = list.owner.raw, raw.store === store
            else { continue }
            batch.setLinks(list.relationship, owner: raw.number, try targets(list, raw))
        }
        return batch
    }

    /// Takes the memory of a batch that was applied.
    func reuse(_ batch: consuming RecordBatch) { batch.leave(in: &batchMemory) }

    func didFlush() {
        changed.didFlush()
        deletions = []
        links.didFlush()
    }

    /// Lends each object that the next batch has a change of, some of them twice.
    func forEachUnflushed(_ body: (CoreStoreObject) -> Void) {
        for object in pending where object.change.isPending { body(object) }
        deletions.forEach(body)
        for list in links.lists.values { body(list.owner) }
    }

    // MARK: Starting anew

    /// Forgets all changes. The caller sees to the states of their objects.
    func restart() {
        for list in [created, touched] {
            for object in list { object.isListed = false }
        }
        _ = changed.takeListed()
        changed.didFlush()
        (removed, deletions, deletedTargets, denials) = ([], [], [], [])
        links = LinkOverlay()
        (replacements, farAssigned) = ([:], [:])
    }

    /// Lists an object whose state was restored.
    func list(_ object: CoreStoreObject) {
        switch object.change.kind {
        case .stored: return
        case .inserted, .updated: changed.add(object, isNew: true, isPending: false)
        case .deleted: return removed.append(object)
        }
        object.isListed = true
    }

    // MARK: Memory

    /// Adds what became pending since the last call; returns whether the listed objects have
    /// outgrown their limit.
    func measure() -> Bool {
        changed.measure()
    }

    /// Evicts the listed objects that are flushed and need no validation before the commit.
    func evictListed() {
        // Out of the buffer: an object that ends runs code of the program.
        var (created, touched) = changed.takeListed()
        evict(from: &created)
        evict(from: &touched)
        changed.restore(created: created, touched: touched)
    }

    /// Releases objects one by one from the first to the last, which is the order of their memory.
    private func evict(from list: inout [CoreStoreObject]) {
        var rest = list
        list = []
        rest.reverse()
        while let object = rest.popLast() {
            if !EvictedChanges.evict(object) { list.append(object) }
        }
    }

    // MARK: End

    /// Releases everything but the deleted objects, whose rows may still have to be read.
    func end() {
        for object in pending { object.apply(.end) }
        changed = ChangedObjects()
        (deletions, deletedTargets) = ([], [])
        batchMemory = RecordBatch.Memory()
        denials = []
        links = LinkOverlay()
        (replacements, farAssigned) = ([:], [:])
        evicted = []
    }

    func forgetDeleted() { removed = [] }
}
