import RecordStore
import Synchronization

/// The identity of objects and how they are read: one object for each row, made from what the
/// context's readers show.
///
/// The kinds of context are subclasses, which say what a store is read by and what may be changed.
/// ``StackView`` reads snapshots and moves from commit to commit; ``ReadContext`` stays at one and
/// is shared by threads; ``EditingContext`` adds a ``ChangeBuffer``, and ``TransactionContext``
/// hands that on to the write transaction.
///
/// Invariants:
/// 1. A store has at most one access, which is opened at the first use and dropped at the end.
/// 2. A number has at most one live object, in the identity map of its hierarchy.
/// 3. Objects retain their context through their kinds. The context retains none of its objects
///    but those that a change buffer lists, and nothing at all after `end()`.
class ObjectContext {
    private let stackLink: WeakLink<DataStack>
    /// Whether objects may be changed here. Making an object may then run code of the program that
    /// changes others, and a fetch may find changes that are not committed.
    final let allowsChanges: Bool
    /// Set when nothing may be read or changed through the context any more.
    private(set) final var hasEnded = false
    private(set) final var accesses: [StoreAccess] = []
    /// Asked for by any thread; counted by one at a time, but in a context that several share.
    private final let made = Atomic<Int>(0)
    final var objectsMade: Int { made.load(ordering: .relaxed) }
    /// A fault that no call has thrown yet.
    private let pendingFault = PendingFault()
    /// The objects whose rows could not be read and have the defaults, and why.
    final var madeUpRows: [ObjectName: StoreError] = [:]

    init(of stack: DataStack, allowsChanges: Bool) {
        stackLink = stack.link
        self.allowsChanges = allowsChanges
    }

    final var stack: DataStack? { stackLink.object }

    // MARK: What the kinds of context decide

    /// The source of fetches that the program makes through this context's objects.
    var source: (any FetchableSource & QueryableSource)? { stackLink.object }

    /// Whether the context may read a store. One that is pinned does not read those that were
    /// attached later.
    func sees(_ store: AttachedStore) -> Bool { true }

    /// Opens a store that the context has not read before.
    func openAccess(to store: AttachedStore) throws(StoreError) -> StoreAccess {
        StoreAccess(store, try store.database.snapshot())
    }

    /// A reader of a store as it was before this context changed anything.
    func readerBefore(for store: AttachedStore) throws(StoreError) -> RecordReader {
        try reader(for: store)
    }

    /// Called before an object changes: `writeRow` or `changeLinks`.
    func willChange(_ object: CoreStoreObject, _ event: ObjectChangeState.Event) {
        Log.assert(false, "an object was changed outside of a transaction: edit it in one first")
    }

    /// Notifies the observers of an object's property that it is written.
    func tell(_ moment: WriteMoment, of object: CoreStoreObject, _ name: KeyPathString) {}

    /// Notifies of a write to the property at an offset of the object's row.
    final func tell(_ moment: WriteMoment, of object: CoreStoreObject, _ offset: UInt16) {
        let field = object.raw?.entity.fields.first { $0.byteOffset == Int(offset) }
        if let field { tell(moment, of: object, field.name) }
    }

    /// Notes an assigned slot that has no bit of its own in the object.
    func noteFarAssignment(_ raw: RawObject, _ offset: UInt16) {}

    /// Makes changes visible to fetches.
    func flush() throws(StoreError) {}

    /// Called where a program's call begins, so that no change is half done.
    func makeRoom() throws(StoreError) {}

    /// Reports an error where the call cannot throw. The next fetch throws it where it is a fault
    /// of the storage.
    func fail(_ error: StoreError, _ message: String) {
        if error.isStorageFault, !hasEnded { pendingFault.set(error) }
        report(error, message)
    }

    /// Throws what could not be thrown where it happened. Called where a fetch begins.
    func throwFault() throws(StoreError) {
        guard let fault = pendingFault.take() else { return }
        // Otherwise later getters of these objects would answer with defaults, and without a fault.
        forgetMadeUpRows()
        throw fault
    }

    func linkedNumbers(
        of object: CoreStoreObject, _ raw: RawObject, _ relationship: RelationshipLayout
    ) throws(StoreError) -> [ObjectNumber] {
        try storedLinkedNumbers(of: object, raw, relationship)
    }

    func setLinkedObjects(
        _ objects: [CoreStoreObject], of object: CoreStoreObject, _ raw: RawObject,
        relationshipID: Int
    ) {
        willChange(object, .changeLinks)
    }

