import RecordStore

/// A context whose objects may be changed: the changes wait in a ``ChangeBuffer``, and links,
/// deletions, reverting and validation work on both.
///
/// A subclass decides where the changes go: see ``RecordingContext``.
class EditingContext: ObjectContext {
    final let changes = ChangeBuffer()
    /// Leads to the transaction that the program uses.
    final var transactionLink: WeakLink<BaseDataTransaction>?
    /// The observers of properties of the transaction's objects; nil while there are none.
    private(set) final var writeObservers: WriteObservers?
    /// Whether observers are told: not of changes that the context only repeats.
    final var tellsObservers = true
    /// Why the transaction cannot be committed; committing it throws this.
    private(set) final var failure: StoreError?
    private final var lastLogged: CoreStoreError?
    /// Objects whose links are being cleared because they are deleted.
    final var objectsInDeletion: Set<ObjectIdentifier> = []

    init(of stack: DataStack) { super.init(of: stack, allowsChanges: true) }

    override final var source: (any FetchableSource & QueryableSource)? { transactionLink?.object }

    // MARK: What the kinds of editing context decide

    /// A number for an object that is about to be created.
    func nextNumber(for kind: ObjectKind) throws(StoreError) -> ObjectNumber {
        throw StoreError(.readOnly, "objects are created in a transaction")
    }

    /// Lists that deletions have shortened although no inverse leads to their owners, since the
    /// last call.
    func takeShortenedLists() -> [ShortenedLists] { [] }

    // MARK: Changes

    override final func willChange(
        _ object: CoreStoreObject, _ event: ObjectChangeState.Event
    ) {
        guard !hasEnded else {
            // A listed object would never be released.
            Log.assert(false, "an object was changed after its transaction had ended")
            return
        }
        changes.note(object, event)
    }

    override final func tell(
        _ moment: WriteMoment, of object: CoreStoreObject, _ name: KeyPathString
    ) {
        guard tellsObservers else { return }
        writeObservers?.tell(moment, of: object, name)
    }

    /// Has an observer told of all writes to its object from now on.
    final func add(_ observer: any WriteObserver) {
        let observers = writeObservers ?? WriteObservers()
        observers.add(observer)
        writeObservers = observers
        observer.object?.isObserved = true
    }

    override final func noteFarAssignment(_ raw: RawObject, _ offset: UInt16) {
        changes.assignFar(raw.name, offset)
    }

    /// Notes why the transaction cannot go on: committing it throws the same error.
    override final func fail(_ error: StoreError, _ message: String) {
        if !hasEnded { refuseCommit(error) }
        report(error, message)
        noteLogged(CoreStoreError(error))
    }

    final func noteLogged(_ error: CoreStoreError) { lastLogged = error }

    /// Whether the log has the error that ends the transaction already, from the call that met it.
    final func hasLogged(_ error: CoreStoreError) -> Bool {
        guard case .internalError(let known) = lastLogged, case .internalError(let ending) = error
        else { return false }
        return known === ending
            || error.storeError != nil && error.storeError == lastLogged?.storeError
    }

    /// Every fetch throws the failure from then on: what it finds may rest on what was made up.
    override final func throwFault() throws(StoreError) {
        // A value that was refused leaves everything else as it was.
        if let failure, failure.code != .invalidArgument { throw failure }
    }

    final func refuseCommit(_ error: StoreError) { failure = failure ?? error }

    /// Called when nothing is left of what failed.
    final func forgetFailure() { failure = nil }

    /// Creates an object with its defaults.
    final func create(_ kind: ObjectKind) throws(StoreError) -> CoreStoreObject {
        let number = try nextNumber(for: kind)
        var row = kind.entity.emptyRow(sizeInBytes: sizeOfNext(kind))
        // Before there is an object: the program's closures may fetch, which would store it without
        // the rest.
        do throws(StoreError) {
            for initial in kind.model.initialValues {
                row.setValue(try initial.make(), initial.field)
            }
        } catch {
            row.deallocate()
            throw error
        }
        let object = make(number, kind)
        object.row = FieldRow(row)
        changes.create(object, kind)
        return object
    }

