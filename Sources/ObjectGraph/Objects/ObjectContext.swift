import RecordStore

/// The objects of the stack's view or of one transaction: one object a row, what changed, and
/// what the store says.
final class ObjectContext {
    enum Role { case view, transaction }

    let role: Role
    weak var stack: DataStack?
    /// What user-visible fetches of this context's objects go through.
    weak var source: (any FetchableSource & QueryableSource)?
    /// Set when a transaction has ended: nothing may be changed any more.
    var hasEnded = false
    var inserted: [NSManagedObjectID: CoreStoreObject] = [:]
    var updated: [NSManagedObjectID: CoreStoreObject] = [:]
    var deleted: [NSManagedObjectID: CoreStoreObject] = [:]
    /// Objects with changes that the record transaction does not have yet.
    var unflushed: [NSManagedObjectID: CoreStoreObject] = [:]
    /// Creations in their order, so that numbers ascend in the batch.
    var unflushedCreations: [CoreStoreObject] = []
    var unflushedDeletions: [CoreStoreObject] = []
    /// Deleted objects that to-one links without an inverse may still lead to.
    var deletedTargets: [RawObject] = []
    var links = LinkOverlay()
    /// Violations of deny rules, to be asked again at commit.
    var denials: [Denial] = []
    /// Objects that the transaction both created and deleted: nobody else ever sees them.
    var forgotten: Set<NSManagedObjectID> = []
    private var objects: [NSManagedObjectID: WeakObject] = [:]
    private var readers: [ObjectIdentifier: RecordReader] = [:]
    private(set) var objectsMade = 0
    /// What made the transaction impossible; committing it throws this.
    var failure: StoreError?

    struct Denial {
        var object: CoreStoreObject
        var relationship: RelationshipLayout
        var targets: [NSManagedObjectID]
    }

    private struct WeakObject {
        weak var object: CoreStoreObject?
    }

    init(role: Role, stack: DataStack) {
        self.role = role
        self.stack = stack
    }

    // MARK: Readers

    /// What this context reads a store by: the view's pinned snapshot, or the record transaction.
    func reader(for store: AttachedStore) throws(StoreError) -> RecordReader {
        if let known = readers[ObjectIdentifier(store)] { return known }
        // A second record transaction would wait for nobody to end it, and block every writer.
        guard !hasEnded else {
            throw StoreError(
                .closed, "the transaction of this object has ended: fetch the object again")
        }
        let reader: RecordReader =
            switch role {
            case .view: try store.database.snapshot()
            case .transaction: try store.database.beginWrite()
            }
        readers[ObjectIdentifier(store)] = reader
        return reader
    }

    func transaction(for store: AttachedStore) throws(StoreError) -> RecordTransaction {
        guard let transaction = try reader(for: store) as? RecordTransaction else {
            throw StoreError(.readOnly, "the view does not change objects")
        }
        return transaction
    }

    var openTransactions: [RecordTransaction] {
        readers.values.compactMap { $0 as? RecordTransaction }
    }

    func openTransaction(for store: AttachedStore) -> RecordTransaction? {
        readers[ObjectIdentifier(store)] as? RecordTransaction
    }

    func replaceReader(_ reader: RecordReader, for store: AttachedStore) {
        readers[ObjectIdentifier(store)] = reader
    }

    func dropReaders() { readers = [:] }

    /// Ends a transaction. Its objects hold the context, so it must not go on holding them.
    func end() {
        hasEnded = true
        for open in openTransactions { open.rollback() }
        readers = [:]
        (inserted, updated, deleted, unflushed) = ([:], [:], [:], [:])
        (unflushedCreations, unflushedDeletions, deletedTargets) = ([], [], [])
        denials = []
        links = LinkOverlay()
        objects = [:]
    }

    /// Notes what a transaction cannot go on from: committing it throws the same error.
    func fail(_ error: StoreError, _ message: String) {
        if role == .transaction && !hasEnded { failure = failure ?? error }
        Log.error(CoreStoreError(error), message)
    }

    // MARK: Objects

    /// The object of a row: the one that there is, or a new one of the row's real class.
    func object(
        _ id: NSManagedObjectID, in store: AttachedStore, entity: EntityLayout
    ) -> CoreStoreObject {
        if let known = objects[id]?.object { return known }
        return make(id, in: store, entity: entity)
    }

    private func make(
        _ id: NSManagedObjectID, in store: AttachedStore, entity: EntityLayout
    ) -> CoreStoreObject {
        guard let model = store.classes[entity.tag] else {
            Log.abort("the entity \(entity.name) has no class in the stack's schema")
        }
        let raw = RawObject(context: self, id: id, entity: entity, store: store)
        let saved = FieldPlan.replace(with: model.plan)
        let object = model.type.init(rawObject: raw)
        FieldPlan.restore(saved)
        objects[id] = WeakObject(object: object)
        objectsMade += 1
        if objects.count > 1024, objects.count & 4095 == 0 { forgetDeadObjects() }
        return object
    }

    private func forgetDeadObjects() {
        objects = objects.filter { $0.value.object != nil }
    }

    func registered(_ id: NSManagedObjectID) -> CoreStoreObject? { objects[id]?.object }

