import Foundation
import Query
import RecordStore
import SampleSchemas
import TestSupport
import Testing

/// Proves that any format with any arguments is either read or refused: no trap, no time or stack
/// beyond what its length explains. A condition that is read prints as an equal format, and a store
/// answers or refuses it.
@Suite struct ConditionFuzzTests {
    private static let schema = SchemaDescription([
        EntityDescription(
            "Node", optional: ["name": .string, "age": .int64, "price": .decimal, "born": .date],
            relationships: [
                .toOne("parent", to: "Node"),
                .toManyUnordered("kids", to: "Node", inverse: "parent"),
            ], indexes: [["name"], ["age"], ["price"]])
    ])

    private static let seeds = [
        "age > %d AND name BEGINSWITH[cd] %@", "NOT (age IN {1, 2, nil} OR %K == nil)",
        "ANY kids.age BETWEEN {%@, 10}", "NONE kids.name LIKE[c] 'a*?'", "kids.@count > 1",
        "SUBQUERY(kids, $x, $x.age > SELF.age AND ANY $x.kids.name != nil).@count >= 1",
        "TERNARY(age == nil, 1, abs(age)) ** 2 - 3 / age == -1.5e3", "kids.name[FIRST] == 'x'",
        "CAST(age, 'NSString') CONTAINS '1' && born < CAST(3, 'NSDate')", "SELF IN %@",
        "name MATCHES 'a|b+' || name ==[w] \"\\u00e9\\x41\\101\"",
        "age & 4 == 4 OR ~age << 2 > 0x1F",
        "modulus:by:(age, 3) != median({age, 1, kids.@sum.age})", "price * 1.1 <= @max.kids.price",
        "#self.naïve == $value AND self.parent.parent.name NOT IN 'abc'", "TRUEPREDICATE",
    ]

    private static let pieces = [
        "(", ")", "{", "}", "[", "]", ",", ".", "$x", "#", "%@", "%d", "%K", "%s", "%%", "%", "'",
        "\"",
        "\\", "\\u", " AND ", " OR ", " NOT ", "!", "==", "!=", "<", "BETWEEN", " IN ", "CONTAINS",
        "LIKE", "MATCHES", "[cd]", "ANY ", "ALL ", "NONE ", "age", "name", "kids", "parent", "born",
        "@count", "@sum", "SELF", "nil", "1", "0x", "9223372036854775808", "1e308", "**", "*", "/",
        "+",
        "-", "~", "&", "|", "^", "<<", ":=", ":", "SUBQUERY(kids, $x, ", "TERNARY(", "CAST(",
        "FUNCTION(",
        "sum(", "abs(", "now()", "'NSDate'", "é", "\u{301}", "👩‍👧", "\u{0}", "\r\n", "?", "_",
        "TRUEPREDICATE",
        "((((((((((", "- - - -", "NOT NOT ", " OR age = 1", " + 1", ".parent.parent",
    ]

