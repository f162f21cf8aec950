import PageStore
import TestSupport
import Testing

@testable import RecordStore

@Suite struct KeyOrderTests {
    /// The order in which the keys come out, as indexes.
    private func sorted(_ keys: [[UInt8]]) -> [Int] {
        let bytes = ByteBuffer()
        for key in keys { key.withView { bytes.append($0) } }
        var order = KeyOrder(bytes.view, capacity: keys.count)
        var start = 0
        for (index, key) in keys.enumerated() {
            order.append(start: start, count: key.count, index: index)
            start += key.count
        }
        order.sort()
        return order.entries.map { Int($0.index) }
    }

    @Test func `a key order that reuses the memory of a larger one has its own keys only`() {
        var random = SeededRandom(for: "KeyOrderTests memory")
        var memory = KeyOrder.Memory()
        for count in [300, 100, 0, 500, 1] {
            let keys = (0..<count).map { _ in random.bytes(random.below(12)) }
            let bytes = ByteBuffer()
            var starts: [Int] = []
            for key in keys {
                starts.append(bytes.count)
                key.withView { bytes.append($0) }
            }
            var order = KeyOrder(bytes.view, capacity: count, memory: &memory)
            for (index, key) in keys.enumerated() {
                order.append(start: starts[index], count: key.count, index: index)
            }
            order.sort()
            order.leave(in: &memory)
            #expect(memory.entries.map { Int($0.index) } == expected(keys))
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
                let rest = (0..<random.below(20)).map { _ in UInt8(random.below(alphabet)) }
                return random.below(4) == 0 ? rest : beginning + rest
            }
            #expect(sorted(keys) == expected(keys))
        }
    }

    @Test func `keys that differ only in trailing zeros are sorted by length`() {
        let keys = (0..<200).map { index in [UInt8](repeating: 0, count: (index * 7) % 40) }
        #expect(sorted(keys) == expected(keys))
    }
}
