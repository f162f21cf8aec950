import PageStore
import RecordStore
import SampleSchemas
import TestSupport

/// A model that changes at random, within the changes that a store's objects can follow.
struct RewriteEvolution {
    let old: SchemaDescription
    private let objects: [Int64: RewriteObject]
    /// Names of entities and properties of earlier models, which may come back for others.
    private let retired: Set<String>
    var schema: SchemaDescription
    var mappings: [RewriteMapping]?
    /// Names of properties that have changed already.
    var touched: Set<String> = []
    /// What earlier models stated; nil if no name of the old model goes to something else.
    let alreadyStated: Set<StatedName>?
    /// A model that was not taken, because an earlier name that it states is not certain.
    private(set) var uncertain: (schema: SchemaDescription, mappings: [RewriteMapping]?)?
    /// Names of the old model that other things have now, and names of what had them.
    var reusedNames: Set<String> = []
    /// What no earlier model stated of the names that are used again.
    var newStatements: Set<StatedName> = []

    init(
        _ old: SchemaDescription, _ objects: [Int64: RewriteObject], retired: Set<String> = [],
        alreadyStated: Set<StatedName>? = nil
    ) {
        (self.old, self.objects, self.retired) = (old, objects, retired)
        self.alreadyStated = alreadyStated
        schema = old
    }

    /// A model to begin with.
    static func model(_ random: inout SeededRandom) -> SchemaDescription {
        var entities: [EntityDescription] = []
        for number in 0..<(3 + random.below(4)) {
            let name = "E\(number)"
            var entity = EntityDescription(name)
            if number > 0, random.below(2) == 0 {
                entity.superentityName = "E\(random.below(number))"
            } else {
                entity.attributes = [.required("uid", .int64)]
                entity.uniqueConstraints = random.below(2) == 0 ? [["uid"]] : []
            }
            entities.append(entity)
        }
        let roots = Set(entities.compactMap(\.superentityName))
        for index in entities.indices where roots.contains(entities[index].name) {
            entities[index].isAbstract = random.below(4) == 0
        }
        let bare = SchemaDescription(version: "V", entities)
        var evolution = RewriteEvolution(bare, [:])
        for index in bare.entities.indices {
            for _ in 0..<(1 + random.below(4)) { evolution.addAttribute(index, &random) }
            evolution.addIndex(index, &random)
            for _ in 0..<random.below(3) {
                evolution.addRelationship(index, &random)
                if random.below(2) == 0 {
                    evolution.attempt { $0.addInverse(index, &random) }
                }
            }
        }
        return evolution.schema
    }

    var reference: RewriteReference { RewriteReference(from: old, to: schema, mappings) }

    /// One to eight changes, and sometimes mappings of the program.
    mutating func change(_ random: inout SeededRandom, allowsMappings: Bool = true) {
        for _ in 0...random.below(8) { attempt { $0.changeOnce(&random) } }
        if allowsMappings, random.below(3) == 0 {
            for _ in 0...random.below(2) { attempt { $0.addMapping(&random) } }
        }
        if random.below(3) == 0 { schema.entities.shuffle(using: &random) }
        // An unchanged version calls no mapping.
        if !isOther { mappings = nil }
    }

    var isOther: Bool { SchemaDifference.needsMigration(from: old, to: schema) }

    /// Makes a change and drops it if the model then contradicts itself.
    mutating func attempt(_ body: (inout RewriteEvolution) -> Void) {
        let before = self
        body(&self)
        tidyIndexes()
        // Without what is new in it, a renaming is one that an earlier model has stated.
        guard newStatements.isSubset(of: stated), (try? Schema(schema)) != nil,
            reference.migrated(objects) != nil
        else {
            self = before
            return
        }
        if reference.isUncertain {
            let refused = (schema, mappings)
            self = before
            uncertain = refused
        }
    }