    private static let values: [Value] = [
        .null, .bool(true), .int(.min), .int(.max), .int(-1), .int(0), .int(3), .uint(.max),
        .double(.nan), .double(-.infinity), .double(0.5), .decimal(2.5), .decimal(.nan), .date(3),
        .date(.nan), .string(""), .string("age"), .string("kids.@count"), .string("a"),
        .string("(["), .string("*\\"), .string("é"), .data([1]),
        .url("x"), .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))),
    ]

    /// Mostly as many as the format has places, and of the kinds that they stand for.
    private static func arguments(
        for format: String, _ random: inout SeededRandom
    ) -> [FormatArgument] {
        var arguments: [FormatArgument] = []
        var rest = format.unicodeScalars[...]
        while let mark = rest.firstIndex(of: "%") {
            rest = rest[mark...].dropFirst()
            let paths = [Value.string("age"), .string("kids.name"), .string("parent.born")]
            switch rest.first {
            case "K": arguments.append(.value(paths[random.below(paths.count)]))
            case "d": arguments.append(.value(.int(Int64(random.below(9)))))
            case "@": arguments.append(argument(&random))
            default: break
            }
        }
        switch random.below(8) {
        case 0: return (0..<random.below(5)).map { _ in argument(&random) }
        case 1: return arguments + [argument(&random)]
        default: return arguments
        }
    }

    private static func argument(_ random: inout SeededRandom) -> FormatArgument {
        guard random.below(3) == 0 else { return single(&random) }
        return .list((0..<random.below(4)).map { _ in single(&random) })
    }

    private static func single(_ random: inout SeededRandom) -> FormatArgument {
        guard random.below(12) == 0 else { return .value(values[random.below(values.count)]) }
        return .object(
            ObjectReference(
                storeID: storeID, entityName: ["Node", "x/\"y"][random.below(2)],
                number: ObjectNumber(UInt64(random.below(8)))))
    }

    private static func format(_ random: inout SeededRandom) -> String {
        var parts = seeds[random.below(seeds.count)].map(String.init)
        if random.below(4) == 0 { parts = [] }
        for _ in 0..<random.below(4) {
            let place = random.below(parts.count + 1)
            switch random.below(5) {
            case 0 where !parts.isEmpty:
                parts.removeSubrange(place..<min(parts.count, place + 1 + random.below(6)))
            case 1:
                let text = Array(seeds[random.below(seeds.count)])
                let start = random.below(text.count)
                let end = min(text.count, start + random.below(20))
                parts.insert(String(text[start..<end]), at: place)
            case 2:
                let scalar = Unicode.Scalar(UInt32(random.below(0x3000))) ?? "x"
                parts.insert(String(scalar), at: place)
            case 3 where random.below(10) == 0:
                let piece = pieces[random.below(pieces.count)]
                parts.insert(String(repeating: piece, count: 300), at: place)
            default: parts.insert(pieces[random.below(pieces.count)], at: place)
            }
        }
        return parts.joined()
    }

    private static let storeID = UUID(
        uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

    private static func prepare(
        _ condition: Condition, _ reader: RecordReader, for purpose: PreparedQuery.Purpose
    ) throws -> PreparedQuery {
        try PreparedQuery.prepare(
            FetchRequest(condition: condition),
            of: try #require(reader.schema.entity(named: "Node")), in: reader,
            store: StoreIdentity(storeID), for: purpose)
    }

    private static func store() throws -> RecordDatabase {
        let database = try RecordDatabase.open(.memory, schema: schema)
        let node = try #require(database.schema.entity(named: "Node"))
        let transaction = try database.beginWrite()
        var batch = RecordBatch()
        var last: ObjectNumber?
        for index in 0..<6 {
            let number = try transaction.allocateNumber(in: node.hierarchy)
            var row = node.emptyRow()
            defer { row.deallocate() }
            if index > 0 {
                row.setValue(.string("a\(index)"), try #require(node.field(named: "name")))
                row.setValue(.int(Int64(index)), try #require(node.field(named: "age")))
            }
            if let last {
                row.setLink(last, at: try #require(node.field(named: "parent")).byteOffset)
            }
            batch.insert(node, number, row: row)
            if index.isMultiple(of: 2) { last = number }
        }
        try transaction.apply(batch)
        _ = try transaction.commit()
        return database
    }

    @Test func `a random format with random arguments is answered or refused`() throws {
        var random = SeededRandom(for: "ConditionFuzzTests")
        let seed = random.seed
        let isLong = ProcessInfo.processInfo.environment["TRELLIS_LONG"] != nil
        let snapshot = try Self.store().snapshot()
        let clock = ContinuousClock()
        var (readCount, answeredCount) = (0, 0)
        for _ in FuzzRounds(isLong ? 500_000 : 6000) {
            let format = Self.format(&random)
            let arguments = Self.arguments(for: format, &random)
            let start = clock.now
            do {
                var condition = try ConditionParser.parse(format, arguments)
                readCount += 1
                if random.below(2) == 0 {
                    let values = ["value": Self.argument(&random), "x": Self.argument(&random)]
                    condition = try condition.substituting(values)
                }
                let text = ConditionText.text(condition)
                let read = try ConditionParser.parse(text)
                #expect(read == WrittenKinds.of(condition), "\(seed): \(format)")
                let found = try Self.prepare(condition, snapshot, for: .records).numbers()
                let counted = try Self.prepare(condition, snapshot, for: .count).count()
                #expect(counted == found.count, "\(seed): \(format)")
                answeredCount += 1
            } catch let error as QueryError {
                #expect(!error.message.isEmpty)
            }
            #expect(start.duration(to: clock.now) < .seconds(5), "\(seed): \(format)")
        }
        // Most are refused; enough are not.
        #expect(
            readCount > 1000 && answeredCount > 500, "\(readCount) read, \(answeredCount) answered")
    }

    @Test func `a long format takes time in proportion to its length`() throws {
        for piece in ["age = 1 OR ", "name LIKE 'x' AND ", "age IN {1, 2, (3)} AND "] {
            let format = String(repeating: piece, count: 5000) + "TRUEPREDICATE"
            _ = try ConditionParser.parse(format, [])
        }
        for piece in ["(", "NOT ", "-", "TERNARY((", "abs(", "{", "1 + ", "a.", "'", "%@ "] {
            let format = String(repeating: piece, count: 100_000)
            #expect(throws: QueryError.self) { try ConditionParser.parse(format, []) }
        }
    }

    /// A thread that a program starts may have far less stack than the main one. Without the
    /// optimizer frames are largest.
    @Test func `the deepest condition that is read fits a stack of two megabytes`() throws {
        let snapshot = try Self.store().snapshot()
        let open = "TERNARY((NOT (age = 1)), abs("
        let deep = { (count: Int) in
            String(repeating: open, count: count) + "age"
                + String(repeating: "), 1)", count: count) + " != 3"
        }
        let sum = Array(repeating: "age", count: 400).joined(separator: " + ")
        let formats =
            (1...60).map(deep) + [sum + " > 3", String(repeating: "NOT ", count: 99) + "age = 1"]
        let thread = Thread {
            for format in formats {
                guard let condition = try? ConditionParser.parse(format, []) else { continue }
                let text = ConditionText.text(condition)
                #expect(!text.isEmpty)
                #expect(throws: Never.self) {
                    try Self.prepare(condition, snapshot, for: .count).count()
                }
            }
            done.signal()
        }
        thread.stackSize = 2 << 20
        thread.start()
        done.wait()
    }

    private let done = DispatchSemaphore(value: 0)
}
