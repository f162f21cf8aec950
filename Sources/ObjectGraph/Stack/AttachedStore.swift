import Query
import RecordStore
import struct Synchronization.Atomic

/// A storage that a stack has open.
final class AttachedStore: @unchecked Sendable {
    /// A class as the store's schema lays it out.
    final class ClassModel {
        let type: CoreStoreObject.Type
        let plan: FieldPlan
        /// A closure that makes the first value of a property for each new object.
        typealias InitialValue = (field: FieldLayout, make: () throws(StoreError) -> Value)
        let initialValues: [InitialValue]
        /// Whether objects may keep values that are in no record.
        let hasTransients: Bool
        /// Whether objects of the class have properties that must be told whose they are.
        let hasLegacyProperties: Bool
        /// The rules that commits check.
        let rules: EntityRules

        init(
            type: CoreStoreObject.Type, plan: FieldPlan, initialValues: [InitialValue],
            hasTransients: Bool, rules: EntityRules
        ) {
            self.type = type
            self.plan = plan
            self.initialValues = initialValues
            self.hasTransients = hasTransients
            hasLegacyProperties = ClassMeta.of(type).hasLegacyProperties
            self.rules = rules
        }
    }

    let storage: any StorageInterface
    let database: RecordDatabase
    /// The part that the stacks of this process share; nil for a store in memory, and for one that
    /// is open for reading.
    let shared: SharedStore?
    let id: UUID
    /// For the conditions that name objects of the store.
    let identity: StoreIdentity
    /// By the tag of the entity.
    let classes: [UInt16: ClassModel]
    /// Class to entity.
    let entities: [ObjectIdentifier: EntityLayout]
    /// By the tag of the entity; nil where an entity of the tag is gone.
    private let storeEntities: [StoreEntity?]
    /// By the number of the unique constraint.
    private let conflictPolicies: [Int: UniqueConflictPolicy]
    /// Whether any class has a rule of whole objects.
    let hasObjectRules: Bool
    private let detached = Atomic<Bool>(false)

    /// Set when the stack has removed the storage: nothing of it is read or told any more.
    var isDetached: Bool { detached.load(ordering: .acquiring) }

    var configuration: ModelConfiguration { storage.configuration }
    /// The durability that a transaction waits for unless its call names another.
    var durability: Durability { (storage as? LocalStore)?.engineOptions.durability ?? .durable }

    /// About what a transaction may keep in changed objects before it lets them go.
    var changedBytesMax: Int {
        let options = (storage as? LocalStore)?.engineOptions ?? EngineOptions()
        return options.changedBytesMax
    }

    init(
        storage: any StorageInterface, database: RecordDatabase, shared: SharedStore?,
        model: SchemaModel
    ) {
        self.storage = storage
        self.database = database
        self.shared = shared
        id = database.storeID
        identity = StoreIdentity(database.storeID, moved: database.identities.moved)
        var classes: [UInt16: ClassModel] = [:]
        var entities: [ObjectIdentifier: EntityLayout] = [:]
        for entity in database.schema.entities {
            guard let type = model.classes[entity.name] else { continue }
            classes[entity.tag] = Self.model(
                type, entity, Self.rules(of: entity, database.schema, model))
            entities[ObjectIdentifier(type)] = entity
        }
        self.classes = classes
        self.entities = entities
        hasObjectRules = classes.values.contains { !$0.rules.objects.isEmpty }
        conflictPolicies = Self.conflictPolicies(database.schema, model)
        storeEntities = (0...database.schema.tagMax).map { tag in
            database.schema.entity(tag: UInt16(tag)).map {
                StoreEntity(
                    storeID: database.storeID, entity: $0,
                    name: database.identities.name(of: $0))
            }
        }
    }

    func noteDetached() { detached.store(true, ordering: .releasing) }

    /// Ends the stack's use of the store, and closes it where no other stack has it.
    func close() throws(StoreError) {
        noteDetached()
        if let shared { try shared.leave(self) } else { try database.close() }
    }

