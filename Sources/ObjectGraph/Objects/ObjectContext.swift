import RecordStore
import Synchronization

/// The objects of the stack's view or of one transaction: one object a row, what changed, and
/// what the store says.
final class ObjectContext {
    enum Role { case view, transaction }

    let role: Role
    private let stackLink: WeakLink<DataStack>
    /// Nil in a view.
    private let transactionLink: WeakLink<BaseDataTransaction>?
    /// Set when a transaction has ended: nothing may be changed any more.
    private(set) var hasEnded = false
    // What an object is now says its `state`; the lists keep those alive whose state is not
    // `stored`, in the order in which they left it, until there are too many: see `makeRoom`.
    private(set) var created: [CoreStoreObject] = []
    private(set) var touched: [CoreStoreObject] = []
    /// How many objects were created here, whatever became of them.
    private(set) var createdCount = 0
    var removed: [CoreStoreObject] = []
    /// Objects with changes that the record transaction does not have yet, in the order of the
    /// first such change. One whose `isPending` is not set any more is passed over.
    var pending: [CoreStoreObject] = []
    var unflushedDeletions: [CoreStoreObject] = []
    /// Of the last batch, for the next one.
    var batchMemory = RecordBatch.Memory()
    /// Deleted objects that to-one links without an inverse may still lead to.
    var deletedTargets: [CoreStoreObject] = []
    /// What took the place of objects that lost a unique conflict.
    var replacements: [ObjectName: ObjectNumber] = [:]
    /// Offsets of assigned slots behind the 63rd.
    var farAssigned: [ObjectName: Set<UInt16>] = [:]
    /// About what the changed objects take that the context keeps, and what they may take before
    /// it lets them go.
    var changedBytes = 0
    var changedBytesLimit = Int.max
    private(set) var changedBytesMax = Int.max
    /// How many of `pending` are in `changedBytes`.
    var measuredCount = 0
    var links = LinkOverlay()
    /// Violations of deny rules, to be asked again at commit.
    var denials: [Denial] = []
    private(set) var accesses: [StoreAccess] = []
    /// Asked for by any thread; counted by one at a time.
    private let made = Atomic<Int>(0)
    var objectsMade: Int { made.load(ordering: .relaxed) }
    /// What made the transaction impossible; committing it throws this.
    var failure: StoreError?

    struct Denial {
        var object: CoreStoreObject
        var relationship: RelationshipLayout
        var targets: [CoreStoreObject]
    }

    /// The view's context.
    init(viewOf stack: DataStack) {
        role = .view
        stackLink = stack.link
        transactionLink = nil
    }

    init(_ transaction: WeakLink<BaseDataTransaction>, of stack: DataStack) {
        role = .transaction
        stackLink = stack.link
        transactionLink = transaction
    }

    var stack: DataStack? { stackLink.object }

    /// What user-visible fetches of this context's objects go through.
    var source: (any FetchableSource & QueryableSource)? {
        if let transactionLink { transactionLink.object } else { stackLink.object }
    }

    /// Ends a context. Its objects hold it, so it must not go on holding them; those that are still
    /// there keep the values that they have. One that has none yet, because only its existence was
    /// needed, takes those of the newest commit when the first is read.
    func end() {
        for object in pending { object.isOpen = false }
        (created, touched) = ([], [])
        (pending, unflushedDeletions, deletedTargets) = ([], [], [])
        batchMemory = RecordBatch.Memory()
        denials = []
        links = LinkOverlay()
        keepDeletedRows()
        hasEnded = true
        for open in openTransactions { open.rollback() }
        for access in accesses { access.forgetObjects() }
        accesses = []
        removed = []
        (replacements, farAssigned) = ([:], [:])
    }

    /// Notes what a transaction cannot go on from: committing it throws the same error.
    func fail(_ error: StoreError, _ message: String) {
        if role == .transaction && !hasEnded { failure = failure ?? error }
        Log.error(CoreStoreError(error), message)
    }

    // MARK: Readers

    func access(to store: AttachedStore) throws(StoreError) -> StoreAccess {
        for access in accesses where access.store === store { return access }
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
        let access = StoreAccess(store, reader)
        accesses.append(access)
        changedBytesMax = min(changedBytesMax, store.changedBytesMax)
        changedBytesLimit = min(changedBytesLimit, changedBytesMax)
        return access
    }

