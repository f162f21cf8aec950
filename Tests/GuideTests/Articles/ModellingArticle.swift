import Foundation
import ObjectGraph
import Testing

/// The code of the article Modelling.
@MainActor @Suite struct ModellingArticle {
    private enum Stored {
        final class Person: CoreStoreObject {
            @Field.Stored("name")
            var name: String = ""

            @Field.Stored("nickname")
            var nickname: String?

            @Field.Stored("identifier", dynamicInitialValue: { UUID() })
            var identifier: UUID
        }
    }

    private enum Accessors {
        final class Person: CoreStoreObject {
            @Field.Stored("title")
            var title: String = "Dr."

            @Field.Stored(
                "name",
                customGetter: { object, field in
                    "\(object.$title.value) \(field.primitiveValue ?? "")"
                },
                customSetter: { object, field, value in
                    field.primitiveValue = value.trimmingCharacters(in: .whitespaces)
                },
                affectedByKeyPaths: [String(keyPath: \Person.$title)])
            var name: String = ""
        }

        final class Animal: CoreStoreObject {
            @Field.Stored("species")
            var species: String = "cat"

            @Field.Virtual("plural", customGetter: { object, field in object.$species.value + "s" })
            var plural: String
        }
    }

    nonisolated struct Info: Codable, Hashable, Sendable {
        var text = ""
    }

    nonisolated struct Photo: Hashable, Sendable {
        var data: Data
    }

    private final class Coded: CoreStoreObject {
        @Field.Coded("info", coder: FieldCoders.Json.self)
        var info: Info?

        @Field.Coded("photo", coder: (encode: { $0?.data }, decode: { $0.map(Photo.init(data:)) }))
        var photo: Photo?

        @Field.Coded("tags")
        var tags: [String] = []
    }

    private enum Linked {
        final class Person: CoreStoreObject {
            @Field.Relationship("pets", inverse: \.$master, deleteRule: .cascade)
            var pets: Set<Dog>
        }

        final class Dog: CoreStoreObject {
            @Field.Relationship("master")
            var master: Person?
        }
    }

    private enum Above {
        class Dated: CoreStoreObject {  // no entity
            @Field.Stored("created", dynamicInitialValue: { Date() })
            var created: Date
        }
        final class Note: Dated {
            @Field.Stored("text") var text: String = ""
        }
        final class Task: Dated {
            @Field.Stored("isDone") var isDone: Bool = false
        }
    }

    private func stack(_ entities: [DynamicEntity]) throws -> DataStack {
        let stack = DataStack(CoreStoreSchema(modelVersion: "V1", entities: entities))
        try stack.addStorageAndWait(InMemoryStore())
        return stack
    }

    @Test func `stored properties have first values and accessors`() throws {
        let stack = try stack([
            Entity<Stored.Person>("Person"), Entity<Accessors.Person>("Doctor"),
            Entity<Accessors.Animal>("Animal"),
        ])
        try stack.perform(synchronous: { transaction in
            let person = transaction.create(Into<Stored.Person>())
            #expect(person.name == "" && person.nickname == nil)
            #expect(person.identifier != transaction.create(Into<Stored.Person>()).identifier)
            let doctor = transaction.create(Into<Accessors.Person>())
            doctor.name = " Who "
            #expect(doctor.name == "Dr. Who")
            #expect(transaction.create(Into<Accessors.Animal>()).plural == "cats")
        })
    }

    @Test func `coded properties and links are kept`() throws {
        let stack = try stack([
            Entity<Coded>("Coded"), Entity<Linked.Person>("Person"), Entity<Linked.Dog>("Dog"),
        ])
        try stack.perform(synchronous: { transaction in
            let coded = transaction.create(Into<Coded>())
            coded.info = Info(text: "a")
            coded.photo = Photo(data: Data([1, 2]))
            coded.tags = ["x"]
            transaction.create(Into<Linked.Dog>()).master = transaction.create(
                Into<Linked.Person>())
        })
        let coded = try #require(try stack.fetchOne(From<Coded>()))
        #expect(coded.info?.text == "a" && coded.photo?.data.count == 2 && coded.tags == ["x"])
        #expect(try stack.fetchOne(From<Linked.Person>())?.pets.count == 1)
    }

    @Test func `many objects are linked to one`() throws {
        let stack = try stack([Entity<Linked.Person>("Person"), Entity<Linked.Dog>("Dog")])
        try stack.perform(synchronous: { transaction in
            let person = transaction.create(Into<Linked.Person>())
            let dogs = (0..<3).map { _ in transaction.create(Into<Linked.Dog>()) }
            person.pets.formUnion(dogs)  // one read, one assignment
            for dog in dogs { dog.master = person }  // constant for each
            #expect(person.pets.count == 3)
        })
    }

    @Test func `a class without an entity passes its properties on to its subclasses`() throws {
        typealias Note = Above.Note
        typealias Task = Above.Task
        let schema = CoreStoreSchema(
            modelVersion: "V1", entities: [Entity<Note>("Note"), Entity<Task>("Task")])
        let stack = DataStack(schema)
        try stack.addStorageAndWait(InMemoryStore())
        try stack.perform(synchronous: { transaction in
            _ = transaction.create(Into<Note>())
            _ = transaction.create(Into<Task>())
        })
        #expect(try stack.fetchCount(From<Note>().where(\.$created <= Date())) == 1)
        #expect(try stack.fetchCount(From<Task>().where(\.$created <= Date())) == 1)
    }

    @Test func `the model is written as JSON`() throws {
        let stack = try stack([Entity<Stored.Person>("Person")])
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "model-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try writeModel(of: stack, to: folder.appending(path: "Model.json"))
        let text = try String(contentsOf: folder.appending(path: "Model.json"), encoding: .utf8)
        #expect(text.contains("nickname"))
    }

    private func writeModel(of stack: DataStack, to model: URL) throws {
        try Data(stack.modelSchema.printModelJSON().utf8).write(to: model)
    }
}
