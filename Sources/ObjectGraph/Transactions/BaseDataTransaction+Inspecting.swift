import RecordStore

// The changes of a transaction so far.
extension BaseDataTransaction {
    /// Whether an object has values or links that differ from the stored ones. A value that was
    /// changed and changed back does not count.
    ///
    /// It reads the object's record; for one that cannot be read it returns false, and the commit
    /// throws.
    public func objectHasPersistentChangedValues<O: DynamicObject>(_ object: O) -> Bool {
        checkOpen()
        guard let object = object as? CoreStoreObject else { return false }
        do throws(StoreError) {
            return try context.hasChangedValues(object)
        } catch {
            context.fail(error, "the stored values of an object could not be read.")
            return false
        }
    }

    /// Reads the transaction's objects again, so that they show the newest values the transaction
    /// may see. Its own changes stay.
    public func refreshAndMergeAllObjects() {
        checkOpen()
        for object in context.accesses.flatMap(\.liveObjects) { object.refreshAndMerge() }
    }

    /// The objects of a class and its subclasses that the transaction created.
    public func insertedObjects<O: DynamicObject & Hashable>(_ entity: O.Type) -> Set<O> {
        objects(.inserted, entity)
    }
    /// The IDs of all objects that the transaction created. They are final: a commit does not
    /// change them.
    public func insertedObjectIDs() -> Set<NSManagedObjectID> {
        insertedObjectIDs(CoreStoreObject.self)
    }
    /// The IDs of the objects of a class and its subclasses that the transaction created.
    public func insertedObjectIDs<O: DynamicObject>(_ entity: O.Type) -> Set<NSManagedObjectID> {
        ids(.inserted, entity)
    }

    /// The objects of a class and its subclasses that the transaction changed.
    public func updatedObjects<O: DynamicObject & Hashable>(_ entity: O.Type) -> Set<O> {
        objects(.updated, entity)
    }
    /// The IDs of all objects that the transaction changed.
    public func updatedObjectIDs() -> Set<NSManagedObjectID> {
        updatedObjectIDs(CoreStoreObject.self)
    }
    /// The IDs of the objects of a class and its subclasses that the transaction changed.
    public func updatedObjectIDs<O: DynamicObject>(_ entity: O.Type) -> Set<NSManagedObjectID> {
        ids(.updated, entity)
    }

    /// The objects of a class and its subclasses that the transaction deleted, by delete rules too.
    public func deletedObjects<O: DynamicObject & Hashable>(_ entity: O.Type) -> Set<O> {
        objects(.deleted, entity)
    }
    /// The IDs of all objects that the transaction deleted, by delete rules too.
    public func deletedObjectIDs() -> Set<NSManagedObjectID> {
        deletedObjectIDs(CoreStoreObject.self)
    }
    /// The IDs of the objects of a class and its subclasses that the transaction deleted.
    public func deletedObjectIDs<O: DynamicObject>(_ entity: O.Type) -> Set<NSManagedObjectID> {
        ids(.deleted, entity)
    }

    // MARK: By classes

    private func objects<O: DynamicObject & Hashable>(
        _ kind: ObjectChangeState.Kind, _ entity: O.Type
    ) -> Set<O> {
        checkOpen()
        return kind == .deleted
            ? context.deletedObjects(entity) : context.changedObjects(kind, entity)
    }

    private func ids<O: DynamicObject>(
        _ kind: ObjectChangeState.Kind, _ entity: O.Type
    ) -> Set<NSManagedObjectID> {
        checkOpen()
        return kind == .deleted
            ? context.changes.deletedIDs(entity) : context.changes.changedIDs(kind, entity)
    }
}
