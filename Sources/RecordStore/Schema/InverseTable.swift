/// Pairs relationships with their inverses, whichever side names the other: the only implementation
/// of the rule of spec/07-catalog.md, 7.4.
///
/// Accepts unchecked descriptions, and lists violations of the rule.
package struct InverseTable {
    package enum Fault: Hashable, Sendable {
        /// A relationship names an inverse that its destination does not have.
        case missing(PropertyPath, inverse: String)
        /// A relationship names an inverse that does not lead back to its own entity.
        case leadsElsewhere(PropertyPath, inverse: PropertyPath)
        /// A relationship would have two inverses.
        case shared(PropertyPath)
    }

    private let byName: [String: EntityDescription]
    private var inverses: [PropertyPath: PropertyPath] = [:]
    /// The inverse that each relationship names itself.
    package private(set) var named: [PropertyPath: PropertyPath] = [:]
    /// In the order of the declarations.
    package private(set) var faults: [Fault] = []

    package init(_ schema: SchemaDescription) {
        byName = Dictionary(schema.entities.map { ($0.name, $0) }) { first, _ in first }
        for entity in schema.entities {
            for relationship in entity.relationships { pair(relationship, of: entity) }
        }
    }

    /// A schema without the names of inverses that it does not have: a part of a checked schema may
    /// have left them out.
    package static func withoutMissing(_ schema: SchemaDescription) -> SchemaDescription {
        var schema = schema
        for case .missing(let path, _) in InverseTable(schema).faults {
            for entity in schema.entities.indices
            where schema.entities[entity].name == path.entityName {
                for index in schema.entities[entity].relationships.indices
                where schema.entities[entity].relationships[index].name == path.name {
                    schema.entities[entity].relationships[index].inverseName = nil
                }
            }
        }
        return schema
    }

    package func inverse(of relationship: PropertyPath) -> PropertyPath? { inverses[relationship] }

    /// Whether a relationship of an entity could name another as its inverse.
    package func canName(
        _ other: RelationshipDescription, of otherEntity: EntityDescription,
        asInverseOf relationship: RelationshipDescription, of entity: EntityDescription
    ) -> Bool {
        isKind(relationship.destinationEntityName, of: otherEntity.name)
            && isKind(entity.name, of: other.destinationEntityName)
    }

    private mutating func pair(
        _ relationship: RelationshipDescription, of entity: EntityDescription
    ) {
        guard let name = relationship.inverseName else { return }
        let path = PropertyPath(entity.name, relationship.name)
        guard let (owner, inverse) = find(name, in: relationship.destinationEntityName) else {
            faults.append(.missing(path, inverse: name))
            return
        }
        let back = PropertyPath(owner.name, name)
        named[path] = back
        guard canName(inverse, of: owner, asInverseOf: relationship, of: entity) else {
            faults.append(.leadsElsewhere(path, inverse: back))
            return
        }
        for (side, other) in [(path, back), (back, path)]
        where inverses[side, default: other] != other {
            faults.append(.shared(side))
            return
        }
        inverses[path] = back
        inverses[back] = path
    }

    /// The relationship of that name that an entity declares, or its nearest ancestor that has one.
    private func find(
        _ name: String, in entityName: String
    ) -> (EntityDescription, RelationshipDescription)? {
        var current = byName[entityName]
        // The ancestors may form a cycle in an unchecked description.
        for _ in 0..<byName.count {
            guard let entity = current else { return nil }
            if let found = entity.relationships.first(where: { $0.name == name }) {
                return (entity, found)
            }
            current = entity.superentityName.flatMap { byName[$0] }
        }
        return nil
    }

    /// Whether an entity of the schema is another one, or below it.
    private func isKind(_ name: String, of other: String) -> Bool {
        var current: String? = name
        for _ in 0..<byName.count {
            guard let name = current, let entity = byName[name] else { return false }
            if name == other { return true }
            current = entity.superentityName
        }
        return false
    }
}
