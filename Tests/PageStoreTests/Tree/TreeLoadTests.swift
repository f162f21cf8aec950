import PageStore
import TestSupport
import Testing

/// How full pages are for various orders of insertion, and that the order makes no other
/// difference.
@Suite struct TreeLoadTests {
    struct Load: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// The least share of all page bytes that slots, whole keys and values must take.
        var fillMin: Double
        var valueSize: Int
        var key: @Sendable (Int) -> [UInt8]

        init(
            _ name: String, fillMin: Double, valueSize: Int,
            key: @escaping @Sendable (Int) -> [UInt8]
        ) {
            testDescription = name
            self.fillMin = fillMin
            self.valueSize = valueSize
            self.key = key
        }
    }

    private static func number(_ value: Int) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) }
    }

    static let loads = [
        Load("numbers in order", fillMin: 0.95, valueSize: 100) { number($0) },
        Load("numbers of an entry each", fillMin: 0.95, valueSize: 0) { number($0) },
        Load("texts in order", fillMin: 1.05, valueSize: 0) {
            Array("city \(10_000_000 + $0 / 3)".utf8) + number($0)
        },
        Load("a long prefix", fillMin: 2, valueSize: 0) {
            Array(repeating: 7, count: 200) + number($0)
        },
        Load("numbers backwards", fillMin: 0.45, valueSize: 20) { number(100_000 - $0) },
        Load("numbers at random", fillMin: 0.55, valueSize: 20) { number($0 * 7919 % 100_003) },
        Load("groups that grow in turn", fillMin: 0.45, valueSize: 20) {
            Array("group \($0 % 10) ".utf8) + number($0)
        },
    ]

    /// Every load both ways, or a third of these cases.
    private static let cases = loads.flatMap { [($0, true), ($0, false)] }.enumerated()
        .filter { Sweep.takes($0.offset) }.map(\.element)

    @Test(arguments: cases)
    func `keys inserted in any order fill their pages`(_ load: Load, _ isByWriter: Bool) throws {
        let engine = try Engine.inMemory()
        let transaction = try engine.beginWrite()
        let tree = try transaction.createTree()
        let writer = TreeWriter(transaction, tree: tree)
        let value = [UInt8](repeating: 5, count: load.valueSize)
        let count = 20_000
        var sizeInBytes = 0
        for step in 0..<count {
            let key = load.key(step)
            sizeInBytes += NodeLayout.slotSize + NodeLayout.cellKey + key.count + value.count
            let replaced =
                isByWriter
                ? try writer.insert(key.span, value.span)
                : try transaction.insert(key.span, value.span, into: tree)
            #expect(!replaced)
        }
        var check = TreeCheck(transaction)
        check.checkTree(tree)
        #expect(check.findings == [])
        #expect(check.entryCount == count)
        let fill =
            Double(sizeInBytes) / Double(check.visited.count * engine.options.pageSizeInBytes)
        #expect(fill > load.fillMin, "\(fill)")
        for step in 0..<count {
            #expect(try transaction.remove(load.key(step).span, from: tree))
        }
        #expect(try transaction.checkInvariants(of: tree) == 0)
        // The tree has shrunk to its root.
        #expect(try transaction.page(tree.root)[NodeLayout.level] == 0)
    }

    @Test func `removing everything frees every page but the root`() throws {
        let engine = try Engine.inMemory()
        let transaction = try engine.beginWrite()
        let tree = try transaction.createTree()
        transaction.catalogRoot = tree.root
        let writer = TreeWriter(transaction, tree: tree)
        let value = [UInt8](repeating: 5, count: 9000)
        for step in 0..<500 { try writer.insert(Self.number(step).span, value.span) }
        for step in (0..<500).reversed() { #expect(try writer.remove(Self.number(step).span)) }
        _ = try transaction.commit()
        let snapshot = try engine.snapshot()
        #expect(StoreCheck.run(snapshot, knownTrees: [tree]) == [])
        for id in 1...600 as ClosedRange<UInt64> where PageID(id) != tree.root {
            #expect(throws: StoreError.self) { try snapshot.page(PageID(id)) }
        }
    }
}
