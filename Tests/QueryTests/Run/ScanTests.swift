import RecordStore
import SampleSchemas
import TestSupport
import Testing

@testable import Query

/// A scan of many leaves equals a test of each record: the first time, from cached columns, inside
/// a transaction, and after it.
@Suite struct ScanTests {
    /// Without an index, so that everything is a scan.
    private static let schema = SchemaDescription([
        EntityDescription(
            "Stone",
            optional: [
                "label": .string, "weight": .double, "age": .int32, "level": .uint8,
                "share": .float, "found": .date, "polished": .bool,
            ]),
        EntityDescription("Gem", below: "Stone", optional: ["carat": .double]),
    ])

    private static func value(_ type: AttributeType, _ random: inout SeededRandom) -> Value {
        if random.below(6) == 0 { return .null }
        switch type {
        case .string:
            // Some texts have a page of their own, and a tenth has letters beyond ASCII. Together
            // they are long enough that pages cache columns of them.
            let size = random.below(60) == 0 ? 9000 : random.below(random.below(3) == 0 ? 20 : 250)
            let letters = random.below(10) == 0 ? ["a", "B", "é"] : ["a", "b", "A", "B", "x", " "]
            return .string((0..<size).map { _ in letters[random.below(letters.count)] }.joined())
        case .double: return .double([-1.5, 0, -0.0, 2.5, .nan, .infinity][random.below(6)])
        case .float: return .float([-1.5, 0, 2.5, .nan][random.below(4)])
        case .date: return .date(Double(random.below(4)))
        case .bool: return .bool(random.below(2) == 0)
        case .uint8: return .uint(UInt64(random.below(4)))
        // Numbers around the limits where another method finds the groups.
        default: return .int([-1, 0, 1, 7, 255, 256, 300][random.below(7)])
        }
    }

    private static func change(
        _ transaction: RecordTransaction, _ numbers: inout [ObjectNumber],
        _ random: inout SeededRandom, count: Int
    ) throws {
        var batch = RecordBatch()
        for _ in 0..<count {
            let name = random.below(3) == 0 ? "Gem" : "Stone"
            let entity = try #require(transaction.schema.entity(named: name))
            let number = try transaction.allocateNumber(in: entity.hierarchy)
            var row = entity.emptyRow()
            defer { row.deallocate() }
            for field in entity.fields {
                row.setValue(value(field.type ?? .int32, &random), field)
            }
            batch.insert(entity, number, row: row)
            numbers.append(number)
        }
        try transaction.apply(batch)
    }

    private static func comparison(
        _ entity: EntityLayout, _ random: inout SeededRandom
    ) -> Condition {
        if random.below(3) == 0 {
            let part = ["ab", "a", "bab", "x a", "é", "A"][random.below(6)]
            let options: [TextOptions] = [
                .caseInsensitive, [.caseInsensitive, .diacriticInsensitive], .diacriticInsensitive,
                [],
            ]
            return .comparison(
                Comparison(
                    .keyPath(["label"]), .contains, .constant(.string(part)),
                    options: options[random.below(4)]))
        }
        let fields = entity.fields.filter { $0.type != .string }
        let field = fields[random.below(fields.count)]
        let operations: [Comparison.Operation] = [
            .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
        ]
        return .comparison(
            Comparison(
                .keyPath([field.name]), operations[random.below(6)],
                .constant(value(field.type ?? .int32, &random))))
    }

    private func check(_ reader: RecordReader, _ random: inout SeededRandom) throws {
        for _ in 0..<8 {
            let name = random.below(3) == 0 ? "Gem" : "Stone"
            let entity = try #require(reader.schema.entity(named: name))
            let parts = (0..<(1 + random.below(3))).map { _ in Self.comparison(entity, &random) }
            let condition =
                random.below(5) == 0 ? Condition.constant(true) : .and(ConditionList(parts))
            let request = FetchRequest(condition: condition)
            let grouping = ["age", "level", "polished", "found", "weight"][random.below(5)]
            let found = try reference(reader, entity, condition, groupedBy: grouping)
            #expect(try reader.numbers(request, of: name) == found.map(\.number), "\(condition)")
            #expect(try reader.count(request, of: name) == found.count, "\(condition)")
            try checkTotals(reader, name, request, found, groupedBy: grouping)
        }
    }

