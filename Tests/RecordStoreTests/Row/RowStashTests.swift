import PageStore
import SampleSchemas
import TestSupport
import Testing

@testable import RecordStore

/// Stashed records stay the same, wherever their bytes are.
@Suite struct RowStashTests {
    private static let schema = SchemaDescription([
        EntityDescription("Stone", required: ["weight": .int64], optional: ["label": .string])
    ])

    /// Records whose weights are their numbers.
    private static func fill(_ transaction: RecordTransaction) throws -> [ObjectNumber] {
        let stone = try #require(transaction.schema.entity(named: "Stone"))
        let weight = try #require(stone.field(named: "weight"))
        let label = try #require(stone.field(named: "label"))
        var batch = RecordBatch()
        let numbers = try (0..<500).map { _ in
            let number = try transaction.allocateNumber(in: stone.hierarchy)
            var row = stone.emptyRow()
            defer { row.deallocate() }
            row.setValue(.int(Int64(number.rawValue)), weight)
            row.setValue(.string(String(repeating: "x", count: 300)), label)
            batch.insert(stone, number, row: row)
            return number
        }
        try transaction.apply(batch)
        return numbers
    }

    /// Stashes all records, and reads them from last to first.
    private func expectAll(
        _ numbers: [ObjectNumber], of reader: RecordReader, _ stash: RowStash,
        afterwards: () throws -> Void = {}
    ) throws {
        let stone = try #require(reader.schema.entity(named: "Stone"))
        let weight = try #require(stone.field(named: "weight"))
        do {
            let cursor = reader.recordCursor(stone.hierarchy, isScan: true)
            var places: [RowStash.Place] = []
            var leafEnd = 0
            for (position, number) in numbers.enumerated() {
                if position == leafEnd {
                    leafEnd = try cursor.prefetch(numbers, from: position)
                    stash.take(from: cursor.publishedPage)
                }
                #expect(try cursor.find(number))
                places.append(stash.append(try cursor.row()))
            }
            try afterwards()
            for (number, place) in zip(numbers, places).reversed() {
                stash.prefetch(place)
                #expect(stash.row(at: place).int(at: weight.byteOffset) == Int64(number.rawValue))
            }
        }
    }

    @Test func `stashed records of a snapshot are not copied and do not change later`() throws {
        let database = try RecordDatabase.open(.memory, schema: Self.schema)
        let transaction = try database.beginWrite()
        let numbers = try Self.fill(transaction)
        _ = try transaction.commit()
        let stash = RowStash()
        let snapshot = try database.snapshot()
        try expectAll(numbers, of: snapshot, stash) {
            let stone = try #require(database.schema.entity(named: "Stone"))
            let transaction = try database.beginWrite()
            var batch = RecordBatch()
            for number in numbers { batch.delete(number, in: stone.hierarchy) }
            try transaction.apply(batch)
            _ = try transaction.commit()
        }
        // Whole pages, and not a copy of each record of over 300 bytes beside them.
        #expect(stash.sizeInBytes > 0 && stash.sizeInBytes % 4096 == 0)
        stash.removeAll()
        #expect(stash.sizeInBytes == 0)
        try database.close()
    }

    @Test func `records of a transaction are copied, because their pages change`() throws {
        let database = try RecordDatabase.open(.memory, schema: Self.schema)
        let transaction = try database.beginWrite()
        let numbers = try Self.fill(transaction)
        try expectAll(numbers, of: transaction, RowStash()) {
            let stone = try #require(database.schema.entity(named: "Stone"))
            var batch = RecordBatch()
            for number in numbers { batch.delete(number, in: stone.hierarchy) }
            try transaction.apply(batch)
            _ = try Self.fill(transaction)
        }
        transaction.rollback()
        try database.close()
    }
}
