import Dispatch
import Testing

@testable import ObjectGraph

/// The property classes that preceded property wrappers. The tests name the containers by their own
/// names, because those for programs are deprecated.
@Suite struct LegacyPropertyTests {
    class Being: CoreStoreObject {
        let species = ValueContainer<Being>.Required<String>("species", initial: "Swift")
        let color = ValueContainer<Being>.Optional<String>("color")
        let master = RelationshipContainer<Being>.ToOne<Keeper>("master")
    }

    class Hound: Being {
        let age = ValueContainer<Hound>.Required<Int>("age", initial: 1)
        @Field.Stored("nickname") var nickname: String?
        let label = ValueContainer<Hound>.Required<String>(
            "label", initial: "", isTransient: true,
            customGetter: { partial in
                "\(partial.value(for: { $0.species })) of \(partial.value(for: { $0.age }))"
            })
        let title = ValueContainer<Hound>.Optional<String>(
            "title", customSetter: Hound.setTitle)

        private static func setTitle(_ partial: PartialObject<Hound>, _ value: String?) {
            partial.setPrimitiveValue(value?.uppercased(), for: { $0.title })
        }
    }

    class Keeper: CoreStoreObject {
        let name = ValueContainer<Keeper>.Required<String>("name", initial: "")
        let pets = RelationshipContainer<Keeper>.ToManyUnordered<Being>(
            "pets", inverse: { $0.master })
        let walks = RelationshipContainer<Keeper>.ToManyOrdered<Walk>(
            "walks", inverse: { $0.keeper }, deleteRule: .cascade)
        let picture = TransformableContainer<Keeper>.Optional<NSArray>("picture")
        let note = TransformableContainer<Keeper>.Required<NSString>("note", initial: "none")
        let title = TransformableContainer<Keeper>.Optional<NSString>("title")
    }

    class Walk: CoreStoreObject {
        let keeper = RelationshipContainer<Walk>.ToOne<Keeper>("keeper")
    }

    private let queue = DispatchQueue(label: "view")

