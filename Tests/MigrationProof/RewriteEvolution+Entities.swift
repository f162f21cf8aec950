import PageStore
import RecordStore
import SampleSchemas
import TestSupport

/// Changes of entities and of their hierarchies, and the program's mappings.
extension RewriteEvolution {
    private static let uid = AttributeDescription.required("uid", .int64)

    func isUntouched(_ entity: EntityDescription) -> Bool {
        guard let former = old.entityNamed(entity.name) else { return false }
        return isUntouched(entity.name)
            && [nil, former.previousName].contains(entity.previousName)
            && mappings?.contains { $0.source == entity.name || $0.destination == entity.name }
                != true
    }

    private mutating func changeName(_ old: String, to name: String) { changeNames([old: name]) }

    /// Renames entities everywhere in the model, all at once.
    mutating func changeNames(_ later: [String: String]) {
        func changed(_ name: String) -> String { later[name] ?? name }
        for index in schema.entities.indices {
            schema.entities[index].name = changed(schema.entities[index].name)
            schema.entities[index].superentityName =
                schema.entities[index].superentityName.map(changed)
            for number in schema.entities[index].relationships.indices {
                let name = schema.entities[index].relationships[number].destinationEntityName
                schema.entities[index].relationships[number].destinationEntityName = changed(name)
            }
        }
    }

    mutating func renameEntity(_ index: Int, _ random: inout SeededRandom) {
        let entity = schema.entities[index]
        guard isUntouched(entity) else { return }
        schema.entities[index].previousName = entity.name
        changeName(entity.name, to: newName(&random))
    }

    mutating func addEntity(_ random: inout SeededRandom) {
        let name = newName(&random)
        var entity = EntityDescription(name)
        if random.below(2) == 0 {
            entity.superentityName = schema.entities[random.below(schema.entities.count)].name
        } else {
            entity.attributes = [Self.uid]
        }
        schema.entities.append(entity)
    }

    mutating func removeEntity(_ index: Int, _ random: inout SeededRandom) {
        let gone = schema.entities[index]
        guard schema.entities.count > 3,
            !schema.entities.contains(where: { $0.superentityName == gone.name })
        else { return }
        removeRelationships(of: gone.name)
        schema.entities.removeAll { $0.name == gone.name }
    }

    /// Removes the relationships of an entity and those to it.
    mutating func removeRelationships(of name: String) {
        for entity in schema.entities {
            for relationship in entity.relationships
            where entity.name == name || relationship.destinationEntityName == name {
                removeRelationship(PropertyPath(entity.name, relationship.name))
            }
        }
    }

    /// Adds the constraint of an entity, which holds for all objects, or removes it.
    mutating func changeConstraint(_ index: Int, _ random: inout SeededRandom) {
        let isThere = !schema.entities[index].uniqueConstraints.isEmpty
        schema.entities[index].uniqueConstraints = isThere ? [] : [["uid"]]
    }

    // MARK: Hierarchies

    mutating func mergeRoots(_ random: inout SeededRandom) {
        let roots = schema.entities.filter { $0.superentityName == nil }.map(\.name)
            .shuffled(using: &random)
        let name = newName(&random)
        var above = EntityDescription(name, isAbstract: random.below(2) == 0)
        above.attributes = [Self.uid]
        for root in roots.prefix(2) {
            guard let index = schema.indexOf(root) else { continue }
            schema.entities[index].superentityName = name
            schema.entities[index].attributes.removeAll { $0.name == "uid" }
        }
        schema.entities.append(above)
    }

    /// Puts a root below an entity of another hierarchy.
    mutating func putBelow(_ index: Int, _ random: inout SeededRandom) {
        let root = schema.root(schema.entities[index].name)
        let others = schema.entities.map(\.name).filter { schema.root($0) != root }
        guard let other = others.randomElement(using: &random),
            let rootIndex = schema.indexOf(root)
        else { return }
        schema.entities[rootIndex].superentityName = other
        schema.entities[rootIndex].attributes.removeAll { $0.name == "uid" }
    }

    /// Makes an entity a root with its inherited properties, sometimes without one of them. A
    /// property that moves is found by its own name first, so that none with a reused name does.
    mutating func makeRoot(_ index: Int, _ random: inout SeededRandom) {
        let line = schema.line(schema.entities[index].name)
        guard line.count > 1 else { return }
        let inverses = InverseTable(schema)
        schema.entities[index].superentityName = nil
        for entity in line.dropFirst() {
            for attribute in entity.attributes
            where attribute.name == "uid"
                || !reusedNames.contains(attribute.name) && random.below(4) > 0
            {
                touched.insert(attribute.name)
                schema.entities[index].attributes.append(attribute)
            }
            for relationship in entity.relationships
            where inverses.inverse(of: PropertyPath(entity.name, relationship.name)) == nil
                && !reusedNames.contains(relationship.name) && random.below(2) == 0
            {
                touched.insert(relationship.name)
                schema.entities[index].relationships.append(relationship)
            }
        }
    }

