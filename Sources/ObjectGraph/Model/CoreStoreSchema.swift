import RecordStore
import Synchronization

/// One version of a program's model: a ``CoreStoreSchema``, or a model without classes.
public protocol DynamicSchema: Sendable {
    /// The version's name.
    var modelVersion: ModelVersion { get }
}

/// A model version that says what it declares, with classes or without.
package protocol DescribedSchema: DynamicSchema {
    /// The entities of a configuration; nil for the default one, which has them all.
    func description(for configuration: ModelConfiguration) -> SchemaDescription
    /// The named configurations of each entity that has any; empty for a version without them.
    var configurationNames: [EntityName: Set<String>] { get }
}

extension CoreStoreSchema: DescribedSchema {
    package func description(for configuration: ModelConfiguration) -> SchemaDescription {
        model(for: configuration).description
    }

    package var configurationNames: [EntityName: Set<String>] {
        Dictionary(configurations.map { ($0.entityName, $1) }) { first, _ in first }
    }
}

/// A model version declared in code.
///
/// ```swift
/// CoreStoreSchema(
///     modelVersion: "V1",
///     entities: [Entity<Animal>("Animal", isAbstract: true), Entity<Dog>("Dog")])
/// ```
public final class CoreStoreSchema: DynamicSchema, Sendable {
    /// The version's name.
    public let modelVersion: ModelVersion
    let entities: [DynamicEntity]
    /// The named configurations of each entity.
    let configurations: [DynamicEntity: Set<String>]
    let model: SchemaModel

    /// A version whose entities all belong to the default configuration.
    ///
    /// - Parameters:
    ///   - modelVersion: the version's name.
    ///   - entities: the entities, each with a class of its own.
    ///   - versionLock: the hashes that the entities must have; a difference fails an assertion.
    ///     Without it a debug build logs the hashes to copy.
    public convenience init(
        modelVersion: ModelVersion, entities: [DynamicEntity], versionLock: VersionLock? = nil
    ) {
        self.init(
            modelVersion: modelVersion, entities: entities, configurations: [:],
            versionLock: versionLock)
    }

    /// A version whose entities also belong to named configurations, so that each configuration can
    /// be kept in a store of its own. Every entity belongs to the default configuration too.
    ///
    /// - Parameters:
    ///   - modelVersion: the version's name.
    ///   - entityConfigurations: the entities, each with the names of its configurations.
    ///   - versionLock: the hashes that the entities must have; a difference fails an assertion.
    public convenience init(
        modelVersion: ModelVersion, entityConfigurations: [DynamicEntity: Set<String>],
        versionLock: VersionLock? = nil
    ) {
        self.init(
            modelVersion: modelVersion,
            entities: entityConfigurations.keys.sorted { $0.entityName < $1.entityName },
            configurations: entityConfigurations, versionLock: versionLock)
    }

    private init(
        modelVersion: ModelVersion, entities: [DynamicEntity],
        configurations: [DynamicEntity: Set<String>], versionLock: VersionLock?
    ) {
        let twice = Dictionary(grouping: entities) { ObjectIdentifier($0.type) }
            .values.first { $0.count > 1 }?.first?.type
        Log.assert(
            twice == nil,
            "two entities of the schema \(modelVersion) have the class "
                + (twice.map { "\($0)" } ?? ""))
        let name = Dictionary(grouping: entities, by: \.entityName)
            .first { $0.value.count > 1 }?.key
        Log.assert(
            name == nil, "two entities of the schema \(modelVersion) have the name \(name ?? "")")
        self.modelVersion = modelVersion
        self.entities = entities
        self.configurations = configurations
        model = SchemaModel(modelVersion: modelVersion, entities: entities)
        let faults = InverseCheck.faults(of: model.description)
        Log.assert(faults.isEmpty, "the schema \(modelVersion): " + faults.joined(separator: "; "))
        // Hashing a whole model takes part in how long opening does.
        if let versionLock {
            let hashes = VersionLock(model.description)
            Log.assert(
                versionLock == hashes,
                "the schema \(modelVersion) differs from its version lock.\n"
                    + "The lock:\n\(versionLock)\nThe schema:\n\(hashes)")
        } else {
            #if DEBUG
                Log.message(
                    .notice,
                    "version lock of the schema \(modelVersion):\n"
                        + "\(VersionLock(model.description))")
            #endif
        }
    }

