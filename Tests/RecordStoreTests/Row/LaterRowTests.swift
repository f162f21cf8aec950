import PageStore
import Primitives
import SampleSchemas
import TestSupport
import Testing

@testable import RecordStore

/// Records of a layout that came after the reader's.
@Suite struct LaterRowTests {
    private static func schema(_ later: [AttributeDescription]) -> SchemaDescription {
        SchemaDescription(
            version: "V",
            [
                EntityDescription(
                    "Thing", required: ["id": .int64],
                    optional: ["note": .string, "chip": .data, "size": .double], attributes: later)
            ])
    }

    private let known: EntityLayout
    private let later: EntityLayout

    init() throws {
        let schema = try Schema(Self.schema([]))
        let wanted = Self.schema([.optional("town", .string), .optional("rank", .int32)])
        let plan = try LayoutPlan(from: schema, to: MigrationStep(wanted))
        known = try #require(schema.entity(named: "Thing"))
        later = try #require(plan.schema.entity(named: "Thing"))
    }

    private func record(_ values: [String: Value]) -> [UInt8] {
        var row = later.emptyRow()
        defer { row.deallocate() }
        for field in later.fields { row.setValue(values[field.name] ?? .null, field) }
        return row.view.bytes.array()
    }

    private func values(_ row: RowView) -> [String: Value] {
        Dictionary(uniqueKeysWithValues: known.fields.map { ($0.name, row.value($0)) })
    }

    @Test func `what the reader knows is as the writer wrote it`() throws {
        for (note, chip, town) in [
            ("", [], ""), ("a note", [1, 2, 3], "Bergen"),
            (String(repeating: "n", count: 900), [UInt8](repeating: 7, count: 70), ""),
        ] {
            let written: [String: Value] = [
                "id": .int(7), "note": .string(note), "chip": .data(chip), "size": .double(1.5),
                "town": .string(town), "rank": .int(3),
            ]
            let bytes = record(written)
            try bytes.withView { bytes in
                #expect(!known.check(bytes) && known.checkLater(bytes))
                let row = try #require(known.narrowed(bytes))
                let expected = written.filter { !["town", "rank"].contains($0.key) }
                #expect(values(RowView(checked: row.view)) == expected)
            }
        }
    }

    @Test func `damaged records are refused or read within their bytes`() {
        var random = SeededRandom(for: "LaterRowTests")
        let whole = record([
            "id": .int(7), "note": .string("a note"), "chip": .data([1, 2, 3]),
            "town": .string("Bergen"), "rank": .int(3),
        ])
        var (refused, read) = (0, 0)
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0...random.below(3) {
                let values: [UInt8] = [0, 1, 0x7F, 0x80, 0xFF, UInt8(random.below(256))]
                bytes[random.below(bytes.count)] = values[random.below(values.count)]
            }
            if random.below(4) == 0 { bytes.removeLast(random.below(bytes.count)) }
            bytes.withView { bytes in
                guard let row = known.narrowed(bytes) else {
                    refused += 1
                    return
                }
                read += 1
                #expect(known.check(row.view))
                #expect(values(RowView(checked: row.view)).count == known.fields.count)
            }
        }
        #expect(min(refused, read) > 1000)
    }
}
