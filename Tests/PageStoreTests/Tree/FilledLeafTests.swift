import PageStore
import TestSupport
import Testing

/// Leaves that a large transaction fills in key order and writes out before the commit.
@Suite struct FilledLeafTests {
    private func options(outOfLine: Int) -> Engine.Options {
        var options = Engine.Options()
        options.pageSizeInBytes = 1024
        options.unitSizeInBytes = 128
        options.isCompressed = false
        options.outOfLineBytesMin = outOfLine
        return options
    }

    private func key(_ number: Int) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }

    /// The bytes of writing each page once, with its header and its frame in the log.
    private func onceBytes(_ engine: Engine, _ trees: [TreeID]) throws -> UInt64 {
        var check = TreeCheck(try engine.snapshot())
        for tree in trees { check.checkTree(tree) }
        return UInt64(check.visited.count * (1024 + 128 + 64))
    }

    @Test func `leaves of a bulk load are written once, during the load`() throws {
        let engine = try Engine.inMemory(options: options(outOfLine: 64 << 10))
        let transaction = try engine.beginWrite()
        let tree = try transaction.createTree()
        let writer = TreeWriter(transaction, tree: tree, isAscending: true)
        let value = [UInt8](repeating: 7, count: 60)
        let before = engine.statistics.bytesWritten
        for number in 0..<20_000 { try writer.insert(key(number).span, value.span) }
        let early = engine.statistics.bytesWritten - before
        transaction.catalogRoot = tree.root
        try transaction.commit()
        let written = engine.statistics.bytesWritten - before
        #expect(early > written * 3 / 4, "\(early) of \(written) bytes")
        let limit = try onceBytes(engine, [tree]) + 256 << 10
        #expect(written < limit, "\(written) bytes of \(limit)")
        #expect(StoreCheck.run(try engine.snapshot(), knownTrees: [tree]) == [])
    }

    @Test func `leaves that a large transaction wrote early are not logged too`() throws {
        let engine = try Engine.inMemory(options: options(outOfLine: 2 << 20))
        let transaction = try engine.beginWrite()
        let (tree, other) = (try transaction.createTree(), try transaction.createTree())
        transaction.catalogRoot = tree.root
        let value = [UInt8](repeating: 7, count: 60)
        for number in 0..<16_000 {
            try transaction.insert(key(number * 7919 % 16_000).span, value.span, into: other)
        }
        let writer = TreeWriter(transaction, tree: tree, isAscending: true)
        for number in 0..<40_000 { try writer.insert(key(number).span, value.span) }
        let before = engine.statistics.logBytes
        try transaction.commit()
        let logged = engine.statistics.logBytes - before
        // A page of the other tree is one KiB, and a frame that names an extent some forty bytes.
        #expect(logged < 512 << 10, "\(logged) bytes of log")
    }

    @Test(arguments: 0..<4)
    func `a leaf that was written out can be changed`(round: Int) throws {
        var random = SeededRandom(for: "filled leaves \(round)")
        let engine = try Engine.inMemory(options: options(outOfLine: 32 << 10))
        let transaction = try engine.beginWrite()
        let tree = try transaction.createTree()
        transaction.catalogRoot = tree.root
        var expected: [[UInt8]: [UInt8]] = [:]
        var last = 0
        for _ in 0..<30 {
            let writer = TreeWriter(transaction, tree: tree, isAscending: true)
            for _ in 0..<200 {
                last += 1 + random.below(3)
                let value = random.bytes(random.below(90))
                try writer.insert(key(last).span, value.span)
                expected[key(last)] = value
            }
            for _ in 0..<20 {
                let other = key(1 + random.below(last))
                if random.below(3) == 0 {
                    let wasThere = try transaction.remove(other.span, from: tree)
                    #expect(wasThere == (expected.removeValue(forKey: other) != nil))
                } else {
                    let value = random.bytes(random.below(90))
                    try transaction.insert(other.span, value.span, into: tree)
                    expected[other] = value
                }
            }
        }
        #expect(try transaction.checkInvariants(of: tree) == expected.count)
        try transaction.commit()
        let snapshot = try engine.snapshot()
        let cursor = Cursor(snapshot, tree: tree)
        var found: [[UInt8]: [UInt8]] = [:]
        var isThere = try cursor.seekFirst()
        while isThere {
            found[cursor.key.array()] = try cursor.value().array()
            isThere = try cursor.next()
        }
        #expect(found == expected, "seed \(random.seed)")
        #expect(StoreCheck.run(snapshot, knownTrees: [tree]) == [])
    }

    @Test func `a rollback releases the space of leaves that were written early`() throws {
        let engine = try Engine.inMemory(options: options(outOfLine: 32 << 10))
        let first = try engine.beginWrite()
        let kept = try first.createTree()
        first.catalogRoot = kept.root
        try first.commit()
        let before = engine.statistics.freeBytes
        let second = try engine.beginWrite()
        let tree = try second.createTree()
        let writer = TreeWriter(second, tree: tree, isAscending: true)
        for number in 0..<5000 { try writer.insert(key(number).span, key(number).span) }
        second.rollback()
        #expect(engine.statistics.freeBytes > before)
        #expect(StoreCheck.run(try engine.snapshot(), knownTrees: [kept]) == [])
    }
}
