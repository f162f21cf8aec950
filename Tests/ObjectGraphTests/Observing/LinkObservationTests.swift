import TestSupport
import Testing

@testable import ObjectGraph

/// Observed relationships, in a stack's view and where they are assigned.
@Suite(.timeLimit(.minutes(hangMinutes))) struct LinkObservationTests {
    private func name(_ person: Person?) -> String { person?.name ?? "-" }

    private func names(_ people: [Person]?) -> String {
        people.map { $0.map(\.name).joined(separator: ",") } ?? "-"
    }

    private func ages(_ pets: Set<Animal>?) -> String {
        pets.map { "\($0.compactMap { ($0 as? Dog)?.age }.sorted())" } ?? "-"
    }

    /// Ada with dogs of ages 1 and 2, Bob with one of age 3.
    private func withZoo(
        _ body: (DataStack, _ ada: Person, _ bob: Person, _ dogs: [Dog]) throws -> Void
    ) throws {
        let (stack, queue) = try Zoo.stack()
        try stack.perform(synchronous: { transaction in
            let (ada, bob) = (
                transaction.create(Into<Person>()), transaction.create(Into<Person>())
            )
            (ada.name, ada.email, bob.name, bob.email) = ("Ada", "a", "Bob", "b")
            for age in 1...3 {
                let dog = transaction.create(Into<Dog>())
                (dog.age, dog.master) = (age, age < 3 ? ada : bob)
            }
        })
        try queue.sync {
            let people = try stack.fetchAll(From<Person>().orderBy(.ascending(\.$name)))
            let dogs = try stack.fetchAll(From<Dog>().orderBy(.ascending(\.$age)))
            try body(stack, people[0], people[1], dogs)
        }
    }

    @Test func `both ends of a relationship are reported, whichever end was assigned`() throws {
        try withZoo { stack, ada, bob, dogs in
            var calls: [String] = []
            let master = dogs[0].observe(\.$master, options: [.new, .old, .prior]) { dog, change in
                let values = "\(name(change.oldValue ?? nil))>\(name(change.newValue ?? nil))"
                calls.append((change.isPrior ? "prior " : "") + "\(values) \(name(dog.master))")
            }
            let pets = ada.observe(\.$pets, options: [.new, .old]) { _, change in
                calls.append("\(ages(change.oldValue))>\(ages(change.newValue))")
            }

            try stack.perform(synchronous: { transaction in
                let dog = transaction.edit(dogs[0])
                transaction.edit(bob)?.pets.insert(try #require(dog))
            })
            #expect(calls == ["prior Ada>- Ada", "Ada>Bob Bob", "[1, 2]>[2]"])
            calls = []
            try stack.perform(synchronous: { $0.edit(dogs[1])?.age = 9 })
            try stack.perform(synchronous: { $0.edit(ada)?.balance = 9 })
            #expect(calls.isEmpty, "changed values were reported as links")
            try stack.perform(synchronous: { $0.delete(dogs[1]) })
            #expect(calls == ["[9]>[]"])
            withExtendedLifetime((master, pets)) {}
        }
    }

    @Test func `reordering an ordered relationship is reported`() throws {
        try withZoo { stack, ada, bob, _ in
            var calls: [String] = []
            let friends = ada.observe(\.$friends, options: [.new, .old]) { _, change in
                calls.append("\(names(change.oldValue))>\(names(change.newValue))")
            }
            try stack.perform(synchronous: { transaction in
                let ada = try #require(transaction.edit(ada))
                ada.friends = [ada, try #require(transaction.edit(bob))]
            })
            try stack.perform(synchronous: { transaction in
                transaction.edit(ada)?.friends.reverse()
            })
            #expect(calls == [">Ada,Bob", "Ada,Bob>Bob,Ada"])
            withExtendedLifetime(friends) {}
        }
    }

    @Test func `in a transaction both ends are reported once all links are set`() throws {
        try withZoo { stack, ada, bob, dogs in
            try stack.perform(synchronous: { transaction in
                var calls: [String] = []
                let ada = try #require(transaction.edit(ada))
                let bob = try #require(transaction.edit(bob))
                let dogs = dogs.compactMap { transaction.edit($0) }
                let ofAda = ada.observe(\.$pets, options: [.new, .old, .prior]) { person, change in
                    let values = "\(ages(change.oldValue))>\(ages(change.newValue))"
                    calls.append((change.isPrior ? "prior Ada " : "Ada ") + values)
                    // Both sides of the link agree.
                    let isAda = dogs[0].master === ada
                    #expect(person.pets.contains(dogs[0]) == isAda)
                    #expect(bob.pets.contains(dogs[0]) != isAda)
                }
                let ofBob = bob.observe(\.$pets, options: [.new]) { _, change in
                    calls.append("Bob \(ages(change.newValue))")
                }
                let ofDog = dogs[0].observe(\.$master, options: [.new, .old]) { _, change in
                    calls.append(
                        "dog \(name(change.oldValue ?? nil))>\(name(change.newValue ?? nil))")
                }

                dogs[0].master = bob
                #expect(
                    calls == ["prior Ada [1, 2]>-", "dog Ada>Bob", "Ada [1, 2]>[2]", "Bob [1, 3]"])
                calls = []
                // Two dogs change owners by one assignment, which is reported once.
                ada.pets = [dogs[0], dogs[1], dogs[2]]
                #expect(calls.first == "prior Ada [2]>-")
                // A set has its objects in any order.
                #expect(
                    calls.dropFirst().sorted() == ["Ada [2]>[1, 2, 3]", "Bob []", "dog Bob>Ada"])
                calls = []
                dogs[0].master = ada
                #expect(
                    calls == ["dog Ada>Ada"], "the assigned end is told, the other did not change")
                calls = []
                transaction.delete(dogs[1])
                #expect(calls == ["prior Ada [1, 2, 3]>-", "Ada [1, 2, 3]>[1, 3]"])
                calls = []
                ofAda.invalidate()
                ada.pets = []
                #expect(calls == ["dog Ada>-"])
                withExtendedLifetime((ofBob, ofDog)) {}
            })
            #expect(ada.pets.isEmpty && bob.pets.isEmpty)
        }
    }
}
