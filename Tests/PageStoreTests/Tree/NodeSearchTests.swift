import PageStore
import TestSupport
import Testing

/// Searches in nodes where an estimate is used: numbers with few gaps, and texts with common
/// prefixes.
@Suite struct NodeSearchTests {
    /// Sets of keys, one for each search method of a node.
    enum Shape: CaseIterable {
        case numbersWithoutGaps, numbersWithGaps, numbersFarApart, numbersInHeaps
        case pairsOfNumbers, textsAlike, shortTexts, zerosAtTheEnd

        func keys(_ random: inout SeededRandom) -> Set<[UInt8]> {
            switch self {
            case .numbersWithoutGaps: Set((1...3000).map { Self.number($0) })
            case .numbersWithGaps:
                Set((1...3000).filter { _ in random.below(20) > 0 }.map { Self.number($0) })
            case .numbersFarApart: Set((1...3000).map { Self.number($0 * 0x0101_0107) })
            case .numbersInHeaps:
                Set((0..<3000).map { Self.number(1 << ($0 % 60) + $0 / 60) })
            case .pairsOfNumbers:
                Set(
                    (1...3000).map {
                        Self.number(random.below(1500) + 1) + Self.number($0)
                    })
            case .shortTexts:
                // Of four to nine letters: branches compare such keys as numbers.
                Set(
                    (1...3000).map { _ in
                        (0..<(4 + random.below(6))).map { _ in UInt8(random.below(3)) }
                    })
            case .textsAlike:
                Set((1...3000).map { Array("name\(random.below(40)).\($0)".utf8) })
            case .zerosAtTheEnd:
                Set(
                    (0...600).flatMap { number in
                        (0...4).map { Array("k\(number)".utf8) + Array(repeating: 0, count: $0) }
                    })
            }
        }

        private static func number(_ number: Int) -> [UInt8] {
            (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
        }
    }

    /// Keys near to a given one, most of them not in the tree.
    private func neighbours(_ key: [UInt8]) -> [[UInt8]] {
        var (greater, less) = (key, key)
        greater[key.count - 1] &+= 1
        less[key.count - 1] &-= 1
        return [
            key, greater, less, key + [0], key + [255], Array(key.dropLast()),
            Array(key.prefix(8)),
        ]
    }

    @Test(arguments: Shape.allCases, [512, 4096, 16_384])
    func `a search finds each key, and the insertion points of absent keys`(
        _ shape: Shape, _ pageSize: Int
    ) throws {
        var random = SeededRandom(for: "NodeSearchTests \(shape) \(pageSize)")
        let keys = shape.keys(&random)
        var options = Engine.Options()
        options.pageSizeInBytes = pageSize
        options.unitSizeInBytes = min(1024, pageSize / 4)
        let engine = try Engine.inMemory(options: options)
        let transaction = try engine.beginWrite()
        let tree = try transaction.createTree()
        transaction.catalogRoot = tree.root
        for key in keys.shuffled(using: &random) {
            _ = try transaction.insert(key.span, key.span, into: tree)
        }
        _ = try transaction.commit()
        let snapshot = try engine.snapshot()
        let sorted = keys.sorted { $0.lexicographicallyPrecedes($1) }
        let cursor = Cursor(snapshot, tree: tree)
        for key in sorted.shuffled(using: &random).prefix(600 / Sweep.step).flatMap(neighbours) {
            let isThere = keys.contains(key)
            #expect(try snapshot.contains(key.span, in: tree) == isThere)
            let value = try snapshot.withValue(for: key.span, in: tree) { $0.array() }
            #expect(value == (isThere ? key : nil))
            var place = (low: 0, high: sorted.count)
            while place.low < place.high {
                let middle = (place.low + place.high) / 2
                if sorted[middle].lexicographicallyPrecedes(key) {
                    place.low = middle + 1
                } else {
                    place.high = middle
                }
            }
            #expect(try cursor.seek(key.span) == isThere)
            #expect(cursor.isValid == (place.low < sorted.count))
            if cursor.isValid { #expect(cursor.key.array() == sorted[place.low]) }
        }
    }
}
