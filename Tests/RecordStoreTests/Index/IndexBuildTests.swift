import Foundation
import PageStore
import SampleSchemas
import TestSupport
import Testing

@testable import RecordStore

/// Indexes that are added over stored objects, with more entries than one run holds.
@Suite struct IndexBuildTests {
    private static func schema(
        indexes: [[String]] = [], uniqueConstraints: [[String]] = []
    ) -> SchemaDescription {
        SchemaDescription(
            version: "V",
            [
                EntityDescription(
                    "Item", required: ["id": .int64],
                    optional: ["title": .string, "weight": .double], indexes: indexes,
                    uniqueConstraints: uniqueConstraints),
                EntityDescription(
                    "Box", below: "Item", optional: ["side": .int32],
                    indexes: indexes.isEmpty ? [] : [["side", "title"]]),
            ])
    }

    /// Runs of 32 KiB.
    private static var options: Engine.Options {
        var options = Engine.Options()
        options.pageSizeInBytes = 1024
        options.bulkBytesMin = 512
        options.dirtyBytesMax = 64 << 10
        return options
    }

    private func open(
        _ schema: SchemaDescription, _ files: MemoryFileSystem
    ) throws -> RecordDatabase {
        try RecordDatabase.open(
            .file("store"), schema: schema, options: Self.options, files: files)
    }

    /// A file of objects with random values, some of which get the given titles.
    private func files(
        _ count: Int, _ random: inout SeededRandom, titles: [Int: String] = [:]
    ) throws -> MemoryFileSystem {
        let files = MemoryFileSystem()
        let database = try open(Self.schema(), files)
        let transaction = try database.beginWrite()
        var batch = RecordBatch()
        for id in 0..<count {
            let name = random.below(3) == 0 ? "Box" : "Item"
            let entity = try #require(database.schema.entity(named: name))
            var row = entity.emptyRow()
            defer { row.deallocate() }
            for field in entity.fields {
                let value: Value =
                    switch field.name {
                    case "id": .int(Int64(id))
                    case "title": titles[id].map { .string($0) } ?? title(&random)
                    case "weight":
                        random.below(4) == 0 ? .null : .double(Double(random.below(1000)) / 8 - 60)
                    default: .int(Int64(random.below(100)))
                    }
                row.setValue(value, field)
            }
            batch.insert(entity, try transaction.allocateNumber(in: entity.hierarchy), row: row)
        }
        try transaction.apply(batch)
        try transaction.commit()
        try database.close()
        return files
    }

    /// Some titles have a common prefix longer than a key, and some are stored outside their
    /// record.
    private func title(_ random: inout SeededRandom) -> Value {
        guard random.below(6) > 0 else { return .null }
        let count = random.below(20) == 0 ? 200 : random.below(4)
        return .string(String(repeating: "a\0", count: count) + "\(random.next())")
    }

    @Test(arguments: [0, 1, 300, 5000])
    func `an index of many runs has every object, in order`(count: Int) throws {
        var random = SeededRandom(for: "IndexBuildTests")
        let seed = random.seed
        let files = try files(count, &random)
        let database = try open(
            Self.schema(
                indexes: [["title"], ["weight", "title"]], uniqueConstraints: [["id"]]), files)
        let reader = try database.snapshot()
        #expect(reader.check() == [], "seed \(seed)")
        for index in reader.schema.indexes {
            let cursor = Cursor(reader.view, tree: reader.trees.indexes[index.id])
            var last: [UInt8] = []
            var isAtEntry = try cursor.seekFirst()
            while isAtEntry {
                let key = cursor.key.array()
                #expect(last.lexicographicallyPrecedes(key), "seed \(seed)")
                last = key
                isAtEntry = try cursor.next()
            }
        }
        try database.close()
        // The runs leave no page and no extent in the file.
        var options = Self.options
        options.mode = .reading
        let engine = try Engine.open(path: "store", options: options, files: files)
        let snapshot = try engine.snapshot()
        let known = try #require(try CatalogView(snapshot)).trees().map(\.tree)
        #expect(StoreCheck.run(snapshot, knownTrees: known) == [], "seed \(seed)")
        try engine.close()
    }

    @Test func `a distant duplicate breaks a new unique constraint and is reported`() throws {
        var random = SeededRandom(for: "IndexBuildTests")
        let files = try files(
            4000, &random, titles: [3: "other", 17: "same", 3000: "same", 3999: "other"])
        let before = try files.bytes(of: "store")
        let error = #expect(throws: StoreError.self) {
            try open(Self.schema(uniqueConstraints: [["title"]]), files)
        }
        #expect(error?.code == .duplicateValues)
        #expect(error?.message.contains("object 18 and object 3001") == true)
        #expect(try files.bytes(of: "store") == before)
    }

    @Test func `long texts with a common prefix are not duplicates`() throws {
        var random = SeededRandom(for: "IndexBuildTests")
        let long = String(repeating: "b", count: 2000)
        let files = try files(
            100, &random, titles: [3: long + "1", 50: long + "2", 70: long + "3"])
        let database = try open(Self.schema(uniqueConstraints: [["title"]]), files)
        #expect(try database.snapshot().check() == [])
        try database.close()
    }

    /// A migration in chunks, which gives objects a new unique constraint.
    private func migrate(_ files: MemoryFileSystem) throws {
        var schema = Self.schema(uniqueConstraints: [["title"]])
        schema.modelVersion = "V2"
        schema.entities[0].attributes[0].type = .double
        var options = Self.options
        options.migrationRowsMax = 0
        let step = MigrationStep(schema, isNamed: true)
        try RecordDatabase.open(
            .file("store"), schema: schema, options: options, files: files, route: { _ in [step] }
        ).close()
    }

    /// 200 entries are one run. No other titles have equal columns, for which all are searched.
    @Test(arguments: [(4000, [3, 4]), (4000, [17, 3000]), (4000, [0, 3999]), (200, [0, 199])])
    func `a large migration finds a distant duplicate`(count: Int, same: [Int]) throws {
        var random = SeededRandom(for: "IndexBuildTests")
        let pairs = (0..<count).map { ($0, same.contains($0) ? "same" : "\($0)") }
        let titles = Dictionary(uniqueKeysWithValues: pairs)
        let files = try files(count, &random, titles: titles)
        let error = #expect(throws: StoreError.self) { try migrate(files) }
        #expect(error?.code == .duplicateValues)
        #expect(
            error?.message.contains("object \(same[0] + 1) and object \(same[1] + 1)") == true,
            "\(String(describing: error))")
        let database = try open(Self.schema(), files)
        #expect(try database.snapshot().check() == [])
        try database.close()
    }

    @Test(arguments: [100, 4000])
    func `a large migration takes nil and the beginning of long texts for no value`(
        count: Int
    ) throws {
        var random = SeededRandom(for: "IndexBuildTests")
        let long = String(repeating: "b", count: 2000)
        let files = try files(
            count, &random, titles: [3: long + "1", 50: long + "2", 70: long + "3"])
        try migrate(files)
        let reader = try RecordDatabase.openReadOnly(
            path: "store", options: Self.options, files: files)
        #expect(reader.schema.description.modelVersion == "V2")
        #expect(try reader.snapshot().check() == [])
        try reader.close()
    }
}
