import Dispatch
import TestSupport
import Testing

@testable import ObjectGraph

/// Sections by a property that is given by its name or by its key path.
@Suite(.timeLimit(.minutes(hangMinutes))) struct NamedSectionTests {
    enum Color: Int, FieldStorableType, ImportableAttributeType {
        case red = 1
        case blue
    }

    final class Owner: CoreStoreObject {
        @Field.Stored("name") var name: String = ""
        @Field.Virtual(
            "initial", customGetter: { object, _ in String(object.$name.value.prefix(1)) })
        var initial: String
        @Field.Relationship("boats") var boats: Set<Boat>
    }

    final class Boat: CoreStoreObject {
        @Field.Stored("number") var number: Int = 0
        @Field.Stored("length") var length: Double = 0
        @Field.Virtual("half", customGetter: { object, _ in object.$length.value / 2 })
        var half: Double
        @Field.Virtual("isLong", customGetter: { object, _ in object.$length.value > 7 })
        var isLong: Bool
        @Field.Stored(
            "title", customGetter: { object, field in "MS " + (field.primitiveValue ?? "") })
        var title: String = "Ada"
        @Field.Stored("color", customGetter: { _, field in field.primitiveValue ?? .red })
        var color: Color = .blue
        @Field.Coded("tags", coder: FieldCoders.Json.self) var tags: String = "t"
        @Field.Relationship("owner", inverse: \.$boats) var owner: Owner?
        let mark = ValueContainer<Boat>.Required<String>(
            "mark", initial: "", isTransient: true,
            customGetter: { "M\($0.completeObject().number)" })
        let price = ValueContainer<Boat>.Optional<Float>("price", initial: 2)
    }

    private func withBoats(_ body: (DataStack) throws -> Void) throws {
        let queue = DispatchQueue(label: "view")
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1", entities: [Entity<Boat>("Boat"), Entity<Owner>("Owner")]),
            viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        try stack.perform(synchronous: { transaction in
            let owner = transaction.create(Into<Owner>())
            owner.name = "Eve"
            for (number, length) in [(1, 5.0), (2, 7.5), (3, 10)] {
                let boat = transaction.create(Into<Boat>())
                (boat.number, boat.length) = (number, length)
                boat.owner = number == 1 ? nil : owner
            }
        })
        try queue.sync { try body(stack) }
    }

    private func sections(_ section: SectionBy<Boat>, _ stack: DataStack) -> [String] {
        let order = OrderBy<Boat>(.ascending(\.$number))
        let list = stack.publishList(From<Boat>(), section, order).snapshot
        let monitor = stack.monitorSectionedList(From<Boat>(), section, order)
        #expect(monitor.sections().map(\.name) == list.sectionIDs)
        return list.sectionIDs
    }

    @Test func `a name and a key path of a property divide a list alike`() throws {
        try withBoats { stack in
            let pairs: [(String, SectionBy<Boat>, [String])] = [
                ("length", SectionBy(\.$length), ["5", "7.5", "10"]),
                ("half", SectionBy(\.$half), ["2.5", "3.75", "5"]),
                ("isLong", SectionBy(\.$isLong), ["0", "1"]),
                ("title", SectionBy(\.$title), ["MS Ada"]),
                ("color", SectionBy(\.$color), ["2"]),
                ("tags", SectionBy(\.$tags), ["t"]),
                ("mark", SectionBy(\.mark), ["M1", "M2", "M3"]),
                ("price", SectionBy(\.price), ["2"]),
            ]
            for (name, byPath, expected) in pairs {
                #expect(sections(SectionBy(name), stack) == expected, "\(name)")
                #expect(sections(byPath, stack) == expected, "\(name)")
            }
        }
    }

    @Test func `a name crosses a relationship to a computed property`() throws {
        try withBoats { stack in
            #expect(sections(SectionBy("owner.name"), stack) == ["", "Eve"])
            #expect(sections(SectionBy("owner.initial"), stack) == ["", "E"])
        }
    }

    @Test func `a name of a computed property is followed`() throws {
        try withBoats { stack in
            let list = stack.publishList(
                From<Boat>().sectionBy("isLong").orderBy(.ascending(\.$length)))
            #expect(list.snapshot.sections().map(\.count) == [1, 2])
            try stack.perform(synchronous: { transaction in
                for boat in try transaction.fetchAll(From<Boat>()) { boat.length = 1 }
            })
            #expect(list.snapshot.sectionIDs == ["0"])
        }
    }

    @Test func `lists by a name and by a key path are kept once`() throws {
        try withBoats { stack in
            let order = OrderBy<Boat>(.ascending(\.$length))
            let sections: [SectionBy<Boat>] = [SectionBy("half"), SectionBy(\.$half)]
            let lists = sections.map { stack.publishList(From<Boat>(), $0, order) }
            #expect(stack.viewSteps.lists.count == 1)
            withExtendedLifetime(lists) {}
        }
    }
}
