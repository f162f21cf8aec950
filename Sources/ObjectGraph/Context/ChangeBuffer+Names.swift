import RecordStore

/// All changes of a context, including those whose objects were evicted.
extension ChangeBuffer {
    /// A changed object: its store, its number and the tag of its entity.
    typealias ChangedName = (store: AttachedStore, number: ObjectNumber, tag: UInt16)

    /// The names of what was created, or updated, and is not deleted: some of them twice.
    func forEachChanged<Failure>(
        _ kind: ObjectChangeState.Kind, _ body: (ChangedName) throws(Failure) -> Void
    ) throws(Failure) {
        for table in evicted {
            let store = table.store
            for object in kind == .inserted ? created : touched where object.change.kind == kind {
                guard let raw = object.raw, raw.store === store else { continue }
                try body((store, raw.number, raw.entity.tag))
            }
            for changes in table.all {
                if kind == .inserted {
                    try changes.forEachCreated { number, tag throws(Failure) in
                        try body((store, number, tag))
                    }
                } else {
                    try changes.forEachUpdated { number, tag throws(Failure) in
                        try body((store, number, tag))
                    }
                }
            }
        }
    }

    /// The IDs of the objects of a class that were created, or updated.
    func changedIDs<O: DynamicObject>(
        _ kind: ObjectChangeState.Kind, _ type: O.Type
    ) -> Set<NSManagedObjectID> {
        var ids: Set<NSManagedObjectID> = []
        forEachChanged(kind) { name in
            guard name.store.isObject(of: name.tag, a: type) else { return }
            let entity = name.store.database.schema.knownEntity(tag: name.tag)
            ids.insert(NSManagedObjectID(name.number, in: name.store.storeEntity(for: entity)))
        }
        return ids
    }

    /// The names of what statements deleted by its records.
    func deletedRecords<O: DynamicObject>(_ type: O.Type) -> [ChangedName] {
        var names: [ChangedName] = []
        for table in evicted {
            for changes in table.all {
                changes.forEachDeletedRecord { number, tag in
                    guard table.store.isObject(of: tag, a: type) else { return }
                    names.append((table.store, number, tag))
                }
            }
        }
        return names
    }

    /// The IDs of the objects of a class that were deleted.
    func deletedIDs<O: DynamicObject>(_ type: O.Type) -> Set<NSManagedObjectID> {
        var ids = Set(removed.compactMap { ($0 as? O)?.objectID() })
        for name in deletedRecords(type) {
            let entity = name.store.database.schema.knownEntity(tag: name.tag)
            ids.insert(NSManagedObjectID(name.number, in: name.store.storeEntity(for: entity)))
        }
        return ids
    }
}
