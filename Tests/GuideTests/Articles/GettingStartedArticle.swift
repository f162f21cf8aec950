import Foundation
import ObjectGraph
import Testing

/// The code of the article Getting started, and that of the library's first page.
@Suite struct GettingStartedArticle {
    private enum Model {
        final class Person: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Stored("age") var age: Int = 0
            @Field.Relationship("dogs", inverse: \.$owner) var dogs: Set<Dog>
        }

        final class Dog: CoreStoreObject {
            @Field.Stored("nickname") var nickname: String?
            @Field.Relationship("owner") var owner: Person?
        }
    }

    private final class Observer {}

    @MainActor @Test
    func `the program of Getting started keeps people and their dogs`() async throws {
        typealias Person = Model.Person
        typealias Dog = Model.Dog
        let url = Harbour.temporaryURL()
        defer { Harbour.remove(url) }
        let observer = Observer()

        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Person>("Person", indexes: [[\.$age]]),
                    Entity<Dog>("Dog"),
                ]))
        try stack.addStorageAndWait(LocalStore(fileURL: url))

        try stack.perform(synchronous: { transaction in
            let ada = transaction.create(Into<Person>())
            ada.name = "Ada"
            ada.age = 36
            let rex = transaction.create(Into<Dog>())
            rex.nickname = "Rex"
            rex.owner = ada
        })

        try await stack.async.perform { transaction in
            for person in try transaction.fetchAll(From<Person>().where(\.$age >= 18)) {
                person.age += 1
            }
        }

        let adults = try stack.fetchAll(
            From<Person>()
                .where(\.$age >= 18)
                .orderBy(.ascending(\.$name)))
        for person in adults {
            print(person.name, person.dogs.count)
        }
        #expect(adults.map(\.age) == [37])

        try stack.perform(synchronous: { transaction in
            let person = transaction.edit(adults[0])
            person?.name = "Ada Lovelace"
            try transaction.deleteAll(From<Dog>().where(\.$owner == nil))
        })
        #expect(adults.map(\.name) == ["Ada Lovelace"])

        let publisher = stack.publishList(From<Person>().orderBy(.ascending(\.$name)))
        publisher.addObserver(observer) { publisher in
            print(publisher.snapshot.count, "people")
        }
        #expect(publisher.snapshot.count == 1)
        try stack.close()
    }

    @MainActor @Test func `the program of the first page finds what it created`() throws {
        let url = Harbour.temporaryURL()
        defer { Harbour.remove(url) }
        final class Person: CoreStoreObject {
            @Field.Stored("name")
            var name: String = ""

            @Field.Stored("age")
            var age: Int = 0
        }

        let stack = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [Entity<Person>("Person")]))
        try stack.addStorageAndWait(LocalStore(fileURL: url))

        try stack.perform(synchronous: { transaction in
            let person = transaction.create(Into<Person>())
            person.name = "Ann"
        })
        let people = try stack.fetchAll(From<Person>().where(\.$age < 30))
        #expect(people.map(\.name) == ["Ann"])
    }
}
