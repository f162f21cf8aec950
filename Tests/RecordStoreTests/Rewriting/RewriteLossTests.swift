import PageStore
import SampleSchemas
import Testing

@testable import RecordStore

/// Faults of rewriting migrations that random models found.
@Suite struct RewriteLossTests {
    private func open(
        _ entities: [EntityDescription], _ files: MemoryFileSystem,
        allowedLoss: LossPermission = .none
    ) throws -> RecordDatabase {
        let schema = SchemaDescription(version: "V", entities)
        return try RecordDatabase.open(.file("store"), schema: schema, files: files) { _ in
            [MigrationStep(schema, allowedLoss: allowedLoss)]
        }
    }

    /// One object of each entity, in order; the first links to the second.
    private func files(_ entities: [EntityDescription]) throws -> MemoryFileSystem {
        let files = MemoryFileSystem()
        let database = try open(entities, files)
        let transaction = try database.beginWrite()
        var numbers: [(entity: EntityLayout, number: ObjectNumber)] = []
        for description in entities where !description.isAbstract {
            let entity = try #require(database.schema.entity(named: description.name))
            let number = try transaction.allocateNumber(in: entity.hierarchy)
            numbers.append((entity, number))
        }
        var batch = RecordBatch()
        for (index, (entity, number)) in numbers.enumerated() {
            let row = entity.emptyRow()
            defer { row.deallocate() }
            if index == 0, numbers.count > 1 {
                for relationship in entity.relationships {
                    if let field = relationship.field {
                        row.setLink(numbers[1].number, at: field.byteOffset)
                    } else {
                        batch.setLinks(relationship, owner: number, [numbers[1].number])
                    }
                }
            }
            batch.insert(entity, number, row: row)
        }
        try transaction.apply(batch)
        try transaction.commit()
        try database.close()
        return files
    }

    private func values(_ name: String, _ database: RecordDatabase) throws -> [Value] {
        let reader = try database.snapshot()
        #expect(reader.check() == [])
        let root = try #require(database.schema.entities.first { $0.field(named: name) != nil })
        var values: [Value] = []
        let cursor = reader.recordCursor(root.hierarchy)
        while try cursor.next() {
            let row = try cursor.row()
            let entity = database.schema.knownEntity(tag: row.entityTag)
            let field = try #require(entity.field(named: name))
            values.append(try reader.value(field, of: row))
        }
        return values
    }

