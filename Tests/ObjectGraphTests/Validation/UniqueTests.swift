import ObjectGraph
import Testing

@Suite struct UniqueTests {
    private func names(_ stack: DataStack) throws -> [String] {
        try stack.fetchAll(From<Person>().orderBy(.ascending(\.$name))).map(\.name)
    }

    @Test func `of several new objects with one key the first stays with the last values`() throws {
        let (stack, queue) = try Zoo.stack()
        let first = try stack.perform(synchronous: { transaction in
            let people = (0..<5).map { number in
                let person = transaction.create(Into<Person>())
                person.email = number == 3 ? "other" : "same"
                person.name = "name \(number)"
                return person
            }
            return people[0].objectID()
        })
        try queue.sync {
            let names = try names(stack)
            #expect(names == ["name 3", "name 4"])
            let kept: Person? = stack.fetchExisting(first)
            #expect(kept?.name == "name 4")
        }
    }

    @Test func `a conflict that an earlier fetch had flushed is resolved too`() throws {
        let (stack, queue) = try Zoo.stack()
        try stack.perform(synchronous: { transaction in
            let person = transaction.create(Into<Person>())
            (person.email, person.name) = ("same", "stored")
        })
        try stack.perform(synchronous: { transaction in
            let person = transaction.create(Into<Person>())
            (person.email, person.name) = ("same", "new")
            let count = try transaction.fetchCount(From<Person>())
            #expect(count == 2)
            let third = transaction.create(Into<Person>())
            (third.email, third.name) = ("third", "third")
        })
        #expect(try queue.sync { try names(stack) } == ["new", "third"])
    }

    @Test func `a key freed by one object can be used by another in the same transaction`() throws {
        let (stack, queue) = try Zoo.stack()
        try stack.perform(synchronous: { transaction in
            for name in ["a", "b"] {
                let person = transaction.create(Into<Person>())
                (person.email, person.name) = (name, name)
            }
        })
        try stack.perform(synchronous: { transaction in
            let people = try transaction.fetchAll(
                From<Person>().orderBy(.ascending(\.$name)))
            people[0].email = "c"
            people[1].email = "a"
        })
        #expect(try queue.sync { try names(stack) } == ["a", "b"])
    }

    /// A program that kept the loser's ID from inside the transaction finds nothing by it; it finds
    /// the survivor by the key.
    @Test(arguments: [false, true])
    func `the ID of a conflict's loser never finds an object`(
        isStored: Bool
    ) throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        var kept: [URL] = []
        do {
            let (stack, queue) = try Zoo.stack(at: url)
            defer { stack.unsafeRemoveAllPersistentStoresAndWait() }
            func person(_ transaction: BaseDataTransaction, _ name: String) -> Person {
                let person = transaction.create(Into<Person>())
                (person.email, person.name) = ("same", name)
                return person
            }
            let stored = try stack.perform(synchronous: { transaction in
                isStored ? person(transaction, "stored").objectID() : nil
            })
            let ids = try stack.perform(synchronous: { transaction in
                (0..<2).map { person(transaction, "new \($0)").objectID() }
            })
            let survivor = stored ?? ids[0]
            let losers = ids.filter { $0 != survivor }
            try queue.sync { () throws in
                #expect(try names(stack) == ["new 1"])
                #expect((stack.fetchExisting(survivor) as Person?)?.name == "new 1")
                for loser in losers { #expect(stack.fetchExisting(loser) as Person? == nil) }
            }
            kept = losers.map { $0.uriRepresentation() }
        }
        let (stack, queue) = try Zoo.stack(at: url)
        defer { stack.unsafeRemoveAllPersistentStoresAndWait() }
        try stack.perform(synchronous: { transaction in
            for number in 0..<5 { transaction.create(Into<Person>()).email = "later \(number)" }
        })
        let losers = kept.compactMap { stack.objectID(forURIRepresentation: $0) }
        #expect(losers.count == kept.count && !kept.isEmpty)
        try stack.perform(synchronous: { $0.delete(objectIDs: losers) })
        try queue.sync { () throws in
            for loser in losers { #expect(stack.fetchExisting(loser) as Person? == nil) }
            #expect(try stack.fetchCount(From<Person>()) == 6)
        }
    }
}
