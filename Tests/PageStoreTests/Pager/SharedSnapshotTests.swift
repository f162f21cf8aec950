import PageStore
import TestSupport
import Testing

/// One snapshot read by many threads beside a writer.
@Suite struct SharedSnapshotTests {
    @Test func `threads that share a snapshot read its content`() async throws {
        var options = Engine.Options()
        options.pageSizeInBytes = 512
        options.unitSizeInBytes = 128
        // Small enough that pages are evicted and loaded all the time.
        options.cacheSizeInBytes = 16 << 10
        let engine = try Engine.inMemory(options: options)
        let transaction = try engine.beginWrite()
        let tree = try transaction.createTree()
        let count = 3000
        for number in 0..<count {
            let key = Array("key \(number)".utf8)
            try transaction.insert(key.span, key.span, into: tree)
        }
        _ = try transaction.commit()
        try engine.checkpointNow()
        let snapshot = try engine.snapshot()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<6 as Range<UInt64> {
                group.addTask {
                    var random = SeededRandom(seed: task)
                    var foundCount = 0
                    for _ in 0..<1500 {
                        let key = Array("key \(random.below(2 * count))".utf8)
                        let value = try snapshot.withValue(for: key.span, in: tree) { $0.array() }
                        if let value {
                            foundCount += 1
                            #expect(value == key)
                        }
                    }
                    return foundCount
                }
            }
            group.addTask {
                for round in 0..<30 {
                    let transaction = try engine.beginWrite()
                    for number in 0..<20 {
                        let key = Array("key \((round * 100 + number * 7) % count)".utf8)
                        try transaction.remove(key.span, from: tree)
                    }
                    _ = try transaction.commit()
                    if round % 10 == 0 { try engine.checkpointNow() }
                }
                return 1
            }
            for try await foundCount in group { #expect(foundCount > 0) }
        }
        #expect(try snapshot.checkInvariants(of: tree) == count)
        #expect(try engine.snapshot().checkInvariants(of: tree) < count)
    }
}
