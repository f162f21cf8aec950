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

    @Test func `a key that one object gives up another may take in the same transaction`() throws {
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
}
