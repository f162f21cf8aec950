import RecordStore
import TestSupport
import Testing

@Suite struct NumberSetTests {
    private func array(_ set: NumberSet) -> [UInt64] { set.map(\.rawValue) }

    @Test func `a run takes sixteen bytes however long it is`() {
        let run = NumberSet((1...100_000).map { UInt64($0) })
        #expect(run.sizeInBytes == 16)
        #expect(run.count == 100_000)
        #expect(array(NumberSet([7])) == [7])
        #expect(NumberSet([7]).sizeInBytes == 8)
        #expect(NumberSet([9, 7, 9]).sizeInBytes == 16)
        #expect(NumberSet().isEmpty)
    }

    /// Few and many numbers, dense and sparse, ordered and not.
    @Test func `a number set contains its numbers in order`() {
        var random = SeededRandom(for: "number sets in order")
        for _ in 0..<200 {
            let bound = [40, 3000, 1 << 20, 1 << 62][random.below(4)]
            let count = [1, 10, 65, 1000][random.below(4)]
            var numbers = (0..<count).map { _ in UInt64(random.below(bound)) }
            if random.below(3) == 0 { numbers.sort() }
            let set = NumberSet(numbers)
            #expect(array(set) == Set(numbers).sorted())
            #expect(set == NumberSet(array(set)))
        }
    }

    @Test func `number sets give what Swift sets give`() {
        var random = SeededRandom(for: "number sets")
        for _ in 0..<400 {
            let limit = UInt64.random(in: 1...60, using: &random)
            func some() -> [UInt64] {
                (0..<Int.random(in: 0...40, using: &random)).map { _ in
                    UInt64.random(in: 0...limit, using: &random)
                }
            }
            let (left, right) = (some(), some())
            let (a, b) = (NumberSet(left), NumberSet(right))
            #expect(array(a) == Set(left).sorted())
            #expect(a.count == Set(left).count)
            #expect(array(a.union(b)) == Set(left).union(right).sorted())
            #expect(array(a.subtracting(b)) == Set(left).subtracting(right).sorted())
            #expect(array(a.intersection(b)) == Set(left).intersection(right).sorted())
            #expect(a.union(b) == NumberSet(left + right))
            #expect(a.subtracting(b).union(a.intersection(b)) == a)
            for number in 0...limit + 1 {
                #expect(a.contains(ObjectNumber(number)) == left.contains(number))
            }
            #expect(a.runs.reduce(0) { $0 + $1.count } == a.count)
        }
    }
}
