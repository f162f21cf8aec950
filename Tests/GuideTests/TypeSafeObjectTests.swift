import ObjectGraph
import Testing

/// The guide's chapter on classes of objects.
@MainActor @Suite struct TypeSafeObjectTests {
    class Animal: CoreStoreObject {
        @Field.Stored("species")
        var species: String = ""
    }

    class Dog: Animal {
        @Field.Stored("nickname")
        var nickname: String?

        @Field.Stored("age")
        var age: Int = 1

        @Field.Relationship("master")
        var master: Person?
    }

    class Person: CoreStoreObject {
        @Field.Stored("name")
        private var internalName: String = ""

        @Field.Stored("title")
        var title: String = "Mr."

        @Field.Stored("nickname")
        var nickname: String?

        @Field.Stored("identifier", dynamicInitialValue: { UUID() })
        var identifier: UUID

        @Field.Stored("createdDate", dynamicInitialValue: { Date() })
        var createdDate: Date

        @Field.Stored("rank")
        var rank: Rank = .deckhand

        @Field.Relationship("pets", inverse: \Dog.$master)
        var pets: Set<Dog>

        func rename(_ name: String) { internalName = name }
        var shownName: String { internalName }
    }

    enum Rank: Int, CaseIterable, FieldStorableType, ImportableAttributeType {
        case deckhand, mate, master
    }

