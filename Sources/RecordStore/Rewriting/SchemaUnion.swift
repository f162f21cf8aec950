import PageStore

/// The schemas that a file goes through while records are rewritten: first, names are freed
/// (`spared`), then later entities and properties exist beside the earlier ones (`both`, the union
/// schema), which are removed at the end. A change of the catalog reaches each.
struct SchemaUnion {
    private let lineage: SchemaLineage
    private let earlier: EntityLines
    /// Later attributes that records are given one by one: nil until then.
    private let filled: Set<PropertyPath>

    init(_ lineage: SchemaLineage, filled: Set<PropertyPath>) {
        self.lineage = lineage
        self.filled = filled
        earlier = EntityLines(lineage.stored)
    }

    // MARK: Names of earlier declarations

    private func bothName(_ entity: String) -> String { lineage.bothName(entity) }

    private func sparedName(_ entity: String) -> String {
        bothName(entity) == entity ? entity : lineage.spare + entity
    }

    /// A path of the file with the later name of its entity.
    private func renamed(_ path: PropertyPath) -> PropertyPath {
        let entity = path.entityName
        return PropertyPath(lineage.pairs.later[entity] ?? lineage.spare + entity, path.name)
    }

    private func bothName(_ path: PropertyPath) -> String { lineage.bothName(renamed(path)) }

    private func sparedName(_ path: PropertyPath) -> String {
        bothName(path) == path.name ? path.name : lineage.spare + path.name
    }

    // MARK: Schemas

    /// The file's schema, with every name freed that the later version uses for something else.
    var spared: SchemaDescription {
        var schema = lineage.stored
        schema.entities = schema.entities.map { entity in
            renamed(
                entity, name: sparedName, property: sparedName,
                formerName: { $0 }, formerProperty: \.name)
        }
        return schema
    }

    /// The union schema: the later entities and properties, and the earlier ones to read records
    /// by.
    var both: SchemaDescription {
        let old = lineage.stored.entities.map { entity in
            renamed(
                entity, name: bothName, property: bothName, formerName: sparedName,
                formerProperty: sparedName)
        }
        let oldByName = Dictionary(old.map { ($0.name, $0) }) { first, _ in first }
        let later = lineage.wanted.entities.map { entity in
            guard let former = oldByName[entity.name] else { return fresh(entity) }
            return joined(former, entity)
        }
        let names = Set(later.map(\.name))
        return SchemaDescription(
            modelVersion: lineage.stored.modelVersion,
            entities: later + old.filter { !names.contains($0.name) })
    }

    /// An entity of the file under other names.
    private func renamed(
        _ entity: EntityDescription, name: (String) -> String, property: (PropertyPath) -> String,
        formerName: (String) -> String, formerProperty: (PropertyPath) -> String
    ) -> EntityDescription {
        func previous(_ old: String, _ new: String) -> String? { old == new ? nil : old }
        var copy = entity
        copy.name = name(entity.name)
        copy.previousName = previous(formerName(entity.name), copy.name)
        copy.superentityName = entity.superentityName.map(name)
        copy.attributes = entity.attributes.map { attribute in
            let path = PropertyPath(entity.name, attribute.name)
            var copy = attribute
            copy.name = property(path)
            copy.previousName = previous(formerProperty(path), copy.name)
            return copy
        }
        copy.relationships = entity.relationships.map { relationship in
            let path = PropertyPath(entity.name, relationship.name)
            var copy = relationship
            copy.name = property(path)
            copy.previousName = previous(formerProperty(path), copy.name)
            copy.destinationEntityName = name(relationship.destinationEntityName)
            // Only if the relationship names it: from the destination the inverse may not be found.
            copy.inverseName = earlier.named(by: path).map(property)
            return copy
        }
        copy.indexes = kept(entity.indexes, of: entity, property)
        copy.uniqueConstraints = kept(entity.uniqueConstraints, of: entity, property)
        return copy
    }

    /// The indexes whose entity and columns stay in place.
    private func kept(
        _ lists: [[String]], of entity: EntityDescription, _ property: (PropertyPath) -> String
    ) -> [[String]] {
        guard let later = lineage.pairs.later[entity.name], !lineage.isMoved(earlier: later) else {
            return []
        }
        return lists.compactMap { columns in
            let paths = columns.compactMap { column in
                earlier.attributePath(column, of: entity.name)
                    ?? earlier.relationshipPath(column, of: entity.name)
            }
            guard paths.allSatisfy({ lineage.kept(renamed($0)) != nil }) else { return nil }
            return paths.map(property)
        }
    }

    /// A later entity, which has no records yet.
    private func fresh(_ entity: EntityDescription) -> EntityDescription {
        var copy = entity
        copy.previousName = nil
        copy.attributes = entity.attributes.map { attribute in
            var copy = attribute
            copy.previousName = nil
            return copy
        }
        copy.relationships = entity.relationships.map { relationship in
            var copy = relationship
            copy.previousName = nil
            return copy
        }
        // Indexes of existing records are built at the end.
        (copy.indexes, copy.uniqueConstraints) = ([], [])
        return copy
    }

    /// An entity of both versions: its earlier declaration with the new properties added.
    private func joined(
        _ former: EntityDescription, _ entity: EntityDescription
    ) -> EntityDescription {
        let added = fresh(entity)
        let known = Set(former.attributes.map(\.name) + former.relationships.map(\.name))
        var copy = former
        for attribute in added.attributes where !known.contains(attribute.name) {
            var attribute = attribute
            if filled.contains(PropertyPath(entity.name, attribute.name)) {
                (attribute.isOptional, attribute.defaultValue) = (true, .null)
            }
            copy.attributes.append(attribute)
        }
        for relationship in added.relationships where !known.contains(relationship.name) {
            copy.relationships.append(relationship)
        }
        for index in copy.relationships.indices {
            let path = PropertyPath(entity.name, copy.relationships[index].name)
            guard copy.relationships[index].inverseName == nil,
                let inverse = lineage.after.named(by: path)
            else { continue }
            // An earlier relationship may name a new one as its inverse.
            copy.relationships[index].inverseName = inverse.name
        }
        copy.indexes = former.indexes.filter(entity.indexes.contains)
        // The program may make equal values, so such a constraint is built and checked anew.
        let isMapped = lineage.pairedKinds(of: entity.name).contains { lineage.isMapped($0) }
        copy.uniqueConstraints =
            isMapped ? [] : former.uniqueConstraints.filter(entity.uniqueConstraints.contains)
        return copy
    }
}
