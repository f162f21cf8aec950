import Foundation
import PageStore
import Primitives
import SampleSchemas
import TestSupport
import Testing

@testable import RecordStore

/// Readers of a file whose schema another process changes, and then changes back before they look.
@Suite struct FollowedTreesTests {
    private let url = FileManager.default.temporaryDirectory
        .appendingPathComponent("followed-\(UUID().uuidString).trellis")

    private static func schema(
        _ attributes: [AttributeDescription], indexes: [[String]] = []
    ) -> SchemaDescription {
        SchemaDescription(
            version: "V", [EntityDescription("Box", attributes: attributes, indexes: indexes)])
    }

    private static let id = AttributeDescription.optional("id", .int64)
    private static let note = AttributeDescription.optional("note", .int64)

    private func open(_ schema: SchemaDescription, reads: Bool = false) throws -> RecordDatabase {
        var options = Engine.Options()
        if reads { options.mode = .reading }
        return try RecordDatabase.open(.file(url.path), schema: schema, options: options) { _ in
            [MigrationStep(schema, allowedLoss: .all, isNamed: true)]
        }
    }

    /// Inserts boxes with these numbers, and with their negatives as notes.
    private func insert(_ numbers: some Sequence<Int64>, _ database: RecordDatabase) throws {
        let transaction = try database.beginWrite()
        let entity = try #require(database.schema.entity(named: "Box"))
        var batch = RecordBatch()
        for number in numbers {
            var row = entity.emptyRow()
            defer { row.deallocate() }
            for field in entity.fields {
                row.setValue(.int(field.name == "note" ? -number : number), field)
            }
            batch.insert(entity, try transaction.allocateNumber(in: entity.hierarchy), row: row)
        }
        try transaction.apply(batch)
        try transaction.commit()
    }

    /// The values of the attribute `note` in a reader that has seen the file before these changes
    /// and after them, and not in between.
    private func notes(
        _ schema: SchemaDescription, after change: () throws -> UInt64
    ) throws -> [Value] {
        let first = try open(schema)
        try insert(1...400, first)
        try first.close()
        let reader = try open(schema, reads: true)
        defer { try? reader.close() }
        #expect(try reader.snapshot().check() == [])
        let followed = Mutex<UInt64>(0)
        reader.follow { result in
            guard let commit = try? result.get() else { return }
            followed.withLock { $0 = commit }
        }
        let commit = try change()
        // Without a snapshot, which would look at the schema in between.
        let end = ContinuousClock.now + .seconds(60 * hangMinutes)
        while followed.withLock({ $0 < commit }), ContinuousClock.now < end {
            Thread.sleep(forTimeInterval: 0.002)
        }
        let snapshot = try reader.snapshot()
        #expect(snapshot.commitNumber >= commit)
        #expect(snapshot.check() == [])
        let entity = try #require(reader.schema.entity(named: "Box"))
        let field = try #require(entity.field(named: "note"))
        var values: [Value] = []
        let cursor = snapshot.recordCursor(entity.hierarchy)
        while try cursor.next() { values.append(try snapshot.value(field, of: cursor.row())) }
        return values
    }

    /// Opens the file by one schema and then by another, and inserts a box.
    private func change(
        _ schema: SchemaDescription, andBackTo original: SchemaDescription
    ) throws -> UInt64 {
        try open(schema).close()
        let writer = try open(original)
        try insert([1000], writer)
        let commit = try writer.snapshot().commitNumber
        try writer.close()
        return commit
    }

    @Test func `a property that was removed and added again has its earlier slot in no reader`()
        throws
    {
        defer { try? FileManager.default.removeItem(at: url) }
        let schema = Self.schema([Self.id, Self.note])
        let error = #expect(throws: StoreError.self) {
            try notes(schema) { try change(Self.schema([Self.id]), andBackTo: schema) }
        }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.message.contains("open it anew") == true)
    }

    @Test func `indexes that were dropped and built again are read from their new trees`() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let attributes = [Self.id, Self.note]
        let schema = Self.schema(attributes, indexes: [["id"], ["note"]])
        let notes = try notes(schema) {
            // Another index takes the root that the first one had.
            try open(Self.schema(attributes, indexes: [["note"]])).close()
            let other = Self.schema(attributes, indexes: [["note"], ["id", "note"]])
            return try change(other, andBackTo: schema)
        }
        #expect(notes == (1...400).map { .int(-$0) } + [.int(-1000)])
    }
}
