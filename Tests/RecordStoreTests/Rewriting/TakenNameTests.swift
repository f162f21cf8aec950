import PageStore
import SampleSchemas
import Testing

@testable import RecordStore

/// Entities and properties that take the name of another one, beside others that were near that
/// one. A review found the faults.
@Suite struct TakenNameTests {
    private func open(
        _ entities: [EntityDescription], _ files: MemoryFileSystem, _ version: String = "V2",
        allowedLoss: LossPermission = .none
    ) throws -> RecordDatabase {
        let schema = SchemaDescription(version: version, entities)
        return try RecordDatabase.open(.file("store"), schema: schema, files: files) { _ in
            [MigrationStep(schema, allowedLoss: allowedLoss)]
        }
    }

    /// One object of each entity, with the defaults of its properties.
    private func files(_ entities: [EntityDescription]) throws -> MemoryFileSystem {
        let files = MemoryFileSystem()
        let database = try open(entities, files, "V1")
        let transaction = try database.beginWrite()
        var batch = RecordBatch()
        for description in entities where !description.isAbstract {
            let entity = try #require(database.schema.entity(named: description.name))
            let row = entity.emptyRow()
            defer { row.deallocate() }
            batch.insert(entity, try transaction.allocateNumber(in: entity.hierarchy), row: row)
        }
        try transaction.apply(batch)
        try transaction.commit()
        try database.close()
        return files
    }

