import PageStore
import TestSupport
import Testing

@testable import RecordStore

@Suite struct KeyOrderTests {
    /// The order in which the keys come out, as indexes.
    private func sorted(_ keys: [[UInt8]]) -> [Int] {
        var order = KeyOrder()
        return sorted(keys, with: &order)
    }

    private func sorted(_ keys: [[UInt8]], with order: inout KeyOrder) -> [Int] {
        let bytes = ByteBuffer()
        order.removeAll()
        for (index, key) in keys.enumerated() {
            let start = bytes.count
            key.withView { bytes.append($0) }
            order.append(start: start, count: key.count, index: index, in: bytes.view)
        }
        order.sort(in: bytes.view)
        return order.entries.map { Int($0.index) }
    }

    @Test func `a key order that reuses the memory of a larger one has its own keys only`() {
        var random = SeededRandom(for: "KeyOrderTests memory")
        var order = KeyOrder()
        for count in [300, 100, 0, 500, 1] {
            let keys = (0..<count).map { _ in random.bytes(1 + random.below(12)) }
            #expect(sorted(keys, with: &order) == expected(keys))
        }
    }

    private func expected(_ keys: [[UInt8]]) -> [Int] {
        keys.indices.sorted { left, right in
            keys[left] == keys[right]
                ? left < right : keys[left].lexicographicallyPrecedes(keys[right])
        }
    }

    @Test(arguments: [2, 3, 256])
    func `keys are sorted by bytes, and equal ones keep their order`(alphabet: Int) {
        var random = SeededRandom(for: "KeyOrderTests")
        for count in [0, 1, 2, 47, 48, 300, 2000] {
            // Few letters and a shared beginning make heads equal, several times over.
            let beginning = random.bytes(random.below(30))
            let keys = (0..<count).map { _ -> [UInt8] in
                let rest = (0...random.below(20)).map { _ in UInt8(random.below(alphabet)) }
                return random.below(4) == 0 ? rest : beginning + rest
            }
            #expect(sorted(keys) == expected(keys))
        }
    }

    @Test func `keys that differ only in trailing zeros are sorted by length`() {
        let keys = (0..<200).map { index in [UInt8](repeating: 0, count: 1 + (index * 7) % 40) }
        #expect(sorted(keys) == expected(keys))
    }

    @Test func `many equal keys keep their order`() {
        var random = SeededRandom(for: "KeyOrderTests equal")
        let few = [8, 16, 23].map { random.bytes($0) }
        let keys = (0..<5000).map { _ in few[random.below(3)] }
        #expect(sorted(keys) == expected(keys))
    }

    @Test func `long keys that differ late are sorted`() {
        var random = SeededRandom(for: "KeyOrderTests long")
        let beginning = random.bytes(1000)
        // Beginnings of all lengths, each with a zero byte at its end.
        let keys = (0..<1000).shuffled(using: &random).map { Array(beginning[..<$0]) + [0] }
        #expect(sorted(keys) == expected(keys))
    }
}