    /// A name belongs to the entity that declares it: an attribute that a superentity declares by
    /// the earlier name of a renamed attribute is another attribute.
    @Test func `a renamed attribute keeps its values below an entity with one of its earlier name`()
        throws
    {
        let files = try files([
            EntityDescription("Dog", attributes: [.optional("age", .int64, default: .int(49))]),
            EntityDescription("Animal", attributes: [.optional("age", .int64, default: .int(141))]),
        ])
        let years = AttributeDescription.optional(
            "years", .int64, default: .int(7), previousName: "age")
        let database = try open(
            [
                EntityDescription(
                    "Animal", attributes: [.optional("age", .int64, default: .int(141))]),
                EntityDescription("Dog", below: "Animal", attributes: [years]),
            ], files)
        let animal = try #require(database.schema.entity(named: "Animal"))
        let dog = try #require(database.schema.entity(named: "Dog"))
        let reader = try database.snapshot()
        #expect(reader.check() == [])
        var found: [String: [Value]] = [:]
        let cursor = reader.recordCursor(animal.hierarchy)
        while try cursor.next() {
            let row = try cursor.row()
            let age = try reader.value(try #require(animal.field(named: "age")), of: row)
            found["age", default: []].append(age)
            guard row.entityTag == dog.tag else { continue }
            let value = try reader.value(try #require(dog.field(named: "years")), of: row)
            found["years", default: []].append(value)
        }
        #expect(found == ["age": [.int(141), .int(141)], "years": [.int(49)]])
        try database.close()
    }

    @Test func `an attribute moved to a superentity gives other subentities its default`() throws {
        let files = try files([
            EntityDescription(
                "Car", below: "Vehicle",
                attributes: [.optional("seats", .int64, default: .int(5))]),
            EntityDescription("Bike", below: "Vehicle"),
            EntityDescription("Vehicle", isAbstract: true),
        ])
        let database = try open(
            [
                EntityDescription("Car", below: "Vehicle"),
                EntityDescription("Bike", below: "Vehicle"),
                EntityDescription(
                    "Vehicle", isAbstract: true,
                    attributes: [.optional("seats", .int64, default: .int(7))]),
            ], files)
        #expect(try values("seats", database) == [.int(5), .int(7)])
        try database.close()
    }

    private static func owners(
        _ kind: RelationshipDescription.Kind, isThere: Bool = true
    ) -> [EntityDescription] {
        [
            EntityDescription(
                "Pot",
                relationships: isThere
                    ? [
                        RelationshipDescription(
                            name: "plant", destinationEntityName: "Plant", inverseName: "pots",
                            kind: kind)
                    ] : []),
            EntityDescription(
                "Plant",
                relationships: [
                    .toManyUnordered("pots", to: "Pot", inverse: isThere ? "plant" : nil)
                ]),
        ]
    }

    /// The plant has kept its link to the pot.
    private func checkPots(_ database: RecordDatabase) throws {
        let reader = try database.snapshot()
        #expect(reader.check() == [])
        let plant = try #require(database.schema.entity(named: "Plant"))
        let pots = try #require(plant.relationship(named: "pots"))
        #expect(try reader.linkedNumbers(pots, of: ObjectNumber(1)) == [ObjectNumber(1)])
    }

    @Test(arguments: [RelationshipDescription.Kind.toOne, .toManyUnordered, .toManyOrdered])
    func `one side of a relationship is removed, and the other keeps the links`(
        kind: RelationshipDescription.Kind
    ) throws {
        let files = try files(Self.owners(kind))
        let database = try open(Self.owners(kind, isThere: false), files)
        try checkPots(database)
        try database.close()
    }

    /// A plant that loses its pots with its superentity, and one that keeps them.
    private static func shelf(isLater: Bool, _ target: String) -> [EntityDescription] {
        let pot = EntityDescription(
            "Pot",
            relationships: isLater ? [] : [.toOne("plant", to: "Plant", inverse: "pots")])
        let plant = EntityDescription(
            "Plant",
            relationships: [.toManyUnordered("pots", to: "Pot", inverse: isLater ? nil : "plant")])
        let herb = EntityDescription("Herb", below: isLater ? nil : "Plant")
        return target == "Plant" ? [pot, plant, herb] : [pot, herb, plant]
    }

    /// A bug: the migration was refused for a subentity that had no links.
    @Test func `a removed to-one is lost only where its target loses the inverse`() throws {
        let files = try files(Self.shelf(isLater: false, "Plant"))
        let database = try open(Self.shelf(isLater: true, "Plant"), files)
        try checkPots(database)
        try database.close()
        let others = try self.files(Self.shelf(isLater: false, "Herb"))
        let error = #expect(throws: StoreError.self) {
            try open(Self.shelf(isLater: true, "Herb"), others)
        }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.message.contains("Pot.plant is gone, and object 1") == true)
        try open(Self.shelf(isLater: true, "Herb"), others, allowedLoss: .all).close()
    }

