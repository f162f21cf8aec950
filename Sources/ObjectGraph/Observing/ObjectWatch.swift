import Query
import RecordStore

/// An object that is observed, with the paths to values of others whose changes count as its own.
struct ObjectWatch {
    let id: NSManagedObjectID
    let paths: [[String]]
    private let watched: WatchedPaths?
    /// Whether the last step could not be compared.
    private var hasMissed = false

    init(_ id: NSManagedObjectID, _ paths: [[String]], _ stack: DataStack) {
        self.id = id
        self.paths = paths
        guard !paths.isEmpty, let store = stack.store(id.storeID) else {
            watched = nil
            return
        }
        do {
            watched = try WatchedPaths(paths, of: id.entity, store.database.schema)
        } catch {
            Log.error(CoreStoreError(error), "what an object is related to cannot be watched.")
            watched = nil
        }
    }

    /// - Parameter names: of properties of the object, and paths with dots, of which those that do
    ///   not lead to one value are left out.
    init(_ id: NSManagedObjectID, namesOf names: Set<KeyPathString>, _ stack: DataStack) {
        let schema = stack.store(id.storeID)?.database.schema
        let paths = names.filter { $0.contains(".") }.sorted()
            .map { $0.split(separator: ".").map(String.init) }
            .filter { path in
                schema.map { (try? WatchedPaths([path], of: id.entity, $0)) != nil } ?? false
            }
        self.init(id, paths, stack)
    }

    /// The effect of a step on the object, and the names of the changes: of its own properties, and
    /// of watched paths with dots.
    ///
    /// A step that cannot be compared has no effect. The next step of the store compensates for it:
    /// the earlier state is gone by then, so that every property of the object counts as changed.
    ///
    /// - Parameter failure: the message for a step that cannot be compared.
    mutating func fate(
        in delivery: Delivery, _ failure: String
    ) -> (fate: Delivery.Fate, names: Set<KeyPathString>) {
        guard let store = delivery.stack.store(id.storeID) else { return (.none, []) }
        do throws(StoreError) {
            let found = try fate(in: delivery, store)
            guard hasMissed, let after = delivery.readerAfter(store) else { return found }
            let entity = try after.entity(of: id.number, in: id.entity.hierarchy)
            hasMissed = false
            guard let entity else { return (.deleted, []) }
            let watched = paths.map { $0.joined(separator: ".") }
            return (.updated, entity.propertyNames.union(watched))
        } catch {
            if !hasMissed { delivery.stack.faults.report(CoreStoreError(error), failure) }
            hasMissed = true
            return (.none, [])
        }
    }

    private func fate(
        in delivery: Delivery, _ store: AttachedStore
    ) throws(StoreError) -> (fate: Delivery.Fate, names: Set<KeyPathString>) {
        var (fate, names) = try delivery.fate(of: id.number, id.entity, in: store)
        guard fate != .deleted, let watched, let (before, after, _) = delivery.readers(of: store)
        else { return (fate, names) }
        names.formUnion(try watched.differences(of: id.number, before, after))
        if !names.isEmpty { fate = .updated }
        return (fate, names)
    }

}

extension RecordReader {
    /// The entity of an object itself, which may be below the one that it was asked for by; nil
    /// when it is not there.
    func entity(
        of number: ObjectNumber, in hierarchy: HierarchyID
    ) throws(StoreError) -> EntityLayout? {
        try withRow(number, in: hierarchy) { schema.knownEntity(tag: $0.entityTag) }
    }
}

extension EntityLayout {
    /// The names of all properties and relationships.
    var propertyNames: Set<KeyPathString> {
        Set(fields.map(\.name) + relationships.map(\.name))
    }
}

extension DataStack {
    /// The object of an ID that the view has made, also when it has been deleted since.
    func knownObject(_ id: NSManagedObjectID) -> CoreStoreObject? {
        guard let store = store(id.storeID) else { return nil }
        return withView { $0.registered(id.number, in: id.entity.hierarchy, of: store) }
    }
}
