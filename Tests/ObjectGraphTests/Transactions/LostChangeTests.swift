import Dispatch
import Primitives
import TestSupport
import Testing

@testable import ObjectGraph

private final class Ticket: CoreStoreObject {
    @Field.Stored("number", dynamicInitialValue: { nextNumber() }) var number: Int
    @Field.Stored("text", dynamicInitialValue: { "first" }) var text: String
    @Field.Stored("code", dynamicInitialValue: { UUID() }) var code: UUID

    /// What a first value asks of the transaction in which its object is made.
    static let asked = Mutex<UncheckedTransfer<BaseDataTransaction>?>(nil)

    private static func nextNumber() -> Int {
        let transaction = asked.withLock { $0 }
        let last = try? transaction?.value.fetchOne(
            From<Ticket>().orderBy(.descending(\.$number)))
        return (last?.number ?? 0) + 1
    }
}

/// Changes that were lost, or came back, because code of the program ran in the middle of them.
@Suite(.serialized) struct LostChangeTests {
    private let stack: DataStack
    private let queue: DispatchQueue
    private let id: NSManagedObjectID

    /// A person with a dog.
    init() throws {
        (stack, queue) = try Zoo.stack()
        id = try stack.perform(synchronous: { transaction in
            let person = transaction.create(Into<Person>())
            (person.name, person.email) = ("a", "a@zoo")
            transaction.create(Into<Dog>()).master = person
            return person.objectID()
        })
    }

    private func person(_ transaction: BaseDataTransaction) throws -> Person {
        try #require(transaction.fetchExisting(id) as Person?)
    }

    private func name() throws -> String? {
        try stack.read { ($0.fetchExisting(id) as Person?)?.name }
    }

    @Test(arguments: [Durability.durable, .relaxed])
    func `a change that a fetch had seen was stored after it was discarded`(
        durability: Durability
    ) throws {
        try stack.perform(
            synchronous: { transaction in
                let person = try person(transaction)
                person.name = "b"
                _ = try transaction.fetchCount(From<Person>().where(\.$name == "b"))
                person.refreshAsFault()
            }, durability: durability)
        #expect(try name() == "a")
        try stack.perform(synchronous: { $0.create(Into<Toy>()).label = "later" })
        #expect(try name() == "a")
        let named = try stack.read { view in
            try ["a", "b"].map { try view.fetchCount(From<Person>().where(\.$name == $0)) }
        }
        #expect(named == [1, 0])
    }

    @Test func `a write was lost when the observer that is told before it fetches`() throws {
        try stack.perform(synchronous: { transaction in
            let person = try person(transaction)
            let token = person.observe(\.$name, options: [.prior]) { _, change in
                if change.isPrior { _ = try? transaction.fetchCount(From<Person>()) }
            }
            person.name = "b"
            withExtendedLifetime(token) {}
        })
        #expect(try name() == "b")
    }

    @Test func `a write stopped the program when an observer refreshed its object`() throws {
        try stack.perform(synchronous: { transaction in
            let person = try person(transaction)
            let token = person.observe(\.$name, options: [.prior]) { person, change in
                if change.isPrior { person.refreshAsFault() }
            }
            person.name = "b"
            withExtendedLifetime(token) {}
        })
        #expect(try name() == "b")
    }

    @Test func `an observer links no object that is being deleted`() async {
        await #expect(processExitsWith: .success) {
            CoreStoreDefaults.logger = TestLogger()
            let (stack, _) = try Zoo.stack()
            try stack.perform(synchronous: { transaction in
                let person = transaction.create(Into<Person>())
                let toy = transaction.create(Into<Toy>())
                toy.owner = person
                let token = person.observe(\.$toys, options: [.old, .new]) { person, _ in
                    // Both lead to an object without a record: back into its list, and from it.
                    person.toys = [toy]
                    toy.owner = person
                }
                transaction.delete(toy)
                withExtendedLifetime(token) {}
                try #require(person.toys.isEmpty)
            })
            let left = try stack.read { view in
                try (view.fetchCount(From<Toy>()), view.fetchOne(From<Person>())?.toys.count)
            }
            try #require(left == (0, 0))
        }
    }

    @Test func `an observer deletes the object whose link a deletion clears`() throws {
        try stack.perform(synchronous: { transaction in
            let dog = try #require(try transaction.fetchOne(From<Dog>()))
            let token = dog.observe(\.$master) { dog, _ in
                if dog.master == nil { transaction.delete(dog) }
            }
            transaction.delete(dog)
            withExtendedLifetime(token) {}
        })
        #expect(try stack.read { try $0.fetchCount(From<Dog>()) } == 0)
        #expect(try stack.read { ($0.fetchExisting(id) as Person?)?.pets } == [])
    }

    @Test func `first values after one that fetches were lost`() throws {
        let stack = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [Entity<Ticket>("Ticket")]))
        try stack.addStorageAndWait(InMemoryStore())
        defer { Ticket.asked.withLock { $0 = nil } }
        try stack.perform(synchronous: { transaction in
            Ticket.asked.withLock { $0 = UncheckedTransfer(transaction) }
            for _ in 0..<3 { _ = transaction.create(Into<Ticket>()) }
        })
        let tickets = try stack.read { view in
            try view.fetchAll(From<Ticket>().orderBy(.ascending(\.$number)))
                .map { "\($0.number) \($0.text)" }
        }
        #expect(tickets == ["1 first", "2 first", "3 first"])
        let codes = try stack.read { Set(try $0.fetchAll(From<Ticket>()).map(\.code)) }
        #expect(codes.count == 3)
    }

    @Test func `a completion was dropped with its stack`() throws {
        let done = DispatchSemaphore(value: 0)
        let queue = DispatchQueue(label: "busy view")
        let isBusy = DispatchSemaphore(value: 0)
        do {
            let stack = DataStack(Zoo.schema(), viewContext: .queue(queue))
            try stack.addStorageAndWait(InMemoryStore())
            queue.async { isBusy.wait() }
            let isOver = DispatchSemaphore(value: 0)
            stack.perform(
                asynchronous: { transaction in
                    transaction.create(Into<Toy>()).label = "x"
                    isOver.signal()
                },
                completion: { result in
                    if case .success = result { done.signal() }
                })
            stack.perform(
                asynchronous: { _ in throw CoreStoreError.userCancelled },
                completion: { result in
                    if case .failure = result { done.signal() }
                })
            isOver.wait()
        }
        Thread.sleep(forTimeInterval: 0.05)
        isBusy.signal()
        for _ in 0..<2 { #expect(done.wait(timeout: .now() + 60) == .success) }
    }
}
