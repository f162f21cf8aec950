import ObjectGraph
import TestSupport
import Testing

/// Links against a model of them: whatever a transaction does, both sides agree.
@Suite struct LinkTests {
    /// The expected links of some people, as a simple model.
    private struct Expected {
        var friends: [[Int]]
        var spouse: [Int?]
        var owner: [Int?]

        mutating func marry(_ person: Int, _ partner: Int?) {
            if let partner {
                for other in spouse.indices where spouse[other] == partner { spouse[other] = nil }
            }
            spouse[person] = partner
        }
    }

    @Test func `a relationship leads to each object once, however many are read together`() throws {
        var random = SeededRandom(for: "many links")
        let (stack, queue) = try Zoo.stack()
        let count = 30
        let ids = try stack.perform(synchronous: { transaction in
            let person = transaction.create(Into<Person>())
            var dogs: [Dog] = []
            for number in 0..<count {
                // The objects between them put them on other leaves.
                for _ in 0..<40 {
                    transaction.create(Into<Animal>()).color = String(repeating: "x", count: 60)
                }
                let dog = transaction.create(Into<Dog>())
                (dog.nickname, dog.age, dog.master) = ("\(number)", number, person)
                dogs.append(dog)
            }
            return (person: person.objectID(), dogs: dogs.map { $0.objectID() })
        })
        let names = Set((0..<count).map { "\($0)" })
        try queue.sync {
            let person: Person = try #require(stack.fetchExisting(ids.person))
            // Some have been read before, and some of these must be read again.
            for _ in 0..<20 {
                var known: [Dog] = []
                for _ in 0..<random.below(20) {
                    let dog: Dog = try #require(stack.fetchExisting(ids.dogs[random.below(count)]))
                    if random.below(3) == 0 { dog.refreshAsFault() }
                    known.append(dog)
                }
                let found = person.pets.compactMap { $0 as? Dog }
                #expect(found.count == count, "seed \(random.seed)")
                #expect(Set(found.compactMap(\.nickname)) == names, "seed \(random.seed)")
                #expect(found.allSatisfy { $0.nickname == "\($0.age)" }, "seed \(random.seed)")
                #expect(known.allSatisfy { found.contains($0) }, "seed \(random.seed)")
            }
        }
        try stack.perform(synchronous: { transaction in
            for id in ids.dogs.prefix(11) { transaction.delete(objectIDs: [id]) }
            let person: Person = try #require(transaction.fetchExisting(ids.person))
            #expect(person.pets.count == count - 11)
        })
        try queue.sync {
            let person: Person = try #require(stack.fetchExisting(ids.person))
            #expect(Set(person.pets.map { $0.objectID() }) == Set(ids.dogs.dropFirst(11)))
        }
    }

    @Test(arguments: 0..<4)
    func `both sides agree after any sequence of changes`(round: Int) throws {
        var random = SeededRandom(for: "links \(round)")
        let (stack, queue) = try Zoo.stack()
        let (peopleCount, toyCount) = (6, 8)
        let ids = try stack.perform(synchronous: { transaction in
            let people = (0..<peopleCount).map { number in
                let person = transaction.create(Into<Person>())
                person.email = "\(number)"
                return person.objectID()
            }
            let toys = (0..<toyCount).map { _ in transaction.create(Into<Toy>()).objectID() }
            return (people: people, toys: toys)
        })
        var expected = Expected(
            friends: Array(repeating: [], count: peopleCount),
            spouse: Array(repeating: nil, count: peopleCount),
            owner: Array(repeating: nil, count: toyCount))
        for _ in 0..<12 {
            let isKept = random.below(4) > 0
            var next = expected
            do {
                try stack.perform(synchronous: { transaction in
                    let people: [Person] = ids.people.compactMap { transaction.fetchExisting($0) }
                    let toys: [Toy] = ids.toys.compactMap { transaction.fetchExisting($0) }
                    try #require(people.count == peopleCount && toys.count == toyCount)
                    for _ in 0..<10 {
                        change(people, toys, &next, &random)
                        if random.below(5) == 0 {
                            _ = try transaction.fetchCount(From<Toy>())
                        }
                        check(people, toys, next, random.seed)
                    }
                    if !isKept { try transaction.cancel() }
                })
                expected = next
            } catch CoreStoreError.userCancelled {
                #expect(!isKept)
            }
            queue.sync {
                let people: [Person] = ids.people.compactMap { stack.fetchExisting($0) }
                let toys: [Toy] = ids.toys.compactMap { stack.fetchExisting($0) }
                check(people, toys, expected, random.seed)
            }
        }
    }

