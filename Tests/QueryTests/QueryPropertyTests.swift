import Foundation
import RecordStore
import SampleSchemas
import Testing

@testable import Query

/// Every plan gives the answer of the reference evaluator on every record.
@Suite struct QueryPropertyTests {
    struct Random {
        var state: UInt64

        mutating func next(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }

        mutating func pick<Element>(_ list: [Element]) -> Element { list[next(list.count)] }
    }

    static let schema = SchemaDescription([
        EntityDescription(
            "Animal",
            optional: [
                "name": .string, "age": .int32, "weight": .double, "born": .date, "price": .decimal,
                "tame": .bool, "level": .uint8,
            ],
            relationships: [
                .toOne("parent", to: "Animal"),
                .toManyUnordered("children", to: "Animal", inverse: "parent"),
            ],
            indexes: [
                ["name"], ["age"], ["weight"], ["price"], ["tame", "age"], ["born"],
                ["level", "name"],
            ]),
        EntityDescription(
            "Dog", below: "Animal", optional: ["tricks": .int64], indexes: [["tricks"]]),
    ])

    static let texts = ["", "a", "A", "ab", "aB", "Äb", "b", "straße", "STRASSE", "z"]

    private static func value(_ type: AttributeType, _ random: inout Random) -> Value {
        if random.next(5) == 0 { return .null }
        switch type {
        case .string: return .string(random.pick(texts))
        case .double:
            return .double(random.pick([-1.5, 0, -0.0, 2, 2.5, .nan, .infinity, 1e300]))
        case .date: return .date(Double(random.next(4)))
        case .decimal: return .decimal(random.pick([0, -1, Decimal(string: "1.10") ?? 0, 2]))
        case .bool: return .bool(random.next(2) == 0)
        case .uint8: return .uint(UInt64(random.next(4)))
        default: return .int(Int64(random.next(7) - 3))
        }
    }

