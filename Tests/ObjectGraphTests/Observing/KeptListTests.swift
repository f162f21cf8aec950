import TestSupport
import Testing

@testable import ObjectGraph

/// The list publisher of a SwiftUI view that is rebuilt with clauses.
@Suite(.timeLimit(.minutes(hangMinutes))) struct KeptListTests {
    private func source(_ stack: DataStack, age: Int) -> ListSource<Dog> {
        let chain = From<Dog>().where(\.$age > age).orderBy(.ascending(\.$age))
        return .terms(ListTerms(chain.from, .none, chain.fetchClauses), stack)
    }

    @Test func `equal clauses share a publisher, and other clauses get a new one`() throws {
        let (stack, queue) = try Zoo.stack()
        try stack.perform(synchronous: { transaction in
            for age in 1...4 { transaction.create(Into<Dog>()).age = age }
        })
        try queue.sync {
            let kept = KeptList<Dog>()
            let first = kept.publisher(of: source(stack, age: 2))
            #expect(kept.publisher(of: source(stack, age: 2)) === first)
            #expect(first.snapshot.count == 2)

            let second = kept.publisher(of: source(stack, age: 1))
            #expect(second !== first)
            #expect(second.snapshot.count == 3)
            try stack.perform(synchronous: { $0.create(Into<Dog>()).age = 9 })
            #expect(kept.publisher(of: source(stack, age: 1)).snapshot.count == 4)
        }
    }

    @Test func `lists whose conditions calculate with other kinds of numbers are two lists`() throws
    {
        let (stack, queue) = try Zoo.stack()
        try stack.perform(synchronous: { transaction in
            for age in 5...8 { transaction.create(Into<Dog>()).age = age }
        })
        queue.sync {
            let order = OrderBy<Dog>(.ascending(\.$age))
            let (byInteger, byDouble) = (Where<Dog>("age / 2 == 3"), Where<Dog>("age / 2.0 == 3"))
            #expect(byInteger != byDouble)
            let first = stack.publishList(From<Dog>(), byInteger, order)
            let second = stack.publishList(From<Dog>(), byDouble, order)
            #expect(first.snapshot.compactMap { $0.object?.age } == [6, 7])
            #expect(second.snapshot.compactMap { $0.object?.age } == [6])
            let same = Where<Dog>("age / %@ == 3", 2)
            #expect(byInteger == same)
            #expect(byInteger.hashValue == same.hashValue)
        }
    }

    @Test func `a given publisher is used itself and replaces the kept one`() throws {
        let (stack, queue) = try Zoo.stack()
        queue.sync {
            let kept = KeptList<Dog>()
            let own = stack.publishList(From<Dog>().orderBy(.ascending(\.$age)))
            let made = kept.publisher(of: source(stack, age: 1))
            #expect(kept.publisher(of: .publisher(own)) === own)
            #expect(kept.publisher(of: source(stack, age: 1)) !== made)
        }
    }

    @Test func `lists with other sections or watched paths differ, other titles do not`() {
        let order = OrderBy<Dog>(.ascending(\.$age))
        let bySection = SectionBy<Dog>(\.$age)
        let titled = SectionBy<Dog>(\.$age) { $0 }
        let plain = ListTerms(From<Dog>(), .none, [order])
        let sectioned = ListTerms(From<Dog>(), bySection.rule, [order])
        #expect(plain.asksTheSame(ListTerms(From<Dog>(), .none, [order])))
        #expect(!plain.asksTheSame(sectioned))
        #expect(sectioned.asksTheSame(ListTerms(From<Dog>(), titled.rule, [order])))
        let watching = ListTerms(
            From<Dog>(), .none, [order, Watching<Dog>(\.$master ~ \.$name)])
        #expect(!plain.asksTheSame(watching))
        #expect(!plain.asksTheSame(ListTerms(From<Animal>(), .none, [order])))
    }
}
