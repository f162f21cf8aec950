import PageStore
import SampleSchemas
import TestSupport
import Testing

@testable import RecordStore

/// An opening takes the plan that was made for it, as long as the file is what it was then.
@Suite struct PlannedMigrationTests {
    private static func schema(
        _ version: String, _ type: AttributeType = .int64,
        _ attributes: [AttributeDescription] = [], indexes: [[String]] = []
    ) -> SchemaDescription {
        SchemaDescription(
            version: version,
            [
                EntityDescription(
                    "Thing", required: ["id": type], attributes: attributes, indexes: indexes)
            ])
    }

    private static let later = AttributeDescription.optional("later", .int64)
    private static let last = AttributeDescription.optional("last", .string)
    private static let first = schema("V1")
    private static let second = schema("V2", .int64, [later])
    private static let third = schema("V3", .int64, [later, last])
    private static let rewritten = schema("V2", .double)

    private func files() throws -> MemoryFileSystem {
        let files = MemoryFileSystem()
        let database = try RecordDatabase.open(.file("store"), schema: Self.first, files: files)
        let thing = try #require(database.schema.entity(named: "Thing"))
        let transaction = try database.beginWrite()
        var row = thing.emptyRow()
        defer { row.deallocate() }
        row.setValue(.int(5), try #require(thing.fields.first))
        var batch = RecordBatch()
        batch.insert(thing, try transaction.allocateNumber(in: thing.hierarchy), row: row)
        try transaction.apply(batch)
        try transaction.commit()
        try database.close()
        return files
    }

    private func plan(
        to schema: SchemaDescription, _ files: MemoryFileSystem
    ) throws -> PlannedMigration {
        try #require(try RecordDatabase.plan(path: "store", schema: schema, files: files))
    }

    /// Opens the store by a plan and closes it; returns how often its steps were asked for.
    private func open(
        _ schema: SchemaDescription, by planned: PlannedMigration, _ files: MemoryFileSystem,
        limit: MigrationLimit = .mappings, isOneStep: Bool = false
    ) throws -> Int {
        var count = 0
        let database = try RecordDatabase.open(
            .file("store"), schema: schema, files: files,
            route: { _ in
                count += 1
                return [MigrationStep(schema)]
            },
            limit: limit, isOneStep: isOneStep, planned: planned)
        #expect(try database.snapshot().check() == [])
        #expect(try database.difference(to: schema) == nil)
        try database.close()
        return count
    }

    @Test(arguments: [second, rewritten])
    func `an opening takes the plan that was made for it`(_ schema: SchemaDescription) throws {
        let files = try files()
        let planned = try plan(to: schema, files)
        #expect(planned.steps.map(\.version) == ["V2"])
        #expect(try open(schema, by: planned, files) == 0)
        let later = try plan(to: schema, files)
        #expect(later.steps.isEmpty)
    }

    @Test func `a plan is made anew after another process has migrated the file`() throws {
        let files = try files()
        let planned = try plan(to: Self.second, files)
        try RecordDatabase.open(
            .file("store"), schema: Self.third, files: files, earlier: [Self.second]
        ).close()
        let bytes = try files.bytes(of: "store")
        let error = #expect(throws: StoreError.self) {
            try open(Self.second, by: planned, files)
        }
        #expect(error?.code == .newerModel)
        #expect(try files.bytes(of: "store") == bytes)
        let other = try self.files()
        let early = try plan(to: Self.third, other)
        try RecordDatabase.open(.file("store"), schema: Self.second, files: other).close()
        #expect(try open(Self.third, by: early, other) > 0)
    }

    @Test func `a plan is made anew after another process has added an index`() throws {
        let files = try files()
        let planned = try plan(to: Self.second, files)
        try RecordDatabase.open(
            .file("store"), schema: Self.schema("V1b", indexes: [["id"]]), files: files
        ).close()
        #expect(try open(Self.second, by: planned, files) > 0)
    }

    @Test func `an opening that allows less than a plan does not take it`() throws {
        let files = try files()
        let planned = try plan(to: Self.rewritten, files)
        let bytes = try files.bytes(of: "store")
        let error = #expect(throws: StoreError.self) {
            try open(Self.rewritten, by: planned, files, limit: .layout)
        }
        #expect(error?.code == .schemaMismatch)
        #expect(try files.bytes(of: "store") == bytes)
        #expect(try open(Self.rewritten, by: planned, files, isOneStep: true) > 0)
    }

    @Test func `a plan for one model is not taken for another one`() throws {
        let files = try files()
        let planned = try plan(to: Self.second, files)
        #expect(try open(Self.third, by: planned, files) > 0)
    }
}
