import ObjectGraph

/// One transaction that creates more objects than memory should hold, and what the process took.
///
/// Prints a line `name value` for each figure: the most memory it ever had, and what it has, in
/// KiB; seconds; counters of the store.
struct LoadUse {
    final class Item: CoreStoreObject {
        @Field.Stored("number") var number: Int = 0
        @Field.Stored("key") var key: String = ""
        @Field.Stored("group") var group: Int = 0
        @Field.Stored("name") var name: String = ""
        @Field.Stored("note") var note: String?
        @Field.Stored("price") var price: Double = 0
        @Field.Stored("made") var made: Date = Date(timeIntervalSinceReferenceDate: 0)
        @Field.Stored("isOpen") var isOpen: Bool = false
    }

    let path: String
    let count: Int
    let cacheSizeInBytes: Int

    func run() throws {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Item>(
                        "Item", indexes: [[\.$group], [\.$name]], uniqueConstraints: [[\.$key]])
                ]))
        var options = EngineOptions()
        options.cacheSizeInBytes = cacheSizeInBytes
        try stack.addStorageAndWait(
            LocalStore(fileURL: URL(fileURLWithPath: path), engineOptions: options))
        say("before", Self.memory("VmRSS"))
        let clock = ContinuousClock()
        var ids: [NSManagedObjectID] = []
        let time = try clock.measure {
            ids = try stack.perform(synchronous: { transaction in
                (0..<count).map { number in create(number, transaction).objectID() }
            })
        }
        say("most", Self.memory("VmHWM"))
        say("after", Self.memory("VmRSS"))
        say("milliseconds", Int(time / .milliseconds(1)))
        let statistics = stack.statistics
        say("written", Int(statistics.bytesWritten >> 10))
        say("file", Int(statistics.fileSizeInBytes >> 10))
        say("kept", ids.count)
        ids = []
        let same: Item? = try stack.fetchOne(From<Item>().where(\.$key == key(count / 2)))
        say("found", same?.number ?? -1)
        say("count", try stack.fetchCount(From<Item>()))
        // Freed memory returns to the system a little after the commit.
        Thread.sleep(forTimeInterval: 1)
        say("idle", Self.memory("VmRSS"))
        say("last", Self.memory("VmHWM"))
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    /// Statements over all records of a store, which is filled in parts.
    func state() throws {
        let stack = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [Entity<Item>("Item")]))
        var options = EngineOptions()
        options.cacheSizeInBytes = cacheSizeInBytes
        try stack.addStorageAndWait(
            LocalStore(fileURL: URL(fileURLWithPath: path), engineOptions: options))
        for start in stride(from: 0, to: count, by: 10_000) {
            try stack.perform(synchronous: { transaction in
                for number in start..<min(start + 10_000, count) {
                    _ = create(number, transaction)
                }
            })
        }
        say("before", Self.memory("VmHWM"))
        let updated = try stack.perform(synchronous: { transaction in
            try transaction.update(From<Item>(), set: .sum(\.$group, 1))
        })
        say("updated", updated)
        say("after", Self.memory("VmHWM"))
        say("deleted", try stack.perform(synchronous: { try $0.deleteAll(From<Item>()) }))
        say("most", Self.memory("VmHWM"))
        say("count", try stack.fetchCount(From<Item>()))
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    /// Unordered keys, as programs have them.
    private func key(_ number: Int) -> String {
        String(UInt64(number) &* 0x9E37_79B9_7F4A_7C15, radix: 16)
    }

    private func create(_ number: Int, _ transaction: BaseDataTransaction) -> Item {
        let item = transaction.create(Into<Item>())
        item.number = number
        item.key = key(number)
        item.group = number * 7919 % 10_007
        item.name = "item \(number * 104_729 % 999_983)"
        if number % 3 == 0 { item.note = "a note of item \(number)" }
        item.price = Double(number) / 8
        item.isOpen = number % 2 == 0
        return item
    }

    private func say(_ name: String, _ value: Int) { KillChild.say("\(name) \(value)") }

    /// A figure of this process from the system, in KiB.
    static func memory(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
        return line.flatMap { $0.split(whereSeparator: { " \t".contains($0) }).dropFirst().first }
            .flatMap { Int($0) } ?? -1
    }
}
