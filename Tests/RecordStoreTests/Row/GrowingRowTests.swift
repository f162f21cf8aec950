import Foundation
import PageStore
import RecordStore
import SampleSchemas
import TestSupport
import Testing

/// Rows in memory whose texts and bytes are set over and over.
@Suite struct GrowingRowTests {
    private static let fieldCount = 4
    private static let schema = SchemaDescription([
        EntityDescription(
            "Note",
            attributes: (0..<fieldCount).map { .optional("text\($0)", .data) }
                + [AttributeDescription.optional("size", .int64)])
    ])

    private func entity() throws -> EntityLayout {
        try #require(try Schema(Self.schema).entity(named: "Note"))
    }

    @Test func `rows hold the values that were set while values grow, shrink and vanish`() throws {
        var random = SeededRandom(for: "growing rows")
        let entity = try entity()
        let fields = try (0..<Self.fieldCount).map {
            try #require(entity.field(named: "text\($0)"))
        }
        for round in 0..<(Sweep.isWhole ? 40 : 20) {
            var row = entity.emptyRow()
            var known = [[UInt8]?](repeating: nil, count: fields.count)
            let lengthMax = 1 << (6 + random.below(13))
            var liveMax = 0
            for step in 0..<120 {
                let index = random.below(fields.count)
                switch random.below(6) {
                case 0: known[index] = nil
                case 1: known[index]?.append(contentsOf: random.bytes(1 + random.below(2000)))
                case 2: known[index] = []
                default: known[index] = random.bytes(random.below(lengthMax))
                }
                row.setValue(known[index].map { .data($0) } ?? .null, fields[index])
                liveMax = max(liveMax, known.reduce(0) { $0 + ($1?.count ?? 0) })
                // A copy includes the unused bytes.
                if round % 2 == 0 && step % 10 == 0 { copy(&row) }
                for (field, bytes) in zip(fields, known) {
                    try #require(row.view.value(field) == bytes.map { .data($0) } ?? .null)
                }
            }
            if round % 2 == 1 { #expect(row.sizeInMemory < 8 * liveMax + (1 << 18)) }
            row.deallocate()
        }
    }

    /// Copies a row as a snapshot or another context does.
    private func copy(_ row: inout RowBuffer) {
        let copied = RowBuffer(copying: row.view)
        row.deallocate()
        row = copied
    }

    @Test func `a value that grows piece by piece takes no more than a few times its length`()
        throws
    {
        let entity = try entity()
        let grown = try #require(entity.field(named: "text0"))
        let other = try #require(entity.field(named: "text1"))
        for isAlone in [true, false] {
            var row = entity.emptyRow()
            var bytes: [UInt8] = []
            for step in 0..<200 {
                bytes += [UInt8](repeating: UInt8(step), count: 16_384)
                row.setValue(.data(bytes), grown)
                // With another value set in between, neither is the last in the row.
                if !isAlone { row.setValue(.data(Array(bytes.suffix(5000 + step))), other) }
            }
            #expect(row.sizeInMemory < 8 * bytes.count)
            #expect(row.view.value(grown) == .data(bytes))
            row.deallocate()
        }
    }

    @Test func `a value that is removed and set again takes its bytes once`() throws {
        let entity = try entity()
        let field = try #require(entity.field(named: "text2"))
        var row = entity.emptyRow()
        for step in 0..<300 {
            row.setValue(.null, field)
            row.setValue(.data([UInt8](repeating: UInt8(step % 256), count: 100_000)), field)
        }
        #expect(row.sizeInMemory < 600_000)
        row.deallocate()
    }

    /// Uses two gigabytes of memory for a moment.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["TRELLIS_LONG"] != nil))
    func `a value too long for a record keeps the old one and is reported`() throws {
        let entity = try entity()
        let field = try #require(entity.field(named: "text3"))
        var row = entity.emptyRow()
        row.setValue(.data([1, 2, 3]), field)
        #expect(!row.isOverfull)
        row.setValue(.data([UInt8](repeating: 7, count: 1 << 30)), field)
        #expect(row.isOverfull)
        #expect(row.view.value(field) == .data([1, 2, 3]))
        row.deallocate()
    }
}
