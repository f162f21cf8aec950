import RecordStore

/// A transaction may change more objects than memory holds. When those that it keeps have outgrown
/// their share, it hands them to the record transaction and lets them go. One that the program
/// still has goes on as it is; another is read again when it is asked for, and finds in
/// ``ReleasedChanges`` what its record does not say.
extension ObjectContext {
    /// What an object takes besides its row: itself, and its places in lists and tables.
    private static let objectSizeInBytes = 400

    /// Called where a program's call begins, so that no change is half done.
    func makeRoom() throws(StoreError) {
        guard role == .transaction else { return }
        measurePending()
        guard changedBytes > changedBytesLimit else { return }
        try flush()
        release()
    }

    /// The same for calls that cannot throw: the transaction fails where it commits.
    func makeRoomOrFail() {
        do throws(StoreError) {
            try makeRoom()
        } catch {
            fail(error, "the changes of a large transaction could not be written.")
        }
    }

    /// Adds up what became pending since the last time.
    func measurePending() {
        guard measuredCount < pending.count else { return }
        for object in pending[measuredCount...] {
            changedBytes += Self.objectSizeInBytes + object.row.buffer.sizeInMemory
        }
        measuredCount = pending.count
    }

    /// Lets go of what the record transaction has.
    private func release() {
        releaseListed()
        changedBytes = 0
        for list in [created, touched] {
            for object in list {
                changedBytes += Self.objectSizeInBytes + object.row.buffer.sizeInMemory
            }
        }
        // Objects that must stay are looked at again when there are twice as many.
        changedBytesLimit = max(changedBytesMax, changedBytes * 2)
    }

    /// Lets objects go one by one from the first to the last, so that each goes while the processor
    /// has it at hand, and lends those that must stay.
    func releaseEach(_ objects: inout [CoreStoreObject], _ keep: (CoreStoreObject) -> Void) {
        objects.reverse()
        while let object = objects.popLast() {
            if !release(object) { keep(object) }
        }
    }

    /// Notes what an object knows that its record does not, so that it may go. False when it must
    /// be asked again before the commit: a nil where a value is required may be filled until then,
    /// by a program that has the object in its hands.
    func release(_ object: CoreStoreObject) -> Bool {
        guard object.state != .deleted, let raw = object.raw else { return true }
        if object.isPending || object.isRowLoaded && hasMissingValues(object, raw) { return false }
        object.isListed = false
        let entry = ReleasedChanges.Entry(tag: raw.entity.tag, assigned: object.assigned)
        switch object.state {
        case .inserted: raw.kind.released.noteCreated(raw.number, entry)
        case .updated: raw.kind.released.noteUpdated(raw.number, entry)
        case .stored, .deleted: break
        }
        return true
    }

    private func hasMissingValues(_ object: CoreStoreObject, _ raw: RawObject) -> Bool {
        let row = object.row.buffer.view
        return raw.entity.requiredOffsets.contains { row.isNull(at: $0) }
    }

    /// Gives an object that was read again what it knew before it was let go.
    func restoreReleased(_ object: CoreStoreObject, _ number: ObjectNumber, _ kind: ObjectKind) {
        let (state, entry): (CoreStoreObject.State, ReleasedChanges.Entry)
        if let created = kind.released.created(number) {
            (state, entry) = (.inserted, created)
        } else if let updated = kind.released.updated(number) {
            (state, entry) = (.updated, updated)
        } else {
            return
        }
        object.state = state
        object.assigned = entry.assigned
        object.isFlushed = true
    }

    // MARK: All changes

    /// What names objects in one of the context's stores, with their entities.
    typealias ChangedName = (access: StoreAccess, number: ObjectNumber, tag: UInt16)

    /// The names of what was created, or updated, and is not deleted: some of them twice.
    func forEachChanged<Failure>(
        _ state: CoreStoreObject.State, _ body: (ChangedName) throws(Failure) -> Void
    ) throws(Failure) {
        for access in accesses {
            for object in state == .inserted ? created : touched where object.state == state {
                guard let raw = object.raw, raw.store === access.store else { continue }
                try body((access, raw.number, raw.entity.tag))
            }
            for released in access.released {
                if state == .inserted {
                    try released.forEachCreated { number, tag throws(Failure) in
                        try body((access, number, tag))
                    }
                } else {
                    try released.forEachUpdated { number, tag throws(Failure) in
                        try body((access, number, tag))
                    }
                }
            }
        }
    }

    func updatedNames(of store: AttachedStore) -> Set<CommittedChange.Name> {
        let released = accesses.first { $0.store === store }?.released ?? []
        var names = Set<CommittedChange.Name>(
            minimumCapacity: touched.count + released.reduce(0) { $0 + $1.updatedCount })
        let schema = store.database.schema
        forEachChanged(.updated) { name in
            guard name.access.store === store else { return }
            names.insert(
                CommittedChange.Name(
                    number: name.number, hierarchy: schema.knownEntity(tag: name.tag).hierarchy))
        }
        return names
    }

    func removedNames(of store: AttachedStore) -> Set<CommittedChange.Name> {
        var names = Set<CommittedChange.Name>(minimumCapacity: removed.count)
        for object in removed {
            guard let raw = object.raw, raw.store === store else { continue }
            names.insert(
                CommittedChange.Name(number: raw.number, hierarchy: raw.entity.hierarchy))
        }
        return names
    }

    /// The objects of a class that were created, or updated.
    func changedObjects<O: CoreStoreObject>(
        _ state: CoreStoreObject.State, _ type: O.Type
    ) -> Set<O> {
        var objects: Set<O> = []
        do throws(StoreError) {
            try forEachChanged(state) { name throws(StoreError) in
                guard name.access.isObject(of: name.tag, a: type) else { return }
                let hierarchy = name.access.store.database.schema.knownEntity(tag: name.tag)
                    .hierarchy
                let object = try self.object(name.number, in: hierarchy, of: name.access.store)
                if let object = object as? O { objects.insert(object) }
            }
        } catch {
            fail(error, "changed objects could not be read.")
        }
        return objects
    }

    /// The IDs of the objects of a class that were created, or updated.
    func changedIDs<O: CoreStoreObject>(
        _ state: CoreStoreObject.State, _ type: O.Type
    ) -> Set<NSManagedObjectID> {
        var ids: Set<NSManagedObjectID> = []
        forEachChanged(state) { name in
            guard name.access.isObject(of: name.tag, a: type) else { return }
            let store = name.access.store
            let entity = store.database.schema.knownEntity(tag: name.tag)
            ids.insert(NSManagedObjectID(name.number, in: store.home(of: entity)))
        }
        return ids
    }
}
