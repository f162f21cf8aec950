import TestSupport
import Testing

@testable import Query

/// Lists of conditions that were joined in various ways.
@Suite struct ConditionListTests {
    private func part(_ number: Int) -> Condition { .equality("age", .int(Int64(number))) }

    @Test func `condition lists that are joined at random keep their parts in order`() {
        var random = SeededRandom(for: "ConditionListTests")
        for _ in 0..<20 {
            let count = 1 + random.below(600)
            var lists = (0..<count).map { ConditionList([part($0)]) }
            while lists.count > 1 {
                let index = random.below(3) == 0 ? 0 : random.below(lists.count - 1)
                lists[index] = lists[index] + lists.remove(at: index + 1)
            }
            let expected = (0..<count).map(part)
            #expect(lists[0].parts == expected)
            #expect(lists[0].count == count)
            #expect(lists[0] == ConditionList(expected))
            #expect(lists[0].hashValue == ConditionList(expected).hashValue)
        }
    }

    @Test func `an empty list changes nothing that it is joined with`() {
        let list: ConditionList = [part(1), part(2)]
        #expect(list + [] == list)
        #expect([] + list == list)
        #expect(([] + ([] as ConditionList)).isEmpty)
    }

    @Test func `the depth of a list is that of its deepest part`() {
        let flat: ConditionList = [part(1), part(2)]
        #expect(flat.depth == 0)
        #expect(Condition.and(flat).depth == 1)
        #expect((flat + [.not(.or(flat))]).depth == 2)
        #expect(Condition.and([part(1), .and([.not(.or(flat))])]).depth == 4)
        let chain = (0..<1000).reduce(part(0)) { .both($0, part($1)) }
        #expect(chain.depth == 1)
    }

    @Test func `a condition deeper than depthMax becomes tooDeep`() {
        var condition = part(0)
        for level in 0..<Condition.depthMax {
            condition =
                level.isMultiple(of: 2)
                ? .both(condition, part(1)) : .either(condition, part(1))
        }
        #expect(condition.depth == Condition.depthMax)
        #expect(Condition.either(condition, part(2)).depth == Condition.depthMax)
        #expect(Condition.both(condition, part(2)) == .tooDeep)
        #expect(Condition.negation(of: condition) == .tooDeep)
        #expect(Condition.both(.tooDeep, part(1)) == .tooDeep)
    }
}