    /// What this context reads a store by: the view's pinned snapshot, or the record transaction.
    func reader(for store: AttachedStore) throws(StoreError) -> RecordReader {
        try access(to: store).reader
    }

    /// What a store held before this context changed anything: the commit that the transaction goes
    /// on from, which may still be on its way to the disk, so that no snapshot shows it yet; in the
    /// view what that shows.
    func readerBefore(for store: AttachedStore) throws(StoreError) -> RecordReader {
        do throws(StoreError) {
            let reader = try reader(for: store)
            guard let transaction = reader as? RecordTransaction else { return reader }
            return try transaction.before
        } catch {
            // Nobody changes it here.
            guard error.code == .readOnly else { throw error }
            return try store.database.snapshot()
        }
    }

    func transaction(for store: AttachedStore) throws(StoreError) -> RecordTransaction {
        guard let transaction = try reader(for: store) as? RecordTransaction else {
            throw StoreError(.readOnly, "the view does not change objects")
        }
        return transaction
    }

    var openStores: [AttachedStore] { accesses.map(\.store) }

    var openTransactions: [RecordTransaction] {
        accesses.compactMap { $0.reader as? RecordTransaction }
    }

    func openTransaction(for store: AttachedStore) -> RecordTransaction? {
        accesses.first { $0.store === store }?.reader as? RecordTransaction
    }

    /// Moves the view to a commit; never back to one before what it reads already.
    func move(to snapshot: RecordSnapshot, of store: AttachedStore) {
        guard let access = accesses.first(where: { $0.store === store }) else {
            accesses.append(StoreAccess(store, snapshot))
            return
        }
        let current = access.reader as? RecordSnapshot
        // Of the same commit, the later snapshot keeps less of the file from being used again.
        if let current, current.commitNumber > snapshot.commitNumber { return }
        access.reader = snapshot
    }

    // MARK: Objects

