import PageStore

/// The origin of each entity and property of a later version, if the catalog alone cannot express
/// the change: which stay in place, and which are created beside their predecessors.
///
/// Paths of the earlier version use the later names of entities, so that both versions name an
/// entity alike. An entity without a successor gets a name that no version uses: see `spare`.
struct SchemaLineage {
    let stored: SchemaDescription
    let wanted: SchemaDescription
    let pairs: EntityPairs
    /// The prefix of an earlier entity's or property's name while its successor is filled.
    let spare: String
    /// The earlier version with the later names of its entities.
    let renamed: SchemaDescription
    let before: EntityLines
    let after: EntityLines
    /// The later property of each earlier one, if paired entities declare them.
    let paths: [PropertyPath: PropertyPath]
    private let sources: PropertySources
    /// Maps later names of entities to their names in the file.
    private let storedNames: [String: String]
    /// The earlier and later roots of hierarchies whose records move to other trees.
    private(set) var movedRoots: (before: Set<String>, after: Set<String>) = ([], [])
    /// The later names of properties that are created anew although their entity stays in place.
    private(set) var replaced: Set<PropertyPath> = []
    /// Differences between paired properties for which records must be rewritten.
    private(set) var impossible: [SchemaEdit] = []

    init(from stored: Schema, to step: MigrationStep) throws(StoreError) {
        try SchemaCheck.validate(step.schema)
        self.stored = stored.description
        wanted = step.schema
        sources = try PropertySources(from: stored.description, to: step)
        (pairs, spare, renamed) = (sources.pairs, sources.spare, sources.renamed)
        (before, after, paths) = (sources.before, sources.after, sources.paths)
        storedNames = Dictionary(pairs.later.map { ($1, $0) }) { first, _ in first }
        impossible = LayoutEdits(from: try Schema(renamed), to: sources.later).impossible
        findMoved()
        findReplaced()
    }

    // MARK: Entities and properties of both versions

    /// Whether both versions have an entity of this name.
    func isPaired(_ entity: String) -> Bool { sources.isPaired(entity) }

    func isMoved(later entity: String) -> Bool { movedRoots.after.contains(after.root(entity)) }
    func isMoved(earlier entity: String) -> Bool {
        movedRoots.before.contains(before.root(entity))
    }

    /// The later name of an earlier property whose values stay in place; nil if it is removed or
    /// created anew.
    func kept(_ path: PropertyPath) -> PropertyPath? {
        guard let later = paths[path], !isMoved(earlier: path.entityName),
            !replaced.contains(later)
        else { return nil }
        return later
    }

    // MARK: Names in the union schema

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

    /// A permission by the names of the union schema, in addition to those of the two versions.
    func permission(_ allowed: LossPermission) -> LossPermission {
        guard case .only(let names) = allowed else { return allowed }
        var all = names
        for name in names {
            let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
            guard parts.count == 2 else {
                if pairs.later[name] == nil { all.insert(spare + name) }
                continue
            }
            let (entity, property) = (parts[0], parts[1])
            let path = PropertyPath(pairs.later[entity] ?? entity, property)
            for owner in [entity, bothName(entity)] {
                for name in [property, spare + property, paths[path]?.name ?? property] {
                    all.insert("\(owner).\(name)")
                }
            }
        }
        return .only(all)
    }

    /// Other superentities mean another layout: all hierarchies concerned are written to new trees,
    /// so that numbers stay.
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
        // The two sides of a relationship are created anew together.
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

    /// The earlier attribute that a later one takes its values from, in objects of a paired entity,
    /// whatever the types.
    func source(ofAttribute path: PropertyPath, in entity: String) -> PropertyPath? {
        sources.source(of: path, in: entity, .attributes)
    }

    /// The earlier relationship that a later one takes its links from, in objects of an entity.
    func source(ofRelationship path: PropertyPath, in entity: String) -> PropertyPath? {
        sources.source(of: path, in: entity, .relationships)
    }

    /// Whether values of an earlier attribute convert to a later one without the program.
    func isInferred(_ earlier: PropertyPath, _ later: PropertyPath) -> Bool {
        guard let former = before.attribute(earlier), let attribute = after.attribute(later) else {
            return false
        }
        return former.isCoded == attribute.isCoded
            && ValueConversion.isInferred(from: former.type, to: attribute.type)
    }

    /// An entity and its subentities in the later version, as far as both versions have them.
    func pairedKinds(of entity: String) -> [String] {
        wanted.entities.map(\.name).filter { isPaired($0) && after.isKind($0, of: entity) }
    }

    /// Whether the program's mapper makes the objects of an entity.
    func isMapped(_ entity: String) -> Bool { sources.isMapped(entity) }
}
