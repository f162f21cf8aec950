import PageStore
import RecordStore
import SampleSchemas
import TestSupport
import Testing

/// Proves that the bytes of a record are refused, or can be read in every property without a
/// trap: a view that passed `EntityLayout.check` answers for all fields, keys and copies.
@Suite struct RecordFuzzTests {
    private static let schema = SchemaDescription([
        EntityDescription(
            "All",
            attributes: AttributeType.allCases.map { .optional("\($0)", $0) })
    ])

    @Test func `a damaged record is refused or safe to read`() throws {
        var random = SeededRandom(for: "RecordFuzzTests")
        let entity = try #require(try Schema(Self.schema).entity(named: "All"))
        var row = entity.emptyRow()
        defer { row.deallocate() }
        for (index, field) in entity.fields.enumerated() {
            switch field.type {
            case .string?, .url?: row.setValue(.string("text \(index)"), field)
            case .data?: row.setValue(.data([1, 2, 3]), field)
            case .uuid?: row.setValue(.data([UInt8](repeating: 7, count: 16)), field)
            default: row.setValue(.int(Int64(index)), field)
            }
        }
        let original = row.compacted(
            variableOffsets: entity.variableOffsets, fixedSize: entity.fixedSize)
        var acceptedCount = 0
        for _ in FuzzRounds(20_000) {
            var bytes = original
            for _ in 0...random.below(3) {
                bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next())
            }
            if random.below(4) == 0 { bytes.removeLast(random.below(bytes.count - 8)) }
            bytes.withView { view in
                guard entity.check(view) else { return }
                acceptedCount += 1
                read(RowView(checked: view), of: entity)
            }
        }
        #expect(acceptedCount > 1000)
    }

    private func read(_ row: RowView, of entity: EntityLayout) {
        var key = KeyEncoder(columnSizeMax: 100)
        for field in entity.fields {
            key.append(field, of: row)
            #expect(Value.compare(row.value(field), row.value(field)) == 0)
        }
        let copy = RowBuffer(copying: row)
        defer { copy.deallocate() }
        let compacted = copy.compacted(
            variableOffsets: entity.variableOffsets, fixedSize: entity.fixedSize)
        #expect(compacted.withView { entity.check($0) })
    }
}
