/// The property of an earlier version that each property of a later one takes its values or links
/// from, in the objects of one entity: along its line of inheritance, as properties may move there.
///
/// Paths of the earlier version use the later names of entities, so that both versions name an
/// entity alike.
struct PropertySources {
    let pairs: EntityPairs
    /// The prefix of an earlier entity's name that the later version has none for.
    let spare: String
    /// The earlier version with the later names of its entities.
    let renamed: SchemaDescription
    /// The later version without the earlier names of its entities, and without those of
    /// properties that say nothing of the objects.
    let later: SchemaDescription
    let before: EntityLines
    let after: EntityLines
    /// The later property of each earlier one, if paired entities declare them.
    let paths: [PropertyPath: PropertyPath]
    private let earlierPaths: [PropertyPath: PropertyPath]

    /// Both schemas must be checked.
    init(from stored: SchemaDescription, to step: MigrationStep) throws(StoreError) {
        pairs = try EntityPairs(from: stored, to: step.schema, step.mappings)
        spare = Self.spare(stored, step.schema)
        renamed = Self.renamed(stored, pairs, spare)
        later = Self.later(stored, step.schema, pairs)
        before = EntityLines(renamed)
        after = EntityLines(later)
        paths = SchemaDifference.properties(from: renamed, to: later)
        earlierPaths = Dictionary(paths.map { ($1, $0) }) { first, _ in first }
    }

    /// A prefix that no entity name and no property name of either version has.
    private static func spare(_ first: SchemaDescription, _ second: SchemaDescription) -> String {
        var names: [String] = []
        for entity in first.entities + second.entities {
            names.append(entity.name)
            names += entity.attributes.map(\.name) + entity.relationships.map(\.name)
        }
        var spare = "~"
        while names.contains(where: { $0.hasPrefix(spare) }) { spare += "~" }
        return spare
    }

    /// Where a mapping gives an entity the objects of another one, what the entity stated before
    /// says nothing of their properties.
    private static func later(
        _ stored: SchemaDescription, _ wanted: SchemaDescription, _ pairs: EntityPairs
    ) -> SchemaDescription {
        let unmapped = Set(pairs.unmapped.after.entities.map(\.name))
        let former = Dictionary(stored.entities.map { ($0.name, $0) }) { first, _ in first }
        var later = wanted
        for (index, entity) in later.entities.enumerated() {
            later.entities[index].previousName = nil
            guard !unmapped.contains(entity.name), let namesake = former[entity.name],
                pairs.later[entity.name] != entity.name
            else { continue }
            for (number, attribute) in entity.attributes.enumerated()
            where namesake.attributes.contains(where: {
                $0.name == attribute.name && $0.previousName == attribute.previousName
            }) {
                later.entities[index].attributes[number].previousName = nil
            }
            for (number, relationship) in entity.relationships.enumerated()
            where namesake.relationships.contains(where: {
                $0.name == relationship.name && $0.previousName == relationship.previousName
            }) {
                later.entities[index].relationships[number].previousName = nil
            }
        }
        return later
    }

    private static func renamed(
        _ schema: SchemaDescription, _ pairs: EntityPairs, _ spare: String
    ) -> SchemaDescription {
        func name(_ entity: String) -> String { pairs.later[entity] ?? spare + entity }
        var renamed = schema
        for index in renamed.entities.indices {
            renamed.entities[index].name = name(renamed.entities[index].name)
            renamed.entities[index].previousName = nil
            renamed.entities[index].superentityName =
                renamed.entities[index].superentityName.map(name)
            for number in renamed.entities[index].relationships.indices {
                let relationship = renamed.entities[index].relationships[number]
                renamed.entities[index].relationships[number].destinationEntityName =
                    name(relationship.destinationEntityName)
            }
        }
        return renamed
    }

    /// Whether both versions have an entity of this name.
    func isPaired(_ entity: String) -> Bool { before[entity] != nil && after[entity] != nil }

    /// Whether the program's mapper makes the objects of an entity.
    func isMapped(_ entity: String) -> Bool {
        pairs.later.contains { $1 == entity && pairs.mappers[$0] != nil }
    }

