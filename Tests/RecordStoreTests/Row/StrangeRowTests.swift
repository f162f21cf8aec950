import Foundation
import SampleSchemas
import TestSupport
import Testing

@testable import PageStore
@testable import RecordStore

/// Records that only another writer makes: spec/05-records.md and spec/06-keys.md.
@Suite struct StrangeRowTests {
    private static let schema = SchemaDescription([
        EntityDescription(
            "Thing",
            optional: [
                "flag": .bool, "size": .int16, "price": .decimal, "name": .uuid, "text": .string,
            ],
            relationships: [
                .toOne("other", to: "Thing", inverse: "others"),
                .toManyUnordered("others", to: "Thing"),
            ], indexes: [["flag"], ["price"], ["name"], ["text"], ["other"]])
    ])

    private let database: RecordDatabase
    private let thing: EntityLayout

    init() throws {
        database = try RecordDatabase.open(.memory, schema: Self.schema)
        thing = try #require(database.schema.entity(named: "Thing"))
    }

    @Test func `a value of another kind becomes nil and harms no other`() throws {
        let values: [(String, Value)] = [
            ("flag", .string("text")), ("flag", .data([1, 2, 3])), ("flag", .uuid(UUID())),
            ("text", .int(.max)), ("text", .double(1.5)), ("text", .date(1e9)),
            ("name", .int(1 << 40)), ("price", .date(2)), ("other", .string("text")),
            // Bugs: a date has eight bytes, and a flag one; a number became a link, and a link a
            // number.
            ("flag", .date(1e300)), ("flag", .object(ObjectNumber(1 << 40))),
            ("other", .date(2)), ("other", .int(7)), ("other", .double(7)),
            ("size", .date(1e300)), ("size", .object(ObjectNumber(.max))),
        ]
        for (name, value) in values {
            var row = thing.emptyRow()
            defer { row.deallocate() }
            for field in thing.fields where field.name == "text" {
                row.setValue(.string("before"), field)
            }
            for field in thing.fields where field.name == "flag" {
                row.setValue(.int(Int64(UInt32.max)), field)
            }
            let field = try #require(thing.field(named: name))
            row.setValue(value, field)
            #expect(row.view.value(field) == .null, "\(name): \(value)")
            let text = try #require(thing.field(named: "text"))
            if name != "text" { #expect(row.view.value(text) == .string("before")) }
        }
    }

    private func offset(_ name: String) throws -> Int {
        try #require(thing.field(named: name)).byteOffset
    }

    private func insert(_ edit: (inout RowBuffer) throws -> Void) throws -> ObjectNumber {
        let transaction = try database.beginWrite()
        let number = try transaction.allocateNumber(in: thing.hierarchy)
        var row = thing.emptyRow()
        defer { row.deallocate() }
        try edit(&row)
        var batch = RecordBatch()
        // Lent, so that the row is stored unchanged.
        batch.insert(thing, number, row: row, isLent: true)
        try transaction.apply(batch)
        try transaction.commit()
        return number
    }

    private func columns(_ name: String) throws -> [[UInt8]] {
        let index = try #require(thing.indexes.first { $0.treeName == "index/Thing/\(name)" })
        let cursor = try database.snapshot().indexCursor(index)
        var found: [[UInt8]] = []
        while try cursor.next() { found.append(cursor.columns.array()) }
        return found
    }

    @Test func `an index key is made of the stored bytes, not of the decoded value`() throws {
        let uuid = [UInt8](1...15)
        let price: [UInt8] = [3, 0x80, 0x01, 0x10, 0x01, 0]
        let text: [UInt8] = [0x61, 0xFF]
        let number = try insert { row in
            row.set(UInt64(2), at: try offset("flag"))
            try price.withView { row.set($0, isBlob: false, at: try offset("price")) }
            try uuid.withView { row.set($0, isBlob: false, at: try offset("name")) }
            try text.withView { row.set($0, isBlob: false, at: try offset("text")) }
            row.set(UInt64(0), at: try offset("other"))
        }
        #expect(try columns("flag") == [[1, 0, 0, 0, 0, 0, 0, 0, 2]])
        #expect(try columns("price") == [[1] + price])
        #expect(try columns("name") == [[1] + uuid])
        #expect(try columns("text") == [[1] + text + [0, 0]])
        #expect(try columns("other") == [[1] + [UInt8](repeating: 0, count: 8)])
        let snapshot = try database.snapshot()
        let other = try #require(thing.relationships.first { $0.name == "other" })
        #expect(try snapshot.linkedNumbers(other, of: number).isEmpty)
        #expect(snapshot.check().isEmpty)
    }

    @Test func `a nil link has no target, whatever its slot contains`() throws {
        let target = try insert { _ in }
        let source = try insert { row in
            row.set(target.rawValue, at: try offset("other"))
            row.setNull(true, at: try offset("other"))
        }
        let snapshot = try database.snapshot()
        for relationship in thing.relationships {
            for number in [source, target] {
                #expect(try snapshot.linkedNumbers(relationship, of: number).isEmpty)
            }
        }
        #expect(try columns("other") == [[0], [0]])
        #expect(snapshot.check().isEmpty)
        let transaction = try database.beginWrite()
        var batch = RecordBatch()
        batch.delete(source, in: thing.hierarchy)
        try transaction.apply(batch)
        try transaction.commit()
        #expect(try database.snapshot().check().isEmpty)
    }

    /// The engine validates each heap slot once, when it reads a record, and never again.
    @Test func `a nil value's slot must lie inside its record`() throws {
        let row = thing.emptyRow()
        defer { row.deallocate() }
        let place = try offset("text")
        var bytes = row.view.bytes.array()
        #expect(bytes.withView { thing.check($0) })
        // Inside the record, but a value that nothing reads.
        bytes[place] = 8
        bytes[place + 4] = 8
        #expect(bytes.withView { thing.check($0) })
        bytes[place] = UInt8(bytes.count)
        #expect(!bytes.withView { thing.check($0) })
        bytes[place] = 8
        bytes[place + 7] = 0x80
        #expect(!bytes.withView { thing.check($0) })
    }

    /// A record in which a text and a UUID have the same bytes, and a nil decimal those of the
    /// header.
    private func sharingRow() throws -> [UInt8] {
        var row = thing.emptyRow()
        defer { row.deallocate() }
        row.set(Int64(7), at: try offset("size"))
        row.set([UInt8](repeating: 0x61, count: 16), at: try offset("text"))
        let start = row.view.heap(at: try offset("text")).start
        for (name, start) in [("name", start), ("price", 8)] {
            row.store(UInt32(start), try offset(name))
            row.store(UInt32(16), try offset(name) + 4)
        }
        row.setNull(false, at: try offset("name"))
        return row.view.bytes.array()
    }

    /// A store whose first object has a record as it is.
    private static func database(
        with record: [UInt8], of entity: String, _ schema: SchemaDescription
    ) throws -> RecordDatabase {
        let files = MemoryFileSystem()
        try RecordDatabase.open(.file("store"), schema: schema, files: files).close()
        let engine = try Engine.open(path: "store", files: files)
        let transaction = try engine.beginWrite()
        let catalog = try #require(try Catalog.open(transaction))
        let tree = try #require(try catalog.tree("records/\(entity)", of: transaction))
        let key = RecordKey.bytes(ObjectNumber(1))
        _ = try transaction.insert(key.span, record.span, into: tree)
        _ = try transaction.commit()
        try engine.close()
        return try RecordDatabase.open(.file("store"), schema: schema, files: files)
    }

    /// A bug: a value was set in place, whatever else had its bytes.
    @Test func `setting a value that shares its bytes changed others`() throws {
        let database = try Self.database(with: try sharingRow(), of: "Thing", Self.schema)
        let snapshot = try database.snapshot()
        let before = try snapshot.withRow(ObjectNumber(1), in: thing.hierarchy) { row in
            thing.fields.map { row.value($0) }
        }
        #expect(before?.filter { $0 != .null }.count == 3)
        for changed in ["text", "name", "price"] {
            let found = try snapshot.row(ObjectNumber(1), in: thing.hierarchy)
            try #require(found != nil)
            guard var row = found else { return }
            defer { row.deallocate() }
            let new = [UInt8](repeating: 0x31, count: 16)
            row.set(new, at: try offset(changed))
            #expect(row.view.byteArray(at: try offset(changed)) == new)
            for (field, value) in zip(thing.fields, try #require(before))
            where field.name != changed {
                #expect(row.view.value(field) == value, "\(field.name) after \(changed)")
            }
        }
    }

    /// A bug: moving values apart made 260 MB of a record of 64 KB, and trapped at 2 GiB.
    @Test func `a record whose values share too much is refused`() throws {
        var entity = EntityDescription("Wide")
        entity.attributes = (0..<3000).map { .optional("n\($0)", .string) }
        let schema = SchemaDescription([entity])
        let layout = try RecordDatabase.open(.memory, schema: schema)
        let empty = try #require(layout.schema.entity(named: "Wide"))
        let row = empty.emptyRow()
        defer { row.deallocate() }
        for field in empty.fields {
            row.setNull(false, at: field.byteOffset)
            row.store(UInt32(8), field.byteOffset)
            row.store(UInt32(row.view.bytes.count - 8), field.byteOffset + 4)
        }
        let database = try Self.database(with: row.view.bytes.array(), of: "Wide", schema)
        let wide = try #require(database.schema.entity(named: "Wide"))
        let snapshot = try database.snapshot()
        #expect(throws: StoreError.self) {
            _ = try snapshot.row(ObjectNumber(1), in: wide.hierarchy)
        }
        let findings = snapshot.check().map(\.message)
        #expect(findings.contains("values of object 1 share more bytes than they may"))
    }
}
