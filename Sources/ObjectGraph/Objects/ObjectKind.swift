import RecordStore

/// What names an object in a context.
struct ObjectName: Hashable {
    var storeID: UUID
    var hierarchy: HierarchyID
    var number: ObjectNumber
}

/// What the objects of one entity in one context share, so that an object carries one reference.
final class ObjectKind {
    let context: ObjectContext
    let store: AttachedStore
    let entity: EntityLayout
    let home: StoreEntity
    let model: AttachedStore.ClassModel
    /// The live objects of the entity's hierarchy.
    let objects: IdentityMap
    /// What the context changed in the hierarchy and let go of.
    let released: ReleasedChanges
    /// Whether to-one links may lead to an object that it does not know of.
    let hasUnmirroredSources: Bool
    /// How many objects of the entity the context created.
    var createdCount = 0

    init(
        context: ObjectContext, store: AttachedStore, entity: EntityLayout,
        objects: IdentityMap = IdentityMap(), released: ReleasedChanges = ReleasedChanges()
    ) {
        guard let model = store.classes[entity.tag] else {
            Log.abort("the entity \(entity.name) has no class in the stack's schema")
        }
        self.context = context
        self.store = store
        self.entity = entity
        home = store.home(of: entity)
        self.model = model
        self.objects = objects
        self.released = released
        hasUnmirroredSources = store.database.schema.relationships(to: entity).contains {
            $0.inverseID == nil && $0.kind == .toOne
        }
    }
}

/// What a context has of one store: how it reads it, and the objects that live.
///
/// Objects keep their context through their kinds, and the context its kinds through this: who
/// ends a context drops its accesses.
final class StoreAccess {
    let store: AttachedStore
    var reader: RecordReader
    private let kinds: ReferenceTable<ObjectKind>
    private let objects: ReferenceTable<IdentityMap>
    private let releasedByRoot: ReferenceTable<ReleasedChanges>

    init(_ store: AttachedStore, _ reader: RecordReader) {
        self.store = store
        self.reader = reader
        let count = store.database.schema.entities.count
        kinds = ReferenceTable(count: count)
        objects = ReferenceTable(count: count)
        releasedByRoot = ReferenceTable(count: count)
    }

    func kind(_ tag: UInt16, in context: ObjectContext) -> ObjectKind {
        let index = Int(tag) - 1
        if let known = kinds[index] { return known }
        let entity = store.database.schema.knownEntity(tag: tag)
        let kind = ObjectKind(
            context: context, store: store, entity: entity, objects: map(entity.hierarchy),
            released: released(entity.hierarchy))
        kinds[index] = kind
        return kind
    }

    private func map(_ hierarchy: HierarchyID) -> IdentityMap {
        let index = Int(hierarchy.rootTag) - 1
        if let known = objects[index] { return known }
        let map = IdentityMap()
        objects[index] = map
        return map
    }

    private func released(_ hierarchy: HierarchyID) -> ReleasedChanges {
        let index = Int(hierarchy.rootTag) - 1
        if let known = releasedByRoot[index] { return known }
        let changes = ReleasedChanges()
        releasedByRoot[index] = changes
        return changes
    }

    /// What was changed and let go, hierarchy by hierarchy.
    var released: [ReleasedChanges] { releasedByRoot.all }

    /// How many objects of a class, or of one below it, the context created.
    func createdCount<O: CoreStoreObject>(_ type: O.Type) -> Int {
        var count = 0
        for index in 0..<kinds.count {
            guard let kind = kinds[index], kind.createdCount > 0, kind.model.type is O.Type else {
                continue
            }
            count += kind.createdCount
        }
        return count
    }

    /// Whether an entity's class is one or below it.
    func isObject<O: CoreStoreObject>(of tag: UInt16, a type: O.Type) -> Bool {
        store.classes[tag]?.type is O.Type
    }

    /// All objects that live.
    var liveObjects: [CoreStoreObject] { objects.all.flatMap(\.liveObjects) }

    /// Forgets the objects of a context that ends.
    func forgetObjects() {
        for map in objects.all { map.removeAll() }
    }

    /// The live object of a number.
    func registered(_ number: ObjectNumber, in hierarchy: HierarchyID) -> CoreStoreObject? {
        let index = Int(hierarchy.rootTag) - 1
        return index >= 0 && index < objects.count ? objects[index]?.object(number) : nil
    }
}
