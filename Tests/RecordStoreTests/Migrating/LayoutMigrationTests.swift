import Foundation
import PageStore
import SampleSchemas
import TestSupport
import Testing

@testable import RecordStore

/// A file is migrated to a later model without rewriting a record.
@Suite struct LayoutMigrationTests {
    private static func thing(
        _ attributes: [AttributeDescription] = [],
        _ relationships: [RelationshipDescription] = [], indexes: [[String]] = [],
        uniqueConstraints: [[String]] = []
    ) -> SchemaDescription {
        SchemaDescription(
            version: "V",
            [
                EntityDescription(
                    "Thing", required: ["id": .int64], optional: ["note": .string],
                    attributes: attributes, relationships: relationships, indexes: indexes,
                    uniqueConstraints: uniqueConstraints)
            ])
    }

    /// A file of the first model with this many objects.
    private func files(_ count: Int = 3) throws -> MemoryFileSystem {
        let files = MemoryFileSystem()
        let database = try open(Self.thing(), files)
        try insert(1...count, into: database)
        try database.close()
        return files
    }

    /// - Parameter isNamed: whether the program names the file's model as the one before its own.
    private func open(
        _ schema: SchemaDescription, _ files: MemoryFileSystem, isNamed: Bool = false
    ) throws -> RecordDatabase {
        try RecordDatabase.open(
            .file("store"), schema: schema, files: files,
            route: { _ in [MigrationStep(schema, isNamed: isNamed)] })
    }

