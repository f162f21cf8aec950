import Primitives
import RecordStore

/// How a context reads one store, and the objects of the store that live.
///
/// Objects retain their context through their kinds, and the context retains its kinds through
/// this: ending a context drops its accesses.
class StoreAccess {
    final let store: AttachedStore
    final var reader: RecordReader
    private final let evicted: EvictedTable?
    private final let kinds: UncheckedArray<ObjectKind?>
    private final let objects: UncheckedArray<IdentityMap?>

    /// - Parameter evicted: where the context keeps changes whose objects it evicts.
    init(_ store: AttachedStore, _ reader: RecordReader, evicted: EvictedTable? = nil) {
        self.store = store
        self.reader = reader
        self.evicted = evicted
        let count = store.database.schema.tagMax
        kinds = UncheckedArray(repeating: nil, count: count)
        objects = UncheckedArray(repeating: nil, count: count)
    }

    final func kind(_ tag: UInt16, in context: ObjectContext) -> ObjectKind {
        let index = Int(tag) - 1
        if let known = kinds[index] { return known }
        let entity = store.database.schema.knownEntity(tag: tag)
        let kind = ObjectKind(
            context: context, store: store, entity: entity, objects: map(entity.hierarchy),
            evicted: evicted?.changes(in: entity.hierarchy))
        kinds[index] = kind
        return kind
    }

    /// Makes all kinds, so that later lookups change nothing.
    final func makeKinds(in context: ObjectContext) {
        for entity in store.database.schema.entities where store.classes[entity.tag] != nil {
            _ = kind(entity.tag, in: context)
        }
    }

    private func map(_ hierarchy: HierarchyID) -> IdentityMap {
        let index = Int(hierarchy.rootTag) - 1
        if let known = objects[index] { return known }
        let map = IdentityMap()
        objects[index] = map
        return map
    }

    /// How many objects of a class, or of one below it, the context created.
    final func createdCount<O: CoreStoreObject>(_ type: O.Type) -> Int {
        var count = 0
        for index in 0..<kinds.count {
            guard let kind = kinds[index], kind.createdCount > 0, kind.model.type is O.Type else {
                continue
            }
            count += kind.createdCount
        }
        return count
    }

    /// The live objects of each hierarchy that has had any.
    final var identityMaps: [(hierarchy: HierarchyID, objects: IdentityMap)] {
        (0..<objects.count).compactMap { index in
            objects[index].map { (HierarchyID(rootTag: UInt16(index + 1)), $0) }
        }
    }

    /// All objects that live.
    final var liveObjects: [CoreStoreObject] { objects.compacted().flatMap(\.liveObjects) }

    /// Forgets the objects of a context that ends.
    final func forgetObjects() {
        for map in objects.compacted() { map.removeAll() }
    }

    /// The live object of a number.
    final func registered(
        _ number: ObjectNumber, in hierarchy: HierarchyID
    ) -> CoreStoreObject? {
        let index = Int(hierarchy.rootTag) - 1
        return index >= 0 && index < objects.count ? objects[index]?.object(number) : nil
    }
}