    /// Whether an entity's class is one or below it.
    func isObject<O: DynamicObject>(of tag: UInt16, a type: O.Type) -> Bool {
        classes[tag]?.type is O.Type
    }

    func conflictPolicy(of constraint: IndexLayout) -> UniqueConflictPolicy {
        conflictPolicies[constraint.id] ?? .transactionWins
    }

    private static func conflictPolicies(
        _ schema: Schema, _ model: SchemaModel
    ) -> [Int: UniqueConflictPolicy] {
        var policies: [Int: UniqueConflictPolicy] = [:]
        for index in schema.indexes where index.isUnique {
            let name = schema.knownEntity(tag: index.entityTag).name
            let columns = index.columns.map(\.name)
            let entities = model.constrained[name] ?? model.entities[name].map { [$0] } ?? []
            for entity in entities {
                guard let position = entity.uniqueConstraints.firstIndex(of: columns) else {
                    continue
                }
                policies[index.id] = entity.conflictPolicies[position]
                break
            }
        }
        return policies
    }

    /// The rules of an entity and of those above it, the topmost first.
    private static func rules(
        of entity: EntityLayout, _ schema: Schema, _ model: SchemaModel
    ) -> EntityRules {
        let rules = entity.ancestorTags.reversed().flatMap { tag in
            model.entities[schema.knownEntity(tag: tag).name]?.rules ?? []
        }
        return EntityRules(rules) { entity.field(named: $0)?.byteOffset }
    }

    /// The part of IDs that all objects of an entity share.
    func storeEntity(for entity: EntityLayout) -> StoreEntity {
        guard let storeEntity = storeEntities[Int(entity.tag)] else {
            preconditionFailure("a store has a storeEntity for each of its entities")
        }
        return storeEntity
    }

    /// An ID of this store as one of its present model; nil if the model has no such entity.
    func own(_ id: NSManagedObjectID) -> NSManagedObjectID? {
        let tag = Int(id.entity.tag)
        if tag < storeEntities.count, storeEntities[tag] === id.storeEntity { return id }
        return self.id(id.reference)
    }

    /// The ID of an object that the store or an earlier model of it has named; nil if it has no
    /// such entity any more. The object itself may be gone.
    func id(_ reference: ObjectReference) -> NSManagedObjectID? {
        guard let object = identity.resolve(reference),
            let entity = database.schema.entity(named: object.entity)
        else { return nil }
        return NSManagedObjectID(object.number, in: storeEntity(for: entity))
    }

    private static func model(
        _ type: CoreStoreObject.Type, _ entity: EntityLayout, _ rules: EntityRules
    ) -> ClassModel {
        let declarations = ClassMeta.of(type).declarations
        let slots = declarations.map { slot(of: $0, entity) }
        var initials: [ClassModel.InitialValue] = []
        for declaration in declarations {
            guard let make = declaration.kind.attribute?.initialValue,
                let field = entity.field(named: declaration.keyPath)
            else { continue }
            initials.append((field, make))
        }
        return ClassModel(
            type: type, plan: FieldPlan(slots), initialValues: initials,
            hasTransients: declarations.contains(where: \.isTransient), rules: rules)
    }

    /// The content of an object's wrapper: the offset of a plain attribute, the number of a
    /// relationship, or the index of the declaration where reading or writing takes more.
    private static func slot(of declaration: FieldDeclaration, _ entity: EntityLayout) -> UInt16 {
        let own = declaration.index | FieldRegistry.declarationBit
        switch declaration.kind {
        case .stored:
            guard declaration.isPlain, let field = entity.field(named: declaration.keyPath)
            else { return own }
            return UInt16(field.byteOffset)
        case .relationship:
            guard let relationship = entity.relationship(named: declaration.keyPath) else {
                return own
            }
            return UInt16(relationship.id)
        case .coded, .virtual: return own
        }
    }
}
