import ObjectGraph
import TestSupport
import Testing

/// To-many sides that mirror a to-one, while a transaction changes them.
@Suite struct LinkOverlayTests {
    @Test func `both sides of unflushed links agree with a model at any time`() throws {
        var random = SeededRandom(for: "LinkOverlayTests")
        let (stack, _) = try Zoo.stack()
        let ids = try stack.perform(synchronous: { transaction in
            let people = (0..<4).map { number in
                let person = transaction.create(Into<Person>())
                person.email = "\(number)"
                return person.objectID()
            }
            let pets = (0..<12).map { _ in transaction.create(Into<Dog>()).objectID() }
            return (people: people, pets: pets)
        })
        try stack.perform(synchronous: { transaction in
            let people: [Person] = ids.people.compactMap { transaction.fetchExisting($0) }
            let pets: [Dog] = ids.pets.compactMap { transaction.fetchExisting($0) }
            try #require(people.count == 4 && pets.count == 12)
            for _ in 0..<300 {
                let pet = pets[random.below(pets.count)]
                switch random.below(6) {
                case 0: pet.master = nil
                case 1: people[random.below(people.count)].pets.insert(pet)
                case 2: people[random.below(people.count)].pets.remove(pet)
                default: pet.master = people[random.below(people.count)]
                }
                guard random.below(4) == 0 else { continue }
                for person in people {
                    let expected = Set(pets.filter { $0.master === person } as [Animal])
                    #expect(person.pets == expected, "seed \(random.seed)")
                }
            }
        })
    }

    @Test func `a change of links alone does not undo a later transaction's values`() throws {
        let (stack, queue) = try Zoo.stack()
        let (person, pet) = try stack.perform(synchronous: { transaction in
            let person = transaction.create(Into<Person>())
            person.name = "Ann"
            return (person.objectID(), transaction.create(Into<Dog>()).objectID())
        })
        try stack.perform(synchronous: { transaction in
            let owner: Person? = transaction.fetchExisting(person)
            let dog: Dog? = transaction.fetchExisting(pet)
            #expect(owner?.name == "Ann")
            dog?.master = owner
            _ = try transaction.fetchCount(From<Dog>())
            owner?.name = "Bea"
            #expect(transaction.updatedObjectIDs() == [person, pet])
        })
        try queue.sync {
            let owner: Person? = stack.fetchExisting(person)
            #expect(owner?.name == "Bea")
            #expect(owner?.pets.count == 1)
            let former = try stack.fetchCount(From<Person>().where(\.$name == "Ann"))
            #expect(former == 0)
        }
    }
}
