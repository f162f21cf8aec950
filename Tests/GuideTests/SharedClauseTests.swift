import Dispatch
import ObjectGraph
import Testing

/// Clauses and chains as a program keeps them: in a `static let`, which any thread may read.
nonisolated private enum Clauses {
    static let people = From<Sailor>()
    static let adults = From<Sailor>().where(\.$age > 30).orderBy(.ascending(\.$age))
    static let formatted = From<Sailor>().where(format: "age > %d", 30)
    static let first = From<Sailor>().orderBy(.descending(\.$age)).tweak { $0.fetchLimit = 1 }
    static let oldest = From<Sailor>().select(Int.self, .maximum(\.$age)).where(\.$age < 40)
    static let sections = From<Sailor>().sectionBy(\.$gender).orderBy(.ascending(\.$gender))
    static let condition = Where<Sailor>("age > %d", 30)
    static let order = OrderBy<Sailor>(.ascending(\.$age))
    static let groups = GroupBy<Sailor>("gender")
    static let tweak = Tweak { $0.fetchLimit = 2 }
    static let maximum = Select<Sailor, Int>(.maximum(\.$age))
    static let into = Into<Sailor>()
    static let section = SectionBy<Sailor>(\.$gender)
    static let watching = Watching<Ferry>(\.$captain ~ \.$name)
    static let older = Assignment<Sailor>.sum(\.$age, 1)
    static let rules: [Validation<Sailor>] = [
        .range(\.$age, 0...150), .length(\.$name, 1...), .pattern(\.$gender, "[MF]"),
        .value(\.$name, "is no name") { $0 != "?" }, .object("is unnamed") { $0.name != "" },
    ]
    static let clauses: [any FetchClause] = [condition, order, tweak]
}

@MainActor @Suite struct SharedClauseTests {
    private let dataStack: DataStack

    init() throws { dataStack = try Harbour.dataStack() }

    @Test func `clauses and chains are kept in static properties`() throws {
        #expect(try dataStack.fetchAll(Clauses.adults).map(\.name) == ["John Smith", "Ole"])
        #expect(try dataStack.fetchCount(Clauses.formatted) == 2)
        #expect(try dataStack.fetchAll(Clauses.first).map(\.name) == ["Ole"])
        #expect(try dataStack.queryValue(Clauses.oldest) == 22)
        #expect(try dataStack.fetchAll(Clauses.people, Clauses.clauses).count == 2)
        let oldest = try dataStack.queryValue(Clauses.people, Clauses.maximum, Clauses.condition)
        #expect(oldest == 60)
        let monitor = dataStack.monitorSectionedList(Clauses.sections)
        #expect(monitor.numberOfSections() == 3)
        let ids = try dataStack.perform(synchronous: { transaction in
            let sailor = transaction.create(Clauses.into)
            try transaction.update(Clauses.adults, set: Clauses.older)
            return [sailor.objectID()]
        })
        #expect(ids.count == 1)
        #expect(try dataStack.fetchAll(Clauses.adults).map(\.age) == [43, 61])
        #expect(Clauses.rules.count == 5)
        let grouped = try dataStack.queryAttributes(
            From<Sailor>(), Select<Sailor, NSDictionary>("gender"), Clauses.groups)
        #expect(grouped.count == 3)
        let watched = dataStack.monitorSectionedList(
            From<Ferry>(), SectionBy<Ferry>(\.$nickname), Clauses.watching,
            OrderBy<Ferry>(.ascending(\.$nickname)))
        #expect(watched.numberOfObjects() >= 0)
    }

    @Test func `a chain is captured by a task and by threads`() async throws {
        let (stack, gender) = (dataStack, "M")
        let chain = From<Sailor>().where(\.$gender == gender).orderBy(.ascending(\.$age))
        let count = try await Task.detached {
            try stack.read { try $0.fetchCount(chain) }
        }.value
        let ages = try await stack.async.perform { transaction in
            try transaction.fetchAll(chain).map(\.age)
        }
        #expect(count == ages.count && ages == ages.sorted())
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            let names = try? stack.read { try $0.fetchAll(chain).map(\.name) }
            #expect(names?.count == count)
        }
    }
}
