import Foundation
import SampleSchemas
import TestSupport
import Testing

@testable import PageStore
@testable import RecordStore

/// Records without a value that is not optional, which no writer makes.
@Suite struct MissingValueTests {
    private static let schema = SchemaDescription([
        EntityDescription(
            "Thing",
            required: ["size": .int64, "name": .string, "price": .decimal, "uid": .uuid],
            optional: ["note": .string], indexes: [["note"]])
    ])

    private static let values: [String: Value] = [
        "size": .int(7), "name": .string("text"), "note": .string("text"),
        "price": .decimal(1.5), "uid": .uuid(UUID()),
    ]

    private let files = MemoryFileSystem()

    private func open(_ path: String) throws -> RecordDatabase {
        try RecordDatabase.open(
            .file(path), schema: Self.schema, options: .small, files: files)
    }

    /// Objects that each lack one value.
    private func fill() throws {
        let database = try open("store")
        let thing = try #require(database.schema.entity(named: "Thing"))
        let transaction = try database.beginWrite()
        var batch = RecordBatch()
        for missing in ["size", "name", "price", "uid", "note"] {
            var row = thing.emptyRow()
            defer { row.deallocate() }
            for field in thing.fields where field.name != missing {
                row.setValue(try #require(Self.values[field.name]), field)
            }
            let number = try transaction.allocateNumber(in: thing.hierarchy)
            batch.insert(thing, number, row: row)
        }
        try transaction.apply(batch)
        _ = try transaction.commit()
        try database.close()
    }

    /// A bug: nothing reported it, and conditions and getters answered differently.
    @Test func `a missing value that is not optional was reported by nothing`() throws {
        try fill()
        let findings = try open("store").snapshot().check().map(\.message)
        #expect(
            findings
                == zip(1..., ["size", "name", "price", "uid"]).map { number, name in
                    "object \(number) has no “\(name)”, which is not optional"
                })
    }

    /// A bug: where a record had a finding, its entity's indexes were not compared.
    @Test func `an index is compared beside a missing value`() throws {
        try fill()
        let engine = try Engine.open(path: "store", options: .small, files: files)
        let transaction = try engine.beginWrite()
        let catalog = try #require(try Catalog.open(transaction))
        let index = try #require(try catalog.tree("index/Thing/note", of: transaction))
        let cursor = Cursor(transaction, tree: index)
        try #require(try cursor.seekFirst())
        let key = cursor.key.array()
        _ = try transaction.remove(key.span, from: index)
        _ = try transaction.commit()
        try engine.close()
        let findings = try open("store").snapshot().check().map(\.message)
        #expect(findings.count > 4, "\(findings)")
    }

    @Test func `salvage makes a missing value empty, and says so`() throws {
        try fill()
        let report = try Salvage.run(path: "store", to: "new", files: files)
        #expect(report.losses.count == 4)
        let reader = try open("new").snapshot()
        #expect(reader.check() == [])
        let thing = try #require(reader.schema.entity(named: "Thing"))
        let cursor = reader.recordCursor(thing.hierarchy)
        let empty: [String: Value] = [
            "size": .int(0), "name": .string(""), "price": .decimal(0),
            "uid": .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))),
            "note": .null,
        ]
        for missing in ["size", "name", "price", "uid", "note"] {
            try #require(try cursor.next())
            let row = try cursor.row()
            for field in thing.fields {
                let expected = (field.name == missing ? empty : Self.values)[field.name]
                let found = try reader.value(field, of: row)
                #expect(found == expected, "\(field.name) without \(missing)")
            }
        }
    }
}
