import Primitives
import TestSupport
import Testing

@Suite struct IntegerMapTests {
    private final class Marker {
        let step: Int
        init(_ step: Int) { self.step = step }
    }

    @Test func `a map holds what a dictionary holds`() {
        var random = SeededRandom(for: "IntegerMapTests")
        var map = IntegerMap<Marker>()
        var model: [UInt64: Marker] = [:]
        for step in 0..<20_000 {
            // Dense numbers crowd; a few far ones meet them in the same slots.
            let number = random.below(8) == 0 ? random.next() | 1 : UInt64(1 + random.below(600))
            if random.below(step < 10_000 ? 3 : 2) == 0 {
                map[number] = nil
                model[number] = nil
            } else {
                let marker = Marker(step)
                map[number] = marker
                model[number] = marker
            }
            #expect(map.count == model.count && map.isEmpty == model.isEmpty)
            let other = UInt64(1 + random.below(600))
            #expect(map[other] === model[other], "seed \(random.seed)")
        }
        #expect(Set(map.values.map(\.step)) == Set(model.values.map(\.step)))
        for (number, marker) in model { #expect(map[number] === marker, "seed \(random.seed)") }
        #expect(map[0] == nil)
    }

    @Test func `a value taken from its index leaves the number there`() throws {
        var map = IntegerMap<Int>()
        for number in UInt64(1)...100 { map[number] = Int(number) }
        let index = try #require(map.index(of: 42))
        #expect(map.take(at: index) == 42)
        #expect(map[42] == nil && map.count == 100)
        map.put(43, at: index)
        #expect(map[42] == 43 && map.index(of: 42) == index)
        #expect(map.index(of: 101) == nil)
    }

    @Test func `zero is refused as a number`() async {
        await #expect(processExitsWith: .failure) {
            var map = IntegerMap<Int>()
            map[0] = 1
        }
    }
}
