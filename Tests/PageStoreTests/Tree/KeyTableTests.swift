import TestSupport
import Testing

@testable import PageStore

/// Looking for texts that begin alike by the table that is kept with a leaf.
@Suite struct KeyTableTests {
    private let shape = KeyShape(suffixSizeInBytes: 8)

    private static func numbers(_ run: SuffixRun) -> [UInt64] {
        (0..<run.count).map { run[$0].bigEndianUInt64(at: 0) }
    }

    private static func bytes(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }
    }

    private func store(
        _ keys: some Sequence<[UInt8]>, cacheBytes: Int = 1 << 20
    ) throws -> (engine: Engine, tree: TreeID) {
        var options = Engine.Options()
        options.pageSizeInBytes = 4096
        options.unitSizeInBytes = 512
        options.cacheSizeInBytes = cacheBytes
        options.checkpointsInBackground = false
        let engine = try Engine.inMemory(options: options)
        let transaction = try engine.beginWrite()
        let tree = try transaction.createTree()
        transaction.catalogRoot = tree.root
        for key in keys { _ = try transaction.insert(key.span, [UInt8]().span, into: tree) }
        _ = try transaction.commit()
        return (engine, tree)
    }

    @Test func `a leaf with a table finds what it found without one`() throws {
        var random = SeededRandom(for: "KeyTableTests model")
        var numbers: [[UInt8]: [UInt64]] = [:]
        func prefix() -> [UInt8] {
            Array("some.\(random.below(40)).name.\(random.below(100_000))".utf8) + [0, 0]
        }
        for _ in 0..<1000 {
            let prefix = prefix()
            let count = random.below(10) == 0 ? random.below(6) : 1
            numbers[prefix] = Set((0..<count).map { _ in UInt64(random.below(1 << 20)) }).sorted()
        }
        let (engine, tree) = try store(
            numbers.flatMap { prefix, list in list.map { prefix + Self.bytes($0) } }
                .shuffled(using: &random))
        let snapshot = try engine.snapshot()
        let others = (0..<1000).map { _ in prefix() }
        var unclear = 0
        for _ in 0..<4 {
            for prefix in (numbers.keys + others).shuffled(using: &random) {
                guard let run = try snapshot.suffixes(after: prefix.span, shape, in: tree) else {
                    unclear += 1
                    continue
                }
                #expect(Self.numbers(run) == numbers[prefix] ?? [])
            }
        }
        #expect(engine.parts.pager.keptBytes.count > 1000, "no leaf has a table")
        // Only runs that end a leaf are left to a cursor.
        #expect(unclear < 200)
        try engine.close()
    }

    @Test func `a leaf that has a table and is changed is found as it is`() throws {
        var random = SeededRandom(for: "KeyTableTests changed")
        // A leaf holds a few groups, so that its keys begin alike behind what all of them share.
        func prefix(_ number: Int) -> [UInt8] {
            Array("some.\(number / 2 % 20).name.\(number)".utf8) + [0, 0]
        }
        var numbers: [[UInt8]: [UInt64]] = [:]
        for number in stride(from: 10_000, to: 12_000, by: 2) { numbers[prefix(number)] = [7] }
        let (engine, tree) = try store(
            numbers.keys.sorted { $0.lexicographicallyPrecedes($1) }
                .map { $0 + Self.bytes(7) })
        func expectAll(of view: PageView) throws {
            for number in 10_000..<12_000 {
                let key = prefix(number)
                guard let run = try view.suffixes(after: key.span, shape, in: tree) else {
                    continue
                }
                #expect(Self.numbers(run) == numbers[key] ?? [])
            }
        }
        for _ in 0..<6 {
            let snapshot = try engine.snapshot()
            for _ in 0..<3 { try expectAll(of: snapshot) }
            #expect(engine.parts.pager.keptBytes.count > 1000, "no leaf has a table")
            let transaction = try engine.beginWrite()
            for _ in 0..<200 {
                let key = prefix(10_000 + random.below(2000))
                if numbers.removeValue(forKey: key) != nil {
                    _ = try transaction.remove((key + Self.bytes(7)).span, from: tree)
                } else {
                    numbers[key] = [7]
                    let entry = key + Self.bytes(7)
                    _ = try transaction.insert(entry.span, [UInt8]().span, into: tree)
                }
            }
            try expectAll(of: transaction)
            _ = try transaction.commit()
            try expectAll(of: try engine.snapshot())
        }
        try engine.close()
    }

    @Test func `a table goes with its image`() throws {
        let keys = (0..<5000).map {
            Array("some.\($0 % 100).name.\($0)".utf8) + [0, 0] + Self.bytes(7)
        }
        let (engine, tree) = try store(keys, cacheBytes: 64 << 10)
        try engine.checkpointNow()
        do {
            let snapshot = try engine.snapshot()
            var most = 0
            for key in keys {
                let prefix = Array(key.dropLast(8))
                for _ in 0..<10 {
                    let run = try snapshot.suffixes(after: prefix.span, shape, in: tree)
                    #expect(run.map { $0[0].bigEndianUInt64(at: 0) } ?? 7 == 7)
                }
                most = max(most, engine.parts.pager.keptBytes.count)
            }
            #expect(most > 1000)
            // Of eight times as many leaves as the cache has room for.
            #expect(most < 16 << 10)
        }
        engine.parts.pager.state.withLock { $0.cache.removeAll() }
        #expect(engine.parts.pager.keptBytes.count == 0)
        try engine.close()
    }

    @Test func `leaves of keys that do not begin alike have no table`() throws {
        let (engine, tree) = try store(
            (0..<2000).map { Self.bytes(UInt64($0) << 50) + Self.bytes(UInt64($0)) })
        let snapshot = try engine.snapshot()
        for number in (0..<2000).flatMap({ [UInt64](repeating: $0, count: 10) }) {
            let prefix = Self.bytes(number << 50)
            let run = try snapshot.suffixes(after: prefix.span, shape, in: tree)
            #expect(run.map { $0[0].bigEndianUInt64(at: 0) } ?? number == number)
        }
        #expect(engine.parts.pager.keptBytes.count == 0)
        try engine.close()
    }

    @Test func `a key that ends in no number is reported as often as it is met`() throws {
        let keys = (100..<200).map { Array("some.name.\($0)".utf8) + [0, 0] + Self.bytes(7) }
        let stray = Array("some.name.150".utf8) + [0, 0, 1, 2, 3]
        let (engine, tree) = try store(keys + [stray])
        let snapshot = try engine.snapshot()
        let prefix = Array(keys[50].dropLast(8))
        for _ in 0..<20 {
            let error = #expect(throws: StoreError.self) {
                _ = try snapshot.suffixes(after: prefix.span, shape, in: tree)
            }
            #expect(error?.code == .corrupt)
        }
        try engine.close()
    }
}
