import RecordStore

// What a transaction did so far.
extension BaseDataTransaction {
    /// Whether an object has values or links that differ from the stored ones.
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

    /// Reads the objects of the transaction again where it may see other values than they have.
    /// What the transaction changed stays changed.
    public func refreshAndMergeAllObjects() {
        checkOpen()
        for object in context.accesses.flatMap(\.liveObjects) { object.refreshAndMerge() }
    }

    /// Objects of a class, subclasses included, that were created.
    public func insertedObjects<O: DynamicObject & Hashable>(_ entity: O.Type) -> Set<O> {
        objects(.inserted, entity)
    }
    public func insertedObjectIDs() -> Set<NSManagedObjectID> {
        insertedObjectIDs(CoreStoreObject.self)
    }
    public func insertedObjectIDs<O: DynamicObject>(_ entity: O.Type) -> Set<NSManagedObjectID> {
        ids(.inserted, entity)
    }

    /// Objects of a class, subclasses included, that were changed.
    public func updatedObjects<O: DynamicObject & Hashable>(_ entity: O.Type) -> Set<O> {
        objects(.updated, entity)
    }
    public func updatedObjectIDs() -> Set<NSManagedObjectID> {
        updatedObjectIDs(CoreStoreObject.self)
    }
    public func updatedObjectIDs<O: DynamicObject>(_ entity: O.Type) -> Set<NSManagedObjectID> {
        ids(.updated, entity)
    }

    /// Objects of a class, subclasses included, that were deleted.
    public func deletedObjects<O: DynamicObject & Hashable>(_ entity: O.Type) -> Set<O> {
        objects(.deleted, entity)
    }
    public func deletedObjectIDs() -> Set<NSManagedObjectID> {
        deletedObjectIDs(CoreStoreObject.self)
    }
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
