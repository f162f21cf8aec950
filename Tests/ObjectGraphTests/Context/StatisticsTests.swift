import ObjectGraph
import Testing

/// Costs of operations, counted in bytes, pages and objects, never in time.
@Suite struct StatisticsTests {
    private static var personCount: Int {
        // A million objects take minutes in a debug build.
        let isLong = ProcessInfo.processInfo.environment["TRELLIS_LONG"] != nil
        return isLong ? 1_000_000 : 20_000
    }

    private func fill(_ url: URL, count: Int, _ queue: DispatchQueue) throws {
        let stack = DataStack(Zoo.schema(), viewContext: .queue(queue))
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        for start in stride(from: 0, to: count, by: 20_000) {
            try stack.perform(synchronous: { transaction in
                for number in start..<min(start + 20_000, count) {
                    let dog = transaction.create(Into<Dog>())
                    dog.nickname = "Dog number \(number)"
                    dog.age = number / 10
                    dog.species = "species \(number % 100)"
                }
            })
        }
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `a large store is opened, queried and changed without reading all of it`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let queue = DispatchQueue(label: "view")
        let count = Self.personCount
        try fill(url, count: count, queue)

        let stack = DataStack(Zoo.schema(), viewContext: .queue(queue))
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        let counted = try queue.sync { try stack.fetchCount(From<Dog>()) }
        #expect(counted == count)
        #expect(stack.statistics.bytesRead < 1 << 20, "opening must read less than 1 MiB")

        let before = stack.statistics
        let found = try queue.sync { try stack.fetchAll(From<Dog>().where(\.$age == 777)) }
        #expect(found.count == 10)
        #expect(
            stack.statistics.pagesRead - before.pagesRead < 50,
            "an indexed fetch must read few pages")
        #expect(stack.statistics.objectsMade - before.objectsMade == 10)

        // The first transaction after an opening also begins a new log.
        try stack.perform(synchronous: { $0.create(Into<Dog>()).nickname = "first" })
        let quiet = stack.statistics
        try stack.perform(synchronous: { transaction in
            let dog = transaction.create(Into<Dog>())
            dog.nickname = "one more"
            dog.age = 5
        })
        let written = stack.statistics.bytesWritten - quiet.bytesWritten
        #expect(written < 256 << 10, "committing one object writes \(written) bytes")

        let made = stack.statistics.objectsMade
        try queue.sync { () throws in
            let sum = try stack.queryValue(From<Dog>().select(Int.self, .sum(\.$age)))
            #expect(sum != nil)
            let none = try stack.fetchAll(
                From<Dog>().where(format: "nickname CONTAINS[c] %@", "no such dog"))
            #expect(none.isEmpty)
            _ = try stack.fetchCount(From<Dog>().where(\.$age > 3))
        }
        #expect(stack.statistics.objectsMade == made, "counts and sums must not create objects")
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }
}
