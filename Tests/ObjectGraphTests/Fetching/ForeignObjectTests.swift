import ObjectGraph
import Testing

/// A condition with an object of another entity, or of another store, matches nothing, although
/// objects of the same number exist.
@Suite struct ForeignObjectTests {
    final class Ship: CoreStoreObject {
        @Field.Stored("n") var n: Int = 0
    }

    final class Port: CoreStoreObject {
        @Field.Stored("n") var n: Int = 0
        @Field.Relationship("next") var next: Port?
        @Field.Relationship("guest") var guest: Ship?
        @Field.Relationship("fleet") var fleet: Set<Ship>
        @Field.Relationship("listed", inverse: \.$listing) var listed: [Port]
        @Field.Relationship("listing") var listing: Set<Port>
    }

    private let stack: DataStack
    private let queue = DispatchQueue(label: "view")

    /// Ship 1; ports 1 and 2, of which the second has the first as `next` and in its list.
    init() throws {
        stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1", entities: [Entity<Ship>("Ship"), Entity<Port>("Port")]),
            viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        try stack.perform(synchronous: { transaction in
            transaction.create(Into<Ship>()).n = 1
            let (first, second) = (
                transaction.create(Into<Port>()), transaction.create(Into<Port>())
            )
            (first.n, second.n) = (1, 2)
            second.next = first
            second.listed = [first]
        })
    }

    private func ship() throws -> Ship {
        try queue.sync { try #require(try stack.fetchOne(From<Ship>())) }
    }

    private func count(_ clause: Where<Port>) throws -> Int {
        try queue.sync {
            let count = try stack.fetchCount(From<Port>().where(clause))
            #expect(try stack.fetchAll(From<Port>().where(clause)).count == count)
            #expect(try stack.fetchObjectIDs(From<Port>().where(clause)).count == count)
            return count
        }
    }

    @Test(arguments: [
        ("SELF == %@", 0), ("SELF != %@", 2), ("%@ == SELF", 0), ("NOT SELF == %@", 2),
        ("next == %@", 0), ("next != %@", 2), ("ANY listed == %@", 0), ("NONE listed == %@", 2),
        ("listed CONTAINS %@", 0), ("%@ IN listed", 0), ("SELF IN {%@}", 0),
        ("{%@} CONTAINS SELF", 0),
        ("next IN {%@}", 0), ("TERNARY(n == 2, next, SELF) == %@", 0), ("listed[FIRST] == %@", 0),
        ("SUBQUERY(listed, $p, $p == %@).@count > 0", 0),
    ])
    func `an object of another entity equals none of the objects in a condition`(
        format: String, expected: Int
    ) throws {
        let ship = try ship()
        #expect(try count(Where(format, ship)) == expected)
        #expect(try count(Where(format, ship.objectID())) == expected)
        #expect(try count(Where(NSPredicate(format: format, ship))) == expected)
        let template = NSPredicate(format: format.replacingOccurrences(of: "%@", with: "$object"))
        let filled = template.withSubstitutionVariables(["object": ship])
        #expect(try count(Where(filled)) == expected)
    }

    @Test func `an object of another entity in a list of values is ignored`() throws {
        let ship = try ship()
        let ports = try queue.sync { try stack.fetchAll(From<Port>()) }
        for format in ["SELF IN %@", "next IN %@", "ANY listed IN %@"] {
            #expect(try count(Where(format, [ship])) == 0, "\(format)")
            #expect(try count(Where(format, [ship.objectID()])) == 0, "\(format)")
            let all: [NSManagedObjectID] = [ship.objectID()] + ports.map { $0.objectID() }
            #expect(try count(Where(format, all)) == (format == "SELF IN %@" ? 2 : 1), "\(format)")
        }
        #expect(try count(Where("NOT SELF IN %@", [ship])) == 2)
    }

    @Test func `typed conditions do not match an object of another entity by its number`() throws {
        let id = try ship().objectID()
        #expect(try count(Where("next", isEqualTo: id)) == 0)
        #expect(try count(Where(\.$next, isEqualTo: id)) == 0)
        #expect(try count(!Where(\.$next, isEqualTo: id)) == 2)
        #expect(try count(Where("next", isMemberOf: [id])) == 0)
        #expect(try count(Where(\.$next, isMemberOf: [id])) == 0)
        #expect(try count(Where("next", isEqualTo: try ship())) == 0)
        let port = try queue.sync { try #require(try stack.fetchOne(From<Port>())) }
        #expect(try count(Where("next", isEqualTo: port)) == 1)
        #expect(try count(Where(\.$next, isEqualTo: port.objectID())) == 1)
        #expect(try count(Where("guest", isEqualTo: port.objectID())) == 0)
    }

    @Test func `linked objects of two hierarchies with one number are not equal`() throws {
        try stack.perform(synchronous: { transaction in
            let ship = try #require(try transaction.fetchOne(From<Ship>()))
            for port in try transaction.fetchAll(From<Port>()) {
                port.guest = ship
                port.fleet = [ship]
            }
        })
        for (format, expected) in [
            ("next == guest", 0), ("next != guest", 2), ("SELF == guest", 0),
            ("fleet CONTAINS SELF", 0), ("fleet CONTAINS guest", 2), ("guest IN {SELF, next}", 0),
            ("guest IN {SELF, guest}", 2), ("ANY fleet == next", 0),
        ] {
            #expect(try count(Where(format)) == expected, "\(format)")
        }
    }

    @Test func `a deletion by another entity's object deletes nothing`() throws {
        let id = try ship().objectID()
        try stack.perform(synchronous: { transaction in
            _ = try transaction.deleteAll(
                From<Port>().where(format: "SELF IN %@", [id]))
        })
        #expect(try count(Where()) == 2)
    }

    @Test func `an object of another store matches neither an object here nor nil`() throws {
        let other = try ForeignObjectTests()
        let port = try other.queue.sync { try #require(try other.stack.fetchOne(From<Port>())) }
        #expect(try count(Where("next", isEqualTo: port)) == 0)
        #expect(try count(!Where("next", isEqualTo: port)) == 2)
        #expect(try count(Where("SELF == %@", port)) == 0)
        #expect(try count(Where("next != %@", port)) == 2)
        #expect(try count(Where("next == %@ OR n == 1", port)) == 1)
    }
}
