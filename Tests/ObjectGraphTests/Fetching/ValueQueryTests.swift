import Primitives
import Testing

@testable import ObjectGraph

/// Values and aggregates as queries return them, of one store and of several.
@Suite struct ValueQueryTests {
    final class Sample: CoreStoreObject {
        @Field.Stored("n") var n: Int = 0
        @Field.Stored("s") var s: String = ""
        @Field.Stored("d") var d: Double?
        @Field.Stored("indexed") var indexed: Double?
        @Field.Relationship("next") var next: Sample?
    }

    private let queue = DispatchQueue(label: "view")

    private func stack(_ configurations: [String?]) throws -> DataStack {
        let names = Set(configurations.compactMap { $0 })
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entityConfigurations: [
                    Entity<Sample>("Sample", indexes: [[\.$indexed]]): names
                ]), viewContext: .queue(queue))
        for name in configurations {
            try stack.addStorageAndWait(InMemoryStore(configuration: name))
        }
        return stack
    }

    /// 1 to 4, the odd ones in the first store where there are two.
    private func filled(_ configurations: [String?]) throws -> DataStack {
        let stack = try stack(configurations)
        try stack.perform(synchronous: { transaction in
            for n in 1...4 {
                let sample = transaction.create(
                    Into<Sample>(configurations[n % 2 == 1 ? 0 : configurations.count - 1]))
                (sample.n, sample.s, sample.d) = (n, n < 3 ? "a" : "b", Double(n))
                sample.next = sample
            }
        })
        return stack
    }

    // MARK: Requests

    @Test func `a request is limited to some storages`() throws {
        let stack = try filled(["A", "B"])
        let stores = stack.stores.map(\.storage)
        func limited(_ stores: [any StorageInterface]?) -> Tweak {
            Tweak { $0.affectedStores = stores }
        }
        try queue.sync { () throws in
            for (affected, expected) in [
                ([stores[0]], [1, 3]), ([stores[1]], [2, 4]), (stores, [1, 2, 3, 4]),
            ] {
                let tweak = limited(affected)
                let order = OrderBy<Sample>(.ascending("n"))
                #expect(try stack.fetchAll(From<Sample>(), tweak, order).map(\.n) == expected)
                #expect(try stack.fetchCount(From<Sample>(), tweak) == expected.count)
                #expect(try stack.fetchObjectIDs(From<Sample>(), tweak).count == expected.count)
                let sum = try stack.queryValue(
                    From<Sample>(), Select<Sample, Int>(.sum("n")), tweak)
                #expect(sum == expected.reduce(0, +))
                let list = stack.publishList(From<Sample>(), tweak, order).snapshot
                #expect(list.compactMap { $0.object?.n } == expected)
            }
            #expect(try stack.fetchCount(From<Sample>("A"), limited([stores[0]])) == 2)
            #expect(throws: CoreStoreError.persistentStoreNotFound(entity: Sample.self)) {
                try stack.fetchAll(From<Sample>("A"), limited([stores[1]]))
            }
            #expect(throws: CoreStoreError.self) {
                try stack.fetchAll(From<Sample>(), limited([InMemoryStore()]))
            }
            #expect(try stack.fetchCount(From<Sample>(), limited(nil)) == 4)
        }
        try stack.perform(synchronous: { transaction in
            let count = try transaction.deleteAll(From<Sample>(), limited([stores[1]]))
            #expect(count == 2)
        })
        try queue.sync { () throws in
            #expect(try stack.fetchCount(From<Sample>("A")) == 2)
            #expect(try stack.fetchCount(From<Sample>("B")) == 0)
        }
    }

    @Test func `a request may name the only storage, and naming none is an error`() throws {
        let stack = try filled([nil])
        let storage = stack.stores[0].storage
        try queue.sync { () throws in
            let own = Tweak { $0.affectedStores = [storage] }
            #expect(try stack.fetchAll(From<Sample>(), own).count == 4)
            #expect(throws: CoreStoreError.self) {
                try stack.fetchOne(From<Sample>(), Tweak { $0.affectedStores = [] })
            }
        }
    }

    @Test func `a request groups rows by the names of properties`() throws {
        let stack = try filled([nil])
        try queue.sync { () throws in
            let columns = Select<Sample, NSDictionary>("s", .sum("n", as: "sum"))
            let kept = Mutex<[String]?>(nil)
            let rows = try stack.queryAttributes(
                From<Sample>(), columns,
                Tweak { request in
                    request.propertiesToGroupBy = ["s"]
                    let names = request.propertiesToGroupBy as? [String]
                    kept.withLock { $0 = names }
                }, OrderBy<Sample>(.ascending("s")))
            #expect(rows.map { $0["sum"] as? Decimal } == [3, 7])
            #expect(kept.withLock { $0 } == ["s"])
            #expect(throws: CoreStoreError.self) {
                try stack.queryAttributes(
                    From<Sample>(), columns, Tweak { $0.propertiesToGroupBy = [3] })
            }
            let ungrouped = try stack.queryAttributes(
                From<Sample>(), Select<Sample, NSDictionary>(.sum("n", as: "sum")),
                GroupBy<Sample>("s"), Tweak { $0.propertiesToGroupBy = nil })
            #expect(ungrouped.map { $0["sum"] as? Decimal } == [10])
        }
    }

    // MARK: Order

    @Test func `an order does not change an aggregate of one row`() throws {
        let stack = try filled([nil])
        try queue.sync { () throws in
            let average = try stack.queryValue(
                From<Sample>(), Select<Sample, Double>(.average("d")), Where<Sample>("n > 1"),
                OrderBy<Sample>(.ascending("s")))
            #expect(average == 3)
            let rows = try stack.queryAttributes(
                From<Sample>(), Select<Sample, NSDictionary>(.maximum("n"), .count("n")),
                OrderBy<Sample>(.descending("n")))
            #expect(rows.count == 1)
            #expect(rows.first?["max(n)"] as? Int == 4)
            #expect(throws: CoreStoreError.self) {
                try stack.queryValue(
                    From<Sample>(), Select<Sample, Double>(.average("d")),
                    OrderBy<Sample>(.ascending("nothing")))
            }
        }
    }

    // MARK: Several stores

    private static let layouts: [[String?]] = [[nil], ["One", "Two"]]

    @Test(arguments: layouts)
    func `a sum beyond Int64 is no Int and never a negative number`(
        _ configurations: [String?]
    ) throws {
        let stack = try filled(configurations)
        try stack.perform(synchronous: { transaction in
            for sample in try transaction.fetchAll(From<Sample>(), Where<Sample>("n > 2")) {
                sample.n = .max
            }
        })
        try queue.sync { () throws in
            let sum = Select<Sample, Int>(.sum("n"))
            #expect(try stack.queryValue(From<Sample>(), sum) == nil)
            let decimal = try stack.queryValue(From<Sample>(), Select<Sample, Decimal>(.sum("n")))
            #expect(decimal == Decimal(Int.max) + Decimal(Int.max) + 3)
            #expect(try stack.queryValue(From<Sample>(), sum, Where<Sample>("n < 3")) == 3)
        }
    }

    @Test(arguments: layouts)
    func `a value query covers all stores with the entity`(_ configurations: [String?]) throws {
        let stack = try filled(configurations)
        try queue.sync { () throws in
            #expect(try stack.queryValue(From<Sample>(), Select<Sample, Int>(.count("n"))) == 4)
            #expect(try stack.queryValue(From<Sample>(), Select<Sample, Decimal>(.sum("n"))) == 10)
            #expect(try stack.queryValue(From<Sample>(), Select<Sample, Int>(.maximum("n"))) == 4)
            let average = try stack.queryValue(
                From<Sample>(), Select<Sample, Double>(.average("d")), Where<Sample>("n < 4"))
            #expect(average == 2)
            let last = try stack.queryValue(
                From<Sample>(), Select<Sample, Int>("n"), OrderBy<Sample>(.descending("n")))
            #expect(last == 4)
            let rows = try stack.queryAttributes(
                From<Sample>(), Select<Sample, NSDictionary>("n"),
                OrderBy<Sample>(.descending("n")),
                Tweak {
                    $0.fetchLimit = 2
                    $0.fetchOffset = 1
                })
            #expect(rows.map { $0["n"] as? Int } == [3, 2])
            let groups = try stack.queryAttributes(
                From<Sample>(), Select<Sample, NSDictionary>("s", .sum("d"), .count("n")),
                GroupBy<Sample>("s"), OrderBy<Sample>(.descending("s")))
            #expect(groups.map { $0["s"] as? String } == ["b", "a"])
            #expect(groups.map { $0["sum(d)"] as? Double } == [7, 3])
            #expect(groups.map { $0["count(n)"] as? Int } == [2, 2])
            let distinct = try stack.queryAttributes(
                From<Sample>(), Select<Sample, NSDictionary>("s"),
                Tweak { $0.returnsDistinctResults = true })
            #expect(Set(distinct.compactMap { $0["s"] as? String }) == ["a", "b"])
            #expect(distinct.count == 2)
        }
    }

    @Test(arguments: layouts)
    func `objects of two stores with one number are distinct`(
        _ configurations: [String?]
    ) throws {
        let stack = try filled(configurations)
        try queue.sync { () throws in
            let all = Set(try stack.fetchObjectIDs(From<Sample>()))
            #expect(all.count == 4)
            let rows = try stack.queryAttributes(
                From<Sample>(),
                Select<Sample, NSDictionary>(.objectID(), .attribute("next"), .attribute("n")),
                Tweak { $0.returnsDistinctResults = true })
            #expect(Set(rows.compactMap { $0["objectID"] as? NSManagedObjectID }) == all)
            let groups = try stack.queryAttributes(
                From<Sample>(),
                Select<Sample, NSDictionary>(.attribute("next"), .count("n")),
                GroupBy<Sample>("next"))
            #expect(groups.count == 4)
            #expect(Set(groups.compactMap { $0["next"] as? NSManagedObjectID }) == all)
        }
    }

    @Test(arguments: layouts)
    func `a limit counted duplicate rows before they were removed`(
        _ configurations: [String?]
    ) throws {
        let stack = try filled(configurations)
        func texts(limit: Int, offset: Int = 0, groups: [String] = []) throws -> [String] {
            let rows = try stack.queryAttributes(
                From<Sample>(), Select<Sample, NSDictionary>("s"),
                OrderBy<Sample>(.ascending("s")), GroupBy<Sample>(groups),
                Tweak {
                    $0.returnsDistinctResults = true
                    $0.fetchLimit = limit
                    $0.fetchOffset = offset
                })
            return rows.compactMap { $0["s"] as? String }
        }
        try queue.sync { () throws in
            #expect(try texts(limit: 2) == ["a", "b"])
            #expect(try texts(limit: 1) == ["a"])
            #expect(try texts(limit: 0) == ["a", "b"])
            #expect(try texts(limit: 0, offset: 1) == ["b"])
            #expect(try texts(limit: 1, offset: 1) == ["b"])
            #expect(try texts(limit: 3, offset: 2).isEmpty)
            #expect(try texts(limit: 1, offset: 1, groups: ["s"]) == ["b"])
        }
    }

    // MARK: Columns

    @Test func `a column that names no property is left out`() throws {
        let stack = try filled([nil])
        try queue.sync { () throws in
            let rows = try stack.queryAttributes(
                From<Sample>(),
                Select<Sample, NSDictionary>(.sum("wings"), .maximum("n"), .attribute("legs")))
            #expect(rows.count == 1)
            #expect(rows.first?.keys.sorted() == ["max(n)"])
            let none = try stack.queryValue(
                From<Sample>(), Select<Sample, Int>(.maximum("wings")))
            #expect(none == nil)
            let empty = try stack.queryAttributes(
                From<Sample>(), Select<Sample, NSDictionary>(.sum("wings")))
            #expect(empty.isEmpty)
        }
    }

    // MARK: NaN

    @Test func `all NaN values are equal, in a list and in an index too`() throws {
        let stack = try stack([nil])
        let nans = [Double.nan, -Double.nan, Double(nan: 5, signaling: false), .signalingNaN]
        let numbers = nans + [0, -0.0, 5]
        try stack.perform(synchronous: { transaction in
            for number in numbers {
                let sample = transaction.create(Into<Sample>())
                (sample.d, sample.indexed) = (number, number)
            }
        })
        let lists: [([Double], Int)] = [
            ([.nan], 4), ([-.nan], 4), ([.nan, 5], 5), ([.nan, 0], 6), ([-0.0, .nan, 5], 7),
            ([0], 2), ([5, 6], 1),
        ]
        try queue.sync { () throws in
            for name in ["d", "indexed"] {
                for (list, expected) in lists {
                    let member = Where<Sample>(name, isMemberOf: list)
                    #expect(try stack.fetchCount(From<Sample>(), member) == expected)
                    #expect(try stack.fetchCount(From<Sample>(), !member) == 7 - expected)
                    let format = Where<Sample>("%K IN %@", name, list)
                    #expect(try stack.fetchAll(From<Sample>(), format).count == expected)
                }
                let equal = Where<Sample>(name, isEqualTo: -Double.nan)
                #expect(try stack.fetchCount(From<Sample>(), equal) == 4)
            }
            let groups = try stack.queryAttributes(
                From<Sample>(), Select<Sample, NSDictionary>("d", .count("n")),
                GroupBy<Sample>("d"))
            #expect(groups.count == 3)
        }
    }
}