    @Test func `a list is not dropped without permission when one subentity keeps it`()
        throws
    {
        let list = RelationshipDescription.toManyUnordered("things", to: "Thing")
        func entities(_ isMoved: Bool) -> [EntityDescription] {
            [
                EntityDescription("Box", below: "Base"),
                EntityDescription("Thing"),
                EntityDescription("Bag", below: "Base", relationships: isMoved ? [list] : []),
                EntityDescription("Base", isAbstract: true, relationships: isMoved ? [] : [list]),
            ]
        }
        let files = try files(entities(false))
        let error = #expect(throws: StoreError.self) { try open(entities(true), files) }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.message.contains("Base.things is gone") == true)
        #expect(throws: StoreError.self) {
            try open(entities(true), files, allowedLoss: .only(["Bag.things", "Base", "Thing"]))
        }
        try open(entities(true), files, allowedLoss: .only(["Base.things"])).close()
    }

    @Test func `an inverse declared below its destination survives a migration`()
        throws
    {
        func entities(_ type: AttributeType) -> [EntityDescription] {
            [
                EntityDescription(
                    "Owner", optional: ["id": type],
                    relationships: [.toManyUnordered("pets", to: "Animal")]),
                EntityDescription(
                    "Dog", below: "Animal",
                    relationships: [.toManyUnordered("owner", to: "Owner", inverse: "pets")]),
                EntityDescription("Animal"),
            ]
        }
        let files = try files(entities(.int64))
        let database = try open(entities(.double), files)
        #expect(try values("id", database) == [.null])
        try database.close()
    }

    /// A bug: all links became nil silently.
    @Test(arguments: [LossPermission.all, .only(["Dog.owner"])])
    func `a to-one to another hierarchy is refused where it leads to objects`(
        allowed: LossPermission
    ) throws {
        func model(_ destination: String) -> [EntityDescription] {
            [
                EntityDescription("Dog", relationships: [.toOne("owner", to: destination)]),
                EntityDescription("Person"),
                EntityDescription("Company"),
            ]
        }
        let files = try files(model("Person"))
        for refused in [LossPermission.none, .only(["Dog", "Person", "Person.owner"])] {
            let error = #expect(throws: StoreError.self) {
                try open(model("Company"), files, allowedLoss: refused)
            }
            #expect(error?.code == .schemaMismatch)
            #expect(error?.message.contains("Dog.owner") == true)
        }
        let old = try open(model("Person"), files)
        #expect(try values("owner", old) == [.object(ObjectNumber(1))])
        try old.close()
        let database = try open(model("Company"), files, allowedLoss: allowed)
        #expect(try values("owner", database) == [.null])
        try database.close()
    }

    /// A visit to a pet, of which a later version declares an inverse below one of its ends.
    private static func visits(
        _ kind: RelationshipDescription.Kind, _ target: String, inverse: (of: String, to: String)?,
        isMoved: Bool
    ) -> [EntityDescription] {
        let pet = RelationshipDescription(
            name: "pet", destinationEntityName: "Animal", inverseName: nil, kind: kind)
        let entities =
            [EntityDescription("Visit", below: isMoved ? "Event" : nil, relationships: [pet])]
            + [target, target == "Dog" ? "Cat" : "Dog"].map {
                EntityDescription($0, below: "Animal")
            }
            + [
                EntityDescription("LongVisit", below: "Visit"),
                EntityDescription("Animal", isAbstract: true),
            ] + (isMoved ? [EntityDescription("Event", isAbstract: true)] : [])
        return entities.map { entity in
            guard let inverse, entity.name == inverse.of else { return entity }
            var entity = entity
            entity.relationships += [.toManyUnordered("visits", to: inverse.to, inverse: "pet")]
            return entity
        }
    }

    /// A bug: the links stayed, and led to objects without the inverse.
    @Test(
        arguments: [RelationshipDescription.Kind.toOne, .toManyUnordered, .toManyOrdered],
        [false, true])
    func `a new inverse below one end refuses links of other entities there`(
        kind: RelationshipDescription.Kind, isMoved: Bool
    ) throws {
        for inverse in [(of: "Dog", to: "Visit"), (of: "Animal", to: "LongVisit")] {
            let (old, new) = (
                Self.visits(kind, "Cat", inverse: nil, isMoved: false),
                Self.visits(kind, "Cat", inverse: inverse, isMoved: isMoved)
            )
            let files = try files(old)
            let error = #expect(throws: StoreError.self) { try open(new, files) }
            #expect(error?.code == .schemaMismatch, "\(inverse)")
            #expect(error?.message.contains("pet") == true)
            try open(old, files).close()
            let database = try open(new, files, allowedLoss: .only(["Visit.pet"]))
            #expect(try pets(database) == [], "\(inverse)")
            try database.close()
        }
        let files = try files(Self.visits(kind, "Dog", inverse: nil, isMoved: false))
        let database = try open(
            Self.visits(kind, "Dog", inverse: ("Dog", "Visit"), isMoved: isMoved), files)
        #expect(try pets(database) == [ObjectNumber(1)])
        try database.close()
    }

    @Test(arguments: [RelationshipDescription.Kind.toOne, .toManyUnordered, .toManyOrdered])
    func `a check names links that the inverse does not allow`(
        kind: RelationshipDescription.Kind
    ) throws {
        for (target, isAllowed) in [("Dog", true), ("Cat", false)] {
            let model = Self.visits(kind, target, inverse: ("Dog", "Visit"), isMoved: false)
            let database = try open(model, files(model))
            let found = try database.snapshot().check().map(\.message)
            let isNamed = found.contains { $0.hasSuffix("a Cat that the inverse does not allow") }
            #expect(isNamed != isAllowed, "\(found)")
            try database.close()
        }
    }

    /// A bug: a permission for the other side than the one that is written did not count.
    @Test(arguments: ["Visit.pet", "Event.pet", "Pet.visits"])
    func `permission for either side of a relationship covers its links`(name: String) throws {
        func model(isLater: Bool) -> [EntityDescription] {
            let pet = RelationshipDescription.toOne("pet", to: "Pet", inverse: "visits")
            let visits = RelationshipDescription(
                name: "visits", destinationEntityName: "Event", inverseName: nil,
                kind: .toManyOrdered)
            return [
                EntityDescription("Visit", below: "Event"),
                EntityDescription("Pet", relationships: [visits]),
                EntityDescription("Checkup", below: "Event", relationships: isLater ? [pet] : []),
                EntityDescription("Event", relationships: isLater ? [] : [pet]),
            ]
        }
        let files = try files(model(isLater: false))
        #expect(throws: StoreError.self) { try open(model(isLater: true), files) }
        let allowed = LossPermission.only(["Visit.pet", name])
        let database = try open(model(isLater: true), files, allowedLoss: allowed)
        #expect(try database.snapshot().check() == [])
        try database.close()
    }

    /// A bug: the link counted as kept by the list, which is no inverse of it any more.
    @Test(arguments: [RelationshipDescription.Kind.toOne, .toManyUnordered, .toManyOrdered])
    func `a relationship that moves below is lost by other subentities`(
        kind: RelationshipDescription.Kind
    ) throws {
        func model(_ owner: String, _ first: String) -> [EntityDescription] {
            let pet = RelationshipDescription(
                name: "pet", destinationEntityName: "Pet", inverseName: "visits", kind: kind)
            let below = [first, first == "Visit" ? "Checkup" : "Visit"].map {
                EntityDescription($0, below: "Event", relationships: owner == $0 ? [pet] : [])
            }
            return [
                below[0],
                EntityDescription("Pet", relationships: [.toManyUnordered("visits", to: "Event")]),
                below[1],
                EntityDescription(
                    "Event", isAbstract: true, relationships: owner == "Event" ? [pet] : []),
            ]
        }
        for owner in ["Visit", "Checkup"] {
            let other = owner == "Visit" ? "Checkup" : "Visit"
            let lost = try files(model("Event", other))
            let error = #expect(throws: StoreError.self) { try open(model(owner, other), lost) }
            #expect(error?.code == .schemaMismatch, "\(owner)")
            try open(model("Event", other), lost).close()
            try open(model(owner, other), lost, allowedLoss: .all).close()
            let kept = try files(model("Event", owner))
            let database = try open(model(owner, owner), kept)
            let reader = try database.snapshot()
            #expect(reader.check() == [])
            let entity = try #require(database.schema.entity(named: owner))
            let pet = try #require(entity.relationship(named: "pet"))
            #expect(try reader.linkedNumbers(pet, of: ObjectNumber(1)) == [ObjectNumber(1)])
            try database.close()
        }
    }

    private static func owner(
        _ kind: RelationshipDescription.Kind, of destination: String, isLater: Bool,
        _ target: String
    ) -> [EntityDescription] {
        let pet = RelationshipDescription(
            name: "pet", destinationEntityName: destination, inverseName: nil, kind: kind)
        let others = ["Cat", "Puppy", "Dog"].filter { $0 != target && !(isLater && $0 == "Puppy") }
        let animals = ((isLater && target == "Puppy" ? [] : [target]) + others).map {
            EntityDescription($0, below: $0 == "Puppy" ? "Dog" : "Animal")
        }
        return [EntityDescription("Owner", relationships: [pet])] + animals
            + [EntityDescription("Animal", isAbstract: true)]
    }

    /// A bug: the permission for the entity counted for every link of the relationship.
    @Test(arguments: [RelationshipDescription.Kind.toOne, .toManyUnordered, .toManyOrdered])
    func `permission for a removed entity covers links to its objects alone`(
        kind: RelationshipDescription.Kind
    ) throws {
        for (target, isAllowed) in [("Cat", false), ("Puppy", true)] {
            let files = try files(Self.owner(kind, of: "Animal", isLater: false, target))
            let later = Self.owner(kind, of: "Dog", isLater: true, target)
            if !isAllowed {
                let error = #expect(throws: StoreError.self) {
                    try open(later, files, allowedLoss: .only(["Puppy"]))
                }
                #expect(error?.code == .schemaMismatch)
                #expect(error?.message.contains("pet to object 1") == true)
            }
            let names: Set<String> = isAllowed ? ["Puppy"] : ["Puppy", "Owner.pet"]
            let database = try open(later, files, allowedLoss: .only(names))
            let reader = try database.snapshot()
            #expect(reader.check() == [])
            let owner = try #require(database.schema.entity(named: "Owner"))
            let pet = try #require(owner.relationship(named: "pet"))
            #expect(try reader.linkedNumbers(pet, of: ObjectNumber(1)) == [])
            try database.close()
        }
    }

    /// A bug: the name in the refusal was that of the object's entity, and permitted nothing.
    @Test(arguments: ["Visit.pet", "LongVisit.pet"], ["Dog", "Company"])
    func `a property is permitted for its entity or for one below it`(
        name: String, destination: String
    ) throws {
        func model(_ destination: String) -> [EntityDescription] {
            [
                EntityDescription("LongVisit", below: "Visit"),
                EntityDescription("Cat", below: "Animal"),
                EntityDescription("Dog", below: "Animal"), EntityDescription("Company"),
                EntityDescription("Visit", relationships: [.toOne("pet", to: destination)]),
                EntityDescription("Animal", isAbstract: true),
            ]
        }
        let files = try files(model("Animal"))
        let error = #expect(throws: StoreError.self) { try open(model(destination), files) }
        #expect(error?.code == .schemaMismatch)
        let database = try open(model(destination), files, allowedLoss: .only([name]))
        #expect(try pets(database) == [])
        try database.close()
    }

    /// A bug: only a list could lose its links to objects of a removed root entity.
    @Test func `a to-one to a removed entity of another hierarchy is permitted with it`() throws {
        func model(isLater: Bool) -> [EntityDescription] {
            [
                EntityDescription(
                    "Visit", relationships: [.toOne("pet", to: isLater ? "Dog" : "Hamster")])
            ] + (isLater ? [] : [EntityDescription("Hamster")]) + [EntityDescription("Dog")]
        }
        let files = try files(model(isLater: false))
        #expect(throws: StoreError.self) { try open(model(isLater: true), files) }
        let database = try open(model(isLater: true), files, allowedLoss: .only(["Hamster"]))
        #expect(try pets(database) == [])
        try database.close()
    }

    /// The objects that the first visit leads to.
    private func pets(_ database: RecordDatabase) throws -> [ObjectNumber] {
        let reader = try database.snapshot()
        #expect(reader.check() == [])
        let visit = try #require(database.schema.entity(named: "Visit"))
        let pet = try #require(visit.relationship(named: "pet"))
        return try reader.linkedNumbers(pet, of: ObjectNumber(1))
    }

    /// A bug: they became NaN.
    @Test(arguments: [Double.infinity, -.infinity, 1e200, 1e-200])
    func `numbers that no decimal holds end the migration`(number: Double) throws {
        func model(_ type: AttributeType) -> [EntityDescription] {
            [
                EntityDescription(
                    "Box",
                    attributes: [
                        .optional("size", type, default: type == .double ? .double(number) : .null)
                    ])
            ]
        }
        let files = try files(model(.double))
        let error = #expect(throws: StoreError.self) { try open(model(.decimal), files) }
        #expect(error?.code == .invalidArgument)
        let old = try open(model(.double), files)
        #expect(try values("size", old) == [.double(number)])
        try old.close()
    }

    /// A record that was lost is damage, and no loss for which a file is made anew.
    @Test func `a file with a link to an object that is gone is not erased`() throws {
        func schema(_ link: RelationshipDescription) -> [EntityDescription] {
            [
                EntityDescription("A", optional: ["n": .int64], relationships: [link]),
                EntityDescription("B"),
            ]
        }
        let files = MemoryFileSystem()
        let old = try open(schema(.toOne("b", to: "B")), files)
        let transaction = try old.beginWrite()
        let entity = try #require(old.schema.entity(named: "A"))
        let row = entity.emptyRow()
        defer { row.deallocate() }
        row.setLink(ObjectNumber(7), at: try #require(entity.field(named: "b")).byteOffset)
        var batch = RecordBatch()
        batch.insert(entity, try transaction.allocateNumber(in: entity.hierarchy), row: row)
        try transaction.apply(batch)
        try transaction.commit()
        try old.close()
        let later = SchemaDescription(
            version: "V2", schema(.toManyUnordered("b", to: "B")))
        let error = #expect(throws: StoreError.self) {
            try RecordDatabase.open(
                .file("store"), schema: later, files: files, recreatesOnMismatch: true
            ) { _ in [MigrationStep(later)] }
        }
        #expect(error?.code == .schemaMismatch && error?.refusesLoss == false)
        let again = try open(schema(.toOne("b", to: "B")), files)
        #expect(try again.snapshot().recordCount(of: entity) == 1)
        try again.close()
    }

    /// A bug: they kept their own names' values, because only one model has the entity that
    /// declares them. A swap of relationships was refused.
    @Test func `swapped names count below an entity that the mapping deletes`() throws {
        func base(_ names: (String, previous: String?)...) -> EntityDescription {
            EntityDescription(
                "Base",
                attributes: names.enumerated().map { index, name in
                    .optional(
                        name.0, .int64, default: .int(Int64(index)), previousName: name.previous)
                })
        }
        let sub = EntityDescription("Sub", below: "Base")
        let files = try files([base(("a", nil), ("b", nil)), sub])
        let later = SchemaDescription(version: "V2", [base(("a", "b"), ("b", "a")), sub])
        let database = try RecordDatabase.open(.file("store"), schema: later, files: files) { _ in
            [MigrationStep(later, allowedLoss: .all, mappings: [.delete("Base")])]
        }
        #expect(try values("a", database) == [.int(1)])
        #expect(try values("b", database) == [.int(0)])
        try database.close()
    }
}
