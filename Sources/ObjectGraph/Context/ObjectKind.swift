import RecordStore

/// The identity of an object in a context.
struct ObjectName: Hashable {
    var storeID: UUID
    var hierarchy: HierarchyID
    var number: ObjectNumber
}

/// The part that all objects of one entity in one context share, so that an object carries one
/// reference.
final class ObjectKind {
    let context: ObjectContext
    /// The context, where several threads may share its objects.
    let shared: ReadContext?
    let store: AttachedStore
    let entity: EntityLayout
    let storeEntity: StoreEntity
    let model: AttachedStore.ClassModel
    /// The live objects of the entity's hierarchy.
    let objects: IdentityMap
    /// The changes of the hierarchy whose objects the context has evicted; nil where nothing is
    /// changed.
    let evicted: EvictedChanges?
    /// Nil where all that an object has is in its record.
    let transients: TransientValues?
    /// Whether to-one links may lead to an object that it does not know of.
    let hasUnmirroredSources: Bool
    /// How many objects of the entity the context created.
    var createdCount = 0

    init(
        context: ObjectContext, store: AttachedStore, entity: EntityLayout,
        objects: IdentityMap = IdentityMap(), evicted: EvictedChanges? = nil
    ) {
        guard let model = store.classes[entity.tag] else {
            Log.abort("the entity \(entity.name) has no class in the stack's schema")
        }
        self.context = context
        shared = context as? ReadContext
        self.store = store
        self.entity = entity
        storeEntity = store.storeEntity(for: entity)
        self.model = model
        transients = model.hasTransients ? TransientValues() : nil
        self.objects = objects
        self.evicted = evicted
        hasUnmirroredSources = store.database.schema.relationships(to: entity).contains {
            $0.inverseID == nil && $0.kind == .toOne
        }
    }

    /// An object that no identity map has yet, without its row.
    @inline(__always)
    func newObject(_ number: ObjectNumber) -> CoreStoreObject {
        let saved = FieldPlan.replace(with: model.plan)
        defer { FieldPlan.restore(saved) }
        let object = model.type.init(rawObject: RawObject(kind: self, number: number))
        if model.hasLegacyProperties { LegacyProperty.adopt(object) }
        return object
    }
}
