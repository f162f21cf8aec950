import ObjectGraph
import TestSupport

class Animal: CoreStoreObject {
    @Field.Stored("species") var species: String = "Swift"
    @Field.Stored("color") var color: String?
    @Field.Relationship("master") var master: Person?
}

class Dog: Animal {
    @Field.Stored("nickname") var nickname: String?
    @Field.Stored("age") var age: Int = 1
}

final class Person: CoreStoreObject, ImportableUniqueObject {
    @Field.Stored("name") var name: String = ""
    @Field.Stored("email") var email: String = ""
    @Field.Stored("balance") var balance: Double = 0
    @Field.Stored("score") var score: Decimal = 0
    @Field.Stored("identifier", dynamicInitialValue: { UUID() }) var identifier: UUID
    @Field.Stored("born") var born: Date?
    @Field.Stored("photo") var photo: Data?
    @Field.Stored("home") var home: URL?
    @Field.Stored("isMember") var isMember: Bool = false
    @Field.Stored("level") var level: UInt8 = 7
    @Field.Stored(
        "title", customGetter: { object, field in "Dr. " + (field.primitiveValue ?? "") },
        customSetter: { object, field, value in field.primitiveValue = value.uppercased() })
    var title: String = "x"
    @Field.Relationship("pets", inverse: \.$master) var pets: Set<Animal>
    @Field.Relationship("friends", inverse: \.$friendOf) var friends: [Person]
    @Field.Relationship("friendOf") var friendOf: Set<Person>
    @Field.Relationship("spouse", inverse: \.$spouseOf) var spouse: Person?
    @Field.Relationship("spouseOf") var spouseOf: Person?
    @Field.Relationship("toys", inverse: \.$owner, deleteRule: .cascade) var toys: [Toy]
    @Field.Relationship("debts", inverse: \.$debtor, deleteRule: .deny) var debts: Set<Debt>

    typealias ImportSource = [String: String]
    static var uniqueIDKeyPath: String { "email" }
    typealias UniqueIDType = String
    static func uniqueID(
        from source: ImportSource, in transaction: BaseDataTransaction
    ) throws -> String? {
        source["email"]
    }
    func update(from source: ImportSource, in transaction: BaseDataTransaction) throws {
        name = source["name"] ?? name
    }
}

final class Toy: CoreStoreObject {
    @Field.Stored("label") var label: String = ""
    @Field.Relationship("owner") var owner: Person?
}

final class Debt: CoreStoreObject {
    @Field.Stored("amount") var amount: Int = 0
    @Field.Relationship("debtor") var debtor: Person?
}

enum Zoo {
    static func schema() -> CoreStoreSchema {
        CoreStoreSchema(
            modelVersion: "V1",
            entities: [
                Entity<Animal>("Animal", indexes: [[\.$species]]),
                Entity<Dog>("Dog", indexes: [[\.$age]]),
                Entity<Person>(
                    "Person", indexes: [[\.$name]], uniqueConstraints: [[\.$email]]),
                Entity<Toy>("Toy"),
                Entity<Debt>("Debt"),
            ])
    }

    /// A stack with an in-memory store whose view lives on a queue, and that queue.
    static func stack() throws -> (DataStack, DispatchQueue) {
        let queue = DispatchQueue(label: "view")
        let stack = DataStack(schema(), viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        return (stack, queue)
    }

    /// A stack with a file store whose view lives on a queue, and that queue.
    static func stack(at url: URL) throws -> (DataStack, DispatchQueue) {
        let queue = DispatchQueue(label: "view")
        let stack = DataStack(schema(), viewContext: .queue(queue))
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        return (stack, queue)
    }

    /// A stack with a store of small pages on files that can fail, of which few are cached if that
    /// is asked for.
    static func stack(
        _ files: FaultyFileSystem, _ queue: DispatchQueue, _ url: URL, cachedPageCount: Int? = nil
    ) throws -> DataStack {
        let stack = DataStack(schema(), viewContext: .queue(queue))
        var options = EngineOptions()
        options.pageSizeInBytes = 4096
        if let cachedPageCount { options.cacheSizeInBytes = cachedPageCount * 4096 }
        try stack.addStorageAndWait(
            LocalStore(fileURL: url, files: files, engineOptions: options))
        return stack
    }

    /// Lends a stack in memory where its view lives, with dogs of some ages, whose nicknames are
    /// their places.
    static func withDogs(
        _ ages: some Collection<Int>, _ body: (DataStack, [NSManagedObjectID]) throws -> Void
    ) throws {
        let (stack, queue) = try stack()
        let ids = try stack.perform(synchronous: { transaction in
            ages.enumerated().map { number, age in
                let dog = transaction.create(Into<Dog>())
                (dog.age, dog.nickname) = (age, "\(number)")
                return dog.objectID()
            }
        })
        try queue.sync { try body(stack, ids) }
    }

    static func temporaryURL() -> URL {
        FileManager.default.temporaryDirectory
            .appendingPathComponent("zoo-\(UUID().uuidString).trellis")
    }
}
