import RecordStore

/// Schemas as tests write them: a class is named as its entity, and the rest has a default.
extension SchemaDescription {
    package init(version: String = "V1", _ entities: [EntityDescription]) {
        self.init(modelVersion: version, entities: entities)
    }
}

extension EntityDescription {
    /// The attributes are declared in the order of the parameters; those of `required` and
    /// `optional` have no default.
    package init(
        _ name: String, below superentityName: String? = nil, isAbstract: Bool = false,
        required: KeyValuePairs<String, AttributeType> = [:],
        optional: KeyValuePairs<String, AttributeType> = [:],
        attributes: [AttributeDescription] = [],
        relationships: [RelationshipDescription] = [], indexes: [[String]] = [],
        uniqueConstraints: [[String]] = []
    ) {
        self.init(
            name: name, className: name, superentityName: superentityName, isAbstract: isAbstract,
            attributes: required.map { .required($0.key, $0.value) }
                + optional.map { .optional($0.key, $0.value) } + attributes,
            relationships: relationships, indexes: indexes, uniqueConstraints: uniqueConstraints)
    }
}

extension AttributeDescription {
    package static func required(
        _ name: String, _ type: AttributeType, default value: Value = .null,
        versionHashModifier: String? = nil, previousName: String? = nil
    ) -> Self {
        Self(
            name: name, type: type, defaultValue: value, versionHashModifier: versionHashModifier,
            previousName: previousName)
    }

    package static func optional(
        _ name: String, _ type: AttributeType, default value: Value = .null,
        previousName: String? = nil
    ) -> Self {
        Self(
            name: name, type: type, isOptional: true, defaultValue: value,
            previousName: previousName)
    }
}

extension RelationshipDescription {
    package static func toOne(
        _ name: String, to destinationEntityName: String, inverse inverseName: String? = nil
    ) -> Self {
        Self(
            name: name, destinationEntityName: destinationEntityName, inverseName: inverseName,
            kind: .toOne)
    }

    package static func toManyUnordered(
        _ name: String, to destinationEntityName: String, inverse inverseName: String? = nil
    ) -> Self {
        Self(
            name: name, destinationEntityName: destinationEntityName, inverseName: inverseName,
            kind: .toManyUnordered)
    }

    package static func toManyOrdered(
        _ name: String, to destinationEntityName: String, inverse inverseName: String? = nil
    ) -> Self {
        Self(
            name: name, destinationEntityName: destinationEntityName, inverseName: inverseName,
            kind: .toManyOrdered)
    }
}