    private func stack() throws -> DataStack {
        let dataStack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Animal>("Animal", isAbstract: true),
                    Entity<Dog>("Dog"),
                    Entity<Person>("Person"),
                ]
            )
        )
        try dataStack.addStorageAndWait(InMemoryStore())
        return dataStack
    }

    @Test func `a property may have a name other than its column's`() throws {
        let dataStack = try stack()
        try dataStack.perform(synchronous: { transaction in
            transaction.create(Into<Person>()).rename("Ann")
        })

        #expect(try dataStack.fetchOne(From<Person>())?.shownName == "Ann")
        #expect(try dataStack.fetchCount(From<Person>().where(format: "name == 'Ann'")) == 1)
    }

    @Test func `a key path gives the name of its column`() {
        let keyPath = String(keyPath: \Dog.$nickname)
        #expect(keyPath == "nickname")
        #expect(String(keyPath: \Dog.$species) == "species")
        #expect(String(keyPath: \Person.$pets) == "pets")
    }

    @Test func `a class is fetched by its key paths`() throws {
        let dataStack = try stack()
        try dataStack.perform(synchronous: { transaction in
            for age in [4, 9, 2] { transaction.create(Into<Dog>()).age = age }
        })

        let puppies = try dataStack.fetchAll(
            From<Dog>()
                .where(\.$age < 5)
                .orderBy(.ascending(\.$age))
        )

        #expect(puppies.map(\.age) == [2, 4])
    }

    @Test func `a new object has its defaults and values of its own`() throws {
        let dataStack = try stack()
        try dataStack.perform(synchronous: { transaction in
            _ = transaction.create(Into<Person>())
            _ = transaction.create(Into<Person>())
        })

        let people = try dataStack.fetchAll(From<Person>())
        #expect(people.map(\.title) == ["Mr.", "Mr."])
        #expect(people.map(\.nickname) == [nil, nil])
        #expect(people.map(\.rank) == [.deckhand, .deckhand])
        #expect(Set(people.map(\.identifier)).count == 2)
        #expect(abs(people[0].createdDate.timeIntervalSinceNow) < 60)
    }

    @Test func `assigning one side of a relationship updates the other`() throws {
        let dataStack = try stack()
        try dataStack.perform(synchronous: { transaction in
            let person = transaction.create(Into<Person>())
            let dog = transaction.create(Into<Dog>())
            person.pets.insert(dog)
            #expect(dog.master === person)
            dog.master = nil
            #expect(person.pets.isEmpty)
            dog.master = person
            #expect(person.pets == [dog])
        })

        #expect(try dataStack.fetchOne(From<Person>())?.pets.count == 1)
    }

    @Test func `an enumeration of numbers or texts is a value`() throws {
        let dataStack = try stack()
        try dataStack.perform(synchronous: { transaction in
            transaction.create(Into<Person>()).rank = .master
            transaction.create(Into<Person>()).rank = .mate
        })

        #expect(try dataStack.fetchCount(From<Person>().where(\.$rank == .master)) == 1)
        #expect(try dataStack.fetchCount(From<Person>().where([.master, .mate] ~= \.$rank)) == 2)
        let rank = try dataStack.queryValue(From<Person>().select(\.$rank).where(\.$rank == .mate))
        #expect(rank == .mate)
    }

    /// The entity "Job" of an older program, whose ranks end earlier.
    class Job: CoreStoreObject {
        @Field.Stored("rank") var rank: Rank = .mate
        @Field.Stored("next") var next: Rank?
    }

    /// The entity "Job" of a newer program.
    class NewerJob: CoreStoreObject {
        @Field.Stored("rank") var rank: Int = 0
        @Field.Stored("next") var next: Int?
    }

    @Test func `an unknown case of an enumeration does not stop the program`() throws {
        let url = Harbour.temporaryURL()
        defer { Harbour.remove(url) }
        let newer = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [Entity<NewerJob>("Job")]))
        try newer.addStorageAndWait(LocalStore(fileURL: url))
        try newer.perform(synchronous: { transaction in
            let job = transaction.create(Into<NewerJob>())
            (job.rank, job.next) = (77, 78)
        })
        newer.unsafeRemoveAllPersistentStoresAndWait()

        let older = DataStack(CoreStoreSchema(modelVersion: "V1", entities: [Entity<Job>("Job")]))
        try older.addStorageAndWait(LocalStore(fileURL: url))
        let job = try #require(try older.fetchOne(From<Job>()))
        #expect(job.rank == .mate)
        #expect(job.next == nil)
        older.unsafeRemoveAllPersistentStoresAndWait()
    }

    class Crate: CoreStoreObject {
        @Field.Stored("label") var label: NSString = ""
        @Field.Stored("weight") var weight: NSNumber?
        @Field.Stored("sealed") var sealed: NSDate?
        @Field.Stored("code") var code: NSUUID?
        @Field.Stored("picture") var picture: NSData?
        @Field.Stored("page") var page: NSURL?
    }

    @Test func `a property is of one of Foundation's classes`() throws {
        let dataStack = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [Entity<Crate>("Crate")]))
        try dataStack.addStorageAndWait(InMemoryStore())
        let code = UUID()
        let json: [String: Any] = ["label": "Herring", "weight": 12]
        try dataStack.perform(synchronous: { transaction in
            let crate = transaction.create(Into<Crate>())
            #expect(crate.label == "")
            #expect(crate.weight == nil)
            crate.label = json["label"] as? NSString ?? ""
            crate.weight = json["weight"] as? NSNumber
            crate.sealed = NSDate(timeIntervalSinceReferenceDate: 1.5)
            crate.code = NSUUID(uuidString: code.uuidString)
            crate.picture = NSData(data: Data([1, 2, 3]))
            crate.page = NSURL(string: "https://example.com/a?b=c")
        })

        let crate = try #require(
            try dataStack.fetchOne(From<Crate>().where(\.$label == "Herring")))
        #expect(crate.label == "Herring")
        #expect(crate.weight == 12)
        #expect(crate.sealed?.timeIntervalSinceReferenceDate == 1.5)
        #expect(crate.code?.uuidString == code.uuidString)
        #expect(crate.picture?.count == 3)
        #expect(crate.page == NSURL(string: "https://example.com/a?b=c"))
        #expect(try dataStack.fetchCount(From<Crate>().where(\.$page == crate.page)) == 1)
        #expect(try dataStack.fetchCount(From<Crate>().where(format: "weight > %@", 11)) == 1)
    }

    class Parcel: Crate {
        @Field.Stored("price") var price: NSDecimalNumber = 1.25
        @Field.Stored("duty") var duty: NSDecimalNumber?
        @Field.Stored("toll", dynamicInitialValue: { NSDecimalNumber(string: "0.1") })
        var toll: NSDecimalNumber
    }

    @Test func `an NSDecimalNumber was cut to an integer, and ended the program`() throws {
        let dataStack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Crate>("Crate"), Entity<Parcel>("Parcel", indexes: [[\.$price]]),
                ]))
        try dataStack.addStorageAndWait(InMemoryStore())
        let exact = NSDecimalNumber(string: "12345678901234567890.123")
        try dataStack.perform(synchronous: { transaction in
            #expect(transaction.create(Into<Parcel>()).price == 1.25)
            let parcel = transaction.create(Into<Parcel>())
            (parcel.price, parcel.duty) = (exact, NSDecimalNumber(string: "-0.5"))
            // A property of numbers keeps its own form, whatever is put into it.
            parcel.weight = NSDecimalNumber(string: "3.75")
        })

        let parcel = try #require(
            try dataStack.fetchOne(From<Parcel>().where(\.$price == exact)))
        #expect(parcel.price == exact)
        #expect(parcel.duty == NSDecimalNumber(string: "-0.5"))
        #expect(parcel.toll == NSDecimalNumber(string: "0.1"))
        #expect(parcel.weight == 3)
        #expect(try dataStack.fetchCount(From<Parcel>().where(\.$duty == nil)) == 1)
        let sum = try dataStack.queryValue(
            From<Parcel>(), Select<NSDecimalNumber>(.sum("price")))
        #expect(sum == NSDecimalNumber(string: "12345678901234567891.373"))
    }

    @Test func `a query for a UUID as a text gave nil`() throws {
        let dataStack = try stack()
        try dataStack.perform(synchronous: { _ = $0.create(Into<Person>()) })

        let person = try #require(try dataStack.fetchOne(From<Person>()))
        let text = try dataStack.queryValue(From<Person>(), Select<String>("identifier"))
        #expect(text == person.identifier.uuidString.lowercased())
        #expect(String.cs_fromQueryableNativeType(URL(string: "a:b") as Any) == "a:b")
    }

    class Vehicle: CoreStoreObject {
        @Field.Stored("brand", customGetter: { object, field in "«\(field.primitiveValue ?? "")»" })
        var brand: String = "none"

        @Field.Stored(
            "plate",
            customSetter: { object, field, value in
                field.primitiveValue = value.uppercased()
            })
        var plate: String = ""
    }

    class Truck: Vehicle {
        @Field.Stored("title", customGetter: { object, field in "Truck \(object.$brand.value)" })
        var title: String = ""

        @Field.Stored(
            "owner",
            customSetter: { object, field, value in
                field.primitiveValue = value
                object.$plate.value = value
            })
        var owner: String = ""
    }

    @Test func `a subclass skipped the accessors of its superclass`() throws {
        let dataStack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1", entities: [Entity<Vehicle>("Vehicle"), Entity<Truck>("Truck")]))
        try dataStack.addStorageAndWait(InMemoryStore())
        try dataStack.perform(synchronous: { transaction in
            let truck = transaction.create(Into<Truck>())
            truck.brand = "Volvo"
            truck.owner = "Ann"
        })

        let truck = try #require(try dataStack.fetchOne(From<Truck>()))
        #expect(truck.brand == "«Volvo»")
        #expect(truck.title == "Truck «Volvo»")
        #expect((truck.owner, truck.plate) == ("Ann", "ANN"))
    }

    // MARK: Version locks

    private static let hashes: VersionLock = [
        "Boat": [0x3456_68ef_5dbf_26dc, 0x1, 0x2, 0x3]
    ]

    @Test func `a version lock is written as a literal and prints as one`() {
        #expect(Self.hashes == VersionLock(["Boat": [0x3456_68ef_5dbf_26dc, 1, 2, 3]]))
        #expect(Self.hashes.description.contains("\"Boat\": [0x345668ef5dbf26dc, 0x1, 0x2, 0x3]"))
    }

    @Test func `the printed schema declares the classes and their lock`() throws {
        let text = try stack().modelSchema.printCoreStoreSchema()

        #expect(text.contains("class Dog: Animal {"))
        #expect(text.contains("@Field.Stored(\"nickname\")\n    var nickname: String?"))
        #expect(text.contains("var title: String = \"Mr.\""))
        #expect(text.contains("@Field.Relationship(\"pets\", inverse: \\.$master)"))
        #expect(text.contains("var pets: Set<Dog>"))
        #expect(text.contains("Entity<Animal>(\"Animal\", isAbstract: true)"))
        #expect(text.contains("versionLock: [\n"))
    }

    private func lock(_ text: String) -> [EntityName: [UInt64]] {
        var hashes: [EntityName: [UInt64]] = [:]
        for match in text.matches(of: #/"(\w+)": \[(0x.*)\]/#) {
            hashes[String(match.1)] = match.2.split(separator: ", ").compactMap {
                UInt64($0.dropFirst(2), radix: 16)
            }
        }
        return hashes
    }

    private func schema(_ modifier: String?, lock: VersionLock? = nil) -> CoreStoreSchema {
        CoreStoreSchema(
            modelVersion: "V1",
            entities: [
                Entity<Animal>("Animal", isAbstract: true),
                Entity<Dog>("Dog", versionHashModifier: modifier),
                Entity<Person>("Person"),
            ],
            versionLock: lock
        )
    }

    @Test func `a schema fits the lock that it printed, and no other's`() throws {
        let hashes = lock(schema(nil).printCoreStoreSchema())
        let others = lock(schema("2").printCoreStoreSchema())

        #expect(hashes.mapValues(\.count) == ["Animal": 4, "Dog": 4, "Person": 4])
        #expect(schema(nil, lock: VersionLock(hashes)).modelVersion == "V1")
        #expect(hashes["Animal"] == others["Animal"])
        #expect(hashes["Dog"] != others["Dog"])
    }
}