    private func change(
        _ people: [Person], _ toys: [Toy], _ expected: inout Expected,
        _ random: inout SeededRandom
    ) {
        let a = random.below(people.count)
        let b = random.below(people.count)
        let toy = random.below(toys.count)
        switch random.below(7) {
        case 0:
            toys[toy].owner = people[a]
            expected.owner[toy] = a
        case 1:
            toys[toy].owner = nil
            expected.owner[toy] = nil
        case 2:
            let chosen = Array(toys.indices.shuffled(using: &random).prefix(3))
            people[a].toys = chosen.map { toys[$0] }
            for index in toys.indices {
                if chosen.contains(index) {
                    expected.owner[index] = a
                } else if expected.owner[index] == a {
                    expected.owner[index] = nil
                }
            }
        case 3:
            let chosen = Array(people.indices.shuffled(using: &random).prefix(3))
            people[a].friends = (chosen + chosen.prefix(1)).map { people[$0] }
            expected.friends[a] = chosen
        case 4:
            people[a].friendOf.insert(people[b])
            if !expected.friends[b].contains(a) { expected.friends[b].append(a) }
        case 5:
            people[a].spouse = people[b]
            expected.marry(a, b)
        default:
            people[a].spouseOf = nil
            for other in expected.spouse.indices where expected.spouse[other] == a {
                expected.spouse[other] = nil
            }
        }
    }

    private func check(
        _ people: [Person], _ toys: [Toy], _ expected: Expected, _ seed: UInt64
    ) {
        for (index, toy) in toys.enumerated() {
            #expect(toy.owner === expected.owner[index].map { people[$0] }, "seed \(seed)")
        }
        for (index, person) in people.enumerated() {
            let owned = toys.indices.filter { expected.owner[$0] == index }
            #expect(Set(person.toys) == Set(owned.map { toys[$0] }), "seed \(seed)")
            #expect(person.friends == expected.friends[index].map { people[$0] }, "seed \(seed)")
            let admirers = people.indices.filter { expected.friends[$0].contains(index) }
            #expect(person.friendOf == Set(admirers.map { people[$0] }), "seed \(seed)")
            #expect(person.spouse === expected.spouse[index].map { people[$0] }, "seed \(seed)")
            let suitor = expected.spouse.firstIndex { $0 == index }
            #expect(person.spouseOf === suitor.map { people[$0] }, "seed \(seed)")
        }
    }

    @Test func `setting a link of an object whose values are unread keeps its values`() throws {
        let (stack, queue) = try Zoo.stack()
        let (a, b) = try stack.perform(synchronous: { transaction in
            let a = transaction.create(Into<Person>())
            let b = transaction.create(Into<Person>())
            (a.email, b.email, a.balance) = ("a", "b", 12)
            return (a.objectID(), b.objectID())
        })
        try stack.perform(synchronous: { transaction in
            let first: Person = try #require(transaction.fetchExisting(a))
            let second: Person = try #require(transaction.fetchExisting(b))
            first.friends = [second]
        })
        try queue.sync {
            let first: Person = try #require(stack.fetchExisting(a))
            #expect(first.email == "a")
            #expect(first.balance == 12)
            #expect(first.friends.map(\.email) == ["b"])
        }
    }

    @Test func `a deletion cascades to the toys and nullifies the masters of the pets`() throws {
        let (stack, queue) = try Zoo.stack()
        try stack.perform(synchronous: { transaction in
            let person = transaction.create(Into<Person>())
            person.toys = (0..<3).map { _ in transaction.create(Into<Toy>()) }
            person.pets = [transaction.create(Into<Dog>()), transaction.create(Into<Animal>())]
        })
        try stack.perform(synchronous: { transaction in
            transaction.delete(try transaction.fetchOne(From<Person>()))
        })
        try queue.sync {
            #expect(try stack.fetchCount(From<Toy>()) == 0)
            let animals = try stack.fetchAll(From<Animal>())
            #expect(animals.count == 2)
            #expect(animals.allSatisfy { $0.master == nil })
        }
    }

    @Test func `an object created and deleted in one transaction leaves no link`() throws {
        let (stack, queue) = try Zoo.stack()
        try stack.perform(synchronous: { transaction in
            let a = transaction.create(Into<Person>())
            let b = transaction.create(Into<Person>())
            (a.email, b.email) = ("a", "b")
            a.friends = [b]
            a.spouse = b
            transaction.delete(b)
            #expect(a.friends.isEmpty)
            #expect(a.spouse == nil)
        })
        try queue.sync {
            let a = try #require(try stack.fetchOne(From<Person>()))
            #expect(try stack.fetchCount(From<Person>()) == 1)
            #expect(a.friends.isEmpty)
            #expect(a.spouse == nil)
        }
    }
}