    private mutating func changeOnce(_ random: inout SeededRandom) {
        let index = random.below(schema.entities.count)
        switch random.below(36) {
        case 0: addAttribute(index, &random)
        case 1: addRelationship(index, &random)
        case 2, 3: addInverse(index, &random)
        case 4: renameAttribute(index, &random)
        case 5: renameRelationship(index, &random)
        case 6, 7: renameEntity(index, &random)
        case 8, 9: convert(index, &random)
        case 10: addEntity(&random)
        case 11: removeAttribute(index, &random)
        case 12: removeRelationship(index, &random)
        case 13: removeEntity(index, &random)
        case 14: require(index, &random)
        case 15: addIndex(index, &random)
        case 16, 17: moveUp(index, &random)
        case 18: moveDown(index, &random)
        case 19, 20: changeKind(index, &random)
        case 21: changeDestination(index, &random)
        case 22, 23: mergeRoots(&random)
        case 24: putBelow(index, &random)
        case 25: makeRoot(index, &random)
        case 26: insertSuperentity(index, &random)
        case 27: changeSuperentity(index, &random)
        case 28: moveRelationshipUp(index, &random)
        case 29, 30: reuseAttributeNames(index, &random)
        case 31: reuseRelationshipNames(index, &random)
        case 32: reuseEntityNames(&random)
        case 33, 34: changeConstraint(index, &random)
        default: removeMiddle(index, &random)
        }
    }

    /// A name that neither model has, new or of an earlier model.
    func newName(_ random: inout SeededRandom) -> String {
        let free = retired.subtracting(old.names).subtracting(schema.names).sorted()
        guard !free.isEmpty, random.below(3) == 0 else {
            return "n\(random.next() % 1_000_000_000)"
        }
        return free[random.below(free.count)]
    }

    // MARK: Properties

    private mutating func addAttribute(_ index: Int, _ random: inout SeededRandom) {
        let type = AttributeType.allCases[random.below(AttributeType.allCases.count)]
        let value = RandomModels.value(type, &random)
        let attribute = AttributeDescription(
            name: newName(&random), type: type, isOptional: value == .null || random.below(2) == 0,
            defaultValue: value)
        touched.insert(attribute.name)
        schema.entities[index].attributes.insert(
            attribute, at: random.below(schema.entities[index].attributes.count + 1))
    }

    private func randomKind(
        _ random: inout SeededRandom
    ) -> RelationshipDescription.Kind {
        [.toOne, .toOne, .toManyUnordered, .toManyOrdered][random.below(4)]
    }

    private mutating func addRelationship(_ index: Int, _ random: inout SeededRandom) {
        let name = newName(&random)
        touched.insert(name)
        schema.entities[index].relationships.append(
            RelationshipDescription(
                name: name,
                destinationEntityName: schema.entities[random.below(schema.entities.count)].name,
                kind: randomKind(&random)))
    }

    /// Adds an inverse to a relationship without one.
    private mutating func addInverse(_ index: Int, _ random: inout SeededRandom) {
        let entity = schema.entities[index]
        let inverses = InverseTable(schema)
        let free = entity.relationships.filter {
            inverses.inverse(of: PropertyPath(entity.name, $0.name)) == nil
        }
        guard let relationship = free.randomElement(using: &random),
            let target = schema.indexOf(relationship.destinationEntityName)
        else { return }
        let name = newName(&random)
        touched.insert(name)
        schema.entities[target].relationships.append(
            RelationshipDescription(
                name: name, destinationEntityName: entity.name, inverseName: relationship.name,
                kind: randomKind(&random)))
    }

    /// Whether this name of the file's model was not changed before.
    func isUntouched(_ name: String) -> Bool {
        name != "uid" && !touched.contains(name)
    }

    private func untouchedAttribute(
        _ index: Int, _ random: inout SeededRandom
    ) -> AttributeDescription? {
        schema.entities[index].attributes.filter { isUntouched($0.name) }
            .randomElement(using: &random)
    }

    private func untouchedRelationship(
        _ index: Int, _ random: inout SeededRandom
    ) -> RelationshipDescription? {
        schema.entities[index].relationships.filter { isUntouched($0.name) }
            .randomElement(using: &random)
    }

    private mutating func renameAttribute(_ index: Int, _ random: inout SeededRandom) {
        let entity = schema.entities[index]
        guard let old = untouchedAttribute(index, &random)?.name,
            let number = entity.attributes.firstIndex(where: { $0.name == old })
        else { return }
        let name = newName(&random)
        touched.formUnion([old, name])
        schema.entities[index].attributes[number].name = name
        schema.entities[index].attributes[number].previousName = old
        renameColumn(old, name, of: entity.name)
    }

    private mutating func renameRelationship(_ index: Int, _ random: inout SeededRandom) {
        let entity = schema.entities[index]
        guard let old = untouchedRelationship(index, &random)?.name,
            let number = entity.relationships.firstIndex(where: { $0.name == old })
        else { return }
        let name = newName(&random)
        touched.formUnion([old, name])
        let inverses = InverseTable(schema)
        schema.entities[index].relationships[number].name = name
        schema.entities[index].relationships[number].previousName = old
        if let inverse = inverses.inverse(of: PropertyPath(entity.name, old)) {
            changeInverse(of: inverse, to: name)
        }
        renameColumn(old, name, of: entity.name)
    }