    // MARK: Sources

    /// Looks up properties of one kind that the objects of an entity have, in either version.
    struct Lookup {
        /// The earlier name that a property states.
        var previousName: (EntityLines, PropertyPath) -> String?
        var find: (EntityLines, String, String) -> PropertyPath?
        var paths: (EntityLines, String) -> [PropertyPath]

        static var attributes: Lookup {
            Lookup(
                previousName: { lines, path in lines.attribute(path)?.previousName },
                find: { lines, name, entity in lines.attributePath(name, of: entity) },
                paths: { lines, entity in lines.attributes(of: entity).map(\.path) })
        }

        static var relationships: Lookup {
            Lookup(
                previousName: { lines, path in lines.relationship(path)?.previousName },
                find: { lines, name, entity in lines.relationshipPath(name, of: entity) },
                paths: { lines, entity in lines.relationships(of: entity).map(\.path) })
        }
    }

    /// Whether a property states anew an earlier name of the earlier version. What moves up the
    /// line may have stated it below.
    func isNew(_ path: PropertyPath, in entity: String, _ lookup: Lookup) -> Bool {
        var seen: Set<String> = []
        guard statesAnew(path, in: entity, lookup, &seen) else { return false }
        guard lookup.find(before, path.name, entity) == nil else { return true }
        let previous = lookup.previousName(after, path)
        return !later.entities.contains { below in
            isPaired(below.name) && after.isKind(below.name, of: path.entityName)
                && lookup.find(before, path.name, below.name)
                    .flatMap { lookup.previousName(before, $0) } == previous
        }
    }

    /// The earlier property that a later one takes its values or links from, in objects of an
    /// entity.
    func source(
        of path: PropertyPath, in entity: String, _ lookup: Lookup
    ) -> PropertyPath? {
        guard isPaired(entity) else { return nil }
        if let earlier = earlierPaths[path], before.isKind(entity, of: earlier.entityName) {
            return earlier
        }
        let (own, previous) = (path.name, lookup.previousName(after, path))
        // Otherwise the earlier name is a guess, and what has it now is more certain.
        let names =
            if claimsPreviousName(path, in: entity, lookup) {
                [previous, own]
            } else {
                [own, previous.flatMap { lookup.find(after, $0, entity) == nil ? $0 : nil }]
            }
        for name in names.compactMap({ $0 }) {
            guard let found = lookup.find(before, name, entity) else { continue }
            // Skips a property that is already the predecessor of another.
            if let other = paths[found], after.isKind(entity, of: other.entityName) { continue }
            return found
        }
        return nil
    }

    /// Whether the earlier name that a property states wins over an earlier property of its own
    /// name, as where both versions have its entity: nothing has that name any more, or what has it
    /// was renamed itself, and so on, perhaps in a circle.
    private func claimsPreviousName(
        _ path: PropertyPath, in entity: String, _ lookup: Lookup
    ) -> Bool {
        var seen: Set<String> = []
        var current: PropertyPath? = path
        while let later = current, seen.insert(later.name).inserted {
            var others: Set<String> = []
            guard statesAnew(later, in: entity, lookup, &others),
                let previous = lookup.previousName(after, later)
            else { return false }
            current = lookup.find(after, previous, entity)
        }
        return true
    }

    /// Whether a property states an earlier name of the earlier version. What stated the same
    /// before was renamed then, and counts only if another one says that it had its name.
    private func statesAnew(
        _ later: PropertyPath, in entity: String, _ lookup: Lookup, _ seen: inout Set<String>
    ) -> Bool {
        guard seen.insert(later.name).inserted,
            let previous = lookup.previousName(after, later), previous != later.name,
            lookup.find(before, previous, entity) != nil
        else { return false }
        let formers = [lookup.find(before, later.name, entity), earlierPaths[later]]
        let isOld = formers.contains { former in
            former.flatMap { lookup.previousName(before, $0) } == previous
        }
        if !isOld { return true }
        for other in lookup.paths(after, entity)
        where lookup.previousName(after, other) == later.name {
            if statesAnew(other, in: entity, lookup, &seen) { return true }
        }
        return false
    }
}
