import Dispatch
import Observation
import Primitives
import TestSupport
import Testing

@testable import ObjectGraph

/// Notifications of a publisher's readers by the Observation framework.
@Suite(.timeLimit(.minutes(hangMinutes))) struct TrackingTests {
    /// Tracks whether anything that a closure read has changed since.
    private final class Tracked: Sendable {
        private let flag = Mutex(false)
        var isTold: Bool { flag.withLock { $0 } }

        init(_ read: () -> Void) {
            withObservationTracking(read) { [self] in flag.withLock { $0 = true } }
        }
    }

    @Test func `a reader of a list's snapshot is notified of its changes`() throws {
        let (stack, queue) = try Zoo.stack()
        try queue.sync {
            let publisher = stack.publishList(From<Dog>().orderBy(.ascending(\.$age)))
            let all = Tracked { _ = publisher.snapshot }
            try stack.perform(synchronous: { _ = $0.create(Into<Toy>()) })
            #expect(!all.isTold)
            try stack.perform(synchronous: { _ = $0.create(Into<Dog>()) })
            #expect(all.isTold && publisher.snapshot.numberOfItems == 1)
            let refetched = Tracked { _ = publisher.snapshot }
            try publisher.refetch(From<Dog>().where(\.$age > 9).orderBy(.ascending(\.$age)))
            #expect(refetched.isTold && publisher.snapshot.numberOfItems == 0)
        }
    }

    @Test func `a reader of a computed property was not notified`() throws {
        let (stack, queue) = try Zoo.stack()
        let id = try stack.perform(synchronous: { $0.create(Into<Person>()).objectID() })
        try queue.sync {
            let publisher: ObjectPublisher<Person> = stack.publishObject(id)
            let title = Tracked { _ = publisher.$title }
            try stack.perform(synchronous: { transaction in
                (transaction.fetchExisting(id) as Person?)?.name = "Ann"
            })
            // What its getter reads is not declared, so that it may be the name.
            #expect(title.isTold)
        }
    }

    @Test func `a reader of a property is notified of that property alone`() throws {
        let (stack, queue) = try Zoo.stack()
        let id = try stack.perform(synchronous: { transaction in
            let person = transaction.create(Into<Person>())
            person.email = "a"
            return person.objectID()
        })
        try queue.sync {
            let publisher: ObjectPublisher<Person> = stack.publishObject(id)
            func change(_ change: (Person) -> Void) throws {
                try stack.perform(synchronous: { transaction in
                    change(try #require(transaction.fetchExisting(id) as Person?))
                })
            }
            let name = Tracked { _ = publisher.$name }
            let toys = Tracked { _ = publisher.$toys }
            let all = Tracked { _ = publisher.snapshot }
            try change { $0.balance = 3 }
            #expect(!name.isTold && !toys.isTold && all.isTold)
            let object = Tracked { _ = publisher.object }
            try change { $0.toys = [] }
            #expect(!name.isTold && !toys.isTold && !object.isTold)
            try change { $0.name = "Ann" }
            #expect(name.isTold && !toys.isTold && object.isTold)
            #expect(publisher.$name == "Ann")
            try stack.perform(synchronous: { transaction in
                transaction.create(Into<Toy>()).owner = transaction.fetchExisting(id)
            })
            #expect(toys.isTold && publisher.$toys?.count == 1)
            let last = Tracked { _ = publisher.$name }
            try stack.perform(synchronous: { $0.delete(objectIDs: [id]) })
            #expect(last.isTold && publisher.$name == nil)
        }
    }
}