    /// Creates an object that has its number and its row from another context. An object that was
    /// deleted here, or was to be created before, is the same one again.
    final func adopt(
        _ number: ObjectNumber, _ kind: ObjectKind, row: RowBuffer
    ) -> CoreStoreObject {
        let known = kind.objects.object(number)
        known?.apply(.rewind)
        let object = known ?? make(number, kind)
        if known != nil { forgetRow(of: object) }
        object.row = FieldRow(row)
        changes.create(object, kind)
        return object
    }

    /// The size of the next object's row, estimated by the last one's: rows of one kind are about
    /// equally long, and a block that is large enough from the beginning is not copied.
    private func sizeOfNext(_ kind: ObjectKind) -> Int {
        guard let last = changes.created.last, last.raw?.kind === kind else { return 0 }
        return last.row.buffer.sizeOfNext
    }

    /// An object with its defaults that no store will ever see.
    final func detached(_ entity: EntityLayout, in store: AttachedStore) -> CoreStoreObject {
        let kind = ObjectKind(context: self, store: store, entity: entity)
        let object = make(ObjectNumber(0), kind)
        object.row = FieldRow(entity.emptyRow())
        return object
    }

    /// How many objects of a class, or of one below it, were created.
    final func createdCount<O: CoreStoreObject>(_ type: O.Type) -> Int {
        accesses.reduce(0) { $0 + $1.createdCount(type) }
    }

    /// The objects of a class that were created, or updated.
    final func changedObjects<O: DynamicObject & Hashable>(
        _ kind: ObjectChangeState.Kind, _ type: O.Type
    ) -> Set<O> {
        var objects: Set<O> = []
        do throws(StoreError) {
            try changes.forEachChanged(kind) { name throws(StoreError) in
                guard name.store.isObject(of: name.tag, a: type) else { return }
                let hierarchy = name.store.database.schema.knownEntity(tag: name.tag).hierarchy
                let object = try self.object(name.number, in: hierarchy, of: name.store)
                if let object = object as? O { objects.insert(object) }
            }
        } catch {
            fail(error, "changed objects could not be read.")
        }
        return objects
    }

    /// The objects of a class that were deleted, made now where a statement deleted their records.
    final func deletedObjects<O: DynamicObject & Hashable>(_ type: O.Type) -> Set<O> {
        for name in changes.deletedRecords(type) {
            guard let access = openedAccess(to: name.store) else { continue }
            let kind = access.kind(name.tag, in: self)
            guard kind.objects.object(name.number) == nil else { continue }
            let object = make(name.number, kind)
            object.apply(.delete)
            changes.list(object)
        }
        return Set(changes.removed.compactMap { $0 as? O })
    }

    // MARK: Reading

    /// The record of an object that was deleted unchanged may be gone from the reader already.
    override final func storedRow(
        of object: CoreStoreObject, _ raw: RawObject
    ) throws(StoreError) -> RowBuffer? {
        if object.change == .deleted,
            let row = try readerBefore(for: raw.store).row(raw.number, in: raw.entity.hierarchy)
        {
            return row
        }
        return try super.storedRow(of: object, raw)
    }

    override final func linkedNumbers(
        of object: CoreStoreObject, _ raw: RawObject, _ relationship: RelationshipLayout
    ) throws(StoreError) -> [ObjectNumber] {
        guard relationship.byteOffset == nil else {
            return try storedLinkedNumbers(of: object, raw, relationship)
        }
        if object.change == .deleted,
            let targets = changes.links.deletedLists[key(relationship, raw)]
        {
            return targets
        }
        if relationship.hasEdges, let list = changes.links.lists[key(relationship, raw)] {
            return list.targets.numbers
        }
        let numbers = try storedLinkedNumbers(of: object, raw, relationship)
        guard relationship.mirrorsToOne, !changes.links.isEmpty,
            let mirror = changes.links.mirror(key(relationship, raw))
        else { return numbers }
        return mirror.over(numbers)
    }

    // MARK: Entered by objects; see the extensions

    override final func setLinkedObjects(
        _ objects: [CoreStoreObject], of object: CoreStoreObject, _ raw: RawObject,
        relationshipID: Int
    ) {
        link(objects, to: object, raw, relationshipID)
    }

    override final func setLinkedObject(
        _ target: CoreStoreObject?, of object: CoreStoreObject, _ raw: RawObject,
        relationshipID: Int
    ) {
        link(target, to: object, raw, relationshipID)
    }

    override final func refresh(_ object: CoreStoreObject, keepsChanges: Bool) {
        refreshEdited(object, keepsChanges: keepsChanges)
    }
}
