import PageStore

/// What a description must fulfil before it is resolved. Stored schemas pass here too, so nothing
/// in it may trap.
enum SchemaCheck {
    /// Superentities above one another.
    private static let depthMax = 64

    static func validate(_ schema: SchemaDescription) throws(StoreError) {
        guard schema.entities.count < 10_000 else { throw failure("it has too many entities") }
        var names: Set<String> = []
        for entity in schema.entities {
            guard !entity.name.utf8.contains(UInt8(ascii: "/")) else {
                throw failure("the name “\(entity.name)” has a slash, as the names of trees have")
            }
            guard !entity.name.isEmpty, names.insert(entity.name).inserted else {
                throw failure("two entities are named “\(entity.name)”")
            }
        }
        let byName = Dictionary(uniqueKeysWithValues: schema.entities.map { ($0.name, $0) })
        for entity in schema.entities { try validate(entity, byName) }
        try validateInverses(schema, byName)
    }

    /// An inverse leads back, and is the inverse of one relationship.
    private static func validateInverses(
        _ schema: SchemaDescription, _ byName: [String: EntityDescription]
    ) throws(StoreError) {
        var partners: [String: String] = [:]
        for entity in schema.entities {
            for relationship in entity.relationships {
                guard let name = relationship.inverseName,
                    let destination = byName[relationship.destinationEntityName]
                else { continue }
                let place = "\(entity.name).\(relationship.name)"
                for ancestor in try lineage(destination, byName) {
                    guard let inverse = ancestor.relationships.first(where: { $0.name == name })
                    else { continue }
                    let back = "\(ancestor.name).\(name)"
                    guard let target = byName[inverse.destinationEntityName],
                        try lineage(entity, byName).contains(where: { $0.name == target.name })
                    else {
                        throw failure("\(place) names the inverse \(back), which leads elsewhere")
                    }
                    for (side, other) in [(place, back), (back, place)] {
                        guard partners[side, default: other] == other else {
                            throw failure("\(side) is the inverse of two relationships")
                        }
                        partners[side] = other
                    }
                    break
                }
            }
        }
    }

    private static func validate(
        _ entity: EntityDescription, _ byName: [String: EntityDescription]
    ) throws(StoreError) {
        let line = try lineage(entity, byName)
        var properties: Set<String> = []
        var columns: Set<String> = []
        var slotCount = 0
        for ancestor in line {
            for attribute in ancestor.attributes {
                try insert(attribute.name, into: &properties, entity)
                columns.insert(attribute.name)
                slotCount += 1
            }
            for relationship in ancestor.relationships {
                try insert(relationship.name, into: &properties, entity)
                if relationship.kind == .toOne {
                    columns.insert(relationship.name)
                    slotCount += 1
                }
            }
        }
        guard slotCount <= RowLayout.slotCountMax else {
            throw failure("\(entity.name) has more than \(RowLayout.slotCountMax) properties")
        }
        for relationship in entity.relationships {
            try validate(relationship, of: entity, byName)
        }
        for names in entity.indexes + entity.uniqueConstraints {
            guard !names.isEmpty, names.count <= 8, Set(names).isSubset(of: columns) else {
                throw failure(
                    "an index of \(entity.name) names “\(names.joined(separator: ", "))”, "
                        + "and not all of these are stored properties of it")
            }
        }
    }

    private static func insert(
        _ name: String, into names: inout Set<String>, _ entity: EntityDescription
    ) throws(StoreError) {
        guard !name.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ",") })
        else { throw failure("the name “\(entity.name).\(name)” has a slash or a comma") }
        guard !name.isEmpty, names.insert(name).inserted else {
            throw failure("\(entity.name) has two properties named “\(name)”")
        }
    }

    private static func validate(
        _ relationship: RelationshipDescription, of entity: EntityDescription,
        _ byName: [String: EntityDescription]
    ) throws(StoreError) {
        let place = "\(entity.name).\(relationship.name)"
        guard let destination = byName[relationship.destinationEntityName] else {
            throw failure(
                "\(place) leads to \(relationship.destinationEntityName), which is no entity")
        }
        guard let inverse = relationship.inverseName else { return }
        let candidates = try lineage(destination, byName).flatMap(\.relationships)
        guard candidates.contains(where: { $0.name == inverse }) else {
            throw failure("\(place) names the inverse \(inverse), which does not exist")
        }
    }

    /// The entity and those above it, the entity first.
    private static func lineage(
        _ entity: EntityDescription, _ byName: [String: EntityDescription]
    ) throws(StoreError) -> [EntityDescription] {
        var line = [entity]
        var current = entity
        while let name = current.superentityName {
            guard let above = byName[name] else {
                throw failure("\(current.name) has the superentity \(name), which is no entity")
            }
            guard line.count <= depthMax, line.count <= byName.count else {
                throw failure("\(entity.name) is above itself, or too deep")
            }
            line.append(above)
            current = above
        }
        return line
    }

    private static func failure(_ message: String) -> StoreError {
        StoreError(.schemaMismatch, "the schema contradicts itself: \(message)")
    }
}
