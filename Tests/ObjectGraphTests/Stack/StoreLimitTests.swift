import Dispatch
import ObjectGraph
import Testing

private final class Reading: CoreStoreObject {
    @Field.Stored("value") var value: Int = 0
    @Field.Stored("place") var place: Int = 0
}

/// Fetches with a limit over several stores.
@Suite struct StoreLimitTests {
    private let queue = DispatchQueue(label: "view")

    private func stack(_ count: Int) throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entityConfigurations: [
                    Entity<Reading>("Reading", indexes: [[\.$value]]): Set(["One", "Two"])
                ]), viewContext: .queue(queue))
        for name in ["One", "Two"] {
            try stack.addStorageAndWait(InMemoryStore(configuration: name))
        }
        try stack.perform(synchronous: { transaction in
            for number in 0..<count {
                let name = number % 3 == 0 ? "One" : "Two"
                let reading = transaction.create(Into<Reading>(name))
                (reading.value, reading.place) = (number * 7919 % count / 2, number)
            }
        })
        return stack
    }

    @Test func `a fetch with a limit over two stores looked at all their records`() throws {
        let stack = try stack(20_000)
        func lookups(_ limit: Int) throws -> UInt64 {
            let before = stack.statistics.pageLookups
            let ids = try queue.sync {
                try stack.fetchObjectIDs(
                    From<Reading>().orderBy(.ascending(\.$value)).tweak { $0.fetchLimit = limit })
            }
            #expect(ids.count == (limit == 0 ? 20_000 : limit))
            return stack.statistics.pageLookups - before
        }
        _ = try lookups(0)
        let (one, all) = (try lookups(1), try lookups(0))
        #expect(one * 10 < all, "\(one) lookups for one object, and \(all) for all")
    }

    /// The order is by an index, by a column without one, and by both.
    @Test func `a limit and an offset cut what a fetch of all finds`() throws {
        let stack = try stack(500)
        let orders: [OrderBy<Reading>] = [
            OrderBy(.ascending(\.$value)), OrderBy(.descending(\.$value)),
            OrderBy(.descending(\.$place)), OrderBy(.ascending(\.$value), .descending(\.$place)),
        ]
        let conditions: [Where<Reading>] = [Where(true), \.$place > 100, \.$value == 3]
        try queue.sync { () throws in
            for order in orders {
                for condition in conditions {
                    let all = try stack.fetchObjectIDs(From<Reading>(), condition, order)
                    for (limit, offset) in [(1, 0), (7, 3), (400, 90), (3, 499), (.max, 5)] {
                        let some = try stack.fetchObjectIDs(
                            From<Reading>(), condition, order,
                            Tweak { ($0.fetchLimit, $0.fetchOffset) = (limit, offset) })
                        #expect(some == Array(all.dropFirst(offset).prefix(limit)))
                    }
                }
            }
        }
    }
}
