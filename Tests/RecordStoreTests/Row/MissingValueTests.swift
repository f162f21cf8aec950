import PageStore
import SampleSchemas
import TestSupport
import Testing

@testable import RecordStore

/// Records without a value that is not optional, which no writer makes.
@Suite struct MissingValueTests {
    private static let schema = SchemaDescription([
        EntityDescription(
            "Thing", required: ["size": .int64, "name": .string], optional: ["note": .string])
    ])

    private let files = MemoryFileSystem()

    private func open(_ path: String) throws -> RecordDatabase {
        try RecordDatabase.open(
            .file(path), schema: Self.schema, options: .small, files: files)
    }

    /// Objects that lack the first, the second, and neither of the required values.
    private func fill() throws {
        let database = try open("store")
        let thing = try #require(database.schema.entity(named: "Thing"))
        let transaction = try database.beginWrite()
        var batch = RecordBatch()
        for missing in ["size", "name", "note"] {
            var row = thing.emptyRow()
            defer { row.deallocate() }
            for field in thing.fields where field.name != missing {
                row.setValue(field.name == "size" ? .int(7) : .string("text"), field)
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
            findings == [
                "object 1 has no “size”, which is not optional",
                "object 2 has no “name”, which is not optional",
            ])
    }

    @Test func `salvage makes a missing value empty, and says so`() throws {
        try fill()
        let report = try Salvage.run(path: "store", to: "new", files: files)
        #expect(report.losses.count == 2)
        let reader = try open("new").snapshot()
        #expect(reader.check() == [])
        let thing = try #require(reader.schema.entity(named: "Thing"))
        let cursor = reader.recordCursor(thing.hierarchy)
        var found: [[Value]] = []
        while try cursor.next() {
            let row = try cursor.row()
            found.append(
                try ["name", "note", "size"].map { name in
                    try reader.value(try #require(thing.field(named: name)), of: row)
                })
        }
        let text = Value.string("text")
        #expect(
            found == [
                [text, text, .int(0)], [.string(""), text, .int(7)], [text, .null, .int(7)],
            ])
    }
}