    private mutating func changeInverse(of path: PropertyPath, to name: String?) {
        guard let index = schema.indexOf(path.entityName) else { return }
        for number in schema.entities[index].relationships.indices
        where schema.entities[index].relationships[number].name == path.name {
            schema.entities[index].relationships[number].inverseName = name
        }
    }

    private mutating func convert(_ index: Int, _ random: inout SeededRandom) {
        guard let attribute = untouchedAttribute(index, &random),
            let number = schema.entities[index].attributes.firstIndex(of: attribute)
        else { return }
        let types = AttributeType.allCases.filter {
            RewriteReference.isInferred(from: attribute.type, to: $0)
        }
        guard let type = types.randomElement(using: &random) else { return }
        touched.insert(attribute.name)
        schema.entities[index].attributes[number].type = type
        schema.entities[index].attributes[number].defaultValue =
            RewriteReference.converted(attribute.defaultValue, from: attribute.type, to: type)
            ?? .null
        if schema.entities[index].attributes[number].defaultValue == .null {
            schema.entities[index].attributes[number].isOptional = true
        }
    }

    /// Nil values become the default.
    private mutating func require(_ index: Int, _ random: inout SeededRandom) {
        guard let attribute = untouchedAttribute(index, &random), attribute.isOptional,
            let number = schema.entities[index].attributes.firstIndex(of: attribute)
        else { return }
        touched.insert(attribute.name)
        schema.entities[index].attributes[number].isOptional = false
        schema.entities[index].attributes[number].defaultValue = RewriteFilling.value(
            attribute.type, isOptional: false, &random)
    }

    private mutating func removeAttribute(_ index: Int, _ random: inout SeededRandom) {
        guard let name = untouchedAttribute(index, &random)?.name else { return }
        touched.insert(name)
        schema.entities[index].attributes.removeAll { $0.name == name }
    }

    private mutating func removeRelationship(_ index: Int, _ random: inout SeededRandom) {
        guard let name = untouchedRelationship(index, &random)?.name else { return }
        removeRelationship(PropertyPath(schema.entities[index].name, name))
    }

    /// Removes a relationship; its inverse stays without one.
    mutating func removeRelationship(_ path: PropertyPath) {
        touched.insert(path.name)
        if let inverse = InverseTable(schema).inverse(of: path) {
            changeInverse(of: inverse, to: nil)
        }
        guard let index = schema.indexOf(path.entityName) else { return }
        schema.entities[index].relationships.removeAll { $0.name == path.name }
    }

    private mutating func changeKind(_ index: Int, _ random: inout SeededRandom) {
        guard let relationship = untouchedRelationship(index, &random),
            let number = schema.entities[index].relationships.firstIndex(of: relationship)
        else { return }
        touched.insert(relationship.name)
        schema.entities[index].relationships[number].kind = randomKind(&random)
    }

    /// Changes a destination to a superentity, or sometimes to a subentity.
    private mutating func changeDestination(_ index: Int, _ random: inout SeededRandom) {
        guard let relationship = untouchedRelationship(index, &random),
            let number = schema.entities[index].relationships.firstIndex(of: relationship)
        else { return }
        let name = relationship.destinationEntityName
        let others = schema.entities.map(\.name).filter { other in
            other != name
                && (schema.isKind(name, of: other)
                    || (random.below(4) == 0 && schema.isKind(other, of: name)))
        }
        guard let other = others.randomElement(using: &random) else { return }
        let path = PropertyPath(schema.entities[index].name, relationship.name)
        touched.insert(relationship.name)
        schema.entities[index].relationships[number].destinationEntityName = other
        if let inverse = InverseTable(old).inverse(of: path), inverse.entityName != other {
            moveRelationship(inverse, to: other)
        }
    }

    // MARK: Up and down

    private mutating func moveUp(_ index: Int, _ random: inout SeededRandom) {
        let entity = schema.entities[index]
        let above = schema.line(entity.name).dropFirst()
        guard var attribute = untouchedAttribute(index, &random),
            let target = above.randomElement(using: &random),
            let targetIndex = schema.indexOf(target.name)
        else { return }
        let name = attribute.name
        touched.insert(name)
        for other in schema.entities.indices
        where schema.isKind(schema.entities[other].name, of: target.name) {
            schema.entities[other].attributes.removeAll { $0.name == name }
        }
        if random.below(3) == 0 {
            attribute.previousName = name
            attribute.name = newName(&random)
            touched.insert(attribute.name)
            renameColumn(name, attribute.name, of: entity.name)
        }
        schema.entities[targetIndex].attributes.append(attribute)
    }

