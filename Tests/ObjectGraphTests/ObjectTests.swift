import ObjectGraph
import Testing

@Suite struct ObjectTests {
    @Test func `a row is one object in a context and two in two contexts`() throws {
        let (stack, queue) = try Zoo.stack()
        let id = try stack.perform(synchronous: { transaction in
            let dog = transaction.create(Into<Dog>())
            let again: Dog? = transaction.fetchExisting(dog.objectID())
            #expect(again === dog)
            return dog.objectID()
        })
        try queue.sync {
            let dog: Dog = try #require(stack.fetchExisting(id))
            #expect(try stack.fetchOne(From<Animal>()) === dog)
            try stack.perform(synchronous: { transaction in
                let edited = try #require(transaction.edit(dog))
                #expect(edited != dog)
                #expect(edited.objectID() == dog.objectID())
            })
        }
    }

    @Test func `an object reached by a link has the name of its own entity`() throws {
        let (stack, queue) = try Zoo.stack()
        let id = try stack.perform(synchronous: { transaction in
            let person = transaction.create(Into<Person>())
            let dog = transaction.create(Into<Dog>())
            dog.master = person
            return dog.objectID()
        })
        try queue.sync {
            let person = try #require(try stack.fetchOne(From<Person>()))
            let dog = try #require(person.pets.first)
            #expect(dog is Dog)
            #expect(dog.objectID() == id)
            #expect(dog.objectID().entityName == "Dog")
            #expect(dog.objectID().uriRepresentation() == id.uriRepresentation())
            #expect(stack.objectID(forURIRepresentation: id.uriRepresentation()) == id)
        }
    }

    @Test func `an object of an ended transaction does not hold up the next one`() throws {
        let (stack, queue) = try Zoo.stack()
        let leaked = try stack.perform(synchronous: { transaction in
            let person = transaction.create(Into<Person>())
            person.name = "Ada"
            transaction.create(Into<Toy>()).owner = person
            return person
        })
        #expect(leaked.name == "Ada")
        _ = leaked.toys
        _ = leaked.pets
        try stack.perform(synchronous: { transaction in
            transaction.create(Into<Dog>()).age = 5
        })
        #expect(try queue.sync { try stack.fetchCount(From<Dog>()) } == 1)
    }

    @Test func `objects do not keep their stack`() throws {
        weak var gone: DataStack?
        let dog: Dog
        do {
            let (stack, queue) = try Zoo.stack()
            try stack.perform(synchronous: { transaction in
                transaction.create(Into<Dog>()).nickname = "Rex"
            })
            dog = try #require(try queue.sync { try stack.fetchOne(From<Dog>()) })
            _ = queue.sync { dog.nickname }
            gone = stack
            stack.unsafeRemoveAllPersistentStoresAndWait()
        }
        #expect(gone == nil)
        #expect(dog.objectID().entityName == "Dog")
    }

    @Test func `a value that is written again after a fetch is saved`() throws {
        let (stack, queue) = try Zoo.stack()
        let id = try stack.perform(synchronous: { transaction in
            let dog = transaction.create(Into<Dog>())
            dog.age = 3
            _ = try transaction.fetchCount(From<Dog>())
            dog.age = 4
            return dog.objectID()
        })
        #expect(queue.sync { (stack.fetchExisting(id) as Dog?)?.age } == 4)
        try stack.perform(synchronous: { transaction in
            let dog: Dog = try #require(transaction.fetchExisting(id))
            dog.age = 5
            _ = try transaction.fetchCount(From<Dog>())
            dog.age = 6
        })
        #expect(queue.sync { (stack.fetchExisting(id) as Dog?)?.age } == 6)
    }

    @Test func `refreshing drops what was not saved`() throws {
        let (stack, _) = try Zoo.stack()
        try stack.perform(synchronous: { transaction in
            transaction.create(Into<Dog>()).age = 3
        })
        try stack.perform(synchronous: { transaction in
            let dog = try #require(try transaction.fetchOne(From<Dog>()))
            dog.age = 9
            dog.refreshAsFault()
            #expect(dog.age == 3)
            #expect(!transaction.hasChanges)
        })
    }
}
