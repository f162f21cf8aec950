import Primitives
import TestSupport
import Testing

@Suite struct SparseBitMapTests {
    /// Numbers near the ends of parts, far from each other.
    private static func number(_ random: inout SeededRandom) -> UInt64 {
        let part = [0, 1, 2, 1 << 40][random.below(4)] as UInt64
        return part * SparseBitMap.partSize + UInt64(SparseBitMap.partSize - 200)
            + UInt64(random.below(400))
    }

    private static func words(
        of map: SparseBitMap, from start: UInt64, _ count: Int
    ) -> [UInt64] {
        var words = [UInt64](repeating: 0, count: count)
        map.forEachWord(from: start, count: count) { words[$0] = $1 }
        return words
    }

    @Test func `inserting and removing distant runs equals a set`() {
        var random = SeededRandom(for: "SparseBitMapTests")
        var map = SparseBitMap()
        var model: Set<UInt64> = []
        for _ in 0..<1000 {
            let start = Self.number(&random)
            let count = UInt64(random.below(130))
            let run = start..<start + count
            let present = run.filter(model.contains)
            #expect(map.count(in: start, count) == UInt64(present.count), "seed \(random.seed)")
            #expect(map.firstSet(in: run) == present.first, "seed \(random.seed)")
            let missing = run.first { !model.contains($0) }
            #expect(map.firstClear(in: run) == missing, "seed \(random.seed)")
            if random.below(2) == 0 {
                #expect(map.insert(start, count) == present.first, "seed \(random.seed)")
                model.formUnion(run)
            } else {
                #expect(map.remove(start, count) == UInt64(present.count), "seed \(random.seed)")
                model.subtract(run)
            }
            #expect(map.setCount == UInt64(model.count), "seed \(random.seed)")
            #expect(map.end == model.max().map { $0 + 1 } ?? 0, "seed \(random.seed)")
            let probe = Self.number(&random)
            #expect(map.contains(probe) == model.contains(probe), "seed \(random.seed)")
            let words = (0..<5).map { index in
                (0..<64).reduce(UInt64(0)) { word, bit in
                    let number = (probe / 64 + UInt64(index)) * 64 + UInt64(bit)
                    return model.contains(number) ? word | 1 << UInt64(bit) : word
                }
            }
            #expect(Self.words(of: map, from: probe / 64, 5) == words, "seed \(random.seed)")
        }
        #expect(map.partCount <= 7)
    }

    @Test func `a bit map rebuilt from its words equals the original`() {
        var map = SparseBitMap()
        map.insert(100, 3 * SparseBitMap.partSize)
        var copy = SparseBitMap()
        // In pieces that end within a part.
        let wordCount = Int(5 * SparseBitMap.partSize / 64)
        for start in stride(from: 0, to: wordCount, by: 700) {
            let words = Self.words(of: map, from: UInt64(start), min(700, wordCount - start))
            copy.insert(wordsAt: UInt64(start), count: words.count) { words[$0] }
        }
        #expect(copy.partCount == 4)
        #expect(copy.setCount == map.setCount && copy.end == map.end)
        #expect(copy.subtracting(map, countMax: 10).isEmpty)
    }

    @Test func `two sets are compared by runs, up to a given number`() {
        let part = SparseBitMap.partSize
        var first = SparseBitMap()
        var second = SparseBitMap()
        first.insert(part - 10, 20)
        first.insert(1 << 40, 5)
        second.insert(part + 5, 10)
        #expect(
            first.subtracting(second, countMax: 10) == [
                part - 10..<part + 5, 1 << 40..<(1 << 40 + 5),
            ])
        #expect(first.subtracting(second, countMax: 1).count == 1)
        #expect(first.intersection(second, countMax: 10) == [part + 5..<part + 10])
        #expect(second.union(first).count(in: part, 15) == 15)
    }

    /// 40,000 parts of eight KiB each, which would take 312 MiB.
    @Test func `a long run takes little memory`() async {
        await #expect(processExitsWith: .success) {
            var map = SparseBitMap()
            let before = PeakMemory.mebibytes ?? 0
            map.insert(0, 40_000 * SparseBitMap.partSize)
            var copy = SparseBitMap()
            let words = Self.words(of: map, from: 0, Int(SparseBitMap.partSize / 64))
            for part in 0..<2000 {
                copy.insert(wordsAt: UInt64(part * words.count), count: words.count) { words[$0] }
            }
            precondition(map.partCount == 40_000 && copy.partCount == 2000)
            let grown = (PeakMemory.mebibytes ?? 0) - before
            precondition(grown < 32, "it takes \(grown) MiB")
        }
    }

    @Test func `memory is that of the content and not of the largest number`() {
        var map = SparseBitMap()
        for part in 0..<UInt64(50) { map.insert(part << 50, 3) }
        #expect(map.partCount == 50)
        // Nothing is made where nothing is added or removed.
        map.insert(1 << 60, 0)
        map.remove(3 << 40, 1 << 20)
        _ = map.contains(7 << 30)
        #expect(map.partCount == 50)
    }

    @Test func `parts that a run fills completely can be changed one by one`() {
        var map = SparseBitMap()
        map.insert(0, 4 * SparseBitMap.partSize)
        #expect(map.remove(SparseBitMap.partSize, 1) == 1)
        #expect(map.contains(0) && !map.contains(SparseBitMap.partSize))
        #expect(map.contains(2 * SparseBitMap.partSize))
        #expect(map.setCount == 4 * SparseBitMap.partSize - 1)
    }
}
