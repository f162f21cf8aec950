import ObjectGraph
import Testing

// Values that objects hold are read wherever the objects are: where a program's declarations
// belong to the main actor by default, their types do not.

/// The stand-in of the guide's colour class: one that archives itself.
nonisolated final class PaintColor: NSObject, NSCoding {
    let name: String
    init(_ name: String) { self.name = name }
    init?(coder: NSCoder) {
        guard let name = coder.decodeObject(forKey: "name") as? String else { return nil }
        self.name = name
    }
    func encode(with coder: NSCoder) { coder.encode(name as NSString, forKey: "name") }
    static var white: PaintColor { PaintColor("white") }
}

nonisolated struct Photo: Equatable {
    var name: String
    func toData() -> Data { Data(name.utf8) }
    init(name: String) { self.name = name }
    init(fromData data: Data) { name = String(decoding: data, as: UTF8.self) }
}

/// The guide's sections on the property wrappers.
@MainActor @Suite struct FieldTests {
    class Animal: CoreStoreObject {

        @Field.Virtual(
            "speciesPlural",
            customGetter: { (object, field) in
                return object.$species.value + "s"
            }
        )
        var speciesPlural: String

        @Field.Stored("species")
        var species: String = ""
    }

    class Dog: Animal {
        @Field.Stored("nickname")
        var nickname: String?
    }

    class Vehicle: CoreStoreObject {

        @Field.Coded("color", coder: FieldCoders.NSCoding.self)
        var color: PaintColor? = .white
    }

    class Person: CoreStoreObject {

        struct CustomInfo: Codable, Equatable {
            var height: Int
            var tags: [String]
        }

        @Field.Stored("title")
        var title: String = "Mr."

        @Field.Stored(
            "name",
            customGetter: { (object, field) in
                "\(object.$title.value) \(field.primitiveValue ?? "")"
            },
            affectedByKeyPaths: [String(keyPath: \Person.$title)]
        )
        var name: String = ""

        @Field.Coded("otherInfo", coder: FieldCoders.Json.self)
        var otherInfo: CustomInfo?

        @Field.Coded("history", coder: FieldCoders.Plist.self)
        var history: [Date] = []

        @Field.Coded(
            "photo",
            coder: (
                encode: { $0?.toData() },
                decode: { $0.map { Photo(fromData: $0) } }
            )
        )
        var photo: Photo?

        @Field.Coded("marks")
        var marks: NSArray?

        @Field.Coded("secrets", coder: FieldCoders.Json.self, dynamicInitialValue: { [UUID()] })
        var secrets: [UUID]

        @Field.Virtual(
            "displayName",
            customGetter: { (object, field) in
                if let displayName = field.primitiveValue {
                    return displayName
                }
                let displayName = "« \(object.$name.value) »"
                field.primitiveValue = displayName
                return displayName
            },
            customSetter: { (object, field, newValue) in
                object.$name.value = newValue
                field.primitiveValue = nil
            },
            affectedByKeyPaths: ["name"]
        )
        var displayName: String
    }

    private func stack() throws -> DataStack {
        let dataStack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Animal>("Animal", isAbstract: true),
                    Entity<Dog>("Dog"),
                    Entity<Vehicle>("Vehicle"),
                    Entity<Person>("Person"),
                ]
            )
        )
        try dataStack.addStorageAndWait(InMemoryStore())
        return dataStack
    }

    @Test func `a virtual property is computed from stored ones`() throws {
        let dataStack = try stack()
        try dataStack.perform(synchronous: { transaction in
            transaction.create(Into<Dog>()).species = "Dog"
        })
        let dog = try dataStack.fetchOne(From<Dog>())
        #expect(dog?.speciesPlural == "Dogs")
        #expect(String(keyPath: \Dog.$speciesPlural) == "speciesPlural")
    }

    @Test func `a virtual property keeps what it computed`() throws {
        let dataStack = try stack()
        try dataStack.perform(synchronous: { transaction in
            let person = transaction.create(Into<Person>())
            #expect(person.displayName == "« Mr.  »")
            person.displayName = "Bond"
            #expect(person.displayName == "« Mr. Bond »")
        })
        let person = try #require(try dataStack.fetchOne(From<Person>()))
        #expect(person.displayName == "« Mr. Bond »")
        #expect(person.displayName == "« Mr. Bond »")
    }

    @Test func `coded properties keep their values`() throws {
        let dataStack = try stack()
        let dates = [
            Date(timeIntervalSinceReferenceDate: 1), Date(timeIntervalSinceReferenceDate: 2),
        ]
        try dataStack.perform(synchronous: { transaction in
            let person = transaction.create(Into<Person>())
            person.otherInfo = .init(height: 180, tags: ["tall"])
            person.history = dates
            person.photo = Photo(name: "passport")
            person.marks = [1, 2]
            #expect(person.secrets.count == 1)
            let vehicle = transaction.create(Into<Vehicle>())
            #expect(vehicle.color?.name == "white")
            vehicle.color = PaintColor("blue")
            transaction.create(Into<Vehicle>()).color = nil
        })
        let person = try #require(try dataStack.fetchOne(From<Person>()))
        #expect(person.otherInfo == .init(height: 180, tags: ["tall"]))
        #expect(person.history == dates)
        #expect(person.photo == Photo(name: "passport"))
        #expect(person.marks == [1, 2])
        let colors = try dataStack.fetchAll(From<Vehicle>()).map { $0.color?.name }
        #expect(Set(colors) == ["blue", nil])
    }

    @Test func `a partial object has the properties by name`() throws {
        let dataStack = try stack()
        try dataStack.perform(synchronous: { transaction in
            let dog = transaction.create(Into<Dog>())
            let partial = dog.partialObject()
            partial.setPrimitiveValue("Wolf", for: { $0.$species })
            #expect(
                partial.value(for: { $0.$species }) + "s"
                    == partial.value(for: { $0.$speciesPlural }))
        })
    }
}