    /// The model of a configuration; nil for the default one.
    func model(for configuration: ModelConfiguration) -> SchemaModel {
        guard configuration != nil else { return model }
        return SchemaModel(
            modelVersion: modelVersion, entities: entities(in: configuration), of: entities)
    }

    /// The entities of a configuration; nil for the default one, which has them all.
    func entities(in configuration: ModelConfiguration) -> [DynamicEntity] {
        guard let configuration else { return entities }
        return entities.filter { configurations[$0]?.contains(configuration) == true }
    }
}

/// The stored description of a schema, and the classes of its entities.
final class SchemaModel: @unchecked Sendable {
    let description: SchemaDescription
    /// Class to entity name.
    let entityNames: [ObjectIdentifier: EntityName]
    /// Entity name to class.
    let classes: [EntityName: CoreStoreObject.Type]
    /// Entity name to what no file has of it.
    let entities: [EntityName: DynamicEntity]
    /// Entity name to the entities whose unique constraints it has: itself, and those above it that
    /// are of other configurations alone. Empty for the default configuration, which has them all.
    let constrained: [EntityName: [DynamicEntity]]

    /// - Parameter all: the entities of the whole schema, where these are those of a configuration.
    init(
        modelVersion: ModelVersion, entities: [DynamicEntity], of all: [DynamicEntity] = []
    ) {
        let names = Dictionary(
            entities.map { (ObjectIdentifier($0.type), $0.entityName) }
        ) { first, _ in first }
        entityNames = names
        classes = Dictionary(entities.map { ($0.entityName, $0.type) }) { first, _ in first }
        self.entities = Dictionary(entities.map { ($0.entityName, $0) }) { first, _ in first }
        constrained =
            all.isEmpty
            ? [:]
            : Dictionary(
                entities.map { entity in
                    (entity.entityName, [entity] + Self.elsewhere(above: entity, names, all))
                }
            ) { first, _ in first }
        let description = SchemaDescription(
            modelVersion: modelVersion,
            entities: entities.map {
                Self.describe(
                    $0, names, of: all, elsewhere: Set(all.map { ObjectIdentifier($0.type) }))
            })
        self.description = all.isEmpty ? description : InverseTable.withoutMissing(description)
    }

    private static func describe(
        _ entity: DynamicEntity, _ names: [ObjectIdentifier: EntityName], of all: [DynamicEntity],
        elsewhere: Set<ObjectIdentifier>
    ) -> EntityDescription {
        let superentity = superentity(of: entity.type, names)
        Log.assert(
            entity.uniqueConstraints.isEmpty || superentity == nil,
            "only the root of a hierarchy has unique constraints, and \(entity.entityName) has a "
                + "superentity")
        var description = EntityDescription(
            name: entity.entityName, className: "\(entity.type)", superentityName: superentity,
            isAbstract: entity.isAbstract, versionHashModifier: entity.versionHashModifier,
            previousName: entity.previousName, indexes: entity.indexes,
            uniqueConstraints: entity.uniqueConstraints)
        let owners = owners(of: entity.type, names)
        // A superclass whose entity is of other configurations alone gives what it declares.
        for above in Self.elsewhere(above: entity, names, all) {
            description.indexes += above.indexes
            description.uniqueConstraints += above.uniqueConstraints
        }
        var dropped: Set<String> = []
        let declarations = ClassMeta.of(entity.type).declarations
        func isElsewhere(_ relationship: RelationshipDeclaration) -> Bool {
            let target = ObjectIdentifier(relationship.destination)
            return names[target] == nil && elsewhere.contains(target)
        }
        for declaration in declarations {
            if case .relationship(let relationship) = declaration.kind, isElsewhere(relationship) {
                dropped.insert(declaration.keyPath)
            }
        }
        for declaration in declarations
        where owners.contains(declaration.terms.owner) {
            Log.assert(
                !reservedNames.contains(declaration.keyPath),
                "\(entity.entityName).\(declaration.keyPath) has a reserved name")
            switch declaration.kind {
            case .stored(let attribute), .coded(let attribute):
                description.attributes.append(
                    describe(declaration, attribute, of: entity.entityName))
            case .virtual:
                Log.assert(
                    declarations.count { $0.keyPath == declaration.keyPath } == 1,
                    "\(entity.entityName) has two properties named “\(declaration.keyPath)”")
                description.virtualNames.append(declaration.keyPath)
            case .relationship(let relationship):
                // To an entity of another configuration: no link leads out of a store.
                if isElsewhere(relationship) { continue }
                description.relationships.append(
                    describe(declaration, relationship, of: entity.entityName, names))
            }
        }
        description.indexes.removeAll { !dropped.isDisjoint(with: $0) }
        description.uniqueConstraints.removeAll { !dropped.isDisjoint(with: $0) }
        return description
    }

