import Foundation
import PageStore
import RecordStore
import SampleSchemas
import TestSupport
import Testing

/// Proves that wrong values in valid pages, which no checksum finds, end in typed errors: a changed
/// schema, changed counters and roots, changed records.
@Suite struct CatalogFuzzTests {
    private static let schema = SchemaDescription([
        EntityDescription(
            "Item", optional: ["title": .string, "rank": .int32],
            relationships: [.toOne("owner", to: "Item")], indexes: [["title"]]),
        EntityDescription("Empty"),
    ])

    private func fill(_ path: String) throws {
        let database = try RecordDatabase.open(.file(path), schema: Self.schema)
        let item = try #require(database.schema.entity(named: "Item"))
        let transaction = try database.beginWrite()
        var batch = RecordBatch()
        for index in 0..<20 {
            var row = item.emptyRow()
            defer { row.deallocate() }
            row.setValue(.string("title \(index)"), try #require(item.field(named: "title")))
            let number = try transaction.allocateNumber(in: item.hierarchy)
            batch.insert(item, number, row: row)
        }
        try transaction.apply(batch)
        _ = try transaction.commit()
        try database.close()
    }

    /// Changes bytes of one value in one of the store's trees.
    private func damage(_ path: String, _ random: inout SeededRandom) throws {
        let engine = try Engine.open(path: path, options: Engine.Options())
        let transaction = try engine.beginWrite()
        let root = TreeID(root: try #require(transaction.catalogRoot))
        var trees = [root]
        let names = ["counters", "tree/records/Item", "tree/index/Item/title"]
        for name in names {
            let page = try transaction.withValue(for: Array(name.utf8).span, in: root) {
                $0.uint64(at: 0)
            }
            trees.append(TreeID(root: PageID(try #require(page))))
        }
        let tree = trees[random.below(trees.count)]
        let cursor = Cursor(transaction, tree: tree)
        _ = try cursor.seekFirst()
        for _ in 0..<random.below(6) where cursor.isValid { _ = try cursor.next() }
        if cursor.isValid {
            let key = cursor.key.array()
            var value = try cursor.value().array()
            for _ in 0...random.below(3) where !value.isEmpty {
                value[random.below(value.count)] = UInt8(truncatingIfNeeded: random.next())
            }
            if random.below(4) == 0 { value.removeLast(random.below(value.count + 1)) }
            _ = try transaction.insert(key.span, value.span, into: tree)
        }
        _ = try transaction.commit()
        try engine.close()
    }

    private func use(_ path: String) throws(StoreError) {
        let database = try RecordDatabase.open(.file(path), schema: Self.schema)
        defer { try? database.close() }
        let transaction = try database.beginWrite()
        defer { transaction.rollback() }
        for entity in database.schema.entities {
            _ = try transaction.recordCount(of: entity)
            let cursor = transaction.recordCursor(entity.hierarchy)
            var batch = RecordBatch()
            while try cursor.next() {
                for field in entity.fields {
                    _ = try transaction.value(field, of: try cursor.row())
                }
                for relationship in entity.relationships {
                    _ = try transaction.linkedNumbers(relationship, of: cursor.number)
                }
                batch.delete(cursor.number, in: entity.hierarchy)
            }
            _ = try transaction.allocateNumber(in: entity.hierarchy)
            try transaction.apply(batch)
        }
    }

    @Test func `a store with damaged values opens or reports the damage`() throws {
        var random = SeededRandom(for: "CatalogFuzzTests")
        let folder = FileManager.default.temporaryDirectory
        let original = folder.appending(path: "catalog-\(UUID().uuidString)").path
        let path = original + "-damaged"
        defer {
            try? FileManager.default.removeItem(atPath: original)
            try? FileManager.default.removeItem(atPath: path)
        }
        try fill(original)
        var errorCount = 0
        for _ in FuzzRounds(150) {
            try? FileManager.default.removeItem(atPath: path)
            try FileManager.default.copyItem(atPath: original, toPath: path)
            try damage(path, &random)
            do throws(StoreError) {
                try use(path)
            } catch {
                errorCount += 1
                #expect(!error.message.isEmpty)
            }
        }
        #expect(errorCount > 10)
    }
}
