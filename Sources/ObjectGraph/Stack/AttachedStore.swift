import RecordStore

/// A storage that a stack has open.
final class AttachedStore: @unchecked Sendable {
    /// A class as the store's schema lays it out.
    final class ClassModel {
        let type: CoreStoreObject.Type
        let plan: FieldPlan
        let dynamicInitialValues: [(field: FieldLayout, make: () -> Any?)]

        init(
            type: CoreStoreObject.Type, plan: FieldPlan,
            dynamicInitialValues: [(field: FieldLayout, make: () -> Any?)]
        ) {
            self.type = type
            self.plan = plan
            self.dynamicInitialValues = dynamicInitialValues
        }
    }

    let storage: any StorageInterface
    let database: RecordDatabase
    let id: UUID
    /// By the tag of the entity.
    let classes: [UInt16: ClassModel]
    /// Class to entity.
    let entities: [ObjectIdentifier: EntityLayout]
    /// By the tag of the entity, the first of which is 1.
    private let homes: [StoreEntity]

    var configuration: ModelConfiguration { storage.configuration }
    /// What a transaction waits for unless its call says otherwise.
    var durability: Durability { (storage as? LocalStore)?.engineOptions.durability ?? .durable }

    /// About what a transaction may keep in changed objects before it lets them go.
    var changedBytesMax: Int {
        let options = (storage as? LocalStore)?.engineOptions ?? EngineOptions()
        return options.changedBytesMax
    }

    init(storage: any StorageInterface, database: RecordDatabase, model: SchemaModel) {
        self.storage = storage
        self.database = database
        id = database.storeID
        var classes: [UInt16: ClassModel] = [:]
        var entities: [ObjectIdentifier: EntityLayout] = [:]
        for entity in database.schema.entities {
            guard let type = model.classes[entity.name] else { continue }
            classes[entity.tag] = Self.model(type, entity)
            entities[ObjectIdentifier(type)] = entity
        }
        self.classes = classes
        self.entities = entities
        homes = database.schema.entities.map { StoreEntity(storeID: database.storeID, entity: $0) }
    }

    /// What the IDs of an entity's objects share.
    func home(of entity: EntityLayout) -> StoreEntity { homes[Int(entity.tag) - 1] }

    private static func model(_ type: CoreStoreObject.Type, _ entity: EntityLayout) -> ClassModel {
        let declarations = ClassMeta.of(type).declarations
        let slots = declarations.map { slot(of: $0, entity) }
        var initials: [(field: FieldLayout, make: () -> Any?)] = []
        for declaration in declarations {
            guard let make = declaration.dynamicInitialValue,
                let field = entity.field(named: declaration.keyPath)
            else { continue }
            initials.append((field, make))
        }
        return ClassModel(
            type: type, plan: FieldPlan(slots), dynamicInitialValues: initials)
    }

    /// What the wrapper of an object holds: the offset of a plain attribute, the number of a
    /// relationship, and the declaration itself where reading or writing takes more.
    private static func slot(of declaration: FieldDeclaration, _ entity: EntityLayout) -> UInt16 {
        let own = declaration.index | FieldRegistry.declarationBit
        switch declaration.content {
        case .stored:
            guard !declaration.isCustom, let field = entity.field(named: declaration.keyPath)
            else { return own }
            return UInt16(field.byteOffset)
        case .relationship:
            guard let relationship = entity.relationship(named: declaration.keyPath) else {
                return own
            }
            return UInt16(relationship.id)
        }
    }
}
