import ObjectGraph
import Testing

/// The code of the article Observing.
@MainActor @Suite struct ObservingArticle {
    private final class Person: CoreStoreObject {
        @Field.Stored("name") var name: String = ""
        @Field.Stored("age") var age: Int = 0
    }

    private final class Dog: CoreStoreObject {
        @Field.Stored("nickname") var nickname: String = ""
        @Field.Relationship("master", inverse: \.$dogs) var master: Master?
    }

    private final class Master: CoreStoreObject {
        @Field.Stored("name") var name: String = ""
        @Field.Relationship("dogs") var dogs: Set<Dog>
    }

    private final class Screen: ListObserver {
        typealias ListEntityType = Person

        var shown: [Int] = []
        var changes = 0

        func show(_ snapshot: ListSnapshot<Person>) { shown.append(snapshot.count) }

        func listMonitorDidChange(_ monitor: ListMonitor<Person>) { changes += 1 }
        func listMonitorDidRefetch(_ monitor: ListMonitor<Person>) {}

        func observe(_ stack: DataStack) -> (ListMonitor<Person>, ListPublisher<Person>) {
            let monitor = stack.monitorList(
                From<Person>().where(\.$age > 30).orderBy(.ascending(\.$name)))
            monitor.addObserver(self)

            let publisher = stack.publishList(From<Person>().orderBy(.ascending(\.$name)))
            publisher.addObserver(self) { publisher in self.show(publisher.snapshot) }
            return (monitor, publisher)
        }

        func follow(_ publisher: ListPublisher<Person>) async {
            for await snapshot in publisher.snapshots() { show(snapshot) }
        }

        func follow(_ monitor: ListMonitor<Person>) async {
            for await change in monitor.changes {
                print(change.difference.insertions, change.after.count)
            }
        }
    }

    private func stack() throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Person>("Person"), Entity<Dog>("Dog"), Entity<Master>("Master"),
                ]))
        try stack.addStorageAndWait(InMemoryStore())
        return stack
    }

    @Test func `a monitor and a publisher tell of a commit`() throws {
        let stack = try stack()
        let screen = Screen()
        let (monitor, publisher) = screen.observe(stack)

        try stack.perform(synchronous: { transaction in
            let person = transaction.create(Into<Person>())
            (person.name, person.age) = ("Ann", 40)
        })

        #expect(screen.changes == 1 && screen.shown == [1])
        #expect(monitor.numberOfObjects() == 1 && publisher.snapshot.count == 1)
    }

    @Test func `lists watch related objects and have sections`() throws {
        let stack = try stack()
        let dogs = stack.publishList(
            From<Dog>().orderBy(.ascending(\.$nickname)).watching(\.$master ~ \.$name))
        let sections = stack.publishList(
            From<Person>()
                .sectionBy(\.$age) { name in name.map { "\($0) years old" } }
                .orderBy(.ascending(\.$age), .ascending(\.$name)))
        #expect(dogs.snapshot.isEmpty && sections.snapshot.sectionIDs.isEmpty)
    }
}
