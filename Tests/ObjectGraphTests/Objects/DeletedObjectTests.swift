import ObjectGraph
import Testing

/// Objects that a transaction has deleted, until it commits.
@Suite struct DeletedObjectTests {
    private struct Sample {
        var stack: DataStack
        var queue: DispatchQueue
        var dog: NSManagedObjectID
        var person: NSManagedObjectID
    }

    private func sample() throws -> Sample {
        let (stack, queue) = try Zoo.stack()
        let ids = try stack.perform(synchronous: { transaction in
            let dog = transaction.create(Into<Dog>())
            dog.nickname = "Rex"
            let person = transaction.create(Into<Person>())
            person.email = "a"
            person.toys = [transaction.create(Into<Toy>())]
            return (dog.objectID(), person.objectID())
        })
        return Sample(stack: stack, queue: queue, dog: ids.0, person: ids.1)
    }

    @Test(arguments: [false, true])
    func `a deleted object keeps the values that it is assigned`(isRead: Bool) throws {
        let sample = try sample()
        try sample.stack.perform(synchronous: { transaction in
            let dog: Dog = try #require(transaction.fetchExisting(sample.dog))
            if isRead { #expect(dog.nickname == "Rex") }
            #expect(!dog.isDeleted)
            transaction.delete(dog)
            #expect(dog.isDeleted)
            dog.age = 12
            _ = try transaction.fetchCount(From<Dog>())
            dog.color = "brown"
            #expect(dog.age == 12)
            #expect(dog.color == "brown")
            #expect(dog.nickname == "Rex")
            dog.refreshAsFault()
            #expect(dog.age == 12)
            #expect(!transaction.updatedObjectIDs().contains(sample.dog))
        })
        #expect(try sample.queue.sync { try sample.stack.fetchCount(From<Dog>()) } == 0)
    }

    @Test func `a deleted object that its transaction created keeps assigned values`() throws {
        let sample = try sample()
        try sample.stack.perform(synchronous: { transaction in
            let dogs = (0..<2).map { _ in transaction.create(Into<Dog>()) }
            transaction.delete(dogs[0])
            _ = try transaction.fetchCount(From<Dog>())
            transaction.delete(dogs[1])
            for dog in dogs {
                dog.nickname = "new"
                _ = try transaction.fetchCount(From<Dog>())
                #expect(dog.nickname == "new")
            }
        })
        #expect(try sample.queue.sync { try sample.stack.fetchCount(From<Dog>()) } == 1)
    }

    @Test func `a deleted object keeps the links that it is given`() throws {
        let sample = try sample()
        try sample.stack.perform(synchronous: { transaction in
            let dog: Dog = try #require(transaction.fetchExisting(sample.dog))
            let person: Person = try #require(transaction.fetchExisting(sample.person))
            let other = transaction.create(Into<Person>())
            other.email = "b"
            transaction.delete(dog)
            dog.master = other
            #expect(dog.master === other)
            #expect(other.pets.isEmpty)
            transaction.delete(person)
            let (toy, friend) = (transaction.create(Into<Toy>()), other)
            person.toys = [toy]
            person.friends = [friend]
            _ = try transaction.fetchCount(From<Dog>())
            #expect(dog.master === other)
            #expect(person.toys == [toy])
            #expect(person.friends == [friend])
            // Remaining objects have no links to deleted ones.
            #expect(toy.owner == nil)
            #expect(friend.friendOf.isEmpty)
        })
        try sample.queue.sync { () throws in
            #expect(try sample.stack.fetchAll(From<Person>()).map(\.email) == ["b"])
            #expect(try sample.stack.fetchOne(From<Toy>())?.owner == nil)
        }
    }

    @Test func `an object of the view says that it is deleted once the view has moved`() throws {
        let sample = try sample()
        let dog: Dog? = sample.queue.sync { sample.stack.fetchExisting(sample.dog) }
        // The view moves in a turn of its queue.
        sample.queue.suspend()
        try sample.stack.perform(synchronous: { transaction in
            transaction.delete(objectIDs: [sample.dog])
        })
        #expect(dog?.isDeleted == false)
        sample.queue.resume()
        try sample.queue.sync { () throws in
            #expect(try sample.stack.fetchCount(From<Dog>()) == 0)
            #expect(dog?.isDeleted == true)
            #expect(dog?.nickname == "Rex")
        }
    }

    private final class Note: CoreStoreObject {
        @Field.Stored("isDeleted") var isDeleted: Bool = false
    }

    @Test func `a model may declare a property named isDeleted`() throws {
        let stack = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [Entity<Note>("Note")]))
        try stack.addStorageAndWait(InMemoryStore())
        try stack.perform(synchronous: { transaction in
            let note = transaction.create(Into<Note>())
            transaction.delete(note)
            #expect(!note.isDeleted)
            note.isDeleted = true
            #expect(note.isDeleted)
        })
    }
}
