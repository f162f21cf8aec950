/// The entities of a checked description by name, with their ancestors and subentities.
struct EntityLines {
    private let byName: [String: EntityDescription]
    private let inverses: InverseTable

    init(_ schema: SchemaDescription) {
        byName = Dictionary(schema.entities.map { ($0.name, $0) }) { first, _ in first }
        inverses = InverseTable(schema)
    }

    subscript(name: String) -> EntityDescription? { byName[name] }

    /// An entity and its ancestors, up to the root.
    func line(_ name: String) -> [EntityDescription] {
        var line: [EntityDescription] = []
        var current = byName[name]
        while let entity = current {
            line.append(entity)
            current = entity.superentityName.flatMap { byName[$0] }
        }
        return line
    }

    func root(_ name: String) -> String { line(name).last?.name ?? name }

    func isKind(_ name: String, of other: String) -> Bool {
        line(name).contains { $0.name == other }
    }

    func attribute(_ path: PropertyPath) -> AttributeDescription? {
        byName[path.entityName]?.attributes.first { $0.name == path.name }
    }

    func relationship(_ path: PropertyPath) -> RelationshipDescription? {
        byName[path.entityName]?.relationships.first { $0.name == path.name }
    }

    /// Whether objects of an entity may have links of a relationship: see
    /// ``RelationshipLayout/kinds(in:)``.
    func allows(owner: String, of path: PropertyPath) -> Bool {
        isKind(owner, of: path.entityName)
            && inverse(of: path).flatMap(relationship)
                .map { isKind(owner, of: $0.destinationEntityName) } ?? true
    }

    /// Whether links of a relationship may lead to objects of an entity.
    func allows(target: String, of path: PropertyPath) -> Bool {
        relationship(path).map { isKind(target, of: $0.destinationEntityName) } == true
            && inverse(of: path).map { isKind(target, of: $0.entityName) } ?? true
    }

    func inverse(of path: PropertyPath) -> PropertyPath? { inverses.inverse(of: path) }

    /// The inverse that a relationship names itself.
    func named(by path: PropertyPath) -> PropertyPath? { inverses.named[path] }

    /// The path of an own or inherited attribute: its name and the entity that declares it.
    func attributePath(_ name: String, of entity: String) -> PropertyPath? {
        line(entity).first { $0.attributes.contains { $0.name == name } }
            .map { PropertyPath($0.name, name) }
    }

    func relationshipPath(_ name: String, of entity: String) -> PropertyPath? {
        line(entity).first { $0.relationships.contains { $0.name == name } }
            .map { PropertyPath($0.name, name) }
    }

    /// An entity's own and inherited attributes, the root's first.
    func attributes(of entity: String) -> [(path: PropertyPath, attribute: AttributeDescription)] {
        line(entity).reversed().flatMap { owner in
            owner.attributes.map { (PropertyPath(owner.name, $0.name), $0) }
        }
    }

    func relationships(
        of entity: String
    ) -> [(path: PropertyPath, relationship: RelationshipDescription)] {
        line(entity).reversed().flatMap { owner in
            owner.relationships.map { (PropertyPath(owner.name, $0.name), $0) }
        }
    }
}
