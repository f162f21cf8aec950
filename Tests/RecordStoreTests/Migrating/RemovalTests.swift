import Foundation
import PageStore
import SampleSchemas
import Testing

@testable import RecordStore

/// Properties and entities that a later model lacks: dropped if nothing is stored in them or the
/// program allows it, and never read again.
@Suite struct RemovalTests {
    /// A box with attributes, indexes and links, and things that it holds.
    private static func schema(
        _ attributes: [AttributeDescription], links: [RelationshipDescription] = [],
        indexes: [[String]] = [], others: [EntityDescription] = []
    ) -> SchemaDescription {
        SchemaDescription(
            version: "V",
            [
                EntityDescription(
                    "Box", attributes: attributes, relationships: links, indexes: indexes)
            ] + others)
    }

    private static let id = AttributeDescription.optional("id", .int64)
    private static let text = AttributeDescription.optional("text", .string)

    private func open(
        _ schema: SchemaDescription, _ files: MemoryFileSystem, allowedLoss: LossPermission = .none
    ) throws -> RecordDatabase {
        try RecordDatabase.open(.file("store"), schema: schema, files: files) { _ in
            [MigrationStep(schema, allowedLoss: allowedLoss, isNamed: true)]
        }
    }

    private func refusal(_ schema: SchemaDescription, _ files: MemoryFileSystem) throws -> String {
        let error = #expect(throws: StoreError.self) { try open(schema, files) }
        #expect(error?.code == .schemaMismatch)
        return error?.message ?? ""
    }

    /// Inserts objects of an entity with these values, from the next number on.
    private func insert(
        _ entityName: String, _ rows: [[String: Value]], _ database: RecordDatabase
    ) throws {
        let transaction = try database.beginWrite()
        let entity = try #require(database.schema.entity(named: entityName))
        var batch = RecordBatch()
        for values in rows {
            var row = entity.emptyRow()
            defer { row.deallocate() }
            for field in entity.fields {
                if let value = values[field.name] { row.setValue(value, field) }
            }
            batch.insert(entity, try transaction.allocateNumber(in: entity.hierarchy), row: row)
        }
        try transaction.apply(batch)
        try transaction.commit()
    }

    private func values(
        _ entityName: String, _ name: String, _ database: RecordDatabase
    ) throws -> [Value] {
        let reader = try database.snapshot()
        #expect(reader.check() == [])
        let entity = try #require(database.schema.entity(named: entityName))
        let field = try #require(entity.field(named: name))
        var values: [Value] = []
        let cursor = reader.recordCursor(entity.hierarchy)
        while try cursor.next() {
            let row = try cursor.row()
            if entity.tags.contains(row.entityTag) {
                values.append(try reader.value(field, of: row))
            }
        }
        return values
    }

    /// A file of three boxes whose texts are nil, short and stored in a blob.
    private func files() throws -> MemoryFileSystem {
        let files = MemoryFileSystem()
        let database = try open(Self.schema([Self.id, Self.text], indexes: [["text"]]), files)
        let long = String(repeating: "long ", count: 20_000)
        try insert(
            "Box",
            [
                ["id": .int(1)], ["id": .int(2), "text": .string("short")],
                ["id": .int(3), "text": .string(long)],
            ], database)
        try database.close()
        return files
    }

    @Test func `a property without values is removed freely and its slot is not reused`() throws {
        let files = MemoryFileSystem()
        let first = Self.schema([Self.id, Self.text], indexes: [["text"]])
        let made = try open(first, files)
        try insert("Box", [["id": .int(1)], ["id": .int(2)]], made)
        try made.close()
        try open(Self.schema([Self.id]), files).close()
        let later = Self.schema([Self.id, .optional("other", .string)])
        let database = try open(later, files)
        #expect(try values("Box", "id", database) == [.int(1), .int(2)])
        #expect(try values("Box", "other", database) == [.null, .null])
        let entity = try #require(database.schema.entity(named: "Box"))
        #expect(entity.field(named: "other")?.slot == 2)
        #expect(entity.retiredOffsets == [RowLayout.byteOffset(slot: 1)])
        try insert("Box", [["id": .int(3), "other": .string("new")]], database)
        #expect(try values("Box", "other", database) == [.null, .null, .string("new")])
        try database.close()
    }

    @Test func `a property with values is refused by name, and the file stays as it was`() throws {
        let files = try files()
        let size = try files.open("store", .readOnly).size()
        let message = try refusal(Self.schema([Self.id]), files)
        #expect(message.contains("Box.text is gone, and object 2 has a value"))
        let database = try open(Self.schema([Self.id, Self.text], indexes: [["text"]]), files)
        #expect(try values("Box", "text", database)[1] == .string("short"))
        try database.close()
        #expect(try files.open("store", .readOnly).size() == size)
    }

