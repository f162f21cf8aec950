import Query
import RecordStore

/// An object that is observed, with the paths to values of others whose changes count as its own.
struct ObjectWatch {
    let id: NSManagedObjectID
    let paths: [[String]]
    private let watched: WatchedPaths?

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

    /// What a step does to the object, and the names of what differs: of its own properties, and of
    /// watched paths with dots.
    func fate(
        in delivery: Delivery
    ) throws(StoreError) -> (fate: Delivery.Fate, names: Set<KeyPathString>) {
        guard let store = delivery.stack.store(id.storeID) else { return (.none, []) }
        var (fate, names) = try delivery.fate(of: id.number, id.entity, in: store)
        guard fate != .deleted, let watched, let (before, after, _) = delivery.readers(of: store)
        else { return (fate, names) }
        names.formUnion(try watched.differences(of: id.number, before, after))
        if !names.isEmpty { fate = .updated }
        return (fate, names)
    }
}
