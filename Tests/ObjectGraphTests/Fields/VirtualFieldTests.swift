import ObjectGraph
import Synchronization
import Testing

private let computedCount = Atomic<Int>(0)

private class Creature: CoreStoreObject {
    @Field.Stored("species") var species: String = ""
    @Field.Virtual("plural", customGetter: { object, field in object.$species.value + "s" })
    var plural: String
    @Field.Virtual(
        "cached",
        customGetter: { object, field in
            if let known = field.primitiveValue { return known }
            computedCount.add(1, ordering: .relaxed)
            let value = "<\(object.$species.value)>"
            field.primitiveValue = value
            return value
        }, affectedByKeyPaths: [String(keyPath: \Creature.$species)])
    var cached: String
    @Field.Virtual("isSelected") var isSelected: Bool?
}

private final class Horse: Creature {
    @Field.Stored("first") var first: String = ""
    @Field.Stored("last") var last: String = ""
    @Field.Virtual(
        "fullName",
        customGetter: { object, field in "\(object.$first.value) \(object.$last.value)" },
        customSetter: { object, field, value in
            let parts = value.split(separator: " ", maxSplits: 1).map(String.init)
            object.$first.value = parts.first ?? ""
            object.$last.value = parts.last ?? ""
        })
    var fullName: String
    @Field.Virtual(
        "sign",
        customGetter: { object, field in "\(object.$fullName.value), \(object.$plural.value)" })
    var sign: String
    @Field.Stored(
        "shown",
        customGetter: { object, field in
            let value = (field.primitiveValue ?? "") + "!"
            field.primitiveValue = value
            return value
        })
    var shown: String = "x"
}

private func makeStack() throws -> (DataStack, DispatchQueue) {
    let queue = DispatchQueue(label: "view")
    let stack = DataStack(
        CoreStoreSchema(
            modelVersion: "V1",
            entities: [Entity<Creature>("Creature"), Entity<Horse>("Horse")]),
        viewContext: .queue(queue))
    try stack.addStorageAndWait(InMemoryStore())
    return (stack, queue)
}

/// Properties that are computed and never stored.
@Suite struct VirtualFieldTests {
    @Test func `a virtual property is computed in the view and in transactions`() throws {
        let (stack, queue) = try makeStack()
        try stack.perform(synchronous: { transaction in
            let horse = transaction.create(Into<Horse>())
            horse.species = "Shetlander"
            #expect(horse.plural == "Shetlanders")
            horse.fullName = "Nora Bay"
            #expect((horse.first, horse.last) == ("Nora", "Bay"))
            #expect(horse.sign == "Nora Bay, Shetlanders")
        })
        try queue.sync {
            let creature = try #require(try stack.fetchOne(From<Creature>()))
            #expect(creature.plural == "Shetlanders")
            #expect((creature as? Horse)?.sign == "Nora Bay, Shetlanders")
            #expect(String(keyPath: \Horse.$plural) == "plural")
        }
    }

