import Dispatch
import TestSupport
import Testing

@testable import ObjectGraph

/// Conditions, sections, publishers and snapshots by the property classes that preceded property
/// wrappers.
@Suite(.timeLimit(.minutes(hangMinutes))) struct LegacyConditionTests {
    final class Pet: CoreStoreObject {
        let name = ValueContainer<Pet>.Required<String>("name", initial: "")
        let color = ValueContainer<Pet>.Optional<String>("color")
        let note = TransformableContainer<Pet>.Optional<NSString>("note")
        let master = RelationshipContainer<Pet>.ToOne<Master>("master")
    }

    final class Master: CoreStoreObject {
        let name = ValueContainer<Master>.Required<String>("name", initial: "")
        let pets = RelationshipContainer<Master>.ToManyUnordered<Pet>(
            "pets", inverse: { $0.master })
        let walks = RelationshipContainer<Master>.ToManyOrdered<Pet>("walks")
    }

    /// Rex is Ada's and red, Tom is Bob's and has no colour, and Kim is free and blue.
    private func withPets(_ body: (DataStack, Master) throws -> Void) throws {
        let queue = DispatchQueue(label: "view")
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1", entities: [Entity<Pet>("Pet"), Entity<Master>("Master")]),
            viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        try stack.perform(synchronous: { transaction in
            func master(_ name: String) -> Master {
                let master = transaction.create(Into<Master>())
                master.name .= name
                return master
            }
            let ada = master("Ada")
            for (name, color, master) in [
                ("Rex", "red", ada), ("Tom", nil, master("Bob")), ("Kim", "blue", nil),
            ] {
                let pet = transaction.create(Into<Pet>())
                (pet.name.value, pet.color.value, pet.master.value) = (name, color, master)
                pet.note .= NSString(string: name.lowercased())
                ada.walks.value.append(pet)
            }
        })
        try queue.sync {
            let ada = try #require(try stack.fetchOne(From<Master>().where(\.name == "Ada")))
            try body(stack, ada)
        }
    }

    private func names(_ condition: Where<Pet>, _ stack: DataStack) throws -> [String] {
        try stack.fetchAll(From<Pet>().where(condition).orderBy(.ascending(\.name)))
            .map(\.name.value)
    }

    @Test func `a property is a member of a list`() throws {
        try withPets { (stack, _) throws in
            let list = ["Rex", "Kim"]
            #expect(try names(list ~= \.name, stack) == ["Kim", "Rex"])
            #expect(try names(Where<Pet> { list ~= $0.name }, stack) == ["Kim", "Rex"])
            #expect(try names(Where(\.name, isMemberOf: list), stack) == ["Kim", "Rex"])
            let colors: Set = ["red", "green"]
            #expect(try names(colors ~= \.color, stack) == ["Rex"])
            #expect(try names(Where<Pet> { colors ~= $0.color }, stack) == ["Rex"])
            #expect(try names(Where(\.color, isMemberOf: colors), stack) == ["Rex"])
            #expect(try names(["red", "blue"] ~= \.color, stack) == ["Kim", "Rex"])
            let known: [String?] = ["red", "blue"]
            #expect(try names(known ~= \.color, stack) == ["Kim", "Rex"])
            #expect(try names(Where<Pet> { known ~= $0.color }, stack) == ["Kim", "Rex"])
            #expect(try names(Where(\.color, isMemberOf: known), stack) == ["Kim", "Rex"])
            #expect(try names(Where(\.color, isEqualTo: nil), stack) == ["Tom"])
        }
    }

    @Test func `a relationship is compared with objects and what stands for them`() throws {
        try withPets { stack, ada in
            let others = try stack.fetchAll(From<Master>().where(\.name != "Ada"))
            let id = ada.objectID()
            for condition: Where<Pet> in [
                \.master == ada, Where { $0.master == ada }, [ada] ~= \.master,
                Where { [ada] ~= $0.master }, Where(\.master, isEqualTo: ada),
                Where(\.master, isEqualTo: id), Where(\.master, isMemberOf: [ada]),
                Where(\.master, isMemberOf: [id]), \.master == ada.asPublisher(in: stack),
                \.master == ada.asSnapshot(),
            ] {
                #expect(try names(condition, stack) == ["Rex"])
            }
            for condition: Where<Pet> in [
                \.master != ada, Where { $0.master != ada }, \.master != ada.asSnapshot(),
            ] {
                #expect(try names(condition, stack) == ["Kim", "Tom"])
            }
            #expect(try names(Where<Pet> { $0.master == nil }, stack) == ["Kim"])
            #expect(try names(Where(\.master, isEqualTo: nil), stack) == ["Kim"])
            #expect(try names(others ~= \.master, stack) == ["Tom"])
        }
    }

    @Test func `sections are those of legacy properties`() throws {
        try withPets { (stack, _) throws in
            let list = stack.publishList(
                From<Pet>().sectionBy(\.color).orderBy(.ascending(\.color)))
            #expect(list.snapshot.sectionIDs == ["", "blue", "red"])
            let monitor = stack.monitorSectionedList(
                From<Pet>().sectionBy(\.note, sectionIndexTransformer: { $0?.uppercased() })
                    .orderBy(.descending(\.name)))
            let sections: [any NSFetchedResultsSectionInfo] = monitor.sections()
            #expect(sections.map(\.name) == ["tom", "rex", "kim"])
            #expect(sections.map(\.indexTitle) == ["TOM", "REX", "KIM"])
            #expect(sections.map(\.numberOfObjects) == [1, 1, 1])
        }
    }

    @Test func `publishers and snapshots have the values of legacy properties`() throws {
        try withPets { stack, ada in
            let pet = try #require(try stack.fetchOne(From<Pet>().where(\.name == "Rex")))
            let publisher = pet.asPublisher(in: stack)
            let name: String? = publisher.name
            let color: String? = publisher.color
            let note: NSString? = publisher.note
            #expect(name == "Rex" && color == "red" && note == "rex")
            #expect(publisher.master == ada.asPublisher(in: stack))

            var snapshot = try #require(pet.asSnapshot())
            let title: String = snapshot.name
            let shade: String? = snapshot.color
            let text: NSString? = snapshot.note
            #expect(title == "Rex" && shade == "red" && text == "rex")
            #expect(snapshot.master == ada.asPublisher(in: stack))
            snapshot.name = "Max"
            snapshot.color = nil
            snapshot.master = nil
            #expect(snapshot.name == "Max" && snapshot.color == nil && snapshot.master == nil)
            #expect(pet.name.value == "Rex")

            let keeper = try #require(ada.asSnapshot())
            #expect(keeper.pets == [publisher])
            #expect(keeper.walks.map { $0.name } == ["Rex", "Tom", "Kim"])
        }
    }

    @Test func `a query groups by an archived property`() throws {
        try withPets { stack, _ in
            let rows = try stack.queryAttributes(
                From<Pet>().select(.count(\.name, as: "count")).groupBy(\.note))
            #expect(rows.map { $0["count"] as? Int } == [1, 1, 1])
        }
    }
}