    /// The values of the objects of exactly this entity.
    private func values(
        of name: String, _ properties: String..., in database: RecordDatabase
    ) throws -> [[Value]] {
        let reader = try database.snapshot()
        #expect(reader.check() == [])
        let entity = try #require(database.schema.entity(named: name))
        var values: [[Value]] = []
        let cursor = reader.recordCursor(entity.hierarchy)
        while try cursor.next() {
            let row = try cursor.row()
            guard row.entityTag == entity.tag else { continue }
            values.append(
                try properties.map { property in
                    try reader.value(try #require(entity.field(named: property)), of: row)
                })
        }
        return values
    }

    private func entity(
        _ name: String, below: String? = nil, was previousName: String? = nil,
        isAbstract: Bool = false, _ attributes: AttributeDescription...
    ) -> EntityDescription {
        var entity = EntityDescription(name, below: below, isAbstract: isAbstract)
        entity.previousName = previousName
        entity.attributes = attributes
        return entity
    }

    private func number(
        _ name: String, _ value: Int64, was previousName: String? = nil
    ) -> AttributeDescription {
        .optional(name, .int64, default: .int(value), previousName: previousName)
    }

    /// The tree of the gone superentity, which has the objects of the others too, was removed.
    @Test(arguments: [false, true])
    func `entities below a root whose name another one takes keep their objects`(
        isAbstract: Bool
    ) throws {
        let files = try files([
            entity("P", isAbstract: isAbstract, number("x", 10)),
            entity("S", below: "P", number("s", 1)),
            entity("Q", number("y", 2)),
        ])
        let later = [
            entity("P", was: "Q", number("y", 5)), entity("S", below: "P", number("s", 7)),
        ]
        let error = #expect(throws: StoreError.self) { try open(later, files) }
        #expect(error?.code == .schemaMismatch && error?.refusesLoss == true)
        let database = try open(later, files, allowedLoss: .all)
        #expect(try values(of: "S", "s", "y", in: database) == [[.int(1), .int(5)]])
        #expect(try values(of: "P", "y", in: database) == [[.int(2)]])
        try database.close()
    }

    /// Objects read the values of the entity above that is gone as those of the new one.
    @Test func `entities below one whose name another one takes do not keep its values`() throws {
        let files = try files([
            entity("A"), entity("P", below: "A", number("x", 10)),
            entity("S", below: "P", number("s", 1)), entity("Q", below: "A", number("y", 2)),
        ])
        let later = [
            entity("A"), entity("P", below: "A", was: "Q", number("y", 5)),
            entity("S", below: "P", number("s", 7)),
        ]
        #expect(throws: StoreError.self) { try open(later, files) }
        let database = try open(later, files, allowedLoss: .all)
        #expect(try values(of: "S", "s", "y", in: database) == [[.int(1), .int(5)]])
        #expect(try values(of: "P", "y", in: database) == [[.int(2)]])
        try database.close()
    }

    /// What was swapped long ago was swapped for the objects that join.
    @Test func `an old statement says nothing of an entity that joins`() throws {
        let swapped = entity("P", number("a", 1, was: "b"), number("b", 2, was: "a"))
        let files = try files([swapped, entity("D", number("a", 3), number("b", 4))])
        let database = try open([swapped, entity("D", below: "P")], files)
        #expect(try values(of: "D", "a", "b", in: database) == [[.int(3), .int(4)]])
        #expect(try values(of: "P", "a", "b", in: database) == [[.int(1), .int(2)]])
        try database.close()
    }

    /// The order of declarations decided.
    @Test func `what a property was precedes what it may have been`() throws {
        let files = try files([entity("P", number("b", 1, was: "a"))])
        let database = try open(
            [entity("P", number("c", 8, was: "a"), number("d", 9, was: "b"))], files)
        #expect(try values(of: "P", "c", "d", in: database) == [[.int(8), .int(1)]])
        try database.close()
    }

    /// The new statement was dropped, because the other one was taken for an old one.
    @Test func `a renaming goes on through what was renamed before`() throws {
        let renamed = [number("c", 8, was: "b"), number("b", 9, was: "a")]
        var files = try files([entity("P", number("b", 1, was: "a"), number("a", 2))])
        var later = entity("P")
        later.attributes = renamed
        var database = try open([later], files)
        #expect(try values(of: "P", "c", "b", in: database) == [[.int(1), .int(2)]])
        try database.close()
        // The same for an entity that joins: the values came to both.
        files = try self.files([entity("D", number("b", 1, was: "a"), number("a", 2))])
        database = try open([later, entity("D", below: "P")], files)
        #expect(try values(of: "D", "c", "b", in: database) == [[.int(1), .int(2)]])
        try database.close()
    }

    /// The version between had renamed it, and the values were read as those of the new one.
    @Test(arguments: [false, true])
    func `an earlier name of what the model has as well is refused`(isTwice: Bool) throws {
        let files = try files([entity("P", number("a", 1))])
        let kept = isTwice ? number("c", 7, was: "a") : number("a", 7)
        let later = [entity("P", number("b", 8, was: "a"), kept)]
        let error = #expect(throws: StoreError.self) { try open(later, files, allowedLoss: .all) }
        #expect(error?.code == .invalidArgument)
        #expect(throws: StoreError.self) {
            try open([entity("P", number("a", 1)), entity("B", was: "P")], files)
        }
        let database = try open([entity("P", number("a", 1), number("d", 3))], files, "V3")
        #expect(try values(of: "P", "a", "d", in: database) == [[.int(1), .int(3)]])
        try database.close()
    }

    @Test func `an earlier name of what was there beside it changes nothing`() throws {
        let files = try files([entity("P", number("a", 1), number("b", 2))])
        let database = try open([entity("P", number("a", 1), number("b", 2, was: "a"))], files)
        #expect(try values(of: "P", "a", "b", in: database) == [[.int(1), .int(2)]])
        try database.close()
    }

    /// A program of the earlier model opened the file, and read the values of one as the other's.
    @Test func `a swap in a model that is otherwise equal is refused`() throws {
        let first = [entity("P", number("a", 1), number("b", 2))]
        let files = try files(first)
        var later = [entity("P", number("a", 1, was: "b"), number("b", 2, was: "a"))]
        let error = #expect(throws: StoreError.self) { try open(later, files) }
        #expect(error?.code == .invalidArgument)
        later[0].versionHashModifier = "2"
        let database = try open(later, files)
        #expect(try values(of: "P", "a", "b", in: database) == [[.int(2), .int(1)]])
        try database.close()
        let refused = #expect(throws: StoreError.self) { try open(first, files, "V1") }
        #expect(refused?.code == .newerModel)
        // The statement is not needed for ever.
        later[0].attributes = first[0].attributes
        let last = try open(later, files, "V3")
        #expect(try values(of: "P", "a", "b", in: last) == [[.int(2), .int(1)]])
        try last.close()
    }
}