    /// The object of a lent row.
    func object(
        _ number: ObjectNumber, row: RowView, in store: AttachedStore, reader: RecordReader
    ) throws(StoreError) -> CoreStoreObject {
        let entity = reader.schema.knownEntity(tag: row.entityTag)
        let id = NSManagedObjectID(storeID: store.id, entity: entity, number: number)
        let object = object(id, in: store, entity: entity)
        if object.row.buffer.isEmpty {
            object.row = FieldRow(try reader.ownedCopy(of: row))
        }
        return object
    }

    /// The object of an ID in this context; nil when its row is gone.
    func existing(_ id: NSManagedObjectID) throws(StoreError) -> CoreStoreObject? {
        if deleted[id] != nil || forgotten.contains(id) { return nil }
        if let known = inserted[id] { return known }
        guard let store = stack?.store(id.storeID) else { return nil }
        let reader = try reader(for: store)
        guard
            let tag = try reader.withRow(id.number, in: id.hierarchy, { $0.entityTag })
        else { return nil }
        if let known = registered(id) { return known }
        // The ID may come from a link, which knows the root of the hierarchy only.
        let entity = reader.schema.knownEntity(tag: tag)
        let own =
            id.entityName == entity.name
            ? id : NSManagedObjectID(storeID: store.id, entity: entity, number: id.number)
        return object(own, in: store, entity: entity)
    }

    /// The object of a number in a hierarchy, for links.
    func object(
        _ number: ObjectNumber, in hierarchy: HierarchyID, of store: AttachedStore
    ) throws(StoreError) -> CoreStoreObject? {
        let root = store.database.schema.knownEntity(tag: hierarchy.rootTag)
        return try existing(
            NSManagedObjectID(storeID: store.id, entity: root, number: number))
    }

    /// The row of an object that has none in memory. One that is gone, or cannot be read, gives
    /// the defaults: the fault is logged, and reading never ends the program.
    func loadedRow(of object: CoreStoreObject, _ raw: RawObject) -> RowBuffer {
        do throws(StoreError) {
            let reader = try reader(for: raw.store)
            if let row = try reader.row(raw.id.number, in: raw.id.hierarchy) { return row }
        } catch {
            // Values made up from defaults must not be saved over the stored ones.
            fail(error, "an object's row could not be read.")
        }
        return raw.entity.emptyRow()
    }

    // MARK: Changes

    func willChange(_ object: CoreStoreObject) {
        guard role == .transaction else {
            Log.assert(
                false, "an object was changed outside of a transaction: edit it in one first")
            return
        }
        Log.assert(!hasEnded, "an object was changed after its transaction had ended")
        guard let id = object.raw?.id else { return }
        switch object.state {
        case .deleted: return
        case .inserted: break
        case .stored, .updated:
            object.state = .updated
            updated[id] = object
        }
        object.isPending = true
        unflushed[id] = object
    }

    /// Creates an object with its defaults.
    func create(
        _ entity: EntityLayout, in store: AttachedStore
    ) throws(StoreError) -> CoreStoreObject {
        let number = try transaction(for: store).allocateNumber(in: entity.hierarchy)
        let id = NSManagedObjectID(storeID: store.id, entity: entity, number: number)
        let object = make(id, in: store, entity: entity)
        object.row = FieldRow(entity.emptyRow())
        object.state = .inserted
        inserted[id] = object
        object.isPending = true
        object.hasNoRecord = true
        unflushed[id] = object
        unflushedCreations.append(object)
        applyDynamicInitialValues(object, entity, store)
        return object
    }

    private func applyDynamicInitialValues(
        _ object: CoreStoreObject, _ entity: EntityLayout, _ store: AttachedStore
    ) {
        guard let model = store.classes[entity.tag] else { return }
        for initial in model.dynamicInitialValues {
            let value = ValueBridge.value(initial.make()) ?? .null
            object.row.buffer.setValue(value, initial.field)
        }
    }

    func refresh(_ object: CoreStoreObject, keepsChanges: Bool) {
        guard let raw = object.raw, object.state != .inserted, object.state != .deleted else {
            return
        }
        if keepsChanges && object.state == .updated { return }
        object.row.buffer.deallocate()
        object.row = FieldRow(RowBuffer())
        object.assigned = 0
        object.isPending = false
        object.state = .stored
        updated[raw.id] = nil
        unflushed[raw.id] = nil
    }

    var hasChanges: Bool { !inserted.isEmpty || !updated.isEmpty || !deleted.isEmpty }

    // MARK: The view moves

    /// Takes over what a commit changed: live objects read their new values on the next access,
    /// and those that were deleted keep their last ones.
    func apply(_ change: CommittedChange) {
        for id in change.updated {
            guard let object = objects[id]?.object, object.state == .stored else { continue }
            object.row.buffer.deallocate()
            object.row = FieldRow(RowBuffer())
        }
        for id in change.deleted {
            guard let object = objects.removeValue(forKey: id)?.object else { continue }
            object.loadRow()
            object.state = .deleted
        }
    }

    /// Before the view moves, objects that are about to lose their rows read them.
    func prepare(for change: CommittedChange) {
        for id in change.deleted { objects[id]?.object?.loadRow() }
    }
}

/// What one transaction made durable.
struct CommittedChange: Sendable {
    var inserted: [NSManagedObjectID]
    var updated: [NSManagedObjectID]
    var deleted: [NSManagedObjectID]
    /// Each store as the commit left it.
    var snapshots: [(store: AttachedStore, snapshot: RecordSnapshot)]
}