    private mutating func moveDown(_ index: Int, _ random: inout SeededRandom) {
        let entity = schema.entities[index]
        let below = schema.entities.map(\.name).filter {
            $0 != entity.name && schema.isKind($0, of: entity.name)
        }
        guard var attribute = untouchedAttribute(index, &random),
            let first = below.randomElement(using: &random)
        else { return }
        let name = attribute.name
        touched.insert(name)
        schema.entities[index].attributes.removeAll { $0.name == name }
        if random.below(3) == 0 {
            attribute.previousName = name
            attribute.name = newName(&random)
            touched.insert(attribute.name)
            renameColumn(name, attribute.name, of: entity.name)
        }
        let isToAll = random.below(2) == 0
        for other in schema.entities.indices {
            let isDirect = schema.entities[other].superentityName == entity.name
            if isToAll ? isDirect : schema.entities[other].name == first {
                schema.entities[other].attributes.append(attribute)
            }
        }
    }

    private mutating func moveRelationshipUp(_ index: Int, _ random: inout SeededRandom) {
        let name = schema.entities[index].name
        guard let relationship = untouchedRelationship(index, &random),
            let target = schema.line(name).dropFirst().randomElement(using: &random)
        else { return }
        let path = PropertyPath(name, relationship.name)
        if let inverse = InverseTable(schema).inverse(of: path),
            let other = schema.indexOf(inverse.entityName),
            let number = schema.entities[other].relationships.firstIndex(where: {
                $0.name == inverse.name
            })
        {
            touched.insert(inverse.name)
            schema.entities[other].relationships[number].destinationEntityName = target.name
        }
        moveRelationship(path, to: target.name)
    }

    private mutating func moveRelationship(_ path: PropertyPath, to name: String) {
        guard let index = schema.indexOf(path.entityName), let target = schema.indexOf(name),
            let number = schema.entities[index].relationships.firstIndex(where: {
                $0.name == path.name
            })
        else { return }
        touched.insert(path.name)
        let relationship = schema.entities[index].relationships.remove(at: number)
        schema.entities[target].relationships.append(relationship)
    }

    // MARK: Indexes

    mutating func addIndex(_ index: Int, _ random: inout SeededRandom) {
        let name = schema.entities[index].name
        let columns =
            schema.attributes(of: name).map(\.name)
            + schema.relationships(of: name).filter { $0.kind == .toOne }.map(\.name)
        guard let first = columns.randomElement(using: &random),
            let second = columns.randomElement(using: &random)
        else { return }
        let index = schema.entities[index].indexes.isEmpty ? index : random.below(index + 1)
        schema.entities[index].indexes.append(first == second ? [first] : [first, second])
    }

    private mutating func renameColumn(_ old: String, _ name: String, of entityName: String) {
        for index in schema.entities.indices
        where schema.isKind(schema.entities[index].name, of: entityName) {
            let indexes = schema.entities[index].indexes
            schema.entities[index].indexes = indexes.map { $0.map { $0 == old ? name : $0 } }
        }
    }

    /// Removes indexes whose properties are gone.
    private mutating func tidyIndexes() {
        for index in schema.entities.indices {
            let name = schema.entities[index].name
            let columns = Set(
                schema.attributes(of: name).map(\.name)
                    + schema.relationships(of: name).filter { $0.kind == .toOne }.map(\.name))
            var known: Set<[String]> = []
            schema.entities[index].indexes.removeAll {
                !columns.isSuperset(of: $0) || !known.insert($0).inserted
            }
            schema.entities[index].uniqueConstraints.removeAll { !columns.isSuperset(of: $0) }
        }
    }
}

extension RandomModels {
    /// A model whose changes may need records to be rewritten.
    package static func changing(_ random: inout SeededRandom) -> SchemaDescription {
        RewriteEvolution.model(&random)
    }

    /// Such a model after some changes.
    package static func changed(
        _ model: SchemaDescription, _ random: inout SeededRandom
    ) -> SchemaDescription {
        var evolution = RewriteEvolution(model, [:])
        evolution.change(&random)
        return evolution.schema
    }
}