    private func stack() throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Being>("Being", isAbstract: true),
                    Entity<Hound>("Hound", indexes: [[\.age]]), Entity<Keeper>("Keeper"),
                    Entity<Walk>("Walk"),
                ]), viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        try stack.perform(synchronous: { transaction in
            let keeper = transaction.create(Into<Keeper>())
            keeper.name .= "Ada"
            for age in [3, 9, 5] {
                let hound = transaction.create(Into<Hound>())
                #expect(hound.age.value == 1)
                #expect(hound.species .== "Swift")
                hound.age .= age
                if age > 4 { hound.master .= keeper }
                hound.color .= age == 9 ? "red" : nil
                hound.nickname = "n\(age)"
                hound.title .= "sir"
            }
            keeper.walks .= (0..<3).map { _ in transaction.create(Into<Walk>()) }
            keeper.picture.value = ["a", 1]
        })
        return stack
    }

    @Test func `values and links of legacy properties are read and written`() throws {
        let stack = try stack()
        try queue.sync { () throws in
            let keeper = try #require(try stack.fetchOne(From<Keeper>()))
            #expect(keeper.name .== "Ada")
            #expect(keeper.pets.count == 2)
            #expect(Set(keeper.pets.compactMap { ($0 as? Hound)?.age.value }) == [5, 9])
            #expect(keeper.pets.allSatisfy { $0.master .== keeper })
            #expect(keeper.walks.count == 3)
            #expect(keeper.walks[1].keeper.value === keeper)
            #expect(keeper.picture.value == ["a", 1])
            #expect(keeper.note .== "none")
            let hound = try #require(try stack.fetchOne(From<Hound>().where(\.age == 9)))
            #expect(hound.color .== "red")
            #expect(hound.nickname == "n9")
            #expect(hound.label.value == "Swift of 9")
            #expect(hound.title.value == "SIR")
        }
    }

    @Test func `conditions, orders and columns name legacy properties`() throws {
        let stack = try stack()
        try queue.sync { () throws in
            let old = try stack.fetchAll(
                From<Hound>().where(\.age > 3).orderBy(.descending(\.age)))
            #expect(old.map(\.age.value) == [9, 5])
            #expect(try stack.fetchCount(From<Hound>().where([3, 5] ~= \.age)) == 2)
            #expect(try stack.fetchCount(From<Hound>().where { $0.age <= 5 }) == 2)
            #expect(try stack.fetchCount(From<Being>().where(\.color == nil)) == 2)
            #expect(try stack.fetchCount(From<Being>().where(\.color != nil)) == 1)
            let keeper = try stack.fetchOne(From<Keeper>())
            #expect(try stack.fetchCount(From<Being>().where(\.master == keeper)) == 2)
            #expect(try stack.fetchCount(From<Being>().where(\.master == nil)) == 1)
            #expect(String(keyPath: \Hound.age) == "age")
            #expect(try stack.queryValue(From<Hound>(), Select<Hound, Int>(.maximum(\.age))) == 9)
            #expect(try stack.queryValue(From<Hound>(), Select<Hound, Int>(.sum(\.age))) == 17)
        }
    }

    @Test func `operators take a value or a property on either side`() throws {
        let stack = try stack()
        try stack.perform(synchronous: { transaction in
            let keeper = try #require(try transaction.fetchOne(From<Keeper>()))
            let hound = try #require(try transaction.fetchOne(From<Hound>().where(\.age == 9)))
            let other = try #require(try transaction.fetchOne(From<Hound>().where(\.age == 3)))
            #expect(9 .== hound.age)
            #expect(!(3 .== hound.age))
            #expect("red" .== hound.color)
            #expect(!(nil .== hound.color))
            #expect(nil .== other.color)
            #expect(keeper .== hound.master)
            #expect(!(keeper .== other.master))
            #expect(nil .== other.master)
            let (walks, pets) = (keeper.walks.value, keeper.pets.value)
            #expect(walks .== keeper.walks)
            #expect(!(walks.reversed() .== keeper.walks))
            #expect(keeper.walks .== keeper.walks)
            #expect(pets .== keeper.pets)
            #expect(!(Set<Being>() .== keeper.pets))
            #expect(keeper.pets .== keeper.pets)

            let next = transaction.create(Into<Keeper>())
            next.note .= "other"
            keeper.note .= next.note
            #expect(keeper.note .== "other")
            next.picture .= keeper.picture
            #expect(next.picture .== ["a", 1])
            next.title .= keeper.note
            #expect(next.title .== "other")
        })
    }

    class Register: CoreStoreObject {
        let name = ValueContainer<Register>.Required<String>(
            "name", initial: "none", customGetter: Register.readName)
        let label = ValueContainer<Register>.Optional<String>(
            "label", customSetter: Register.writeLabel)
        let stamp = TransformableContainer<Register>.Required<NSString>(
            "stamp", initial: "S", customGetter: Register.readStamp,
            customSetter: Register.writeStamp)
        let seal = TransformableContainer<Register>.Optional<NSString>(
            "seal", customSetter: Register.writeSeal)
        let draft = TransformableContainer<Register>.Optional<NSString>(
            "draft", isTransient: true)
        let mark = TransformableContainer<Register>.Required<NSString>(
            "mark", initial: "M", isTransient: true)

        private static func readName(_ partial: PartialObject<Register>) -> String {
            // Older programs take it as a value that is never nil.
            partial.primitiveValue(for: { $0.name }).isEmpty
                ? "empty" : partial.primitiveValue(for: { $0.name })
        }

        private static func writeLabel(_ partial: PartialObject<Register>, _ value: String?) {
            partial.setPrimitiveValue(value?.uppercased(), for: { $0.label })
        }

        private static func readStamp(_ partial: PartialObject<Register>) -> NSString {
            let stamp: NSString? = partial.primitiveValue(for: { $0.stamp })
            return NSString(string: "<\(stamp ?? "-")>")
        }

        private static func writeStamp(_ partial: PartialObject<Register>, _ value: NSString) {
            partial.setPrimitiveValue(NSString(string: "\(value)!"), for: { $0.stamp })
        }

        private static func writeSeal(_ partial: PartialObject<Register>, _ value: NSString?) {
            let sealed = value.map { NSString(string: "\($0)?") }
            partial.setPrimitiveValue(sealed, for: { $0.seal })
        }
    }

    private func registers() throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [Entity<Register>("Register")]),
            viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        return stack
    }

    @Test func `accessors read and set every kind of property`() throws {
        try registers().perform(synchronous: { transaction in
            let register = transaction.create(Into<Register>())
            let partial = register.partialObject()
            #expect(partial.value(for: { $0.name }) == "none")
            partial.setValue("", for: { $0.name })
            #expect(register.name.value == "empty")
            partial.setValue("a", for: { $0.label })
            #expect(register.label.value == "A")
            partial.setPrimitiveValue("b", for: { $0.label })
            #expect(partial.value(for: { $0.label }) == "b")
            #expect(partial.primitiveValue(for: { $0.label }) == "b")

            #expect(partial.value(for: { $0.stamp }) == "<S>")
            partial.setValue("T", for: { $0.stamp })
            #expect(register.stamp.value == "<T!>")
            let stamp: NSString = partial.primitiveValue(for: { $0.stamp })
            #expect(stamp == "T!")
            partial.setValue("x", for: { $0.seal })
            #expect(partial.value(for: { $0.seal }) == "x?")
            partial.setPrimitiveValue("y", for: { $0.seal })
            #expect(partial.primitiveValue(for: { $0.seal }) == "y")
            partial.setValue(nil, for: { $0.seal })
            #expect(register.seal.value == nil)
        })
    }

    @Test func `a transient value is kept by its object and not stored`() throws {
        let stack = try registers()
        try stack.perform(synchronous: { transaction in
            let register = transaction.create(Into<Register>())
            #expect(register.draft.value == nil && register.mark.value == "M")
            register.draft .= "d"
            register.mark .= "n"
            #expect(register.draft .== "d")
            #expect(register.mark .== "n")
        })
        try queue.sync { () throws in
            let register = try #require(try stack.fetchOne(From<Register>()))
            #expect(register.draft.value == nil && register.mark.value == "M")
            let row = try stack.queryAttributes(
                From<Register>(), Select<Register, NSDictionary>("name", "draft"))
            #expect(row.first?.keys.sorted() == ["name"])
        }
    }

    @Test func `paths cross legacy relationships, and chains name them`() throws {
        let stack = try stack()
        try queue.sync { () throws in
            func count(_ clause: Where<Hound>) throws -> Int {
                try stack.fetchCount(From<Hound>().where(clause))
            }
            #expect(try count((\.master ~ \.name) == "Ada") == 2)
            #expect(
                try stack.fetchCount(From<Keeper>().where((\.pets ~ \.color).any() == "red")) == 1)
            #expect(try stack.fetchCount(From<Walk>().where((\.keeper ~ \.name) != "Ada")) == 0)
            #expect(
                try stack.fetchCount(
                    From<Keeper>().where((\.walks ~ \.keeper ~ \.name).any() == "Ada")) == 1)
            #expect(String(keyPath: \Walk.keeper ~ \.pets ~ \.color) == "keeper.pets.color")
            let ages = try stack.queryAttributes(
                From<Hound>().select(.attribute(\.title), .count(\.age, as: "count"))
                    .groupBy(\.title))
            #expect(ages.map { $0["count"] as? Int } == [3])
            let first = From<Hound>().orderBy(.ascending(\.age))
            #expect(try stack.fetchOne(first)?.age.value == 3)
            #expect(try stack.queryValue(From<Hound>().select(\.age).where(\.age > 5)) == 9)
            #expect(try stack.queryValue(From<Hound>().select(\.color).where(\.age > 5)) == "red")
        }
    }

    @Test func `a deletion follows the rules of legacy relationships`() throws {
        let stack = try stack()
        try stack.perform(synchronous: { transaction in
            transaction.delete(try transaction.fetchOne(From<Keeper>()))
        })
        try queue.sync { () throws in
            #expect(try stack.fetchCount(From<Walk>()) == 0)
            #expect(try stack.fetchCount(From<Being>().where(\.master == nil)) == 3)
        }
    }

    @Test func `a model of legacy properties equals a model of fields`() throws {
        let old = CoreStoreSchema(
            modelVersion: "V1",
            entities: [Entity<Walk>("Walk"), Entity<Keeper>("Keeper"), Entity<Being>("Being")])
        #expect(old.printCoreStoreSchema().contains("@Field.Stored(\"species\")"))
        #expect(old.printCoreStoreSchema().contains("var walks: [Walk]"))
    }

    @available(*, deprecated)
    class Note: CoreStoreObject {
        let text = Value.Required<String>("text", initial: "a")
        let other = Relationship.ToOne<Note>("other")
        let data = Transformable.Optional<NSString>("data")
    }

    @available(*, deprecated)
    @Test func `legacy properties are named through their class`() throws {
        let stack = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [Entity<Note>("Note")]),
            viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        try stack.perform(synchronous: { transaction in
            let note = transaction.create(Into<Note>())
            #expect(note.text .== "a")
            note.other .= note
            #expect(note.other.value === note)
        })
    }

    @Test func `a legacy property of a deleted object reads as a field does`() throws {
        let stack = try stack()
        let (name, walks) = try queue.sync { () throws in
            let keeper = try #require(try stack.fetchOne(From<Keeper>()))
            return (keeper.name, keeper.walks)
        }
        try stack.perform(synchronous: { transaction in
            let keeper = try #require(try transaction.fetchOne(From<Keeper>()))
            let own = keeper.name
            transaction.delete(keeper)
            #expect(own.value == "Ada")
        })
        queue.sync {
            stack.refreshAndMergeAllObjects()
            #expect(name.value == "")
            #expect(walks.isEmpty)
            #expect(name.value == "")
        }
    }

    @Test func `a property that outlives its transaction reads what was committed`() throws {
        let stack = try stack()
        let name = try stack.perform(synchronous: { transaction in
            try #require(try transaction.fetchOne(From<Keeper>())).name
        })
        #expect(name.value == "Ada")
    }

    @Test func `a loop over an ordered list reads the list once`() throws {
        let stack = try stack()
        func loop(_ count: Int) throws -> Double {
            try stack.perform(synchronous: { transaction in
                let keeper = transaction.create(Into<Keeper>())
                keeper.walks .= (0..<count).map { _ in transaction.create(Into<Walk>()) }
                let times = (0..<3).map { _ in
                    ThreadTime.of {
                        var found = 0
                        for walk in keeper.walks where walk.change != .deleted { found += 1 }
                        found += keeper.walks.reversed().count + keeper.walks[0..<count].count
                        #expect(found == 3 * count)
                    }
                }
                return times.min() ?? 0
            })
        }
        let (small, large) = (try loop(500), try loop(8_000))
        #expect(large < small * 64, "sixteen times as many took \(large) after \(small)")
    }
}