    func setLinkedObject(
        _ target: CoreStoreObject?, of object: CoreStoreObject, _ raw: RawObject,
        relationshipID: Int
    ) {
        willChange(object, .changeLinks)
    }

    /// Has an object read its row again.
    func refresh(_ object: CoreStoreObject, keepsChanges: Bool) {
        if object.change == .stored, let raw = object.raw { refreshStored(object, raw) }
    }

    /// The row of an object that has none in memory.
    func storedRow(of object: CoreStoreObject, _ raw: RawObject) throws(StoreError) -> RowBuffer? {
        try reader(for: raw.store).row(raw.number, in: raw.entity.hierarchy)
    }

    /// The object of an ID of the store's present model; nil when its row is gone.
    func existing(
        _ id: NSManagedObjectID, _ access: StoreAccess
    ) throws(StoreError) -> CoreStoreObject? {
        try object(id.number, in: id.hierarchy, access)
    }

    /// Ends the context. Its objects retain it, so it must not retain them any longer; those that
    /// are still there keep the values that they have. One that has none yet, because only its
    /// existence was needed, takes those of the newest commit when the first is read.
    func end() {
        hasEnded = true
        for access in accesses { access.forgetObjects() }
        accesses = []
        madeUpRows = [:]
    }

    // MARK: Readers

    final func access(to store: AttachedStore) throws(StoreError) -> StoreAccess {
        for access in accesses where access.store === store { return access }
        // A second write transaction would never be ended, and would block every writer.
        guard !hasEnded else {
            throw StoreError(
                .closed,
                allowsChanges
                    ? "the transaction of this object has ended: fetch the object again"
                    : "the storage of this object was closed")
        }
        let access = try openAccess(to: store)
        add(access)
        return access
    }

    final func add(_ access: StoreAccess) {
        // Assigned and not changed in its place: each read of it would be checked for exclusivity.
        accesses = accesses + [access]
    }

    /// Ends one access. Objects keep the values that they have.
    final func remove(_ access: StoreAccess) {
        access.forgetObjects()
        accesses = accesses.filter { $0 !== access }
        madeUpRows = madeUpRows.filter { $0.key.storeID != access.store.id }
    }

    /// The access to a store that the context has read before.
    final func openedAccess(to store: AttachedStore) -> StoreAccess? {
        accesses.first { $0.store === store }
    }

    /// The reader by which this context sees a store.
    final func reader(for store: AttachedStore) throws(StoreError) -> RecordReader {
        try access(to: store).reader
    }

    // MARK: Objects

    final func make(_ number: ObjectNumber, _ kind: ObjectKind) -> CoreStoreObject {
        let object = kind.newObject(number)
        made.store(made.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        // Zero is the number of a detached object, which the map does not take.
        kind.objects.insert(object, number)
        if let evicted = kind.evicted, !evicted.isEmpty { evicted.restore(object, number) }
        return object
    }

    /// Counts an object that was made on any of several threads.
    final func countMade() { made.wrappingAdd(1, ordering: .relaxed) }

    final func registered(
        _ number: ObjectNumber, in hierarchy: HierarchyID, of store: AttachedStore
    ) -> CoreStoreObject? {
        openedAccess(to: store)?.registered(number, in: hierarchy)
    }

    /// The object of an ID in this context; nil when its row is gone.
    final func existing(_ id: NSManagedObjectID) throws(StoreError) -> CoreStoreObject? {
        guard let store = store(of: id), let id = store.own(id) else { return nil }
        return try existing(id, try access(to: store))
    }

    /// The store of an ID, as the context reads it. One that was removed from the stack may have
    /// been added again since.
    private func store(of id: NSManagedObjectID) -> AttachedStore? {
        let known = accesses.first { $0.store.id == id.storeID }?.store
        if let known, !known.isDetached { return known }
        if let present = stack?.store(id.storeID), sees(present) { return present }
        return known
    }

    final func forgetRow(of object: CoreStoreObject) {
        object.transients?.remove(object)
        if !madeUpRows.isEmpty, let raw = object.raw { madeUpRows[raw.name] = nil }
        object.row.buffer.deallocate()
        object.row = FieldRow(RowBuffer())
    }

    /// ``makeRoom()`` for calls that cannot throw: the transaction fails where it commits.
    final func makeRoomOrFail() {
        do throws(StoreError) {
            try makeRoom()
        } catch {
            fail(error, "the changes of a large transaction could not be written.")
        }
    }
}
