import ObjectGraph
import Testing

@Suite struct TransactionTests {
    @Test func `objects have all their values after reopening`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let queue = DispatchQueue(label: "view")
        let born = Date(timeIntervalSince1970: 1_000_000_000.25)
        let photo = Data((0..<100_000).map { UInt8($0 % 250) })
        do {
            let stack = DataStack(Zoo.schema(), viewContext: .queue(queue))
            try stack.addStorageAndWait(LocalStore(fileURL: url))
            try stack.perform(synchronous: { transaction in
                let person = transaction.create(Into<Person>())
                person.name = "Ada Lovelace, Countess"
                person.email = "ada@example.org"
                person.balance = -12.5
                person.score = Decimal(string: "123456789012345678.000000001") ?? 0
                person.born = born
                person.photo = photo
                person.home = URL(string: "https://example.org/ä")
                person.isMember = true
                person.level = 255
                person.title = "countess"
                let dog = transaction.create(Into<Dog>())
                dog.nickname = "Rex"
                dog.age = 3
                dog.master = person
                let cat = transaction.create(Into<Animal>())
                cat.species = "Cat"
                person.pets.insert(cat)
            })
            stack.unsafeRemoveAllPersistentStoresAndWait()
        }
        let stack = DataStack(Zoo.schema(), viewContext: .queue(queue))
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        try queue.sync {
            let person = try #require(
                try stack.fetchOne(From<Person>().where(\.$email == "ada@example.org")))
            #expect(person.name == "Ada Lovelace, Countess")
            #expect(person.balance == -12.5)
            #expect(person.score == Decimal(string: "123456789012345678.000000001"))
            #expect(person.born == born)
            #expect(person.photo == photo)
            #expect(person.home == URL(string: "https://example.org/ä"))
            #expect(person.isMember)
            #expect(person.level == 255)
            #expect(person.title == "Dr. COUNTESS")
            #expect(Set(person.pets.map(\.species)) == ["Swift", "Cat"])
            let dog = try #require(try stack.fetchOne(From<Dog>()))
            #expect(dog.master === person)
            #expect(dog.nickname == "Rex")
            let animals = try stack.fetchAll(From<Animal>().orderBy(.ascending(\.$species)))
            #expect(animals.count == 2)
            #expect(animals[1] is Dog)
            #expect(animals[1] === dog)
            #expect(try stack.fetchCount(From<Dog>().where(\.$species == "Swift")) == 1)
        }
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `assigning one side of a relationship updates the other at once`() throws {
        let (stack, _) = try Zoo.stack()
        try stack.perform(synchronous: { transaction in
            let a = transaction.create(Into<Person>())
            let b = transaction.create(Into<Person>())
            let c = transaction.create(Into<Person>())
            (a.email, b.email, c.email) = ("a", "b", "c")
            a.friends = [c, b, c]
            #expect(a.friends == [c, b])
            #expect(b.friendOf == [a])
            a.spouse = b
            #expect(b.spouseOf === a)
            c.spouse = b
            #expect(a.spouse == nil)
            #expect(b.spouseOf === c)
            let toy = transaction.create(Into<Toy>())
            a.toys = [toy]
            #expect(toy.owner === a)
            b.toys = [toy]
            #expect(a.toys.isEmpty)
            #expect(toy.owner === b)
            _ = try transaction.fetchCount(From<Toy>())
            toy.owner = c
            #expect(b.toys.isEmpty)
            #expect(c.toys == [toy])
            b.friendOf = []
            #expect(a.friends == [c])
        })
        try stack.perform(synchronous: { transaction in
            let c = try #require(
                try transaction.fetchOne(From<Person>().where(\.$email == "c")))
            #expect(c.toys.count == 1)
            #expect(c.friendOf.map(\.email) == ["a"])
            #expect(c.spouse?.email == "b")
            transaction.delete(c)
            let count = try transaction.fetchCount(From<Toy>())
            #expect(count == 0)
        })
        try stack.perform(synchronous: { transaction in
            let count = try transaction.fetchCount(From<Person>())
            #expect(count == 2)
            let b = try transaction.fetchOne(From<Person>().where(\.$email == "b"))
            #expect(b?.spouseOf == nil)
            let a = try transaction.fetchOne(From<Person>().where(\.$email == "a"))
            #expect(a?.friends == [])
        })
    }

    @Test func `a deny rule keeps everything as it was`() throws {
        let (stack, queue) = try Zoo.stack()
        try stack.perform(synchronous: { transaction in
            let debt = transaction.create(Into<Debt>())
            debt.debtor = transaction.create(Into<Person>())
        })
        #expect(throws: CoreStoreError.self) {
            try stack.perform(synchronous: { transaction in
                try transaction.deleteAll(From<Person>())
            })
        }
        try queue.sync { () throws in
            #expect(try stack.fetchCount(From<Person>()) == 1)
            #expect(try stack.fetchOne(From<Debt>())?.debtor != nil)
        }
        try stack.perform(synchronous: { transaction in
            try transaction.deleteAll(From<Debt>())
            try transaction.deleteAll(From<Person>())
        })
        #expect(try queue.sync { try stack.fetchCount(From<Person>()) } == 0)
    }

    @Test func `a unique conflict changes the stored object and keeps its identity`() throws {
        let (stack, queue) = try Zoo.stack()
        let first = try stack.perform(synchronous: { transaction in
            let person = transaction.create(Into<Person>())
            person.email = "x"
            person.name = "First"
            person.balance = 5
            return person.objectID()
        })
        try stack.perform(synchronous: { transaction in
            let person = transaction.create(Into<Person>())
            person.email = "x"
            person.name = "Second"
            let dog = transaction.create(Into<Dog>())
            dog.master = person
            let twin = transaction.create(Into<Person>())
            twin.email = "y"
            twin.name = "Old"
            let other = transaction.create(Into<Person>())
            other.email = "y"
            other.name = "New"
        })
        try queue.sync {
            let people = try stack.fetchAll(From<Person>().orderBy(.ascending(\.$email)))
            #expect(people.map(\.name) == ["Second", "New"])
            #expect(people[0].objectID() == first)
            #expect(people[0].balance == 5)
            #expect(people[0].pets.count == 1)
        }
    }

    @Test func `an import updates existing objects and creates the others`() throws {
        let (stack, queue) = try Zoo.stack()
        for round in 0..<2 {
            let made = try stack.perform(synchronous: { transaction in
                let people = try transaction.importUniqueObjects(
                    Into<Person>(),
                    sourceArray: (0..<2500).map {
                        ["email": "\($0)@x", "name": "round \(round)"]
                    } + [["email": "7@x", "name": "last \(round)"], ["name": "nobody"]])
                #expect(people[7].name == "last \(round)")
                return transaction.insertedObjectIDs().count
            })
            #expect(made == (round == 0 ? 2500 : 0))
        }
        try queue.sync { () throws in
            #expect(try stack.fetchCount(From<Person>()) == 2500)
            #expect(try stack.fetchCount(From<Person>().where(\.$name == "round 1")) == 2499)
        }
    }

    @Test(arguments: [false, true])
    func `the last source of an ID is imported, in the position of the first`(
        isPreprocessed: Bool
    ) throws {
        let (stack, _) = try Zoo.stack()
        let sources = ["1", "2", "1", "3", "2", "1"].enumerated().map { index, id in
            ["email": id, "name": "\(index)"]
        }
        let names = try stack.perform(synchronous: { transaction in
            let people =
                isPreprocessed
                ? try transaction.importUniqueObjects(
                    Into<Person>(), sourceArray: sources, preProcess: { $0 })
                : try transaction.importUniqueObjects(Into<Person>(), sourceArray: sources)
            return people.map { "\($0.email) \($0.name)" }
        })
        #expect(names == ["1 5", "2 4", "3 3"])
    }

    @Test func `a nested transaction throws at once`() throws {
        let (stack, _) = try Zoo.stack()
        try stack.perform(synchronous: { transaction in
            let failure = #expect(throws: CoreStoreError.self) {
                try stack.perform(synchronous: { _ in })
            }
            #expect(failure != nil)
        })
    }

    @Test func `a cancelled or failed transaction leaves nothing`() throws {
        struct Mistake: Error {}
        let (stack, queue) = try Zoo.stack()
        let cancelled = #expect(throws: CoreStoreError.self) {
            try stack.perform(synchronous: { transaction in
                transaction.create(Into<Person>()).name = "gone"
                try transaction.cancel()
            })
        }
        #expect(cancelled == .userCancelled)
        let failed = #expect(throws: CoreStoreError.self) {
            try stack.perform(synchronous: { transaction in
                transaction.create(Into<Person>()).name = "gone"
                throw Mistake()
            })
        }
        #expect(failed == .userError(error: Mistake()))
        #expect(try queue.sync { try stack.fetchCount(From<Person>()) } == 0)
    }

    @Test func `the view keeps its commit until it is used where it lives`() async throws {
        let (stack, queue) = try Zoo.stack()
        try stack.perform(synchronous: { transaction in
            transaction.create(Into<Person>()).name = "one"
        })
        let id = try queue.sync {
            let person = try #require(try stack.fetchOne(From<Person>()))
            #expect(person.name == "one")
            return person.objectID()
        }
        try await stack.async.perform { transaction in
            let person: Person? = transaction.fetchExisting(id)
            person?.name = "two"
        }
        try queue.sync {
            let person: Person? = stack.fetchExisting(id)
            #expect(person?.name == "two")
            try stack.perform(synchronous: { transaction in transaction.delete(person) })
            #expect(stack.fetchExisting(id) as Person? == nil)
            #expect(person?.name == "two")
        }
    }

    @Test func `queries aggregate without making an object`() throws {
        let (stack, queue) = try Zoo.stack()
        try stack.perform(synchronous: { transaction in
            for number in 0..<100 {
                let dog = transaction.create(Into<Dog>())
                dog.age = number % 10
                dog.nickname = number % 3 == 0 ? nil : "Dog \(number)"
            }
        })
        let made = stack.statistics.objectsMade
        try queue.sync { () throws in
            #expect(try stack.queryValue(From<Dog>().select(Int.self, .maximum(\.$age))) == 9)
            #expect(try stack.queryValue(From<Dog>().select(Int.self, .sum(\.$age))) == 450)
            #expect(
                try stack.queryValue(From<Dog>().select(Double.self, .average(\.$age))) == 4.5)
            #expect(
                try stack.queryValue(From<Dog>().select(Int.self, .count(\.$nickname))) == 66)
            #expect(
                try stack.queryValue(
                    From<Dog>(), Select<Dog, Int>("age"),
                    Where<Dog>("nickname == %@", "Dog 5")) == 5)
            let groups = try stack.queryAttributes(
                From<Dog>().select(.attribute(\.$age), .count(\.$age, as: "count"))
                    .groupBy(\.$age).orderBy(.descending(\.$age)))
            #expect(groups.count == 10)
            #expect(groups[0]["age"] as? Int64 == 9)
            #expect(groups[0]["count"] as? Int64 == 10)
            #expect(try stack.fetchCount(From<Dog>().where(\.$age > 5)) == 40)
            #expect(try stack.fetchAll(From<Dog>().where(\.$age > 50)).isEmpty)
            #expect(try stack.fetchCount(From<Dog>().where(\.$nickname != "Dog 5")) == 99)
            #expect(
                try stack.fetchCount(
                    From<Dog>().where(format: "nickname CONTAINS[c] %@ AND age < %d", "dOg", 5))
                    == 33)
        }
        #expect(stack.statistics.objectsMade == made)
    }

    @Test func `an impossible condition is an error with words and not a trap`() throws {
        let (stack, queue) = try Zoo.stack()
        queue.sync {
            for format in ["agee == 3", "age ==", "name == %@ AND", "(((", "ANY age > 3 OR"] {
                let failure = #expect(throws: CoreStoreError.self) {
                    try stack.fetchAll(From<Dog>(), Where<Dog>(format))
                }
                #expect(failure?.description.isEmpty == false, "\(format)")
            }
        }
    }
}
