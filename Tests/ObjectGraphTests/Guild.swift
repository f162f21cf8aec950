import ObjectGraph
import PageStore

// Related classes for tests of imports: fellows know each other by their codes, wear badges, which
// have numbers, and write jottings, which have neither.

final class Fellow: CoreStoreObject, ImportableUniqueObject {
    struct Refusal: Error {}

    @Field.Stored("code") var code: String = ""
    @Field.Stored("name") var name: String = ""
    @Field.Relationship("master", inverse: \.$pupils) var master: Fellow?
    @Field.Relationship("pupils") var pupils: Set<Fellow>
    @Field.Relationship("friends") var friends: [Fellow]
    @Field.Relationship("badges", inverse: \.$wearers) var badges: Set<Badge>
    @Field.Relationship("notes", inverse: \.$writer, deleteRule: .cascade) var notes: [Jotting]

    typealias ImportSource = [String: Any]
    typealias UniqueIDType = String
    static let uniqueIDKeyPath = "code"

    static var importableRelationships: [ImportableRelationship<ImportSource>] {
        [
            ImportableRelationship(\Fellow.$master, key: "master"),
            ImportableRelationship(\Fellow.$friends, key: "friends"),
            ImportableRelationship(\Fellow.$badges, key: "badges"),
            ImportableRelationship(\Fellow.$notes, key: "notes"),
        ]
    }

    static func uniqueID(
        from source: ImportSource, in transaction: BaseDataTransaction
    ) throws -> String? {
        source["code"] as? String
    }

    static func shouldInsert(
        from source: ImportSource, in transaction: BaseDataTransaction
    ) -> Bool {
        source["isKnown"] == nil
    }

    static func shouldUpdate(
        from source: ImportSource, in transaction: BaseDataTransaction
    ) -> Bool {
        source["isNew"] == nil
    }

    func update(from source: ImportSource, in transaction: BaseDataTransaction) throws {
        if source["isRefused"] != nil { throw Refusal() }
        name = source["name"] as? String ?? ""
    }
}

final class Badge: CoreStoreObject, ImportableUniqueObject {
    @Field.Stored("number") var number: Int = 0
    @Field.Stored("text") var text: String = ""
    @Field.Relationship("wearers") var wearers: Set<Fellow>

    typealias ImportSource = [String: Any]
    typealias UniqueIDType = Int
    static let uniqueIDKeyPath = "number"

    static func uniqueID(
        from source: ImportSource, in transaction: BaseDataTransaction
    ) throws -> Int? {
        source["number"] as? Int
    }

    func update(from source: ImportSource, in transaction: BaseDataTransaction) throws {
        text = source["text"] as? String ?? ""
    }
}

final class Jotting: CoreStoreObject, ImportableObject {
    @Field.Stored("text") var text: String = ""
    @Field.Relationship("writer") var writer: Fellow?

    typealias ImportSource = [String: Any]

    static func shouldInsert(
        from source: ImportSource, in transaction: BaseDataTransaction
    ) -> Bool {
        source["text"] != nil
    }

    func didInsert(from source: ImportSource, in transaction: BaseDataTransaction) throws {
        text = source["text"] as? String ?? ""
    }
}

/// A stack of members in memory.
struct Guild {
    let stack: DataStack
    private let queue = DispatchQueue(label: "view")

    init(changedBytesMax: Int? = nil) throws {
        stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Fellow>("Fellow", uniqueConstraints: [[\.$code]]),
                    Entity<Badge>("Badge", uniqueConstraints: [[\.$number]]),
                    Entity<Jotting>("Jotting"),
                ]),
            viewContext: .queue(queue))
        var options = EngineOptions()
        if let changedBytesMax { options.changedBytesMax = changedBytesMax }
        try stack.addStorageAndWait(
            LocalStore(
                fileURL: URL(fileURLWithPath: "/guild"), files: MemoryFileSystem(),
                engineOptions: options))
    }

    func change<Result>(
        _ body: (SynchronousDataTransaction) throws -> Result
    ) throws(CoreStoreError) -> Result {
        try stack.perform(synchronous: body)
    }

    @discardableResult
    func take(_ sources: [[String: Any]]) throws(CoreStoreError) -> Int {
        try change { transaction in
            try transaction.importUniqueObjects(Into<Fellow>(), sourceArray: sources).count
        }
    }

    /// One line for each object, in a fixed order.
    func lines() throws -> [String] {
        try queue.sync {
            let members = try stack.fetchAll(From<Fellow>()).map { member in
                let notes = member.notes.map(\.text)
                let badges = member.badges.map(\.number).sorted()
                return "\(member.code) “\(member.name)” of \(member.master?.code ?? "none"), "
                    + "pupils \(member.pupils.map(\.code).sorted(by: Self.byBytes)), "
                    + "friends \(member.friends.map(\.code)), badges \(badges), notes \(notes)"
            }
            let badges = try stack.fetchAll(From<Badge>()).map { "\($0.number) “\($0.text)”" }
            let notes = try stack.fetchAll(From<Jotting>()).map { "note “\($0.text)”" }
            return (members + badges + notes).sorted(by: Self.byBytes)
        }
    }

    /// Orders texts by bytes, so that texts that Swift considers equal have an order too.
    static func byBytes(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }
}
