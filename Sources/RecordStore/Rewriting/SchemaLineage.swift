import PageStore

/// Where each entity and property of a later version comes from, where the catalog alone cannot
/// follow: which keep their place, and which are made anew beside what they were.
///
/// Paths of the earlier version have the later names of entities, so that both versions name an
/// entity alike. One that no later entity is has a name that no version uses: see `spare`.
struct SchemaLineage {
    let stored: SchemaDescription
    let wanted: SchemaDescription
    let pairs: EntityPairs
    /// The prefix of an entity's or a property's name while its successor is filled.
    let spare: String
    /// The earlier version with the later names of its entities.
    let renamed: SchemaDescription
    let before: EntityLines
    let after: EntityLines
    /// The later property of each earlier one, as far as both entities of a pair declare it.
    let paths: [PropertyPath: PropertyPath]
    private let earlierPaths: [PropertyPath: PropertyPath]
    /// The names of entities in the file, by the later ones.
    private let storedNames: [String: String]
    /// The earlier and later roots of hierarchies whose records go to other trees.
    private(set) var movedRoots: (before: Set<String>, after: Set<String>) = ([], [])
    /// The later names of properties that are made anew although their entity keeps its place.
    private(set) var replaced: Set<PropertyPath> = []
    /// Differences between two properties of a pair that records must be written for.
    private(set) var impossible: [SchemaEdit] = []

    init(from stored: Schema, to step: MigrationStep) throws(StoreError) {
        try SchemaCheck.validate(step.schema)
        self.stored = stored.description
        wanted = step.schema
        pairs = try EntityPairs(from: stored.description, to: step.schema, step.mappings)
        storedNames = Dictionary(pairs.later.map { ($1, $0) }) { first, _ in first }
        spare = Self.spare(stored.description, step.schema)
        renamed = Self.renamed(stored.description, pairs, spare)
        var later = step.schema
        for index in later.entities.indices { later.entities[index].previousName = nil }
        before = EntityLines(renamed)
        after = EntityLines(later)
        paths = SchemaDifference.properties(from: renamed, to: later)
        earlierPaths = Dictionary(paths.map { ($1, $0) }) { first, _ in first }
        impossible = LayoutEdits(from: try Schema(renamed), to: later).impossible
        findMoved()
        findReplaced()
    }

    /// A name that no entity and no property of either version begins with.
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

    // MARK: Entities and properties of both versions

    /// Whether an entity of either version is one of both.
    func isPaired(_ entity: String) -> Bool { before[entity] != nil && after[entity] != nil }

    func isMoved(later entity: String) -> Bool { movedRoots.after.contains(after.root(entity)) }
    func isMoved(earlier entity: String) -> Bool {
        movedRoots.before.contains(before.root(entity))
    }

    /// The later name of an earlier property whose values stay where they are; nil for one that is
    /// gone, or made anew.
    func kept(_ path: PropertyPath) -> PropertyPath? {
        guard let later = paths[path], !isMoved(earlier: path.entityName),
            !replaced.contains(later)
        else { return nil }
        return later
    }

    // MARK: Names while both versions are there

    /// The name of an entity of the file.
    func bothName(_ entity: String) -> String {
        guard let later = pairs.later[entity], !isMoved(earlier: later) else {
            return spare + entity
        }
        return later
    }

    /// The name of an entity of the file, by its later name.
    func bothName(renamed entity: String) -> String {
        guard let stored = storedNames[entity] else { return entity }
        return bothName(stored)
    }

    /// The name of an earlier property.
    func bothName(_ path: PropertyPath) -> String { kept(path)?.name ?? spare + path.name }

    /// Another line of superentities is another layout: all hierarchies concerned are written to
    /// new trees, so that numbers stay.
    private mutating func findMoved() {
        let both = renamed.entities.map(\.name).filter(isPaired)
        for name in both where before.line(name).map(\.name) != after.line(name).map(\.name) {
            movedRoots.before.insert(before.root(name))
            movedRoots.after.insert(after.root(name))
        }
        var hasGrown = !movedRoots.before.isEmpty
        while hasGrown {
            hasGrown = false
            for name in both where isMoved(earlier: name) != isMoved(later: name) {
                movedRoots.before.insert(before.root(name))
                movedRoots.after.insert(after.root(name))
                hasGrown = true
            }
        }
    }

    private mutating func findReplaced() {
        for edit in impossible {
            switch edit {
            case .typeChanged(let path, _, _), .codingChanged(let path, _),
                .kindChanged(let path, _, _), .destinationChanged(let path, _, _),
                .inverseChanged(let path, _, _):
                replaced.insert(path)
            default: break
            }
        }
        // The two sides of a relationship are made anew together.
        let linked = paths.filter { after.relationship($1) != nil }
        var hasGrown = true
        while hasGrown {
            hasGrown = false
            for (earlier, later) in linked
            where !replaced.contains(later) && mustFollow(earlier, later) {
                replaced.insert(later)
                hasGrown = true
            }
        }
    }

    private func mustFollow(_ earlier: PropertyPath, _ later: PropertyPath) -> Bool {
        guard let relationship = after.relationship(later),
            let former = before.relationship(earlier)
        else { return false }
        if isMoved(later: relationship.destinationEntityName)
            || isMoved(earlier: former.destinationEntityName)
        {
            return true
        }
        if let inverse = before.inverse(of: earlier) {
            if isMoved(earlier: inverse.entityName) { return true }
            if let other = paths[inverse], replaced.contains(other) { return true }
        }
        guard let inverse = after.inverse(of: later) else { return false }
        return isMoved(later: inverse.entityName) || replaced.contains(inverse)
    }

    // MARK: Sources of values and links

    /// The earlier attribute that objects of an entity, which both versions have, take a later one
    /// from, whatever their types.
    func source(ofAttribute path: PropertyPath, in entity: String) -> PropertyPath? {
        source(of: path, in: entity, after.attribute(path)?.previousName) { name in
            before.attributePath(name, of: entity)
        }
    }

    /// The earlier relationship that objects of the entity take a later one from.
    func source(ofRelationship path: PropertyPath, in entity: String) -> PropertyPath? {
        source(of: path, in: entity, after.relationship(path)?.previousName) { name in
            before.relationshipPath(name, of: entity)
        }
    }

    private func source(
        of path: PropertyPath, in entity: String, _ previousName: String?,
        _ find: (String) -> PropertyPath?
    ) -> PropertyPath? {
        guard isPaired(entity) else { return nil }
        if let earlier = earlierPaths[path], before.isKind(entity, of: earlier.entityName) {
            return earlier
        }
        for name in [path.name, previousName].compactMap({ $0 }) {
            guard let found = find(name) else { continue }
            // One that another property is already is not this one too.
            if let other = paths[found], after.isKind(entity, of: other.entityName) { continue }
            return found
        }
        return nil
    }

    /// Whether values of an earlier attribute become those of a later one without the program.
    func isInferred(_ earlier: PropertyPath, _ later: PropertyPath) -> Bool {
        guard let former = before.attribute(earlier), let attribute = after.attribute(later) else {
            return false
        }
        return former.isCoded == attribute.isCoded
            && ValueConversion.isInferred(from: former.type, to: attribute.type)
    }

    /// The later entities that both versions have, in an entity's line down.
    func pairedKinds(of entity: String) -> [String] {
        wanted.entities.map(\.name).filter { isPaired($0) && after.isKind($0, of: entity) }
    }

    /// Whether the program makes the objects of an entity.
    func isMapped(_ entity: String) -> Bool {
        pairs.later.contains { $1 == entity && pairs.mappers[$0] != nil }
    }
}
