import ObjectGraph
import Testing

/// The code of the README.
@MainActor @Suite struct ReadmeArticle {
    private enum Model {
        final class Person: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Stored("age") var age: Int = 0
            @Field.Relationship("pets", inverse: \.$master) var pets: Set<Dog>
        }

        final class Dog: CoreStoreObject {
            @Field.Stored("nickname") var nickname: String?
            @Field.Relationship("master") var master: Person?
        }
    }

    @Test func `the program of the README finds the objects that it created`() throws {
        typealias Person = Model.Person
        typealias Dog = Model.Dog
        let file = LocalStore(fileName: "people.trellis").fileURL
        try? FileManager.default.removeItem(at: file)
        defer { try? FileManager.default.removeItem(at: file) }

        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [Entity<Person>("Person", indexes: [[\.$age]]), Entity<Dog>("Dog")]))
        try stack.addStorageAndWait(LocalStore(fileName: "people.trellis"))

        try stack.perform(synchronous: { transaction in
            let ada = transaction.create(Into<Person>())
            (ada.name, ada.age) = ("Ada", 36)
            transaction.create(Into<Dog>()).master = ada
        })
        let adults = try stack.fetchAll(
            From<Person>().where(\.$age >= 18).orderBy(.ascending(\.$name)))
        print(adults.map(\.name), adults[0].pets.count)
        #expect(adults.map(\.name) == ["Ada"])
        try stack.close()
    }
}