    @Test func `a property with values is removed with permission, and its blobs with it`() throws {
        let files = try files()
        let database = try open(Self.schema([Self.id]), files, allowedLoss: .all)
        #expect(try values("Box", "id", database) == [.int(1), .int(2), .int(3)])
        try database.checkpoint()
        try database.close()
        // The pages of the blob are free: a blob of the same size does not make the file grow.
        let size = try files.open("store", .readOnly).size()
        let again = try open(Self.schema([Self.id, Self.text]), files)
        #expect(try values("Box", "text", again) == [.null, .null, .null])
        try again.close()
        for _ in 0..<4 {
            let database = try open(Self.schema([Self.id, Self.text]), files)
            try insert(
                "Box", [["text": .string(String(repeating: "LONG ", count: 20_000))]], database)
            #expect(try values("Box", "text", database).last != .null)
            let removed = try open(Self.schema([Self.id, Self.text]), files, database)
            try removed.close()
        }
        #expect(try files.open("store", .readOnly).size() <= 2 * size)
    }

    /// The store after its last object was deleted and a checkpoint.
    private func open(
        _ schema: SchemaDescription, _ files: MemoryFileSystem, _ database: RecordDatabase
    ) throws -> RecordDatabase {
        let entity = try #require(database.schema.entity(named: "Box"))
        let transaction = try database.beginWrite()
        var last = ObjectNumber(0)
        let cursor = transaction.recordCursor(entity.hierarchy)
        while try cursor.next() { last = cursor.number }
        var batch = RecordBatch()
        batch.delete(last, in: entity.hierarchy)
        try transaction.apply(batch)
        try transaction.commit()
        try database.checkpoint()
        try database.close()
        return try open(schema, files)
    }

    private static func thing(_ superentity: String? = nil) -> EntityDescription {
        EntityDescription("Thing", below: superentity, optional: ["name": .string])
    }

    @Test func `an entity is removed with its objects and the links to them`() throws {
        let files = MemoryFileSystem()
        let links: [RelationshipDescription] = [
            .toOne("base", to: "Base"), .toManyOrdered("bases", to: "Base"),
        ]
        let base = EntityDescription("Base", optional: ["no": .int32])
        let last = EntityDescription("Last", optional: ["z": .int32])
        let before = Self.schema(
            [Self.id], links: links, others: [base, Self.thing("Base"), last])
        let made = try open(before, files)
        try insert("Base", [["no": .int(1)]], made)
        try insert("Thing", [["no": .int(2)]], made)
        try insert("Last", [["z": .int(9)]], made)
        try insert(
            "Box",
            [["base": .object(ObjectNumber(1))], ["base": .object(ObjectNumber(2))]], made)
        let transaction = try made.beginWrite()
        let bases = try #require(
            made.schema.entity(named: "Box")?.relationship(named: "bases"))
        var batch = RecordBatch()
        batch.setLinks(bases, owner: ObjectNumber(1), [ObjectNumber(2), ObjectNumber(1)])
        try transaction.apply(batch)
        try transaction.commit()
        try made.close()

        let after = Self.schema([Self.id], links: links, others: [base, last])
        #expect(try refusal(after, files).contains("the entity Thing is gone, and 1 objects"))
        let database = try open(after, files, allowedLoss: .all)
        #expect(try values("Base", "no", database) == [.int(1)])
        #expect(try values("Last", "z", database) == [.int(9)])
        #expect(try values("Box", "base", database) == [.object(ObjectNumber(1)), .null])
        let entity = try #require(database.schema.entity(named: "Box"))
        let list = try #require(entity.relationship(named: "bases"))
        #expect(
            try database.snapshot().linkedNumbers(list, of: ObjectNumber(1)) == [ObjectNumber(1)])
        // The tags of removed entities are not reused.
        #expect(database.schema.entity(tag: 3) == nil)
        #expect(database.schema.entity(named: "Last")?.tag == 4)
        try database.close()
        let again = try open(before, files)
        #expect(again.schema.entity(named: "Thing")?.tag == 5)
        try insert("Thing", [["no": .int(7)]], again)
        #expect(try values("Thing", "no", again) == [.int(7)])
        // Its number is new.
        let isTaken = try again.snapshot()
            .contains(ObjectNumber(2), in: HierarchyID(rootTag: 2))
        #expect(!isTaken)
        try again.close()
    }

    @Test func `nil values become the default when a property becomes required`() throws {
        let files = try files()
        var later = Self.schema([Self.id, Self.text], indexes: [["text"]])
        later.entities[0].attributes[1].isOptional = false
        later.entities[0].attributes[1].defaultValue = .string("none")
        let database = try open(later, files)
        let found = try values("Box", "text", database)
        #expect(Array(found.prefix(2)) == [.string("none"), .string("short")])
        try database.close()
    }

    @Test func `a default for nil values that breaks a unique constraint is refused`() throws {
        let files = MemoryFileSystem()
        var schema = Self.schema([Self.id, Self.text])
        schema.entities[0].uniqueConstraints = [["text"]]
        let made = try open(schema, files)
        try insert("Box", [["id": .int(1)], ["id": .int(2)]], made)
        try made.close()
        var later = schema
        later.entities[0].attributes[1].isOptional = false
        later.entities[0].attributes[1].defaultValue = .string("none")
        let error = #expect(throws: StoreError.self) { try open(later, files) }
        #expect(error?.code == .duplicateValues)
        let database = try open(schema, files)
        #expect(try values("Box", "text", database) == [.null, .null])
        try database.close()
    }
}
