import Foundation
import ObjectGraph
import Testing

/// The code of the article Isolation.
@MainActor @Suite struct IsolationArticle {
    private final class Person: CoreStoreObject {
        @Field.Stored("name") var name: String = ""
        @Field.Stored("age") var age: Int = 0
    }

    private enum MainActorModule {
        nonisolated struct Photo: Equatable {
            private let data: Data
            init(fromData data: Data) { self.data = data }
            func toData() -> Data { data }
        }

        class Person: CoreStoreObject {
            @Field.Coded(
                "photo",
                coder: (encode: { $0?.toData() }, decode: { $0.map { Photo(fromData: $0) } }))
            var photo: Photo?
        }
    }

    private let dataStack: DataStack

    init() throws {
        dataStack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Person>("Person"), Entity<MainActorModule.Person>("Pictured"),
                ]))
        try dataStack.addStorageAndWait(InMemoryStore())
        try dataStack.perform(synchronous: { transaction in
            let person = transaction.create(Into<Person>())
            (person.name, person.age) = ("Ann", 40)
        })
    }

    @Test func `a read view reads one commit`() throws {
        let view = try dataStack.beginRead()
        let people = try view.fetchAll(From<Person>().where(\.$age > 30))

        let names = try dataStack.read { view in
            try view.fetchAll(From<Person>()).map(\.name)
        }
        #expect(people.map(\.name) == names)
    }

    @Test func `an object is passed into a transaction, and its ID out of it`() throws {
        let person = try dataStack.fetchOne(From<Person>())
        try dataStack.perform(synchronous: { transaction in
            let person = transaction.edit(person)
            person?.age += 1
        })
        #expect(person?.age == 41)
        try fetchByID()
    }

    private func fetchByID() throws {
        let id = try dataStack.perform(synchronous: { transaction in
            transaction.create(Into<Person>()).objectID()
        })
        let person: Person? = dataStack.fetchExisting(id)
        #expect(person?.name == "")
    }

    @Test func `an unsafe transaction is undone and committed`() throws {
        let person = try dataStack.fetchOne(From<Person>())
        try commitUnsafely(person)
        #expect(person?.name == "Ada" && person?.age == 40)
    }

    private func commitUnsafely(_ person: Person?) throws {
        let transaction = dataStack.beginUnsafe(supportsUndo: true)
        let person = transaction.edit(person)
        person?.name = "Ada"
        transaction.flush()
        person?.age += 1
        transaction.undo()  // the age is as before
        try transaction.commitAndWait()  // the name is stored
    }

    @Test func `a class of a module of the main actor has a coded property`() throws {
        try dataStack.perform(synchronous: { transaction in
            let person = transaction.create(Into<MainActorModule.Person>())
            person.photo = MainActorModule.Photo(fromData: Data([1]))
        })
        #expect(
            try dataStack.fetchOne(From<MainActorModule.Person>())?.photo?.toData() == Data([1]))
    }
}