    @Test func `a value cached by a getter lasts until the object reads its record again`() throws {
        let (stack, queue) = try makeStack()
        try stack.perform(synchronous: { $0.create(Into<Creature>()).species = "Cat" })
        let creature = try queue.sync { try #require(try stack.fetchOne(From<Creature>())) }
        let before = computedCount.load(ordering: .relaxed)
        queue.sync {
            #expect(creature.cached == "<Cat>")
            #expect(creature.cached == "<Cat>")
        }
        #expect(computedCount.load(ordering: .relaxed) == before + 1)
        try stack.perform(synchronous: { $0.edit(creature)?.species = "Dog" })
        try queue.sync {
            _ = try stack.fetchCount(From<Creature>())
            #expect(creature.cached == "<Dog>")
            creature.refreshAsFault()
            #expect(creature.cached == "<Dog>")
        }
        #expect(computedCount.load(ordering: .relaxed) == before + 3)
    }

    @Test func `an assigned virtual property is the object's alone, and no change`() throws {
        let (stack, queue) = try makeStack()
        try stack.perform(synchronous: { _ = $0.create(Into<Creature>()) })
        try stack.perform(synchronous: { transaction in
            let creature = try #require(try transaction.fetchOne(From<Creature>()))
            #expect(creature.isSelected == nil)
            creature.isSelected = true
            #expect(creature.isSelected == true)
            #expect(!transaction.hasChanges)
            creature.isSelected = nil
            #expect(creature.isSelected == nil)
            creature.isSelected = false
            creature.refreshAsFault()
            #expect(creature.isSelected == nil)
        })
        let selections = try queue.sync { try stack.fetchAll(From<Creature>()).map(\.isSelected) }
        #expect(selections == [nil])
    }

    @Test func `an object does not see values cached by an earlier object at its address`() throws {
        let (stack, _) = try makeStack()
        try stack.perform(synchronous: { _ = $0.create(Into<Creature>()) })
        for _ in 0..<200 {
            try stack.perform(synchronous: { transaction in
                for _ in 0..<3 {
                    let creature = try #require(try transaction.fetchOne(From<Creature>()))
                    #expect(creature.isSelected == nil)
                    creature.isSelected = true
                }
            })
        }
    }

    @Test func `a condition that names a virtual property throws`() throws {
        let (stack, queue) = try makeStack()
        try stack.perform(synchronous: { _ = $0.create(Into<Creature>()) })
        queue.sync {
            let error = #expect(throws: CoreStoreError.self) {
                try stack.fetchAll(From<Creature>().where(format: "plural == 'Cats'"))
            }
            #expect("\(String(describing: error))".contains("plural"))
            #expect(throws: CoreStoreError.self) {
                try stack.fetchAll(From<Creature>().orderBy(.ascending("cached")))
            }
        }
    }

    @Test(arguments: ["plural", "isSelected"])
    func `a clause on a virtual property said only that there is no such property`(
        name: String
    ) throws {
        let (stack, queue) = try makeStack()
        func expectRefusal(_ fetch: () throws -> Void) {
            let error = #expect(throws: CoreStoreError.self) { try fetch() }
            let text = error.map { "\($0)" } ?? ""
            #expect(text.contains("\(name) of Horse is virtual"), "\(text)")
        }
        // The subentity inherits the property of its superentity.
        queue.sync {
            expectRefusal {
                _ = try stack.fetchCount(From<Horse>(), Where<Horse>("%K != nil", name))
            }
            expectRefusal {
                _ = try stack.fetchAll(From<Horse>(), OrderBy<Horse>(.ascending(name)))
            }
            expectRefusal {
                _ = try stack.queryAttributes(
                    From<Horse>(), Select<Horse, NSDictionary>(.count("species")),
                    GroupBy<Horse>(name))
            }
        }
    }

    @Test func `a partial object reads and writes properties by name`() throws {
        let (stack, _) = try makeStack()
        try stack.perform(synchronous: { transaction in
            let horse = transaction.create(Into<Horse>())
            let partial = horse.partialObject()
            partial.setPrimitiveValue("Pony", for: { $0.$species })
            partial.setPrimitiveValue(true, for: { $0.$isSelected })
            #expect(partial.completeObject() === horse)
            #expect(partial.value(for: { $0.$species }) == "Pony")
            #expect(partial.value(for: { $0.$plural }) == "Ponys")
            #expect(partial.primitiveValue(for: { $0.$species }) == "Pony")
            #expect(partial.primitiveValue(for: { $0.$isSelected }) == true)
            #expect(horse.isSelected == true)
        })
    }

    /// A bug: the value through a superclass was another one than the object's own.
    @Test func `an inherited virtual property has one value`() throws {
        let (stack, _) = try makeStack()
        try stack.perform(synchronous: { transaction in
            let horse = transaction.create(Into<Horse>())
            let creature: Creature = horse
            creature.partialObject().setPrimitiveValue(true, for: { $0.$isSelected })
            #expect(horse.isSelected == true && creature.isSelected == true)
            horse.isSelected = false
            #expect(creature.partialObject().primitiveValue(for: { $0.$isSelected }) == false)
        })
    }

    /// A bug: keeping the value told the observer, which asked the getter again, without end.
    @Test func `a getter that keeps its value is observed in a transaction`() throws {
        let (stack, _) = try makeStack()
        try stack.perform(synchronous: { transaction in
            let horse = transaction.create(Into<Horse>())
            var told: [String] = []
            let tokens = [
                horse.observe(\.$cached, options: [.initial, .old, .new]) { _, change in
                    told.append("\(change.oldValue ?? "-") \(change.newValue ?? "-")")
                },
                horse.observe(\.$shown, options: [.old, .new, .prior]) { _, _ in },
            ]
            #expect(told == ["- <>"])
            _ = (horse.cached, horse.shown)
            #expect(told == ["- <>"])
            horse.species = "Pony"
            #expect(told.count == 2)
            horse.shown = "y"
            #expect(told.count == 2)
            withExtendedLifetime(tokens) {}
        })
    }

    @Test func `a getter that kept what it computed asserted in the view`() async {
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) {
            CoreStoreDefaults.logger = TestLogger(assertion: .exit)
            let (stack, queue) = try makeStack()
            try stack.perform(synchronous: { _ = $0.create(Into<Horse>()) })
            try queue.sync {
                let horse = try #require(try stack.fetchOne(From<Horse>()))
                #expect(horse.shown == "x!")
                #expect(horse.shown == "x!!")
                horse.refreshAsFault()
                #expect(horse.shown == "x!")
            }
            try stack.perform(synchronous: { transaction in
                let horse = try #require(try transaction.fetchOne(From<Horse>()))
                #expect(horse.shown == "x!")
            })
        }
        #expect(result?.standardErrorContent.isEmpty == true)
    }

    @Test func `a virtual property is not assigned outside of a transaction`() async {
        let result = await #expect(
            processExitsWith: .exitCode(77), observing: [\.standardErrorContent]
        ) {
            let (stack, queue) = try makeStack()
            try stack.perform(synchronous: { _ = $0.create(Into<Horse>()) })
            CoreStoreDefaults.logger = TestLogger(assertion: .exit)
            try queue.sync { try stack.fetchOne(From<Horse>())?.isSelected = true }
        }
        let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(said.contains("changed outside of a transaction"))
    }

    @Test func `an assignment in a condition's closure was dropped silently`() async {
        let result = await #expect(
            processExitsWith: .exitCode(77), observing: [\.standardErrorContent]
        ) {
            CoreStoreDefaults.logger = TestLogger(assertion: .exit)
            _ = Where<Horse> { horse in
                horse.first = "Nora"
                return horse.$first == "Nora"
            }
        }
        let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(said.contains("“first” was assigned to an object that only answers key paths"))
    }
}