    private typealias Found = (number: ObjectNumber, group: String, weight: Value)

    /// All zeros are one group, and all NaN values another.
    private func group(_ value: Value) -> String {
        "\(value == .double(0) ? .double(0) : value)"
    }

    private func reference(
        _ reader: RecordReader, _ entity: EntityLayout, _ condition: Condition,
        groupedBy grouping: String
    ) throws -> [Found] {
        let key = try #require(entity.field(named: grouping))
        let weight = try #require(entity.field(named: "weight"))
        var found: [Found] = []
        try reader.forEachMatch(of: condition, in: entity.name) { number, row in
            found.append((number, group(row.value(key)), row.value(weight)))
        }
        return found
    }

    private func checkTotals(
        _ reader: RecordReader, _ name: String, _ request: FetchRequest, _ found: [Found],
        groupedBy grouping: String
    ) throws {
        let functions: [SelectTerm.Function] = [.count, .sum, .average, .minimum, .maximum]
        let terms = functions.map { SelectTerm.aggregate($0, ["weight"]) }
        func expected(_ records: [Found]) -> [Value] {
            functions.map { function in
                Aggregate.value(function, of: records.map(\.weight), isCollection: false)
            }
        }
        let all = try reader.rows(ValueRequest(request, terms: terms, groupPaths: []), of: name)
        #expect(all.map(\.description) == [expected(found).description])
        let groups = try reader.rows(
            ValueRequest(
                request, terms: [.attribute([grouping])] + terms, groupPaths: [[grouping]]),
            of: name)
        let wanted = Dictionary(grouping: found, by: \.group)
        #expect(groups.count == wanted.count, "by \(grouping)")
        for row in groups {
            #expect(
                Array(row.dropFirst()).description
                    == expected(try #require(wanted[group(row[0])])).description)
        }
    }

    @Test func `repeated scans find and sum the stored records`() throws {
        var random = SeededRandom(for: "ScanTests")
        let database = try RecordDatabase.open(.memory, schema: Self.schema)
        var numbers: [ObjectNumber] = []
        for _ in 0..<3 {
            let transaction = try database.beginWrite()
            try Self.change(transaction, &numbers, &random, count: 250)
            try check(transaction, &random)
            var deletions = RecordBatch()
            let stone = try #require(database.schema.entity(named: "Stone"))
            for _ in 0..<20 {
                deletions.delete(
                    numbers.remove(at: random.below(numbers.count)), in: stone.hierarchy)
            }
            try transaction.apply(deletions)
            try check(transaction, &random)
            _ = try transaction.commit()
            let snapshot = try database.snapshot()
            try check(snapshot, &random)
            try check(snapshot, &random)
        }
        try database.close()
    }

    @Test func `leaves without a match before the first group add no group`() throws {
        let database = try RecordDatabase.open(.memory, schema: Self.schema)
        let transaction = try database.beginWrite()
        let stone = try #require(database.schema.entity(named: "Stone"))
        let weight = try #require(stone.field(named: "weight"))
        var batch = RecordBatch()
        for index in 1...600 {
            var row = stone.emptyRow()
            defer { row.deallocate() }
            row.setValue(.double(index < 600 ? 1 : 5), weight)
            batch.insert(stone, try transaction.allocateNumber(in: stone.hierarchy), row: row)
        }
        try transaction.apply(batch)
        _ = try transaction.commit()
        let snapshot = try database.snapshot()
        for (least, groups) in [(4.0, [[Value.null, .int(1)]]), (9.0, [])] {
            let request = FetchRequest(
                condition: .comparison(
                    Comparison(.keyPath(["weight"]), .greater, .constant(.double(least)))))
            let found = try snapshot.rows(
                ValueRequest(
                    request, terms: [.attribute(["age"]), .aggregate(.count, ["weight"])],
                    groupPaths: [["age"]]), of: "Stone")
            #expect(found == groups)
        }
        try database.close()
    }
}