    private static func database(_ random: inout Random) throws -> RecordDatabase {
        let database = try RecordDatabase.open(.memory, schema: schema)
        let transaction = try database.beginWrite()
        var batch = RecordBatch()
        var numbers: [ObjectNumber] = []
        for _ in 0..<(20 + random.next(60)) {
            let entity = try #require(
                database.schema.entity(named: random.next(3) == 0 ? "Dog" : "Animal"))
            let number = try transaction.allocateNumber(in: entity.hierarchy)
            var row = entity.emptyRow()
            defer { row.deallocate() }
            for field in entity.fields {
                if let type = field.type {
                    row.setValue(value(type, &random), field)
                } else if !numbers.isEmpty, random.next(3) > 0 {
                    row.setLink(random.pick(numbers), at: field.byteOffset)
                }
            }
            batch.insert(entity, number, row: row)
            numbers.append(number)
        }
        try transaction.apply(batch)
        _ = try transaction.commit()
        return database
    }

    private static func comparison(
        _ entity: EntityLayout, _ random: inout Random
    ) -> Condition {
        let operations: [Comparison.Operation] = [
            .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
        ]
        let fields = entity.fields.filter { $0.type != nil }
        let field = random.pick(fields)
        let type = field.type ?? .string
        var path = [field.name]
        if random.next(8) == 0, entity.name == "Animal" { path.insert("parent", at: 0) }
        let left = Operand.keyPath(path)
        if random.next(3) == 0 {
            return RandomComparison.condition(left, &random) { value(type, &$0) }
        }
        switch random.next(9) {
        case 0:
            let values = (0..<random.next(4)).map { _ in
                Operand.constant(value(type, &random))
            }
            return .comparison(Comparison(left, .in, .list(values)))
        case 1:
            return .comparison(
                Comparison(
                    left, .between,
                    .list([.constant(value(type, &random)), .constant(value(type, &random))])))
        case 2 where type == .string:
            let options: [TextOptions] = [
                [], .caseInsensitive, [.caseInsensitive, .diacriticInsensitive],
            ]
            return .comparison(
                Comparison(
                    left, random.pick([.beginsWith, .contains, .endsWith, .equal, .like]),
                    .constant(.string(random.pick(texts))), options: random.pick(options)))
        case 3:
            return .comparison(
                Comparison(
                    .keyPath(["parent"]), random.pick([.equal, .notEqual]),
                    random.next(2) == 0
                        ? .constant(.null)
                        : .object(
                            random.pick(["Animal", "Dog", "Stranger"]), UInt64(1 + random.next(20)))
                ))
        case 4:
            return .comparison(
                Comparison(
                    .keyPath(["children", "age"]), random.pick(operations),
                    .constant(.int(Int64(random.next(5) - 2))),
                    quantifier: random.pick([.any, .all, .noneOf])))
        case 5 where type.isNumber:
            // A number of another kind than the column.
            return .comparison(
                Comparison(
                    left, random.pick(operations),
                    .constant(random.pick([.double(1.5), .int(-300), .double(2), .bool(true)]))))
        default:
            return .comparison(
                Comparison(left, random.pick(operations), .constant(value(type, &random))))
        }
    }

    private static func condition(
        _ entity: EntityLayout, _ depth: Int, _ random: inout Random
    ) -> Condition {
        guard depth > 0, random.next(3) > 0 else { return comparison(entity, &random) }
        let parts = (0..<(1 + random.next(3))).map { _ in condition(entity, depth - 1, &random) }
        switch random.next(4) {
        case 0: return .or(ConditionList(parts))
        case 1: return .not(parts[0])
        default: return .and(ConditionList(parts))
        }
    }

    /// Evaluates every record, one after the other.
    private func reference(
        _ reader: RecordReader, _ entity: EntityLayout, _ condition: Condition
    ) throws -> [ObjectNumber] {
        var found: [ObjectNumber] = []
        try reader.forEachMatch(of: condition, in: entity.name) { number, _ in
            found.append(number)
        }
        return found
    }

    @Test func `every access plan finds what the reference evaluator finds`() throws {
        let environment = ProcessInfo.processInfo.environment
        let seed = environment["TRELLIS_SEED"].flatMap(UInt64.init) ?? 7
        print("seed", seed)
        var random = Random(state: seed)
        var indexed = 0
        for _ in 0..<(environment["TRELLIS_LONG"] == nil ? 6 : 200) {
            let database = try Self.database(&random)
            let snapshot = try database.snapshot()
            for _ in 0..<150 {
                let name = random.next(3) == 0 ? "Dog" : "Animal"
                let entity = try #require(database.schema.entity(named: name))
                let condition = Self.condition(entity, 2, &random)
                let request = FetchRequest(condition: condition)
                let expected = try reference(snapshot, entity, condition)
                let found = try snapshot.numbers(request, of: name)
                #expect(
                    found.sorted() == expected, "seed \(seed): \(condition)")
                #expect(Set(found).count == found.count, "seed \(seed): \(condition)")
                #expect(try snapshot.count(request, of: name) == expected.count)
                let query = try snapshot.prepare(request, of: name)
                if query.explanation.contains("index") { indexed += 1 }
                try checkSorted(snapshot, name, request, expected, &random)
            }
            try database.close()
        }
        #expect(indexed > 100)
    }

    @Test func `a lookup by key finds what the reference evaluator finds`() throws {
        let seed = ProcessInfo.processInfo.environment["TRELLIS_SEED"].flatMap(UInt64.init) ?? 11
        print("seed", seed)
        var random = Random(state: seed)
        var answered = 0
        for _ in 0..<8 {
            let database = try Self.database(&random)
            let snapshot = try database.snapshot()
            for _ in 0..<100 {
                let name = random.next(3) == 0 ? "Dog" : "Animal"
                let entity = try #require(database.schema.entity(named: name))
                let field = random.pick(entity.fields.filter { $0.type != nil })
                let value = Self.value(field.type ?? .string, &random)
                let condition = Condition.equality(field.name, value)
                var request = FetchRequest(condition: condition)
                if random.next(3) == 0 { request.limit = 1 + random.next(3) }
                request.offset = random.next(3)
                let query = try snapshot.prepare(request, of: name)
                guard case .key = query.access else { continue }
                let found = try query.numbers()
                answered += 1
                let all = try reference(snapshot, entity, condition).dropFirst(request.offset)
                #expect(
                    found == Array(all.prefix(request.limit ?? .max)),
                    "seed \(seed): \(condition)")
                let index = try #require(entity.index(on: field.name))
                let values = [value, .string("none"), value].filter {
                    $0 == value || field.type == .string
                }
                let matches = try #require(
                    try snapshot.matches(in: index, equalTo: values))
                #expect(matches.repeats.contains { $0 == (values.count - 1, 0) })
                let matched = try matches.found.filter { match in
                    #expect(match.position == 0)
                    return try snapshot.withRow(match.number, in: entity.hierarchy) {
                        entity.tags.contains($0.entityTag)
                    } == true
                }
                #expect(matched.map(\.number) == Array(try reference(snapshot, entity, condition)))
            }
            try database.close()
        }
        #expect(answered > 50)
    }

    /// Sorted, limited and offset results are a window of the whole sorted list.
    private func checkSorted(
        _ reader: RecordReader, _ name: String, _ request: FetchRequest,
        _ expected: [ObjectNumber], _ random: inout Random
    ) throws {
        var request = request
        request.sortKeys = [
            SortKey(
                path: [random.pick(["name", "age", "weight", "price"])],
                isAscending: random.next(2) == 0)
        ]
        let queries = [try reader.prepare(request, of: name)]
        let whole = try PreparedQuery.merged(queries, limit: nil, offset: 0).map(\.number)
        #expect(whole.sorted() == expected)
        #expect(try reader.numbers(request, of: name) == whole)
        (request.limit, request.offset) = (random.next(5) + 1, random.next(4))
        let window = Array(whole.dropFirst(request.offset).prefix(request.limit ?? 0))
        #expect(try reader.numbers(request, of: name) == window)
    }
}
