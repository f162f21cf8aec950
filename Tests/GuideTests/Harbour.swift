import ObjectGraph

// The model of the guide's tests, declared as the guide declares its own.

class Vessel: CoreStoreObject {
    @Field.Stored("registry")
    var registry: String = ""
}

class Ferry: Vessel {
    @Field.Stored("nickname")
    var nickname: String?

    @Field.Stored("age")
    var age: Int = 0

    @Field.Relationship("captain")
    var captain: Sailor?
}

class Sailor: CoreStoreObject {
    @Field.Stored("name")
    var name: String = ""

    @Field.Stored("age")
    var age: Int = 0

    @Field.Stored("gender")
    var gender: String?

    @Field.Stored("rating")
    var rating: Double = 0

    @Field.Stored("number")
    var number: Int = 0

    @Field.Relationship("ferries", inverse: \Ferry.$captain)
    var ferries: Set<Ferry>

    @Field.Relationship("friends", inverse: \.$friendOf)
    var friends: [Sailor]

    @Field.Relationship("friendOf")
    var friendOf: Set<Sailor>
}

// The word is for modules whose default isolation is `MainActor`; elsewhere it changes nothing.
nonisolated extension Sailor: ImportableUniqueObject {
    typealias ImportSource = [String: Any]

    enum Errors: Error {
        case missingName
    }

    class var uniqueIDKeyPath: String {
        return String(keyPath: \Sailor.$number)
    }

    var uniqueIDValue: Int {
        get { return self.number }
        set { self.number = newValue }
    }

    class func uniqueID(
        from source: ImportSource, in transaction: BaseDataTransaction
    ) throws -> Int? {
        return source["id"] as? Int
    }

    static func shouldUpdate(
        from source: ImportSource, in transaction: BaseDataTransaction
    ) -> Bool {
        source["skip"] == nil
    }

    func update(from source: ImportSource, in transaction: BaseDataTransaction) throws {
        guard let name = source["name"] as? String else { throw Errors.missingName }
        self.name = name
        self.age = source["age"] as? Int ?? self.age
        if let friends = source["friends"] as? [[String: Any]] {
            self.friends = try transaction.importUniqueObjects(Into<Sailor>(), sourceArray: friends)
        }
        if let lost = source["lost"] as? Int {
            try transaction.deleteAll(From<Sailor>().where(\.$number == lost))
        }
    }
}

/// A line of a log book: each import makes a new one.
class LogLine: CoreStoreObject, ImportableObject {
    @Field.Stored("text")
    var text: String = ""

    typealias ImportSource = [String: Any]

    static func shouldInsert(
        from source: ImportSource, in transaction: BaseDataTransaction
    ) -> Bool {
        return source["text"] != nil
    }

    func didInsert(from source: ImportSource, in transaction: BaseDataTransaction) throws {
        guard let text = source["text"] as? String else { throw Sailor.Errors.missingName }
        self.text = text
    }
}

enum Harbour {
    static func schema() -> CoreStoreSchema {
        CoreStoreSchema(
            modelVersion: "V1",
            entities: [
                Entity<Vessel>("Vessel", isAbstract: true),
                Entity<Ferry>("Ferry", indexes: [[\.$age]]),
                Entity<Sailor>("Sailor", indexes: [[\.$name], [\.$number]]),
                Entity<LogLine>("LogLine"),
            ]
        )
    }

    /// A stack over memory with three sailors and two ferries.
    static func dataStack() throws -> DataStack {
        let dataStack = DataStack(schema())
        try dataStack.addStorageAndWait(InMemoryStore())
        try dataStack.perform(
            synchronous: { (transaction) -> Void in
                let john = transaction.create(Into<Sailor>())
                (john.name, john.age, john.gender) = ("John Smith", 42, "M")
                (john.rating, john.number) = (4.5, 1)
                let jane = transaction.create(Into<Sailor>())
                (jane.name, jane.age, jane.gender) = ("Jane Smith", 22, "F")
                (jane.rating, jane.number) = (5, 2)
                let ole = transaction.create(Into<Sailor>())
                (ole.name, ole.age, ole.number) = ("Ole", 60, 3)
                ole.rating = 4.5
                jane.friends = [john, ole]
                for (registry, age, captain) in [("LK-1", 3, jane), ("LK-2", 30, john)] {
                    let ferry = transaction.create(Into<Ferry>())
                    (ferry.registry, ferry.age, ferry.captain) = (registry, age, captain)
                }
            }
        )
        return dataStack
    }

    static func temporaryURL() -> URL {
        FileManager.default.temporaryDirectory
            .appendingPathComponent("harbour-\(UUID().uuidString)", isDirectory: true)
            .appendingPathComponent("harbour.trellis", isDirectory: false)
    }

    static func remove(_ url: URL) {
        try? FileManager.default.removeItem(at: url.deletingLastPathComponent())
    }
}
