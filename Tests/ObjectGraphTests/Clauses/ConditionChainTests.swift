import ObjectGraph
import Testing

/// Conditions that a program builds up step by step, of any length and depth.
@Suite struct ConditionChainTests {
    private let stack: DataStack
    private let queue: DispatchQueue

    init() throws {
        (stack, queue) = try Zoo.stack()
        try stack.perform(synchronous: { transaction in
            for age in 1...3 { transaction.create(Into<Dog>()).age = age }
        })
    }

    private func count(_ clause: Where<Dog>) throws -> Int {
        try queue.sync { try stack.fetchCount(From<Dog>().where(clause)) }
    }

    private func chain(_ count: Int, growsAtEnd: Bool) -> Where<Dog> {
        var chain: Where<Dog> = \.$age == 0
        for age in 1..<count {
            let next: Where<Dog> = \.$age == age
            chain = growsAtEnd ? chain || next : next || chain
        }
        return chain
    }

    @Test(arguments: [true, false])
    func `a chain is built in time that grows with its length`(growsAtEnd: Bool) throws {
        let times = [2_000, 32_000].map { count in
            (0..<3).map { _ in ThreadTime.of { _ = chain(count, growsAtEnd: growsAtEnd) } }
        }
        let ratio = try #require(times[1].min()) / #require(times[0].min())
        // Sixteen times the conditions: sixteen times the work, and not 256 times.
        #expect(ratio < 80, "\(ratio)")
    }

    @Test(arguments: [true, false])
    func `a long chain finds what its conditions find`(growsAtEnd: Bool) throws {
        let count = 100_000
        let chain = chain(count, growsAtEnd: growsAtEnd)
        #expect(try self.count(chain) == 3)
        #expect(try self.count(!chain) == 0)
        let all = (0..<count).map { age -> Where<Dog> in \.$age != age }
        #expect(try self.count(all.combinedByAnd()) == 0)
    }

    @Test func `a chain is the same condition in whatever order it was joined`() {
        let parts = (0..<100).map { age -> Where<Dog> in \.$age == age }
        let forwards = parts.combinedByOr()
        let backwards = parts.dropLast().reversed().reduce(parts[99]) { $1 || $0 }
        let halves = parts[..<37].combinedByOr() || parts[37...].combinedByOr()
        #expect(forwards == backwards)
        #expect(forwards == halves)
        #expect(forwards.hashValue == halves.hashValue)
        #expect("\(forwards.predicate)" == "\(halves.predicate)")
        #expect(forwards != parts.dropLast().combinedByOr())
        #expect("\((parts[1] || parts[2]).predicate)" == "age == 1 OR age == 2")
    }

    @Test func `a condition nested too deeply is refused and never overflows the stack`() throws {
        var clause: Where<Dog> = \.$age == 1
        for level in 0..<100_000 {
            clause = level.isMultiple(of: 2) ? clause && \.$age < 3 : clause || \.$age == 2
        }
        let deep = clause
        #expect(throws: CoreStoreError.self) { try count(deep) }
        #expect("\(deep.predicate)".contains("deep"))
        var negated: Where<Dog> = \.$age == 1
        for _ in 0..<100_000 { negated = !negated }
        let not = negated
        #expect(throws: CoreStoreError.self) { try count(not) }
        #expect(throws: CoreStoreError.self) { try count(deep && \.$age == 1) }
    }

    @Test func `predicates that are nested too deeply are refused`() throws {
        let leaf = NSPredicate(format: "age == 1")
        var predicate = NSCompoundPredicate(notPredicateWithSubpredicate: leaf)
        for level in 0..<1000 {
            predicate = NSCompoundPredicate(
                type: level.isMultiple(of: 2) ? .and : .or, subpredicates: [predicate, leaf])
        }
        let deep = predicate
        #expect(throws: CoreStoreError.self) { try count(Where(deep)) }
    }

    @Test func `a condition of many levels is evaluated on a small thread stack`() throws {
        var clause: Where<Dog> = \.$age == 1
        for level in 0..<180 {
            clause = level.isMultiple(of: 2) ? clause && \.$age < 3 : clause || \.$age == 2
        }
        let deep = clause
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            let found = try? count(deep)
            #expect(found == 2)
            #expect(!"\(deep.predicate)".isEmpty)
            #expect(deep == deep && deep.hashValue == deep.hashValue)
            done.signal()
        }
        thread.stackSize = 2 << 20
        thread.start()
        done.wait()
    }
}

/// The plan that a fetch explains is the one that it runs.
@Suite struct ExplainTests {
    @Test func `a fetch explains the plan that it runs`() throws {
        let (stack, queue) = try Zoo.stack()
        try stack.perform(synchronous: { transaction in
            for age in 1...2000 { transaction.create(Into<Dog>()).age = age }
        })
        try queue.sync { () throws in
            let keyed = From<Dog>().where(\.$age == 7)
            #expect(try stack.explain(keyed) == "Dog: lookup of a key in the index on age")
            let before = stack.statistics.pageLookups
            #expect(try stack.fetchAll(keyed).count == 1)
            #expect(stack.statistics.pageLookups - before < 8)
            let ordered = From<Dog>().orderBy(.ascending(\.$age)).tweak { $0.fetchLimit = 3 }
            #expect(
                try stack.explain(ordered)
                    == "Dog: 1 range of the index on age, in the order asked for")
            let sorted = From<Dog>().orderBy(.ascending(\.$color))
            #expect(try stack.explain(sorted) == "Dog: scan of all records, then a sort")
            #expect(throws: CoreStoreError.self) {
                try stack.explain(From<Dog>().where(format: "wings == 2"))
            }
        }
        try stack.perform(synchronous: { transaction in
            let none = From<Dog>().where(format: "FALSEPREDICATE")
            let plan = try transaction.explain(none)
            #expect(plan == "Dog: no record")
        })
    }
}
