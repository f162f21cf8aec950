import ObjectGraph
import Testing

/// Fetches by one property's value: those by an index skip planning and find what a planned fetch
/// finds.
@Suite struct KeyedFetchTests {
    private let stack: DataStack
    private let queue: DispatchQueue

    init() throws {
        (stack, queue) = try Zoo.stack()
        try stack.perform(synchronous: { transaction in
            for number in 0..<12 {
                let animal =
                    number % 3 == 0
                    ? transaction.create(Into<Animal>()) : transaction.create(Into<Dog>())
                animal.species = "species \(number % 2)"
                animal.color = "\(number)"
            }
            for number in 0..<4 {
                let person = transaction.create(Into<Person>())
                person.name = "Ada"
                person.email = "\(number)@example.org"
            }
        })
    }

    private func colors<O: Animal>(
        _ type: O.Type, _ clauses: any FetchClause...
    ) throws -> [String?] {
        try queue.sync {
            let objects = try stack.fetchAll(From<O>(), clauses)
            let ids = try stack.fetchObjectIDs(From<O>(), clauses)
            #expect(ids == objects.map { $0.objectID() })
            return objects.map(\.color)
        }
    }

    @Test func `an index finds what a search of all objects finds`() throws {
        let keyed: Where<Animal> = \.$species == "species 1"
        let searched = Where<Animal>("species == %@ AND TRUEPREDICATE", "species 1")
        #expect(try colors(Animal.self, keyed) == ["1", "3", "5", "7", "9", "11"])
        #expect(try colors(Animal.self, keyed) == (try colors(Animal.self, searched)))
        let none: Where<Animal> = \.$species == "none"
        #expect(try colors(Animal.self, none).isEmpty)
    }

    @Test func `a class below the index's has its own objects only`() throws {
        let clause = Where<Dog>("species", isEqualTo: "species 0")
        #expect(try colors(Dog.self, clause) == ["2", "4", "8", "10"])
        let exactly = Tweak { $0.includesSubentities = false }
        let all: Where<Animal> = \.$species == "species 0"
        #expect(try colors(Animal.self, all, exactly) == ["0", "6"])
    }

    @Test func `limits, offsets and orders hold for what an index finds`() throws {
        let clause: Where<Animal> = \.$species == "species 1"
        let part = Tweak {
            $0.fetchLimit = 2
            $0.fetchOffset = 1
        }
        #expect(try colors(Animal.self, clause, part) == ["3", "5"])
        #expect(
            try colors(Animal.self, clause, OrderBy<Animal>(.descending(\.$color)), part)
                == ["7", "5"])
    }

    @Test func `a fetch sees its transaction's changes unless it excludes pending ones`() throws {
        try stack.perform(synchronous: { transaction in
            let clause = From<Person>().where(\.$email == "1@example.org")
            let person = try #require(try transaction.fetchOne(clause))
            person.email = "new@example.org"
            #expect(try transaction.fetchOne(clause) == nil)
            let before = clause.tweak { $0.includesPendingChanges = false }
            #expect(try transaction.fetchOne(before) == person)
            #expect(
                try transaction.fetchOne(From<Person>().where(\.$email == "new@example.org"))
                    == person)
            #expect(try transaction.fetchOne(before)?.email == "new@example.org")
        })
    }

    @Test func `a condition is equal in each form that it can be written in`() throws {
        let conditions: [Where<Person>] = [
            \.$email == "x", Where("email", isEqualTo: "x"), Where("email == %@", "x"),
            Where(NSPredicate(format: "email == %@", "x")), Where { $0.$email == "x" },
        ]
        for condition in conditions {
            #expect(condition == conditions[0])
            #expect(condition.hashValue == conditions[0].hashValue)
            #expect("\(condition.predicate)" == "email == \"x\"")
            #expect(!condition == Where<Person>("NOT email == %@", "x"))
        }
        let others: [Where<Person>] = [
            \.$email == "y", \.$name == "x", Where("email ==[c] %@", "x"),
        ]
        for other in others { #expect(other != conditions[0]) }
    }

    @Test func `a value that no key holds is compared as in a search of all objects`() throws {
        let dogs: [(Where<Dog>, Where<Dog>)] = [
            (Where("age", isEqualTo: 1.0), Where("age == %@ AND TRUEPREDICATE", 1.0)),
            (Where("age", isEqualTo: 1.5), Where("age == %@ AND TRUEPREDICATE", 1.5)),
            (Where("age", isEqualTo: true), Where("age == %@ AND TRUEPREDICATE", true)),
            (Where("age == nil"), Where("age == nil AND TRUEPREDICATE")),
            (Where("nickname == nil"), Where("nickname == nil AND TRUEPREDICATE")),
        ]
        for (keyed, searched) in dogs {
            #expect(try colors(Dog.self, keyed) == (try colors(Dog.self, searched)))
        }
        #expect(try colors(Dog.self, dogs[0].0).count == 8)
        #expect(try colors(Dog.self, dogs[1].0).isEmpty)
        let long = String(repeating: "x", count: 5000)
        try stack.perform(synchronous: { transaction in
            for end in ["a", "b"] {
                let animal = transaction.create(Into<Animal>())
                animal.species = long + end
                animal.color = end
            }
        })
        let cut: Where<Animal> = \.$species == long + "b"
        #expect(try colors(Animal.self, cut) == ["b"])
    }

    @Test func `an equality on a property without an index finds the objects by a scan`() throws {
        try queue.sync { () throws in
            #expect(try stack.fetchAll(From<Animal>().where(\.$color == "3")).count == 1)
            #expect(
                try stack.fetchAll(From<Animal>(), Where<Animal>("master.name", isEqualTo: "Ada"))
                    .isEmpty)
            #expect(throws: CoreStoreError.self) {
                try stack.fetchAll(From<Animal>(), Where<Animal>("wings", isEqualTo: 2))
            }
        }
    }

    @Test func `a keyed fetch covers all stores of a class`() throws {
        let all: Set = ["Archive"]
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entityConfigurations: [
                    Entity<Animal>("Animal"): all, Entity<Dog>("Dog"): all,
                    Entity<Toy>("Toy"): all, Entity<Debt>("Debt"): all,
                    Entity<Person>(
                        "Person", indexes: [[\.$name]], uniqueConstraints: [[\.$email]]): all,
                ]), viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        try stack.addStorageAndWait(InMemoryStore(configuration: "Archive"))
        try stack.perform(synchronous: { transaction in
            transaction.create(Into<Person>(nil)).name = "Ada"
            transaction.create(Into<Person>("Archive")).name = "Ada"
        })
        try queue.sync { () throws in
            let clause: Where<Person> = \.$name == "Ada"
            #expect(try stack.fetchAll(From<Person>(), clause).count == 2)
            #expect(try stack.fetchAll(From<Person>(["Archive"]), clause).count == 1)
        }
    }
}
