import RecordStore

/// One version of a model file: its entities, and the configurations that have parts of them.
struct XcodeModel: Sendable {
    let entities: SchemaDescription
    /// The names of the entities of each configuration.
    let configurations: [String: Set<String>]

    /// The entities of a configuration as a ``CoreStoreSchema`` of the same classes has them: an
    /// entity takes over the properties of those above it that the configuration does not have, and
    /// no relationship leads out of it.
    func description(for configuration: String?) -> SchemaDescription {
        guard let configuration else { return entities }
        let members = configurations[configuration] ?? []
        let byName = Dictionary(entities.entities.map { ($0.name, $0) }) { first, _ in first }
        var part = entities
        part.entities = entities.entities.filter { members.contains($0.name) }.map { entity in
            var entity = entity
            while let name = entity.superentityName, !members.contains(name) {
                guard let above = byName[name] else { break }
                entity.attributes = above.attributes + entity.attributes
                entity.relationships = above.relationships + entity.relationships
                entity.virtualNames = above.virtualNames + entity.virtualNames
                entity.indexes += above.indexes
                entity.uniqueConstraints += above.uniqueConstraints
                entity.superentityName = above.superentityName
            }
            let dropped = droppedNames(of: entity, members, byName)
            entity.relationships.removeAll { dropped.contains($0.name) }
            entity.indexes.removeAll { !dropped.isDisjoint(with: $0) }
            entity.uniqueConstraints.removeAll { !dropped.isDisjoint(with: $0) }
            return entity
        }
        return InverseTable.withoutMissing(part)
    }

    /// The relationships of an entity, inherited ones too, that lead out of a configuration.
    private func droppedNames(
        of entity: EntityDescription, _ members: Set<String>,
        _ byName: [String: EntityDescription]
    ) -> Set<String> {
        var dropped: Set<String> = []
        var line: EntityDescription? = entity
        while let ancestor = line {
            for relationship in ancestor.relationships
            where !members.contains(relationship.destinationEntityName) {
                dropped.insert(relationship.name)
            }
            line = ancestor.superentityName.flatMap { byName[$0] }
        }
        return dropped
    }
}