    /// Inserts a superentity above an entity and below its present one.
    mutating func insertSuperentity(_ index: Int, _ random: inout SeededRandom) {
        let name = newName(&random)
        var between = EntityDescription(
            name, below: schema.entities[index].superentityName, isAbstract: random.below(2) == 0)
        if between.superentityName == nil {
            between.attributes = [Self.uid]
            schema.entities[index].attributes.removeAll { $0.name == "uid" }
        }
        schema.entities[index].superentityName = name
        schema.entities.append(between)
    }

    /// Moves an entity below another one of its hierarchy.
    mutating func changeSuperentity(_ index: Int, _ random: inout SeededRandom) {
        let entity = schema.entities[index]
        guard entity.superentityName != nil else { return }
        let others = schema.entities.map(\.name).filter { other in
            schema.root(other) == schema.root(entity.name) && other != entity.superentityName
                && !schema.isKind(other, of: entity.name)
        }
        guard let other = others.randomElement(using: &random) else { return }
        schema.entities[index].superentityName = other
    }

    /// Removes an entity between two: its subentities move below its superentity and get some of
    /// its attributes.
    mutating func removeMiddle(_ index: Int, _ random: inout SeededRandom) {
        let gone = schema.entities[index]
        guard gone.superentityName != nil else { return }
        let kept = gone.attributes.filter { attribute in
            !reusedNames.contains(attribute.name) && random.below(3) > 0
        }
        touched.formUnion(gone.attributes.map(\.name))
        removeRelationships(of: gone.name)
        for other in schema.entities.indices
        where schema.entities[other].superentityName == gone.name {
            schema.entities[other].superentityName = gone.superentityName
            schema.entities[other].attributes += kept
        }
        schema.entities.removeAll { $0.name == gone.name }
    }

    // MARK: Mappings

    mutating func addMapping(_ random: inout SeededRandom) {
        var said = mappings ?? []
        let pairs = reference.later.sorted { $0.key < $1.key }.filter { before, after in
            !said.contains { $0.source == before || $0.destination == after }
        }
        guard let (before, after) = pairs.randomElement(using: &random) else { return }
        switch random.below(8) {
        case 0: said.append(.delete(before))
        case 1 where before == after: said.append(.insert(after))
        case 2: guard renamed(before, after, &said, &random) else { return }
        case 3: guard swapped(pairs, &said, &random) else { return }
        case 4:
            said.append(.transform(from: before, to: after, .dropsThirds))
        case 5, 6: guard split(before, after, &said, &random) else { return }
        default: said.append(.transform(from: before, to: after, .copy))
        }
        mappings = said
    }

    /// A new name that only the mapping states.
    private mutating func renamed(
        _ before: String, _ after: String, _ said: inout [RewriteMapping],
        _ random: inout SeededRandom
    ) -> Bool {
        let name = newName(&random)
        changeName(after, to: name)
        if let index = schema.indexOf(name) { schema.entities[index].previousName = nil }
        said.append(
            random.below(2) == 0
                ? .copy(from: before, to: name) : .transform(from: before, to: name, .copy))
        return true
    }

    private mutating func swapped(
        _ pairs: [(key: String, value: String)], _ said: inout [RewriteMapping],
        _ random: inout SeededRandom
    ) -> Bool {
        let same = pairs.filter { $0.key == $0.value }.map(\.key).shuffled(using: &random)
        guard same.count > 1 else { return false }
        changeName(same[0], to: "swapped")
        changeName(same[1], to: same[0])
        changeName("swapped", to: same[1])
        said += [.copy(from: same[0], to: same[1]), .copy(from: same[1], to: same[0])]
        return true
    }

    private mutating func split(
        _ before: String, _ after: String, _ said: inout [RewriteMapping],
        _ random: inout SeededRandom
    ) -> Bool {
        let texts = old.attributes(of: before).filter { $0.type == .string }.map(\.name)
        guard let text = texts.randomElement(using: &random),
            let index = schema.indexOf(after)
        else { return false }
        let names = [newName(&random), newName(&random)]
        for name in names {
            touched.insert(name)
            schema.entities[index].attributes.append(
                .optional(name, .string, default: .string("none")))
        }
        said.append(
            .transform(
                from: before, to: after,
                .splits(text: text, first: names[0], second: names[1])))
        return true
    }
}
