import Primitives
import TestSupport
import Testing

@Suite struct BitMapTests {
    @Test func `inserting and removing runs equals a set`() {
        var random = SeededRandom(for: "BitMapTests")
        var map = BitMap()
        var model: Set<UInt64> = []
        for _ in 0..<2000 {
            let start = UInt64(random.below(700))
            let count = UInt64(random.below(130))
            let run = start..<start + count
            let present = run.filter(model.contains)
            #expect(map.count(in: start, count) == UInt64(present.count), "seed \(random.seed)")
            if random.below(2) == 0 {
                #expect(map.insert(start, count) == present.first, "seed \(random.seed)")
                model.formUnion(run)
            } else {
                #expect(map.remove(start, count) == UInt64(present.count), "seed \(random.seed)")
                model.subtract(run)
            }
            #expect(map.setCount == UInt64(model.count), "seed \(random.seed)")
            #expect(map.end == model.max().map { $0 + 1 } ?? 0, "seed \(random.seed)")
            let probe = UInt64(random.below(900))
            #expect(map.contains(probe) == model.contains(probe), "seed \(random.seed)")
        }
    }

    @Test func `the first bit of a range is found in every word of it`() {
        var random = SeededRandom(for: "BitMapTests search")
        for _ in 0..<500 {
            var map = BitMap(bitCount: 320)
            map.insert(0, UInt64(random.below(320)))
            for _ in 0..<3 { map.remove(UInt64(random.below(300)), UInt64(random.below(20))) }
            let start = random.below(320)
            let range = start..<start + random.below(320 - start + 1)
            #expect(
                map.firstSet(in: range) == range.first { map.contains(UInt64($0)) },
                "seed \(random.seed)")
            #expect(
                map.firstClear(in: range) == range.first { !map.contains(UInt64($0)) },
                "seed \(random.seed)")
        }
    }

    @Test func `two sets are compared by runs, whatever their lengths`() {
        var short = BitMap()
        var long = BitMap()
        short.insert(3, 100)
        long.insert(60, 10)
        long.insert(190, 5)
        #expect(short.subtracting(long) == [3..<60, 70..<103])
        #expect(long.subtracting(short) == [190..<195])
        #expect(short.intersection(long) == [60..<70] && long.intersection(short) == [60..<70])
        #expect(short.union(long).subtracting(BitMap()) == [3..<103, 190..<195])
        var whole = BitMap()
        whole.insert(0, 128)
        #expect(whole.subtracting(BitMap()) == [0..<128])
    }
}
