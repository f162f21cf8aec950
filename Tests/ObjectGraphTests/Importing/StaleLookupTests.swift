import Dispatch
import ObjectGraph
import Testing

/// A class that changes other objects while a source is imported into it.
private final class Seat: CoreStoreObject, ImportableUniqueObject {
    @Field.Stored("number") var number: Int = 0
    @Field.Stored("guest") var guest: String = ""

    typealias ImportSource = [String: Any]
    typealias UniqueIDType = Int
    static var uniqueIDKeyPath: String { "number" }

    static func uniqueID(
        from source: ImportSource, in transaction: BaseDataTransaction
    ) throws -> Int? {
        source["number"] as? Int
    }

    func update(from source: ImportSource, in transaction: BaseDataTransaction) throws {
        guest = source["guest"] as? String ?? ""
        if let (old, new) = source["move"] as? (Int, Int) {
            try transaction.fetchOne(From<Seat>().where(\.$number == old))?.number = new
        }
        if let guest = source["remove"] as? String {
            try transaction.deleteAll(From<Seat>().where(\.$guest == guest))
        }
    }
}

/// Imports whose class changes what was looked up for a later source.
@Suite struct StaleLookupTests {
    private func stack(_ seats: [(Int, String)]) throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [Entity<Seat>("Seat")]),
            viewContext: .queue(DispatchQueue(label: "view")))
        try stack.addStorageAndWait(InMemoryStore())
        try stack.perform(synchronous: { transaction in
            for (number, guest) in seats {
                let seat = transaction.create(Into<Seat>())
                (seat.number, seat.guest) = (number, guest)
            }
        })
        return stack
    }

    private func seats(
        _ stack: DataStack, after sources: [[String: Any]], atOnce: Bool
    ) throws -> [String] {
        try stack.perform(synchronous: { transaction in
            if atOnce {
                _ = try transaction.importUniqueObjects(Into<Seat>(), sourceArray: sources)
            } else {
                for source in sources {
                    _ = try transaction.importUniqueObject(Into<Seat>(), source: source)
                }
            }
            return try transaction.fetchAll(From<Seat>()).map { "\($0.number) \($0.guest)" }
                .sorted()
        })
    }

    /// A bug: it got the values of the source that has its earlier number.
    @Test(arguments: [false, true])
    func `an object that got another identity is not updated`(atOnce: Bool) throws {
        let stack = try stack([(0, "a"), (1, "b")])
        let found = try seats(
            stack,
            after: [
                ["number": 0, "guest": "c", "move": (1, 5)], ["number": 1, "guest": "d"],
            ], atOnce: atOnce)
        #expect(found == ["0 c", "1 d", "5 b"])
    }

    /// A bug: a third one was made.
    @Test(arguments: [false, true])
    func `another object of the identity is updated where the first was deleted`(
        atOnce: Bool
    ) throws {
        let stack = try stack([(0, "a"), (1, "b"), (1, "c")])
        let found = try seats(
            stack,
            after: [
                ["number": 0, "guest": "d", "remove": "b"], ["number": 1, "guest": "e"],
            ], atOnce: atOnce)
        #expect(found == ["0 d", "1 e"])
    }
}
