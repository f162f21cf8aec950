import ObjectGraph
import Testing

/// Minimum and maximum of values of each type; there are none of objects.
@Suite struct ExtremeValueTests {
    final class Thing: CoreStoreObject {
        @Field.Stored("whole") var whole: Int16 = 0
        @Field.Stored("wide") var wide: Int = 0
        @Field.Stored("float") var float: Float = 0
        @Field.Stored("double") var double: Double?
        @Field.Stored("decimal") var decimal: NSDecimalNumber = 0
        @Field.Stored("flag") var flag: Bool = false
        @Field.Stored("date") var date: Date = Date()
        @Field.Stored("text") var text: String = ""
        @Field.Stored("id") var id: UUID = UUID()
        @Field.Stored("url") var url: URL?
        @Field.Stored("bytes") var bytes: Data = Data()
        @Field.Relationship("next") var next: Thing?
        @Field.Relationship("parts", inverse: \.$whole2) var parts: Set<Thing>
        @Field.Relationship("whole2") var whole2: Thing?
    }

    private let queue = DispatchQueue(label: "view")
    private static let layouts: [[String?]] = [[nil], ["One", "Two"]]

    private func stack(_ configurations: [String?]) throws -> DataStack {
        let names = Set(configurations.compactMap { $0 })
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1", entityConfigurations: [Entity<Thing>("Thing"): names]),
            viewContext: .queue(queue))
        for name in configurations {
            try stack.addStorageAndWait(InMemoryStore(configuration: name))
        }
        try stack.perform(synchronous: { transaction in
            // The greatest is neither the first nor the last.
            for (index, n) in [2, 5, 1, 3].enumerated() {
                let name = configurations[index % configurations.count]
                let thing = transaction.create(Into<Thing>(name))
                (thing.whole, thing.wide, thing.flag) = (Int16(n), n << 40, n > 2)
                (thing.float, thing.double) = (Float(n) / 2, n == 2 ? nil : Double(n) / 4)
                thing.decimal = NSDecimalNumber(string: "\(n).000000000000000000001")
                thing.date = Date(timeIntervalSinceReferenceDate: Double(n) * 1e6)
                thing.text = String(repeating: "é", count: n)
                thing.id = UUID(uuid: (UInt8(n), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9))
                thing.url = URL(string: "https://example.org/\(n)")
                thing.bytes = Data([UInt8(n), 0xFF])
                thing.next = thing
                thing.whole2 = thing
            }
        })
        return stack
    }

    /// Uses three gigabytes of memory for a moment.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["TRELLIS_LONG"] != nil))
    func `a value that is too long fails only its transaction`() throws {
        let stack = try stack([nil])
        for isText in [true, false] {
            let error = #expect(throws: CoreStoreError.self) {
                try stack.perform(synchronous: { transaction in
                    let thing = try transaction.fetchOne(From<Thing>().where(\.$whole == 2))
                    if isText {
                        thing?.text = String(repeating: "x", count: 1 << 30)
                    } else {
                        thing?.bytes = Data(count: 1 << 30)
                    }
                })
            }
            #expect(error?.storeError?.code == .tooLarge)
        }
        try stack.perform(synchronous: { transaction in
            let thing = try transaction.fetchOne(From<Thing>().where(\.$whole == 2))
            #expect(thing?.text.count == 2)
            thing?.text = "short"
        })
        try queue.sync {
            let count = try stack.fetchCount(From<Thing>().where(\.$text == "short"))
            #expect(count == 1)
        }
    }

    @Test(arguments: layouts)
    func `each type of values has a minimum and a maximum`(_ configurations: [String?]) throws {
        let stack = try stack(configurations)
        func check<V: QueryableAttributeType & Equatable>(
            _ name: String, least: V, greatest: V
        ) throws {
            let found = try [
                stack.queryValue(From<Thing>(), Select<Thing, V>(.minimum(name))),
                stack.queryValue(From<Thing>(), Select<Thing, V>(.maximum(name))),
            ]
            #expect(found == [least, greatest], "\(name)")
            // At the end of a relationship the values are read one by one.
            let across = try [
                stack.queryValue(From<Thing>(), Select<Thing, V>(.minimum("next." + name))),
                stack.queryValue(From<Thing>(), Select<Thing, V>(.maximum("next." + name))),
            ]
            #expect(across == [least, greatest], "next.\(name)")
        }
        try queue.sync { () throws in
            try check("whole", least: Int16(1), greatest: 5)
            try check("wide", least: 1 << 40, greatest: 5 << 40)
            try check("float", least: Float(0.5), greatest: 2.5)
            try check("double", least: 0.25, greatest: 1.25)
            try check("flag", least: false, greatest: true)
            try check(
                "decimal", least: NSDecimalNumber(string: "1.000000000000000000001"),
                greatest: NSDecimalNumber(string: "5.000000000000000000001"))
            try check(
                "date", least: Date(timeIntervalSinceReferenceDate: 1e6),
                greatest: Date(timeIntervalSinceReferenceDate: 5e6))
            try check("text", least: "é", greatest: "ééééé")
            try check(
                "id", least: UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9)),
                greatest: UUID(uuid: (5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9)))
            try check(
                "url", least: try #require(URL(string: "https://example.org/1")),
                greatest: try #require(URL(string: "https://example.org/5")))
            try check("bytes", least: Data([1, 0xFF]), greatest: Data([5, 0xFF]))
        }
    }

    @Test(arguments: layouts)
    func `a minimum or maximum of a relationship compared object numbers`(
        _ configurations: [String?]
    ) throws {
        let stack = try stack(configurations)
        try queue.sync { () throws in
            let rows = try stack.queryAttributes(
                From<Thing>(),
                Select<Thing, NSDictionary>(
                    .maximum("next"), .minimum("parts"), .sum("next"), .count("next"),
                    .maximum("whole")))
            #expect(rows.count == 1)
            #expect(rows.first?.keys.sorted() == ["count(next)", "max(whole)"])
            #expect(rows.first?["count(next)"] as? Int == 4)
            // The condition compares with nil, and not with a number from the file.
            #expect(try stack.fetchCount(From<Thing>(), Where<Thing>("max(parts) == nil")) == 4)
            #expect(try stack.fetchCount(From<Thing>(), Where<Thing>("min(parts) == SELF")) == 0)
        }
    }
}
