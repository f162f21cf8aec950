import PageStore
import TestSupport
import Testing

/// A lookup without a cursor finds the same entries as a cursor.
@Suite struct LeafFingerTests {
    private let shape = KeyShape(suffixSizeInBytes: 8)

    private struct Store {
        var view: Snapshot
        var tree: TreeID
        /// The numbers of each prefix, ascending.
        var numbers: [[UInt8]: [UInt64]]
        let engine: Engine
    }

    private static func bytes(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }
    }

    /// Small pages, so that runs of numbers cross leaves.
    private func store(_ random: inout SeededRandom) throws -> Store {
        var options = Engine.Options()
        options.pageSizeInBytes = 512
        options.unitSizeInBytes = 128
        let engine = try Engine.inMemory(options: options)
        let transaction = try engine.beginWrite()
        let tree = try transaction.createTree()
        transaction.catalogRoot = tree.root
        var numbers: [[UInt8]: [UInt64]] = [:]
        for _ in 0..<400 {
            // No prefix is a prefix of another, as with the keys of indexes.
            let prefix = Array("key\(random.below(10_000))".utf8) + [0]
            let count = random.below(12) == 0 ? random.below(60) : 1
            let list = Set((0..<count).map { _ in UInt64(random.below(1 << 20)) }).sorted()
            numbers[prefix, default: []] = list
        }
        for (prefix, list) in numbers {
            for number in list {
                _ = try transaction.insert(
                    (prefix + Self.bytes(number)).span, Self.bytes(number).span, into: tree)
            }
        }
        _ = try transaction.commit()
        return Store(
            view: try engine.snapshot(), tree: tree, numbers: numbers, engine: engine)
    }

    @Test func `the suffixes after a prefix are those of all keys with that prefix`() throws {
        var random = SeededRandom(for: "LeafFingerTests runs")
        let store = try store(&random)
        var lookup = LeafFinger(store.view, tree: store.tree)
        let others = (0..<400).map { _ in Array("key\(random.below(20_000))".utf8) + [0] }
        var unclear = 0
        for prefix in (store.numbers.keys + others).shuffled(using: &random) {
            let expected = store.numbers[prefix] ?? []
            let run = try store.view.suffixes(after: prefix.span, shape, in: store.tree)
            let near = try prefix.withView { view throws(StoreError) in
                try lookup.suffixes(after: view, shape)
            }
            for run in [run, near] {
                guard let run else {
                    unclear += 1
                    continue
                }
                #expect((0..<run.count).map { run[$0].bigEndianUInt64(at: 0) } == expected)
            }
        }
        // Only runs at the end of a leaf need a cursor.
        #expect(unclear < 300)
    }

    @Test func `lookups through a leaf finger find what ordinary lookups find`() throws {
        var random = SeededRandom(for: "LeafFingerTests values")
        let store = try store(&random)
        var lookup = LeafFinger(store.view, tree: store.tree)
        for prefix in store.numbers.keys {
            for number in store.numbers[prefix] ?? [] {
                for candidate in [number, number + 1] {
                    let key = prefix + Self.bytes(candidate)
                    let expected = try store.view.withValue(for: key.span, in: store.tree) {
                        $0.array()
                    }
                    #expect(try lookup.withValue(for: key.span) { $0.array() } == expected)
                }
            }
        }
    }

    @Test func `a key whose suffix has another size is reported as corrupt`() throws {
        let engine = try Engine.inMemory(options: Engine.Options())
        let transaction = try engine.beginWrite()
        let tree = try transaction.createTree()
        let key: [UInt8] = [1, 2, 3, 4]
        _ = try transaction.insert(key.span, [UInt8]().span, into: tree)
        let prefix: [UInt8] = [1, 2]

        let error = #expect(throws: StoreError.self) {
            _ = try transaction.suffixes(after: prefix.span, shape, in: tree)
        }

        #expect(error?.code == .corrupt)
        transaction.rollback()
    }
}
