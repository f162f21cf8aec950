import RecordStore
import SampleSchemas
import Testing

@testable import Query

/// The explained plan is the one that runs: the number of page lookups tells the plans apart.
@Suite struct PlanTests {
    private static let count = 8000
    private let database: RecordDatabase
    private let snapshot: RecordSnapshot

    /// Parts of which `rank`, indexed, is the number from the end, `kind` one of ten, and `whole`
    /// the first of all.
    init() throws {
        let schema = SchemaDescription([
            EntityDescription(
                "Part", optional: ["rank": .int64, "kind": .int64, "label": .string],
                relationships: [
                    .toOne("whole", to: "Part"),
                    .toManyUnordered("parts", to: "Part", inverse: "whole"),
                ], indexes: [["rank"], ["label"]])
        ])
        database = try RecordDatabase.open(.memory, schema: schema)
        let part = try #require(database.schema.entity(named: "Part"))
        let transaction = try database.beginWrite()
        var batch = RecordBatch()
        for index in 1...Self.count {
            let number = try transaction.allocateNumber(in: part.hierarchy)
            var row = part.emptyRow()
            defer { row.deallocate() }
            row.setValue(
                .int(Int64(Self.count - index)), try #require(part.field(named: "rank")))
            row.setValue(.int(Int64(index % 10)), try #require(part.field(named: "kind")))
            row.setValue(.string("label \(index)"), try #require(part.field(named: "label")))
            if index == 2 {
                row.setLink(
                    ObjectNumber(1), at: try #require(part.field(named: "whole")).byteOffset)
            }
            batch.insert(part, number, row: row)
        }
        try transaction.apply(batch)
        _ = try transaction.commit()
        snapshot = try database.snapshot()
    }

    private func lookups(_ body: () throws -> Void) rethrows -> UInt64 {
        let before = database.statistics.pageLookups
        try body()
        return database.statistics.pageLookups - before
    }

    /// The explanation of a fetch, the records that it lends, and the pages that it looks up.
    private func run(
        _ request: FetchRequest
    ) throws -> (explanation: String, numbers: [ObjectNumber], lookups: UInt64) {
        let query = try snapshot.prepare(request, of: "Part")
        var numbers: [ObjectNumber] = []
        let lookups = try lookups { numbers = try query.numbers() }
        return (query.explanation, numbers, lookups)
    }

    private func all() throws -> UInt64 { try run(FetchRequest()).lookups }

    @Test func `an order that an index provides is explained without a sort`() throws {
        let first = FetchRequest(sortKeys: [SortKey(path: ["rank"])], limit: 3)
        let indexed = try run(first)
        #expect(indexed.explanation == "Part: 1 range of the index on rank, in the order asked for")
        #expect(indexed.numbers == [8000, 7999, 7998].map { ObjectNumber($0) })
        let descending = FetchRequest(
            sortKeys: [SortKey(path: ["rank"], isAscending: false)], limit: 3)
        let sorted = try run(descending)
        #expect(sorted.explanation == "Part: scan of all records, then a sort")
        #expect(sorted.numbers == [1, 2, 3].map { ObjectNumber($0) })
        let all = try all()
        #expect(all > 20 && sorted.lookups >= all)
        #expect(indexed.lookups < all / 2, "\(indexed.lookups) of \(all)")
        let least = Condition.comparison(
            Comparison(.keyPath(["rank"]), .less, .constant(.int(5))))
        let ranged = try run(
            FetchRequest(condition: least, sortKeys: [SortKey(path: ["rank"])]))
        #expect(ranged.explanation == "Part: 1 range of the index on rank, in the order asked for")
        #expect(ranged.numbers.count == 5 && ranged.lookups < all / 2)
    }

    @Test func `a condition with a constant calculation did not use an index`() throws {
        let plain = try run(FetchRequest(condition: ConditionParser.parse("rank < 300")))
        for format in [
            "rank < 5 * 60", "rank < CAST('300', 'NSNumber')",
            "rank < CAST(CAST(300, 'NSDate'), 'NSNumber')",
        ] {
            let found = try run(FetchRequest(condition: ConditionParser.parse(format)))
            #expect(found.explanation == plain.explanation && !plain.explanation.contains("scan"))
            #expect(found.numbers == plain.numbers && found.lookups <= plain.lookups)
        }
    }

    @Test func `a limit did not make a sorted range of an index slower`() throws {
        let condition = try ConditionParser.parse("label > 'label 1'")
        var request = FetchRequest(
            condition: condition, sortKeys: [SortKey(path: ["kind"])])
        let all = try run(request)
        request.limit = 20
        let some = try run(request)
        #expect(some.numbers == Array(all.numbers.prefix(20)))
        #expect(some.lookups < all.lookups + 100, "\(some.lookups) after \(all.lookups)")
    }

    @Test func `a limit and an offset beyond all numbers`() throws {
        for keys in [[], ["rank"], ["kind"], ["label"]] {
            var request = FetchRequest(
                sortKeys: keys.map { SortKey(path: [$0], isAscending: false) })
            let all = try run(request).numbers
            (request.offset, request.limit) = (5, .max)
            #expect(try run(request).numbers == Array(all.dropFirst(5)))
            (request.offset, request.limit) = (.max, .max)
            #expect(try run(request).numbers == [])
        }
    }

    @Test func `a value of several objects groups nothing and is no column`() throws {
        let path = ["parts", "kind"]
        for request in [
            ValueRequest(
                FetchRequest(), terms: [.aggregate(.count, ["rank"])], groupPaths: [path]),
            ValueRequest(FetchRequest(), terms: [.attribute(path)], groupPaths: [path]),
        ] {
            let error = #expect(throws: QueryError.self) {
                _ = try PreparedValues(
                    request, of: snapshot.layout(of: "Part"), in: snapshot,
                    store: StoreIdentity(testStoreID))
            }
            #expect(error?.message.contains("several values") == true)
        }
    }

    @Test func `an equality on an indexed property reads only the path to its key`() throws {
        let key = try run(FetchRequest(condition: .equality("rank", .int(7))))
        #expect(key.explanation == "Part: lookup of a key in the index on rank")
        #expect(key.numbers == [ObjectNumber(7993)])
        let scanned = try run(FetchRequest(condition: .equality("kind", .int(7))))
        #expect(scanned.explanation == "Part: scan of all records")
        #expect(scanned.numbers.count == 800)
        let all = try all()
        #expect(key.lookups < 8 && scanned.lookups >= all)
    }

    @Test func `a condition that is always false or a limit of zero reads no page`() throws {
        for condition in [Condition.constant(false), .and([.constant(true), .constant(false)])] {
            let none = try run(FetchRequest(condition: condition))
            #expect(none.explanation == "Part: no record")
            #expect(none.numbers.isEmpty && none.lookups == 0)
        }
        let none = try run(FetchRequest(limit: 0))
        #expect(none.explanation == "Part: no record")
        #expect(none.lookups == 0)
    }

    @Test func `the explanation of a count says how it is counted`() throws {
        let counts: [(Condition?, String, Int, ClosedRange<UInt64>)] = [
            (nil, "Part: the count that the store keeps", 8000, 0...6),
            (.equality("rank", .int(7)), "Part: lookup of a key in the index on rank", 1, 1...7),
            (.equality("kind", .int(7)), "Part: scan of all records", 800, 20...500),
            (.constant(false), "Part: no record", 0, 0...0),
        ]
        for (condition, explanation, expected, bounds) in counts {
            // A count makes no order.
            let request = FetchRequest(condition: condition, sortKeys: [SortKey(path: ["kind"])])
            let query = try snapshot.prepare(request, of: "Part", for: .count)
            #expect(query.explanation == explanation)
            var count = 0
            let lookups = try lookups { count = try query.count() }
            #expect(count == expected)
            #expect(bounds.contains(lookups), "\(explanation): \(lookups)")
        }
    }

    @Test func `explanations of links and of known objects state their number`() throws {
        let whole = Comparison(.keyPath(["whole"]), .equal, .object("Part", 1))
        let sources = try run(FetchRequest(condition: .comparison(whole)))
        #expect(sources.explanation == "Part: links of whole to 1 object")
        #expect(sources.numbers == [ObjectNumber(2)])
        let known = Comparison(
            .selfObject, .in, .list([.object("Part", 1), .object("Stranger", 2)]))
        let numbers = try run(FetchRequest(condition: .comparison(known)))
        #expect(numbers.explanation == "Part: 1 known object")
        #expect(numbers.numbers == [ObjectNumber(1)])
        #expect(max(sources.lookups, numbers.lookups) < 8)
    }

    @Test func `an aggregate is explained by the plan that finds its records`() throws {
        let part = try snapshot.layout(of: "Part")
        func prepare(_ condition: Condition?, _ groups: [[String]]) throws -> PreparedValues {
            try PreparedValues(
                ValueRequest(
                    FetchRequest(condition: condition), terms: [.aggregate(.sum, ["rank"])],
                    groupPaths: groups),
                of: part, in: snapshot, store: StoreIdentity(testStoreID))
        }
        let grouped = try prepare(nil, [["kind"]])
        #expect(grouped.explanation == "Part: scan of all records, grouped")
        #expect(try grouped.rows().count == 10)
        let keyed = try prepare(.equality("rank", .int(7)), [])
        #expect(keyed.explanation == "Part: lookup of a key in the index on rank, aggregated")
        var rows: [[Value]] = []
        let lookups = try lookups { rows = try keyed.rows() }
        #expect(rows == [[.decimal(7)]] && lookups < 8)
    }
}
