import TestSupport
import Testing

@testable import PageStore

/// A branch's hint of where an entry lies in a leaf.
@Suite struct CellPrefetchHintTests {
    private static func key(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }
    }

    /// A store with values of about one size under the given numbers, appended in order.
    private func snapshot(
        of numbers: [UInt64], _ random: inout SeededRandom
    ) throws -> (Snapshot, TreeID) {
        let engine = try Engine.inMemory()
        let transaction = try engine.beginWrite()
        let tree = try transaction.createTree()
        for number in numbers {
            let value = random.bytes(300 + random.below(30))
            _ = try transaction.insert(Self.key(number).span, value.span, into: tree)
        }
        _ = try transaction.commit()
        return (try engine.snapshot(), tree)
    }

    /// Whether slot and cell are where the hint predicts; nil if there is no hint.
    private func isRight(
        _ key: [UInt8], in tree: TreeID, of snapshot: Snapshot
    ) throws -> Bool? {
        try key.withView { key throws -> Bool? in
            // The first descent loads the branches into the snapshot.
            let leaf = try snapshot.leaf(for: key, in: tree)
            let step = try #require(snapshot.cachedDescent(to: key, in: tree))
            #expect(step.id == leaf.page.id)
            guard let hint = step.prefetchHint else { return nil }
            let index = leaf.search(key).index
            let cell = leaf.cellOffset(index)
            let lines = hint.cellOffset..<hint.cellOffset + hint.cellLineCount * 64
            return hint.slotOffset == leaf.slotsStart + index * NodeLayout.slotSize
                && lines.contains(cell) && lines.contains(cell + 255)
        }
    }

    @Test func `the prefetch hint predicts the position of appended records`() throws {
        var random = SeededRandom(for: "CellPrefetchHintTests")
        let numbers = [UInt64](1...20_000)
        let (snapshot, tree) = try snapshot(of: numbers, &random)
        var (rightCount, count) = (0, 0)
        for number in numbers.shuffled(using: &random).prefix(1000) {
            guard let isRight = try isRight(Self.key(number), in: tree, of: snapshot) else {
                continue
            }
            count += 1
            if isRight { rightCount += 1 }
        }
        // The first and the last leaf have no known bound.
        #expect(count > 950)
        #expect(rightCount * 10 > count * 9)
    }

    @Test func `the prefetch hint predicts nothing for sparse numbers`() throws {
        var random = SeededRandom(for: "CellPrefetchHintTests gaps")
        let numbers = (1...3000).map { UInt64($0) << 40 }
        let (snapshot, tree) = try snapshot(of: numbers, &random)
        for number in numbers.prefix(500) {
            #expect(try isRight(Self.key(number), in: tree, of: snapshot) == nil)
            #expect(try snapshot.contains(Self.key(number).span, in: tree))
        }
    }
}
