import PageStore
import RecordStore
import TestSupport

/// The earlier name that a declaration states.
struct StatedName: Hashable {
    var name: String
    var previousName: String
}

/// Names that other entities and properties of the model before had.
extension RewriteEvolution {
    /// The earlier names that the changed model states.
    var stated: Set<StatedName> {
        var stated: Set<StatedName> = []
        func note(_ name: String, _ previousName: String?) {
            guard let previousName else { return }
            stated.insert(StatedName(name: name, previousName: previousName))
        }
        for entity in schema.entities {
            note(entity.name, entity.previousName)
            for attribute in entity.attributes { note(attribute.name, attribute.previousName) }
            for relationship in entity.relationships {
                note(relationship.name, relationship.previousName)
            }
        }
        return stated
    }

    /// Some declarations state no earlier name any more; the others state it once more.
    mutating func forgetSomeEarlierNames(_ random: inout SeededRandom) {
        schema.changeEarlierNames { _, previousName in
            random.below(2) == 0 ? previousName : nil
        }
    }

    /// Names by earlier ones, and the name of what goes: the first of some takes the name of the
    /// second, which goes, has the first's name from now on, or takes another one itself. Nil if an
    /// earlier model stated the same, because a file that has followed it has nothing to rename,
    /// unless that is part of a renaming that none has stated.
    private mutating func reused(
        _ declared: [(name: String, previousName: String?)], _ random: inout SeededRandom
    ) -> (later: [String: String], gone: String?)? {
        var names = declared.map(\.name).shuffled(using: &random)
        guard let alreadyStated, names.count > 1 else { return nil }
        // What was renamed before is renamed again, and another one takes its name from the same.
        let again = declared.first { line in line.previousName.map(names.contains) ?? false }
        if let again, let earlier = again.previousName, random.below(2) == 0 {
            names =
                [earlier, again.name]
                + names.filter { $0 != earlier && $0 != again.name }
        }
        var (later, gone): ([String: String], String?) = ([names[0]: names[1]], nil)
        // The statements of which one must be new.
        var needed = [names[0]]
        switch random.below(3) {
        case 0: gone = names[1]
        case 1:
            later[names[1]] = names[0]
            needed.append(names[1])
        default:
            let count = min(names.count, 2 + random.below(2))
            for number in 1..<count {
                needed = [names[number]]
                later[names[number]] =
                    number + 1 < count ? names[number + 1] : newName(&random)
            }
        }
        let new = needed.compactMap { earlier in
            later[earlier].map { StatedName(name: $0, previousName: earlier) }
        }.filter { !alreadyStated.contains($0) }
        guard !new.isEmpty else { return nil }
        newStatements.formUnion(new)
        for name in Array(later.keys) + later.values {
            touched.insert(name)
            reusedNames.insert(name)
        }
        return (later, gone)
    }

    mutating func reuseAttributeNames(_ index: Int, _ random: inout SeededRandom) {
        let entity = schema.entities[index]
        let names = entity.attributes.filter { isUntouched($0.name) }
            .map { ($0.name, $0.previousName) }
        guard let (later, gone) = reused(names, &random) else { return }
        schema.entities[index].attributes = entity.attributes.compactMap { attribute in
            guard attribute.name != gone else { return nil }
            guard let name = later[attribute.name] else { return attribute }
            var attribute = attribute
            (attribute.name, attribute.previousName) = (name, attribute.name)
            return attribute
        }
        // Otherwise an index is of another property from now on.
        if random.below(3) > 0 { renameColumns(later, of: entity.name) }
    }

    mutating func reuseRelationshipNames(_ index: Int, _ random: inout SeededRandom) {
        let entity = schema.entities[index]
        let names = entity.relationships.filter { isUntouched($0.name) }
            .map { ($0.name, $0.previousName) }
        guard let (later, gone) = reused(names, &random) else { return }
        if let gone { removeRelationship(PropertyPath(entity.name, gone)) }
        let inverses = InverseTable(schema)
        for other in schema.entities.indices {
            let owner = schema.entities[other].name
            schema.entities[other].relationships = schema.entities[other].relationships.map {
                relationship in
                var changed = relationship
                let inverse = inverses.inverse(of: PropertyPath(owner, relationship.name))
                if let inverse, inverse.entityName == entity.name,
                    relationship.inverseName == inverse.name
                {
                    changed.inverseName = later[inverse.name] ?? inverse.name
                }
                if other == index, let name = later[relationship.name] {
                    (changed.name, changed.previousName) = (name, relationship.name)
                }
                return changed
            }
        }
        if random.below(3) > 0 { renameColumns(later, of: entity.name) }
    }

    mutating func reuseEntityNames(_ random: inout SeededRandom) {
        let names = schema.entities.filter { isUntouched($0) }
            .map { ($0.name, $0.previousName) }
        guard let (later, gone) = reused(names, &random) else { return }
        // Entities below what goes are below what takes its name.
        if let gone {
            removeRelationships(of: gone)
            schema.entities.removeAll { $0.name == gone }
        }
        for index in schema.entities.indices where later[schema.entities[index].name] != nil {
            schema.entities[index].previousName = schema.entities[index].name
        }
        changeNames(later)
    }

    private mutating func renameColumns(_ later: [String: String], of entityName: String) {
        for index in schema.entities.indices
        where schema.isKind(schema.entities[index].name, of: entityName) {
            let indexes = schema.entities[index].indexes
            schema.entities[index].indexes = indexes.map { columns in
                columns.map { later[$0] ?? $0 }
            }
        }
    }
}
