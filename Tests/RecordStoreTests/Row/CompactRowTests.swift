import PageStore
import RecordStore
import SampleSchemas
import TestSupport
import Testing

/// Records that are stored: copied if they are not compact, else lent.
@Suite struct CompactRowTests {
    private static let schema = SchemaDescription([
        EntityDescription(
            "Note", optional: ["title": .string, "size": .int64, "text": .string, "image": .data])
    ])

    /// A row whose properties are set in any order, several times, and to nil.
    private func row(_ entity: EntityLayout, _ random: inout SeededRandom) -> RowBuffer {
        var row = entity.emptyRow()
        for _ in 0..<random.below(6) {
            let field = entity.fields[random.below(entity.fields.count)]
            let count = random.below(12)
            switch field.type {
            case .string? where count > 0:
                row.setValue(.string(String(repeating: "x", count: count)), field)
            case .data? where count > 0: row.setValue(.data(random.bytes(count - 1)), field)
            case .int64?: row.setValue(.int(Int64(count)), field)
            default: row.setValue(.null, field)
            }
        }
        return row
    }

    @Test func `one long row gives few of the following rows a large buffer`() throws {
        let entity = try #require(try Schema(Self.schema).entity(named: "Note"))
        let text = try #require(entity.field(named: "text"))
        var sizes: [Int] = []
        var next = 0
        for length in [3000] + Array(repeating: 100, count: 12) {
            var row = entity.emptyRow(sizeInBytes: next)
            row.setValue(.string(String(repeating: "x", count: length)), text)
            sizes.append(row.sizeInMemory)
            next = row.sizeOfNext
            row.deallocate()
        }
        #expect(sizes[0] > 3000)
        #expect(sizes[12] < 500, "\(sizes)")
        #expect(zip(sizes, sizes.dropFirst()).allSatisfy { $0 >= $1 })
    }

    @Test func `a row is compact when compacting it changes nothing`() throws {
        var random = SeededRandom(for: "compact rows")
        let entity = try #require(try Schema(Self.schema).entity(named: "Note"))
        var counts = [false: 0, true: 0]
        for _ in 0..<2000 {
            let row = row(entity, &random)
            defer { row.deallocate() }
            let (offsets, size) = (entity.variableOffsets, entity.fixedSize)
            let isCompact = row.isCompact(variableOffsets: offsets, fixedSize: size)
            let bytes = row.compacted(variableOffsets: offsets, fixedSize: size)
            #expect(isCompact == (bytes == row.view.bytes.array()), "seed \(random.seed)")
            counts[isCompact, default: 0] += 1
        }
        #expect(counts.values.allSatisfy { $0 > 100 }, "both kinds are tried: \(counts)")
    }

    @Test func `rows with lent values are stored like copied ones`() throws {
        var random = SeededRandom(for: "lent rows")
        let database = try RecordDatabase.open(.memory, schema: Self.schema)
        defer { try? database.close() }
        let entity = try #require(database.schema.entity(named: "Note"))
        let image = try #require(entity.field(named: "image"))
        var expected: [ObjectNumber: [UInt8]] = [:]
        // The second time as updates, each once.
        for isUpdate in [false, true] {
            let transaction = try database.beginWrite()
            var batch = RecordBatch()
            var rows: [RowBuffer] = []
            for index in 1...300 {
                var row = row(entity, &random)
                // An image too long for its record.
                if index % 50 == 0 { row.setValue(.data(random.bytes(9000)), image) }
                let number =
                    isUpdate
                    ? ObjectNumber(UInt64(index))
                    : try transaction.allocateNumber(in: entity.hierarchy)
                let isLent = random.below(3) > 0
                if isUpdate {
                    batch.update(entity, number, row: row, isLent: isLent)
                } else {
                    batch.insert(entity, number, row: row, isLent: isLent)
                }
                expected[number] = row.compacted(
                    variableOffsets: entity.variableOffsets, fixedSize: entity.fixedSize)
                rows.append(row)
            }
            try transaction.apply(batch)
            for row in rows { row.deallocate() }
            _ = try transaction.commit()
            let snapshot = try database.snapshot()
            for (number, bytes) in expected {
                let row = try #require(try snapshot.row(number, in: entity.hierarchy))
                defer { row.deallocate() }
                let stored = row.compacted(
                    variableOffsets: entity.variableOffsets, fixedSize: entity.fixedSize)
                #expect(stored == bytes, "seed \(random.seed)")
            }
        }
    }
}
