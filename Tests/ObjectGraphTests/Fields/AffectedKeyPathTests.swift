import Dispatch
import Observation
import Primitives
import Testing

@testable import ObjectGraph

private final class Clerk: CoreStoreObject {
    @Field.Stored("title") var title: String = ""
    @Field.Stored(
        "name", affectedByKeyPaths: [String(keyPath: \Clerk.$title), String(keyPath: \Desk.$room)])
    var name: String = ""
    @Field.Relationship("desk", affectedByKeyPaths: [String(keyPath: \Clerk.$title)])
    var desk: Desk?
}

private final class Desk: CoreStoreObject {
    @Field.Stored("room") var room: Int = 0
    @Field.Relationship(
        "clerks", inverse: \.$desk, affectedByKeyPaths: [String(keyPath: \Desk.$room)])
    var clerks: Set<Clerk>
}

private final class Horse: CoreStoreObject {
    @Field.Stored("first") var first: String = ""
    @Field.Virtual(
        "fullName", customGetter: { object, _ in object.$first.value + " Horse" },
        affectedByKeyPaths: ["first"])
    var fullName: String
    @Field.Virtual(
        "sign", customGetter: { object, _ in object.$fullName.value + "!" },
        affectedByKeyPaths: ["fullName"])
    var sign: String
}

private final class Rider: CoreStoreObject {
    @Field.Stored("name") var name: String = ""
    @Field.Relationship("horse") var horse: Horse?
    @Field.Virtual(
        "pair", customGetter: { object, _ in object.$name.value },
        affectedByKeyPaths: ["name", "horse.first"])
    var pair: String
}

/// `affectedByKeyPaths:` in the guide's form.
@Suite struct AffectedKeyPathTests {
    @Test func `key paths that name the property's own class overflowed the stack`() async {
        await #expect(processExitsWith: .success) {
            _ = CoreStoreSchema(
                modelVersion: "V1", entities: [Entity<Clerk>("Clerk"), Entity<Desk>("Desk")])
        }
    }

    @Test func `a property lists the key paths that affect it, also of other classes`() throws {
        let declarations = ClassMeta.of(Clerk.self).declarations
        #expect(declarations.map(\.keyPath) == ["title", "name", "desk"])
        let name = try #require(declarations.first { $0.keyPath == "name" })
        #expect(name.terms.affectedByKeyPaths() == ["title", "room"])
        let desk = try #require(declarations.first { $0.keyPath == "desk" })
        #expect(desk.terms.affectedByKeyPaths() == ["title"])
    }

    @Test func `a property computed from a computed one was not told of`() throws {
        let queue = DispatchQueue(label: "view")
        let stack = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [Entity<Horse>("Horse")]),
            viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        let id = try stack.perform(synchronous: { $0.create(Into<Horse>()).objectID() })
        try queue.sync {
            let horse: Horse = try #require(stack.fetchExisting(id))
            var signs: [String] = []
            let observation = horse.observe(\.$sign) { horse, _ in signs.append(horse.sign) }
            let publisher: ObjectPublisher<Horse> = stack.publishObject(id)
            let isTold = Mutex(false)
            let read = withObservationTracking {
                publisher.$sign
            } onChange: {
                isTold.withLock { $0 = true }
            }
            #expect(read == " Horse!")
            try stack.perform(synchronous: { transaction in
                (transaction.fetchExisting(id) as Horse?)?.first = "Red"
            })
            #expect(signs == ["Red Horse!"])
            #expect(isTold.withLock { $0 })
            observation.invalidate()
        }
    }

    /// A bug: beside a name of its own, the path across a relationship counted for nothing.
    @Test func `a tracked property is told of another object at its path`() throws {
        let queue = DispatchQueue(label: "view")
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1", entities: [Entity<Horse>("Horse"), Entity<Rider>("Rider")]),
            viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        let id = try stack.perform(synchronous: { $0.create(Into<Rider>()).objectID() })
        try queue.sync {
            let publisher: ObjectPublisher<Rider> = stack.publishObject(id)
            let isTold = Mutex(false)
            _ = withObservationTracking {
                publisher.$pair
            } onChange: {
                isTold.withLock { $0 = true }
            }
            try stack.perform(synchronous: { transaction in
                (transaction.fetchExisting(id) as Rider?)?.horse = transaction.create(Into<Horse>())
            })
            #expect(isTold.withLock { $0 })
        }
    }
}