    /// Names that mean something else in conditions.
    private static let reservedNames: Set<String> = ["SELF", "self", "objectID"]

    private static func describe(
        _ declaration: FieldDeclaration, _ attribute: AttributeDeclaration,
        of entityName: String
    ) -> AttributeDescription {
        guard let type = attribute.type.attributeType else {
            Log.abort("\(entityName).\(declaration.keyPath) has a type that cannot be stored")
        }
        var isCoded = false
        if case .coded = declaration.kind { isCoded = true }
        return AttributeDescription(
            name: declaration.keyPath, type: type, isOptional: attribute.isOptional,
            defaultValue: attribute.defaultValue(), isCoded: isCoded,
            versionHashModifier: declaration.terms.versionHashModifier,
            previousName: declaration.terms.previousName)
    }

    private static func describe(
        _ declaration: FieldDeclaration, _ relationship: RelationshipDeclaration,
        of entityName: String, _ names: [ObjectIdentifier: EntityName]
    ) -> RelationshipDescription {
        guard let destination = names[ObjectIdentifier(relationship.destination)] else {
            Log.abort(
                "\(entityName).\(declaration.keyPath) leads to \(relationship.destination), "
                    + "which is no entity of the schema")
        }
        return RelationshipDescription(
            name: declaration.keyPath, destinationEntityName: destination,
            inverseName: relationship.inverseName?(), kind: relationship.kind,
            deleteRule: relationship.deleteRule, minCount: relationship.minCount,
            maxCount: relationship.maxCount,
            versionHashModifier: declaration.terms.versionHashModifier,
            previousName: declaration.terms.previousName)
    }

    /// The entities of superclasses that are of other configurations alone.
    private static func elsewhere(
        above entity: DynamicEntity, _ names: [ObjectIdentifier: EntityName],
        _ all: [DynamicEntity]
    ) -> [DynamicEntity] {
        let owners = owners(of: entity.type, names)
        return all.filter { owners.contains(ObjectIdentifier($0.type)) && $0.type != entity.type }
    }

    /// The class with those above it that are no entities: their properties are its entity's own.
    private static func owners(
        of type: CoreStoreObject.Type, _ names: [ObjectIdentifier: EntityName]
    ) -> Set<ObjectIdentifier> {
        var owners: Set = [ObjectIdentifier(type)]
        var current: AnyClass? = _getSuperclass(type)
        while let above = current, names[ObjectIdentifier(above)] == nil {
            owners.insert(ObjectIdentifier(above))
            current = _getSuperclass(above)
        }
        return owners
    }

    /// The nearest class above that is an entity too.
    private static func superentity(
        of type: CoreStoreObject.Type, _ names: [ObjectIdentifier: EntityName]
    ) -> EntityName? {
        var current: AnyClass? = _getSuperclass(type)
        while let above = current {
            if let name = names[ObjectIdentifier(above)] { return name }
            current = _getSuperclass(above)
        }
        return nil
    }
}
