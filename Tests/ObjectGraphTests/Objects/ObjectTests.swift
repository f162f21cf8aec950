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

    final class Thing: CoreStoreObject {
        @Field.Stored("size") var size: Int = 0
    }

    private final class Dotted: CoreStoreObject {
        @Field.Stored("a.b") var value: Int = 0
    }

    @Test func `a property with a dot in its name is refused where its store opens`() {
        let stack = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [Entity<Dotted>("Dotted")]),
            viewContext: .queue(DispatchQueue(label: "view")))
        let error = #expect(throws: CoreStoreError.self) {
            try stack.addStorageAndWait(InMemoryStore())
        }
        #expect(error?.storeError?.code == .invalidModel)
        #expect(error?.storeError?.message.contains("a.b") == true)
    }

    @Test(arguments: ["a?b#c", "%2F", "a/b", "ä b", "100%", "."])
    func `the URI of an object finds it, whatever the name of its entity`(
        name: String
    ) throws {
        let queue = DispatchQueue(label: "view")
        let stack = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [Entity<Thing>(name)]),
            viewContext: .queue(queue))
        do throws(CoreStoreError) {
            try stack.addStorageAndWait(InMemoryStore())
        } catch {
            // A name that no model may have is refused at once.
            return
        }
        let id = try stack.perform(synchronous: { $0.create(Into<Thing>()).objectID() })
        #expect(stack.objectID(forURIRepresentation: id.uriRepresentation()) == id)
    }

    @Test func `an object of an ended transaction does not hold up the next one`() async {
        // In a child process whose logger continues after assertions.
        await #expect(processExitsWith: .success) {
            CoreStoreDefaults.logger = TestLogger()
            let (stack, queue) = try Zoo.stack()
            let leaked = try stack.perform(synchronous: { transaction in
                let person = transaction.create(Into<Person>())
                person.name = "Ada"
                transaction.create(Into<Toy>()).owner = person
                return person
            })
            #expect(leaked.name == "Ada")
            #expect(leaked.toys.isEmpty)
            #expect(leaked.pets.isEmpty)
            try stack.perform(synchronous: { transaction in
                transaction.create(Into<Dog>()).age = 5
            })
            #expect(try queue.sync { try stack.fetchCount(From<Dog>()) } == 1)
        }
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

    @Test func `an object returns its fetch source for as long as the source exists`() throws {
        let dog: Dog
        var created: Dog?
        do {
            let (stack, queue) = try Zoo.stack()
            try stack.perform(synchronous: { transaction in
                let made = transaction.create(Into<Dog>())
                #expect(made.fetchSource() as AnyObject? === transaction)
                #expect(made.querySource() as AnyObject? === transaction)
                created = made
            })
            dog = try #require(try queue.sync { try stack.fetchOne(From<Dog>()) })
            #expect(dog.fetchSource() as AnyObject? === stack)
            #expect(dog.querySource() as AnyObject? === stack)
            stack.unsafeRemoveAllPersistentStoresAndWait()
        }
        #expect(dog.fetchSource() == nil)
        #expect(dog.querySource() == nil)
        #expect(created?.fetchSource() == nil)
    }

    @Test func `reading an object of a deallocated stack is reported as a storage fault`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let person: Person
        let told = DispatchSemaphore(value: 0)
        do {
            let (stack, queue) = try Zoo.stack(at: url)
            try stack.perform(synchronous: { transaction in
                transaction.create(Into<Toy>()).owner = transaction.create(Into<Person>())
            })
            stack.onStorageFault = { fault in
                if fault.error.storeError?.code == .closed { told.signal() }
            }
            person = try #require(try queue.sync { try stack.fetchOne(From<Person>()) })
            let id = person.objectID()
            stack.unsafeRemoveAllPersistentStoresAndWait()
            #expect(person.toys.isEmpty)
            #expect(told.wait(timeout: .now() + 20) == .success)
            // The stack's throwing calls report it.
            #expect(throws: CoreStoreError.self) {
                try queue.sync { try stack.fetchCount(From<Toy>()) }
            }
            #expect(try stack.loadExisting(id) as Person? == nil)
        }
        let error = #expect(throws: CoreStoreError.self) { try person.load(\.$toys) }
        #expect(error?.storeError?.code == .closed)
    }

    @Test func `an object of a closed storage has its loaded values or defaults`()
        throws
    {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let (stack, queue) = try Zoo.stack(at: url)
        let id = try stack.perform(synchronous: { transaction in
            let person = transaction.create(Into<Person>())
            (person.email, person.name) = ("a", "Ada")
            transaction.create(Into<Toy>()).owner = person
            return person.objectID()
        })
        let person = try #require(queue.sync { stack.fetchExisting(id) as Person? })
        queue.sync { #expect(person.name == "Ada") }
        let told = DispatchSemaphore(value: 0)
        stack.onStorageFault = { fault in
            if fault.error.storeError?.code == .closed { told.signal() }
        }
        stack.unsafeRemoveAllPersistentStoresAndWait()
        queue.sync {
            #expect(person.name == "Ada")
            // The store has links, so the empty set is reported to the program.
            #expect(person.toys.isEmpty)
            #expect(told.wait(timeout: .now() + 20) == .success)
            // The loaded values cannot be read again, so they stay.
            person.refreshAsFault()
            #expect(person.name == "Ada")
            #expect(stack.fetchExisting(id) as Person? == nil)
        }
        #expect(throws: CoreStoreError.self) {
            try queue.sync { try stack.fetchCount(From<Person>()) }
        }
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

    @Test func `refreshing undoes flushed changes and links too`() throws {
        let (stack, queue) = try Zoo.stack()
        try stack.perform(synchronous: { transaction in
            for name in ["a", "b"] {
                let person = transaction.create(Into<Person>())
                (person.email, person.name) = (name, name)
                let toy = transaction.create(Into<Toy>())
                toy.label = name
                toy.owner = person
            }
        })
        try stack.perform(synchronous: { transaction in
            let people = try transaction.fetchAll(From<Person>().orderBy(.ascending(\.$email)))
            let toys = try transaction.fetchAll(From<Toy>().orderBy(.ascending(\.$label)))
            people[0].name = "changed"
            people[0].friends = [people[1]]
            _ = try transaction.fetchCount(From<Person>())
            people[0].balance = 7
            toys[0].owner = people[1]
            people[0].refreshAsFault()
            toys[0].refreshAsFault()
            #expect(people[0].name == "a")
            #expect(people[0].balance == 0)
            #expect(people[0].friends.isEmpty && people[1].friendOf.isEmpty)
            #expect(toys[0].owner === people[0])
            #expect(people[0].toys == [toys[0]] && people[1].toys == [toys[1]])
            people[1].name = "kept"
        })
        try queue.sync { () throws in
            let people = try stack.fetchAll(From<Person>().orderBy(.ascending(\.$email)))
            #expect(people.map(\.name) == ["a", "kept"])
            #expect(people[0].toys.map(\.label) == ["a"])
            #expect(people[0].friends.isEmpty)
        }
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