    func make(_ number: ObjectNumber, _ kind: ObjectKind) -> CoreStoreObject {
        let saved = FieldPlan.replace(with: kind.model.plan)
        let object = kind.model.type.init(rawObject: RawObject(kind: kind, number: number))
        FieldPlan.restore(saved)
        made.store(made.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        // Zero is the number of a detached object, which the map does not take.
        kind.objects.insert(object, number)
        if !kind.released.isEmpty { restoreReleased(object, number, kind) }
        return object
    }

    func registered(
        _ number: ObjectNumber, in hierarchy: HierarchyID, of store: AttachedStore
    ) -> CoreStoreObject? {
        accesses.first { $0.store === store }?.registered(number, in: hierarchy)
    }

    /// The object of a lent row: the one that there is, or a new one of the row's real class.
    func object(
        _ number: ObjectNumber, row: RowView, _ access: StoreAccess
    ) throws(StoreError) -> CoreStoreObject {
        let known = access.kind(row.entityTag, in: self).objects.object(number)
        return try object(number, row: row, known, access)
    }

    /// The same where it is known whether there is one.
    private func object(
        _ number: ObjectNumber, row: RowView, _ known: CoreStoreObject?, _ access: StoreAccess
    ) throws(StoreError) -> CoreStoreObject {
        let kind = access.kind(row.entityTag, in: self)
        let object = known ?? make(number, kind)
        if object.row.buffer.isEmpty {
            guard object.raw?.kind === kind else { throw Self.otherEntity }
            object.row = FieldRow(try access.reader.ownedCopy(of: row, kind.entity))
        }
        return object
    }

    /// The object of an ID in this context; nil when its row is gone.
    func existing(_ id: NSManagedObjectID) throws(StoreError) -> CoreStoreObject? {
        for access in accesses where access.store.id == id.storeID {
            return try existing(id, access)
        }
        guard let store = stack?.store(id.storeID) else { return nil }
        return try existing(id, try access(to: store))
    }

    /// In a transaction, an object that is there for certain reads its row when that is first
    /// needed: what is only linked to never needs it.
    private func existing(
        _ id: NSManagedObjectID, _ access: StoreAccess
    ) throws(StoreError) -> CoreStoreObject? {
        guard role == .transaction, let transaction = access.reader as? RecordTransaction else {
            return try object(id.number, in: id.hierarchy, access)
        }
        // What the transaction itself deleted is kept, and so it is registered.
        if let known = access.registered(id.number, in: id.hierarchy) {
            return known.state == .deleted ? nil : known
        }
        // The ID may be one of another schema.
        guard access.store.database.schema.entity(tag: id.entity.tag) === id.entity,
            try transaction.wasThere(id.number, of: id.entity)
        else { return try object(id.number, in: id.hierarchy, access) }
        return make(id.number, access.kind(id.entity.tag, in: self))
    }

    /// The object of a number in a hierarchy; nil when its row is gone.
    func object(
        _ number: ObjectNumber, in hierarchy: HierarchyID, of store: AttachedStore
    ) throws(StoreError) -> CoreStoreObject? {
        try object(number, in: hierarchy, try access(to: store))
    }

    private func object(
        _ number: ObjectNumber, in hierarchy: HierarchyID, _ access: StoreAccess
    ) throws(StoreError) -> CoreStoreObject? {
        let known = access.registered(number, in: hierarchy)
        if let known {
            if known.state == .deleted { return nil }
            if known.isRowLoaded { return known }
        }
        return try access.reader.withRow(number, in: hierarchy) { row throws(StoreError) in
            try self.object(number, row: row, known, access)
        }
    }

    /// The objects of these numbers; those whose rows are gone are left out. Rows that lie together
    /// are found together.
    func objects(
        _ numbers: [ObjectNumber], in hierarchy: HierarchyID, of store: AttachedStore
    ) throws(StoreError) -> [CoreStoreObject] {
        guard !numbers.isEmpty else { return [] }
        let access = try access(to: store)
        var found: [CoreStoreObject] = []
        found.reserveCapacity(numbers.count)
        var rows = access.reader.rowSeek(hierarchy)
        // In a transaction, making an object may run code of the program that changes others.
        let step = role == .view ? RowSeek.countMax : 1
        for start in stride(from: 0, to: numbers.count, by: step) {
            let count = min(step, numbers.count - start)
            for position in 0..<count {
                let number = numbers[start + position]
                if needsRow(access.registered(number, in: hierarchy)) {
                    try rows.seek(number, at: position)
                }
            }
            rows.findAll()
            for position in 0..<count {
                let number = numbers[start + position]
                let known = access.registered(number, in: hierarchy)
                if let known, !needsRow(known) {
                    if known.state != .deleted { found.append(known) }
                    continue
                }
                let object = try rows.withRow(number, at: position) { row throws(StoreError) in
                    try self.object(number, row: row, known, access)
                }
                if let object { found.append(object) }
            }
        }
        return found
    }

    private func needsRow(_ object: CoreStoreObject?) -> Bool {
        guard let object else { return true }
        return object.state != .deleted && !object.isRowLoaded
    }

    /// The row of an object that has none in memory. One that is gone, or cannot be read, gives
    /// the defaults: the fault is logged, and reading never ends the program.
    func loadedRow(of object: CoreStoreObject, _ raw: RawObject) -> RowBuffer {
        do throws(StoreError) {
            // An object that outlives its transaction may never have needed its row before.
            let reader =
                hasEnded ? try raw.store.database.snapshot() : try reader(for: raw.store)
            // The record of an object that was deleted unchanged may be gone here already.
            if object.state == .deleted, let transaction = reader as? RecordTransaction,
                let row = try transaction.before.row(raw.number, in: raw.entity.hierarchy)
            {
                return try checked(row, raw)
            }
            if let row = try reader.row(raw.number, in: raw.entity.hierarchy) {
                return try checked(row, raw)
            }
            if hasEnded {
                throw StoreError(.notFound, "it was deleted before any value of it was read")
            }
        } catch {
            // Values made up from defaults must not be saved over the stored ones.
            fail(error, "an object's row could not be read.")
        }
        return raw.entity.emptyRow()
    }

    /// What led to the object may have said another entity than its record does, in a file that
    /// lies: the properties would not be where they are looked for.
    private func checked(_ row: RowBuffer, _ raw: RawObject) throws(StoreError) -> RowBuffer {
        guard row.view.entityTag == raw.entity.tag else {
            row.deallocate()
            throw Self.otherEntity
        }
        return row
    }

    private static var otherEntity: StoreError {
        .corrupt(nil, "a record is of another entity than the object that it is read for")
    }

    // MARK: Changes

    func willChange(_ object: CoreStoreObject) {
        guard role == .transaction else {
            Log.assert(
                false, "an object was changed outside of a transaction: edit it in one first")
            return
        }
        guard !hasEnded else {
            // Nothing may be listed any more: nobody would let go of it.
            Log.assert(false, "an object was changed after its transaction had ended")
            return
        }
        switch object.state {
        case .deleted: return
        case .inserted:
            if !object.isListed { created.append(object) }
        case .stored, .updated:
            object.state = .updated
            if !object.isListed { touched.append(object) }
        }
        object.isListed = true
        guard !object.isPending else { return }
        object.isPending = true
        pending.append(object)
    }

    /// Creates an object with its defaults.
    func create(_ kind: ObjectKind) throws(StoreError) -> CoreStoreObject {
        let transaction = try transaction(for: kind.store)
        let object = make(try transaction.allocateNumber(in: kind.entity.hierarchy), kind)
        object.row = FieldRow(kind.entity.emptyRow(sizeInBytes: sizeOfNext(kind)))
        createdCount += 1
        kind.createdCount += 1
        object.state = .inserted
        object.isListed = true
        object.isRecorded = false
        object.isPending = true
        object.isOpen = true
        created.append(object)
        pending.append(object)
        for initial in kind.model.dynamicInitialValues {
            let value = ValueBridge.value(initial.make()) ?? .null
            object.row.buffer.setValue(value, initial.field)
        }
        return object
    }

    /// What the row of the next object will take, by that of the last: rows of one kind are about
    /// as long as each other, and a block that is large enough from the beginning is not copied.
    private func sizeOfNext(_ kind: ObjectKind) -> Int {
        guard let last = created.last, last.raw?.kind === kind else { return 0 }
        return last.row.buffer.sizeOfNext
    }

    /// An object with its defaults that no store will ever see.
    func detached(_ entity: EntityLayout, in store: AttachedStore) -> CoreStoreObject {
        let kind = ObjectKind(context: self, store: store, entity: entity)
        let object = make(ObjectNumber(0), kind)
        object.row = FieldRow(entity.emptyRow())
        return object
    }

    func forgetRow(of object: CoreStoreObject) {
        object.row.buffer.deallocate()
        object.row = FieldRow(RowBuffer())
    }

    var hasChanges: Bool {
        !removed.isEmpty || created.contains { $0.state == .inserted }
            || touched.contains { $0.state == .updated }
            || accesses.contains { $0.released.contains { !$0.isEmpty } }
    }

    /// Takes from the lists what need not be kept alive.
    func releaseListed() {
        var rest = created
        created = []
        releaseEach(&rest) { created.append($0) }
        rest = touched
        touched = []
        releaseEach(&rest) { touched.append($0) }
    }

    /// How many of them are of a class, or of one below it.
    func createdCount<O: CoreStoreObject>(_ type: O.Type) -> Int {
        accesses.reduce(0) { $0 + $1.createdCount(type) }
    }

    // MARK: The view moves

    /// Takes over what a commit changed: live objects read their new values on the next access,
    /// and those that were deleted keep their last ones.
    func apply(_ change: CommittedChange.Part) {
        guard let access = accesses.first(where: { $0.store === change.store }) else { return }
        for name in change.updated {
            let object = access.registered(name.number, in: name.hierarchy)
            if let object, object.state == .stored { forgetRow(of: object) }
        }
        for name in change.deleted {
            guard let object = access.registered(name.number, in: name.hierarchy) else { continue }
            object.loadRow()
            object.state = .deleted
        }
    }

    /// Moves to a commit and has every live object read its row there when it is next asked.
    func readAgain(_ store: AttachedStore, from snapshot: RecordSnapshot) {
        var change = CommittedChange.Part(store: store, snapshot: snapshot)
        let live = accesses.first { $0.store === store }?.liveObjects ?? []
        for object in live where object.state == .stored {
            guard let raw = object.raw else { continue }
            let name = CommittedChange.Name(
                number: raw.number, hierarchy: raw.entity.hierarchy)
            let isThere = try? snapshot.contains(name.number, in: name.hierarchy)
            if isThere == false { change.deleted.insert(name) } else { change.updated.insert(name) }
        }
        prepare(for: change)
        move(to: snapshot, of: store)
        apply(change)
    }

    /// Before the view moves, objects that are about to lose their rows read them.
    func prepare(for change: CommittedChange.Part) {
        guard let access = accesses.first(where: { $0.store === change.store }) else { return }
        for name in change.deleted { access.registered(name.number, in: name.hierarchy)?.loadRow() }
    }
}