    private func code(
        of schema: SchemaDescription, _ files: MemoryFileSystem, isNamed: Bool
    ) -> StoreError.Code? {
        #expect(throws: StoreError.self) {
            try open(schema, files, isNamed: isNamed).close()
        }?.code
    }

    private func insert(_ ids: ClosedRange<Int>, into database: RecordDatabase) throws {
        let transaction = try database.beginWrite()
        let entity = try #require(database.schema.entity(named: "Thing"))
        var batch = RecordBatch()
        for id in ids {
            var row = entity.emptyRow()
            defer { row.deallocate() }
            for field in entity.fields where field.name == "id" {
                row.setValue(.int(Int64(id)), field)
            }
            for field in entity.fields where field.name == "note" {
                row.setValue(id.isMultiple(of: 2) ? .null : .string("note \(id)"), field)
            }
            batch.insert(entity, try transaction.allocateNumber(in: entity.hierarchy), row: row)
        }
        try transaction.apply(batch)
        try transaction.commit()
    }

    private func values(_ name: String, _ database: RecordDatabase) throws -> [Value] {
        let reader = try database.snapshot()
        #expect(reader.check() == [])
        let entity = try #require(database.schema.entity(named: "Thing"))
        let field = try #require(entity.field(named: name))
        var values: [Value] = []
        let cursor = reader.recordCursor(entity.hierarchy)
        while try cursor.next() { values.append(try reader.value(field, of: cursor.row())) }
        return values
    }

    @Test func `salvage read records of an older layout from memory that was freed`() throws {
        let files = try files(200)
        let text = Value.string(String(repeating: "default ", count: 20))
        let later = Self.thing([
            .required("later", .string, default: text), .optional("last", .int64),
        ])
        let database = try open(later, files)
        let expected = try ["id", "note", "later", "last"].map { try values($0, database) }
        try database.close()
        _ = try Salvage.run(path: "store", to: "salvaged", files: files)
        let salvaged = try RecordDatabase.openReadOnly(path: "salvaged", files: files)
        #expect(try ["id", "note", "later", "last"].map { try values($0, salvaged) } == expected)
        try salvaged.close()
    }

    @Test(arguments: AttributeType.allCases)
    func `objects that are older than a property have its default`(type: AttributeType) throws {
        let value: Value =
            switch type {
            case .bool: .bool(true)
            case .int8, .int16, .int32, .int64: .int(-7)
            case .uint8, .uint16, .uint32, .uint64: .uint(7)
            case .float: .float(1.5)
            case .double: .double(-0.25)
            case .decimal: .decimal(Decimal(string: "-12.5") ?? 0)
            case .string: .string("später")
            case .data: .data([0, 255, 3])
            case .date: .date(1e8)
            case .uuid: .uuid(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF") ?? UUID())
            case .url: .url("https://example.org")
            }
        let files = try files()
        let later = Self.thing([.required("later", type, default: value), .optional("none", type)])
        for _ in 0..<2 {
            let database = try open(later, files)
            #expect(try values("later", database) == [value, value, value])
            #expect(try values("none", database) == [.null, .null, .null])
            #expect(try values("id", database) == [.int(1), .int(2), .int(3)])
            #expect(
                try values("note", database) == [.string("note 1"), .null, .string("note 3")])
            try database.close()
        }
    }

    @Test func `a default that changes later is that of new objects alone`() throws {
        let files = try files(1)
        func later(_ number: Int64) -> SchemaDescription {
            Self.thing([.required("later", .int64, default: .int(number))])
        }
        try open(later(1), files).close()
        let database = try open(later(2), files)
        try insert(2...2, into: database)
        #expect(try values("later", database) == [.int(1), .int(2)])
        try database.close()
    }

    @Test(arguments: [[], [AttributeDescription.optional("more", .int64)]])
    func `an entity and a property whose names are spelled in other bytes lost their objects`(
        more: [AttributeDescription]
    ) throws {
        func schema(_ letter: String, _ more: [AttributeDescription] = []) -> SchemaDescription {
            SchemaDescription(
                version: "V",
                [
                    EntityDescription(
                        "Caf" + letter, required: ["cl" + letter: .int64], attributes: more,
                        relationships: [
                            RelationshipDescription(
                                name: "li" + letter, destinationEntityName: "Caf" + letter,
                                kind: .toManyOrdered)
                        ],
                        indexes: [["cl" + letter]])
                ])
        }
        let (composed, decomposed) = ("\u{e9}", "e\u{301}")
        let files = MemoryFileSystem()
        var database = try open(schema(composed), files)
        let transaction = try database.beginWrite()
        let entity = try #require(database.schema.entities.first)
        var batch = RecordBatch()
        for number in 1...3 {
            var row = entity.emptyRow()
            defer { row.deallocate() }
            row.setValue(.int(Int64(number)), try #require(entity.fields.first))
            let allocated = try transaction.allocateNumber(in: entity.hierarchy)
            #expect(allocated.rawValue == UInt64(number))
            batch.insert(entity, allocated, row: row)
        }
        batch.setLinks(
            try #require(entity.relationships.first), owner: ObjectNumber(1),
            [ObjectNumber(3), ObjectNumber(2)])
        try transaction.apply(batch)
        try transaction.commit()
        try database.close()
        // The second opening finds nothing to rename.
        for _ in 0..<2 {
            database = try open(schema(decomposed, more), files)
            let snapshot = try database.snapshot()
            #expect(snapshot.check() == [])
            let entity = try #require(database.schema.entities.first)
            #expect(try snapshot.recordCount(of: entity) == 3)
            let relationship = try #require(entity.relationships.first)
            #expect(
                try snapshot.linkedNumbers(relationship, of: ObjectNumber(1)).map(\.rawValue)
                    == [3, 2])
            try database.close()
        }
    }

    @Test func `adding a property to many objects writes the catalog alone`() throws {
        /// The bytes that opening a file for a model writes, including recovery and closing.
        func bytesWritten(_ files: MemoryFileSystem, _ schema: SchemaDescription) throws -> UInt64 {
            let database = try open(schema, files)
            if schema == Self.thing() { try insert(0...0, into: database) }
            defer { #expect(throws: Never.self) { try database.close() } }
            return database.statistics.bytesWritten
        }
        let later = Self.thing([.optional("x", .string)])
        let plain = try bytesWritten(try files(20_000), Self.thing())
        let migrated = try bytesWritten(try files(20_000), later)
        #expect(migrated < plain + 64 << 10)
    }

    @Test func `a later property is indexed, and its objects are found by its default`() throws {
        let files = try files()
        let later = Self.thing(
            [.required("later", .int32, default: .int(5))],
            indexes: [["later", "id"]])
        let database = try open(later, files)
        let entity = try #require(database.schema.entity(named: "Thing"))
        let index = try #require(entity.indexes.first)
        let cursor = try database.snapshot().indexCursor(index)
        var numbers: [UInt64] = []
        while try cursor.next() { numbers.append(cursor.number.rawValue) }
        #expect(numbers == [1, 2, 3])
        // Index entries are removed when their objects change.
        let transaction = try database.beginWrite()
        var row = try #require(try transaction.row(ObjectNumber(2), in: entity.hierarchy))
        defer { row.deallocate() }
        row.setValue(.int(9), try #require(entity.field(named: "later")))
        var batch = RecordBatch()
        batch.update(entity, ObjectNumber(2), row: row)
        batch.delete(ObjectNumber(3), in: entity.hierarchy)
        try transaction.apply(batch)
        try transaction.commit()
        #expect(try values("later", database) == [.int(5), .int(9)])
        try database.close()
    }

    @Test func `a new unique constraint over objects that share a default leaves the old model`()
        throws
    {
        let files = try files()
        let later = Self.thing(
            [.required("later", .int32, default: .int(5))],
            uniqueConstraints: [["later"]])
        let error = #expect(throws: StoreError.self) { try open(later, files) }
        #expect(error?.code == .duplicateValues)
        let database = try open(Self.thing(), files)
        #expect(try values("id", database) == [.int(1), .int(2), .int(3)])
        try database.close()
    }

    @Test func `a property is required from now on where every object has a value`() throws {
        let files = try files()
        var later = Self.thing()
        later.entities[0].attributes[1].isOptional = false
        let error = #expect(throws: StoreError.self) { try open(later, files) }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.message.contains("object 2 has no value") == true)
        var optional = Self.thing()
        optional.entities[0].attributes[0].isOptional = true
        try open(optional, files).close()
        // The model is the file's first one again, so the file's own has to be named.
        #expect(code(of: Self.thing(), files, isNamed: false) == .newerModel)
        let database = try open(Self.thing(), files, isNamed: true)
        #expect(try values("id", database) == [.int(1), .int(2), .int(3)])
        try database.close()
    }

    @Test func `a required property without a default needs a store without objects`() throws {
        let files = try files()
        let later = Self.thing([.required("later", .int32)])
        let error = #expect(throws: StoreError.self) { try open(later, files) }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.message.contains("Thing.later is new and required") == true)
        let empty = MemoryFileSystem()
        try open(Self.thing(), empty).close()
        try open(later, empty).close()
    }

    private static let widenings: [(AttributeType, AttributeType, Value, Value)] = [
        (.bool, .int8, .bool(true), .int(1)), (.bool, .uint16, .bool(false), .uint(0)),
        (.int8, .int64, .int(-5), .int(-5)), (.uint8, .uint32, .uint(200), .uint(200)),
        (.uint8, .int16, .uint(200), .int(200)), (.uint32, .int64, .uint(9), .int(9)),
        (.url, .string, .url("https://a.b"), .string("https://a.b")),
        (.string, .data, .string("é"), .data([0xC3, 0xA9])),
    ]

    @Test(arguments: widenings, [false, true])
    func `a type becomes a wider one, and its index with it`(
        widening: (AttributeType, AttributeType, Value, Value), isIndexed: Bool
    ) throws {
        let (old, new, value, later) = widening
        func schema(_ type: AttributeType) -> SchemaDescription {
            Self.thing(
                [.optional("x", type, default: value)],
                indexes: isIndexed ? [["x"]] : [])
        }
        let files = MemoryFileSystem()
        let first = try open(schema(old), files)
        try insert(1...3, into: first)
        try first.close()
        let database = try open(schema(new), files)
        #expect(try values("x", database) == [later, later, later])
        try database.close()
        // A wider type never becomes narrower again, not even for a program that knows the wider
        // one.
        #expect(code(of: schema(old), files, isNamed: false) == .newerModel)
        #expect(code(of: schema(old), files, isNamed: true) == .schemaMismatch)
    }

    /// The layout has 1 KiB for an initial value, and two bytes for its length. A bug lost the end
    /// of a longer default.
    @Test(arguments: [1024, 1025, 65_534, 65_535, 65_536, 100_000])
    func `a default of any length reaches the objects that are there`(length: Int) throws {
        let files = try files()
        let text = Value.string(String(repeating: "x", count: length))
        let later = Self.thing([.required("later", .string, default: text)])
        let database = try open(later, files)
        #expect(try values("later", database) == [text, text, text])
        #expect(try values("id", database) == [.int(1), .int(2), .int(3)])
        try database.close()
        let again = try open(later, files)
        #expect(try values("later", again) == [text, text, text])
        try again.close()
    }

    private static let refused: [(String, SchemaDescription)] = [
        (
            "a property that goes",
            SchemaDescription(version: "V", [EntityDescription("Thing", required: ["id": .int64])])
        ),
        (
            "an entity that goes",
            SchemaDescription(version: "V", [EntityDescription("Other")])
        ),
        (
            "a narrower type",
            {
                var schema = thing()
                schema.entities[0].attributes[0].type = .int32
                return schema
            }()
        ),
        (
            "another type",
            {
                var schema = thing()
                schema.entities[0].attributes[0].type = .double
                return schema
            }()
        ),
        (
            "a superentity",
            {
                var schema = thing()
                schema.entities.append(EntityDescription("Base"))
                schema.entities[0].superentityName = "Base"
                return schema
            }()
        ),
    ]

    @Test(arguments: refused)
    func `changes that need records rewritten are refused without a write`(
        what: String, later: SchemaDescription
    ) throws {
        let files = try files()
        let before = try files.open("store", .readOnly).size()
        let error = #expect(throws: StoreError.self) {
            try RecordDatabase.open(.file("store"), schema: later, files: files, limit: .layout)
        }
        #expect(error?.code == .schemaMismatch, "\(what)")
        let database = try open(Self.thing(), files)
        #expect(try values("id", database) == [.int(1), .int(2), .int(3)], "\(what)")
        try database.close()
        #expect(try files.open("store", .readOnly).size() == before, "\(what)")
    }

    @Test func `a reader is refused where a migration would look for objects`() throws {
        let files = try files()
        let later = Self.thing([
            AttributeDescription(
                name: "later", type: .int32, isOptional: false, defaultValue: .null)
        ])
        var options = Engine.Options()
        options.mode = .reading
        let error = #expect(throws: StoreError.self) {
            try RecordDatabase.open(.file("store"), schema: later, options: options, files: files)
        }
        #expect(error?.code == .schemaMismatch)
        try open(Self.thing(), files).close()
    }
}
