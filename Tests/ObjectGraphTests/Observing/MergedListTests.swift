import ObjectGraph
import TestSupport
import Testing

private final class Crew: CoreStoreObject {
    @Field.Stored("name") var name: String = ""
    @Field.Relationship("members", inverse: \.$crew) var members: Set<Member>
}

private final class Member: CoreStoreObject {
    @Field.Stored("age") var age: Int = 0
    @Field.Relationship("crew") var crew: Crew?
}

/// Observed lists whose objects lie in two storages.
@Suite(.timeLimit(.minutes(hangMinutes))) struct MergedListTests {
    private let queue = DispatchQueue(label: "view")
    private let stack: DataStack

    init() throws {
        stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entityConfigurations: [
                    Entity<Crew>("Crew"): ["One", "Two"], Entity<Member>("Member"): ["One", "Two"],
                ]),
            viewContext: .queue(queue))
        for name in ["One", "Two"] {
            try stack.addStorageAndWait(InMemoryStore(configuration: name))
        }
    }

    private func add(_ name: String, ages: [Int], to storage: String) throws {
        try stack.perform(synchronous: { transaction in
            let crew = transaction.create(Into<Crew>(storage))
            crew.name = name
            for age in ages {
                let member = transaction.create(Into<Member>(storage))
                (member.age, member.crew) = (age, crew)
            }
        })
    }

    private func names(_ list: ListPublisher<Crew>) -> [String] {
        queue.sync { list.snapshot.compactMap { $0.object?.name } }
    }

    @Test(arguments: [
        "ANY members.age > 30", "NOT ALL members.age <= 30",
        "SUBQUERY(members, $m, $m.age > 30).@count > 0", "members.@max.age > 30",
    ])
    func `conditions on members hold in lists over two storages`(format: String) throws {
        try add("b", ages: [20, 40], to: "One")
        try add("a", ages: [50], to: "Two")
        try add("c", ages: [10], to: "Two")
        let list = queue.sync {
            stack.publishList(
                From<Crew>(), Where<Crew>(format), OrderBy<Crew>(.ascending(\.$name)))
        }
        #expect(names(list) == ["a", "b"])
        try stack.perform(synchronous: { transaction in
            try transaction.fetchOne(From<Member>().where(\.$age == 10))?.age = 60
            try transaction.fetchOne(From<Member>().where(\.$age == 40))?.age = 4
        })
        #expect(names(list) == ["a", "c"])
        try add("0", ages: [31], to: "One")
        #expect(names(list) == ["0", "a", "c"])
        let fetched = try queue.sync {
            try stack.fetchAll(
                From<Crew>(), Where<Crew>(format), OrderBy<Crew>(.ascending(\.$name))
            ).map(\.name)
        }
        #expect(fetched == ["0", "a", "c"])
    }
}
