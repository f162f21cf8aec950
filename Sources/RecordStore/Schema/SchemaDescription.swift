/// The declarations of a model as saved in the file: enough to read the file without the program.
package struct SchemaDescription: Hashable, Sendable, Codable {
    package var modelVersion: String
    package var entities: [EntityDescription]

    package init(modelVersion: String, entities: [EntityDescription]) {
        self.modelVersion = modelVersion
        self.entities = entities
    }
}

extension SchemaDescription {
    /// This description without the earlier names of its entities and properties.
    var withoutPreviousNames: Self {
        var description = self
        for index in entities.indices {
            let entity = entities[index]
            description.entities[index].previousName = nil
            for number in entity.attributes.indices {
                description.entities[index].attributes[number].previousName = nil
            }
            for number in entity.relationships.indices {
                description.entities[index].relationships[number].previousName = nil
            }
        }
        return description
    }

    /// This description with the indexes and unique constraints of another one of the same
    /// entities, limited to those that have trees.
    func withIndexes(of other: SchemaDescription, among treeNames: Set<String>) -> Self {
        let others = Dictionary(other.entities.map { ($0.name, $0) }) { first, _ in first }
        var description = self
        for index in entities.indices {
            let name = entities[index].name
            description.entities[index].indexes = (others[name]?.indexes ?? []).filter {
                treeNames.contains(IndexLayout.treeName(name, $0, isUnique: false))
            }
            description.entities[index].uniqueConstraints =
                (others[name]?.uniqueConstraints ?? []).filter {
                    treeNames.contains(IndexLayout.treeName(name, $0, isUnique: true))
                }
        }
        return description
    }
}

/// One entity with the properties that it adds to its superentity's.
package struct EntityDescription: Hashable, Sendable, Codable {
    package var name: String
    package var className: String
    package var superentityName: String?
    package var isAbstract: Bool
    package var versionHashModifier: String?
    /// The entity's name in the previous model version.
    package var previousName: String?
    package var attributes: [AttributeDescription]
    package var relationships: [RelationshipDescription]
    package var indexes: [[String]]
    package var uniqueConstraints: [[String]]
    /// Computed properties, which are never stored: errors about conditions on them say so.
    package var virtualNames: [String] = []

    package init(
        name: String, className: String, superentityName: String? = nil, isAbstract: Bool = false,
        versionHashModifier: String? = nil, previousName: String? = nil,
        attributes: [AttributeDescription] = [],
        relationships: [RelationshipDescription] = [], indexes: [[String]] = [],
        uniqueConstraints: [[String]] = []
    ) {
        self.name = name
        self.className = className
        self.superentityName = superentityName
        self.isAbstract = isAbstract
        self.versionHashModifier = versionHashModifier
        self.previousName = previousName
        self.attributes = attributes
        self.relationships = relationships
        self.indexes = indexes
        self.uniqueConstraints = uniqueConstraints
    }

    // Computed properties belong to the program: they are not saved with the schema.
    private enum CodingKeys: String, CodingKey {
        case name, className, superentityName, isAbstract, versionHashModifier, previousName
        case attributes, relationships, indexes, uniqueConstraints
    }
}

package struct AttributeDescription: Hashable, Sendable, Codable {
    package var name: String
    package var type: AttributeType
    package var isOptional: Bool
    package var defaultValue: Value
    /// Whether the attribute holds encoded bytes whose meaning only the program knows.
    package var isCoded: Bool
    package var versionHashModifier: String?
    /// The attribute's name in the previous model version.
    package var previousName: String?

    package init(
        name: String, type: AttributeType, isOptional: Bool = false, defaultValue: Value = .null,
        isCoded: Bool = false, versionHashModifier: String? = nil, previousName: String? = nil
    ) {
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.defaultValue = defaultValue
        self.isCoded = isCoded
        self.versionHashModifier = versionHashModifier
        self.previousName = previousName
    }

    // Defaults belong to the program: they are not saved with the schema, and are read only from an
    // exported one.
    private enum CodingKeys: String, CodingKey {
        case name, type, isOptional, isCoded, versionHashModifier, previousName
        case defaultValue = "default"
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let typeName = try values.decode(String.self, forKey: .type)
        guard let type = AttributeType(name: typeName) else {
            throw DecodingError.dataCorruptedError(
                forKey: .type, in: values, debugDescription: "no attribute type is \(typeName)")
        }
        let hasDefaults = decoder.userInfo[SchemaExport.readsDefaults] != nil
        self.init(
            name: try values.decode(String.self, forKey: .name), type: type,
            isOptional: try values.decode(Bool.self, forKey: .isOptional),
            defaultValue: try hasDefaults
                ? SchemaDefault(type, from: values, forKey: .defaultValue).value : .null,
            isCoded: try values.decode(Bool.self, forKey: .isCoded),
            versionHashModifier: try values.decodeIfPresent(
                String.self, forKey: .versionHashModifier),
            previousName: try values.decodeIfPresent(String.self, forKey: .previousName))
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(name, forKey: .name)
        try values.encode(type.name, forKey: .type)
        try values.encode(isOptional, forKey: .isOptional)
        try values.encode(isCoded, forKey: .isCoded)
        try values.encodeIfPresent(versionHashModifier, forKey: .versionHashModifier)
        try values.encodeIfPresent(previousName, forKey: .previousName)
    }
}

package struct RelationshipDescription: Hashable, Sendable, Codable {
    package enum Kind: String, Hashable, Sendable, Codable {
        case toOne, toManyUnordered, toManyOrdered
    }

    package enum DeleteRule: String, Hashable, Sendable, Codable {
        case nullify, cascade, deny
    }

    package var name: String
    package var destinationEntityName: String
    package var inverseName: String?
    package var kind: Kind
    package var deleteRule: DeleteRule
    package var minCount: Int
    /// Zero for no limit.
    package var maxCount: Int
    package var versionHashModifier: String?
    package var previousName: String?

    package init(
        name: String, destinationEntityName: String, inverseName: String? = nil, kind: Kind,
        deleteRule: DeleteRule = .nullify, minCount: Int = 0, maxCount: Int = 0,
        versionHashModifier: String? = nil, previousName: String? = nil
    ) {
        self.name = name
        self.destinationEntityName = destinationEntityName
        self.inverseName = inverseName
        self.kind = kind
        self.deleteRule = deleteRule
        self.minCount = minCount
        self.maxCount = maxCount
        self.versionHashModifier = versionHashModifier
        self.previousName = previousName
    }
}
