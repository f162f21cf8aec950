import ObjectGraph
import Testing

/// The order of declarations is no part of a model: moving a line of source changes no file.
@Suite struct DeclarationOrderTests {
    private enum First {
        class Animal: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Stored("age") var age: Int = 0
            @Field.Relationship("owner") var owner: Owner?
            @Field.Relationship("nurse") var nurse: Owner?
        }
        final class Dog: Animal {
            @Field.Stored("tricks") var tricks: Int = 0
            @Field.Stored("nickname") var nickname: String?
        }
        final class Owner: CoreStoreObject {
            @Field.Stored("street") var street: String = ""
            @Field.Stored("city") var city: String = ""
            @Field.Relationship("animals", inverse: \.$owner) var animals: Set<Animal>
            @Field.Relationship("nursed", inverse: \.$nurse) var nursed: [Animal]
        }
        static func schema() -> CoreStoreSchema {
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Animal>("Animal", indexes: [[\.$name], [\.$age]]),
                    Entity<Dog>("Dog", indexes: [[\.$nickname]]),
                    Entity<Owner>("Owner", uniqueConstraints: [[\.$city, \.$street]]),
                ])
        }
    }

    /// The first model with every list reversed.
    private enum Second {
        final class Owner: CoreStoreObject {
            @Field.Relationship("nursed", inverse: \.$nurse) var nursed: [Animal]
            @Field.Relationship("animals", inverse: \.$owner) var animals: Set<Animal>
            @Field.Stored("city") var city: String = ""
            @Field.Stored("street") var street: String = ""
        }
        final class Dog: Animal {
            @Field.Stored("nickname") var nickname: String?
            @Field.Stored("tricks") var tricks: Int = 0
        }
        class Animal: CoreStoreObject {
            @Field.Relationship("nurse") var nurse: Owner?
            @Field.Relationship("owner") var owner: Owner?
            @Field.Stored("age") var age: Int = 0
            @Field.Stored("name") var name: String = ""
        }
        static func schema() -> CoreStoreSchema {
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Owner>("Owner", uniqueConstraints: [[\.$city, \.$street]]),
                    Entity<Dog>("Dog", indexes: [[\.$nickname]]),
                    Entity<Animal>("Animal", indexes: [[\.$age], [\.$name]]),
                ])
        }
    }

    private let queue = DispatchQueue(label: "view")

    private func stack(_ schema: CoreStoreSchema, _ url: URL) throws -> DataStack {
        let stack = DataStack(schema, viewContext: .queue(queue))
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        return stack
    }

    @Test func `a file opens after its declarations were moved, and back`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let made = try stack(First.schema(), url)
        try made.perform(synchronous: { transaction in
            let owner = transaction.create(Into<First.Owner>())
            (owner.street, owner.city) = ("Elm", "Oslo")
            let dog = transaction.create(Into<First.Dog>())
            (dog.name, dog.age, dog.tricks, dog.nickname) = ("Rex", 7, 3, "R")
            dog.owner = owner
            owner.nursed = [dog]
        })
        made.unsafeRemoveAllPersistentStoresAndWait()

        let moved = try stack(Second.schema(), url)
        try queue.sync {
            let dog =
                try #require(
                    try moved.fetchOne(From<Second.Animal>().where(\.$age == 7))) as? Second.Dog
            #expect(dog?.name == "Rex")
            #expect(dog?.tricks == 3)
            #expect(dog?.nickname == "R")
            let owner = try moved.fetchOne(From<Second.Owner>())
            #expect(owner?.street == "Elm")
            #expect(owner?.city == "Oslo")
            #expect(owner?.animals.count == 1)
            #expect(owner?.nursed.first === dog)
            #expect(dog?.owner === owner)
        }
        try moved.perform(synchronous: { transaction in
            let dog = transaction.create(Into<Second.Dog>())
            (dog.name, dog.age, dog.tricks, dog.nickname) = ("Ada", 1, 9, nil)
            dog.nurse = try transaction.fetchOne(From<Second.Owner>())
        })
        moved.unsafeRemoveAllPersistentStoresAndWait()

        let back = try stack(First.schema(), url)
        try queue.sync {
            let dogs = try back.fetchAll(From<First.Dog>().orderBy(.ascending(\.$name)))
            #expect(dogs.map(\.name) == ["Ada", "Rex"])
            #expect(dogs.map(\.age) == [1, 7])
            #expect(dogs.map(\.tricks) == [9, 3])
            #expect(dogs.map(\.nickname) == [nil, "R"])
            #expect(dogs[0].owner == nil)
            #expect(dogs[0].nurse?.nursed.map(\.name) == ["Rex", "Ada"])
        }
        back.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `declarations in another order do not make a recreatable store empty`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let made = try stack(First.schema(), url)
        try made.perform(synchronous: { $0.create(Into<First.Owner>()).city = "Oslo" })
        made.unsafeRemoveAllPersistentStoresAndWait()
        let moved = DataStack(Second.schema(), viewContext: .queue(queue))
        try moved.addStorageAndWait(
            LocalStore(fileURL: url, localStorageOptions: .recreateStoreOnModelMismatch))
        #expect(try queue.sync { try moved.fetchAll(From<Second.Owner>()).map(\.city) } == ["Oslo"])
        moved.unsafeRemoveAllPersistentStoresAndWait()
    }
}
