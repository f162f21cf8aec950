import ObjectGraph
import Testing

private class Being: CoreStoreObject {
    @Field.Stored("age") var age: Int = 0
}

private final class Member: Being {
    @Field.Stored("name") var name: String = "Ann"
    @Field.Stored("email") var email: String?
    @Field.Stored("weight") var weight: Double?
    @Field.Stored("code") var code: String?
    @Field.Stored("note") var note: String = ""
    @Field.Relationship("friend") var friend: Member?
    @Field.Relationship("fans", maxCount: 2, inverse: \.$friend) var fans: Set<Member>
}

/// A type of the program's whose values may have no stored form.
private struct Rank: FieldStorableType {
    var text: String?

    // swift-format-ignore: AlwaysUseLowerCamelCase
    static var cs_rawAttributeType: NSAttributeType { .stringAttributeType }
    // swift-format-ignore: AlwaysUseLowerCamelCase
    static func cs_fromFieldStoredNativeType(_ value: NSString) -> Rank { Rank(text: "\(value)") }
    // swift-format-ignore: AlwaysUseLowerCamelCase
    func cs_toFieldStoredNativeType() -> Any? { text.map { $0 as NSString } }
}

private final class Crew: CoreStoreObject {
    @Field.Stored("rank") var rank: Rank = Rank(text: "none")
    @Field.Relationship("captain") var captain: Crew?
    @Field.Relationship("mates", minCount: 2, inverse: \.$captain) var mates: Set<Crew>
}

/// The changes that commits refuse, and their error messages.
@Suite struct ValidationTests {
    private let queue = DispatchQueue(label: "view")

    private func stack(_ policy: UniqueConflictPolicy = .transactionWins) throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Being>(
                        "Being", isAbstract: true, validations: [.range(\.$age, 0...150)]),
                    Entity<Member>(
                        "Member",
                        validations: [
                            .length(\.$name, 1...8),
                            .pattern(\.$email, "[^@ ]+@[^@ ]+"),
                            .range(\.$weight, 0..<500),
                            .value(\.$note, "swears") { !$0.contains("damn") },
                            .object("is a friend of itself") { $0.friend !== $0 },
                        ]),
                ]), viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        return stack
    }

    private func add(_ stack: DataStack, _ count: Int) throws -> [NSManagedObjectID] {
        try stack.perform(synchronous: { transaction in
            (0..<count).map { _ in transaction.create(Into<Member>()).objectID() }
        })
    }

    @Test func `a commit names every object and property that breaks a rule`() throws {
        let stack = try stack()
        var ids: [NSManagedObjectID] = []
        let failure = #expect(throws: CoreStoreError.self) {
            try stack.perform(synchronous: { transaction in
                let (one, other) = (
                    transaction.create(Into<Member>()), transaction.create(Into<Member>())
                )
                ids = [one.objectID(), other.objectID()]
                (one.age, one.name, one.email) = (151, "", "nobody")
                (other.weight, other.note) = (500, "damn")
                other.friend = other
            })
        }
        let found = failure?.violations ?? []
        #expect(
            found.map(\.kind) == [.range, .length, .pattern, .range, .custom, .custom])
        #expect(
            found.map(\.keyPaths)
                == [["age"], ["name"], ["email"], ["weight"], ["note"], []])
        #expect(found.map(\.objectID) == [ids[0], ids[0], ids[0], ids[1], ids[1], ids[1]])
        #expect(found.allSatisfy { $0.entityName == "Member" })
        #expect(failure?.description.hasPrefix("Member.age is 151; it takes 0...150; ") == true)
        #expect(try queue.sync { try stack.fetchCount(From<Member>()) } == 0)
    }

    @Test func `values that satisfy the rules are stored, and so is nil`() throws {
        let stack = try stack()
        try stack.perform(synchronous: { transaction in
            let member = transaction.create(Into<Member>())
            (member.age, member.name, member.email) = (150, "Ada", "a@b")
            (member.weight, member.note) = (499.5, "fine")
            transaction.create(Into<Member>()).weight = nil
        })
        #expect(try queue.sync { try stack.fetchCount(From<Member>()) } == 2)
    }

    @Test func `violations of counts and of rules are reported together`() throws {
        let stack = try stack()
        let ids = try add(stack, 4)
        let failure = #expect(throws: CoreStoreError.self) {
            try stack.perform(synchronous: { transaction in
                let members: [Member] = transaction.fetchExisting(ids)
                members[0].fans = Set(members[1...])
                members[1].age = -1
            })
        }
        let found = failure?.violations ?? []
        #expect(Set(found.map(\.kind)) == [.count, .range])
        #expect(Set(found.map(\.objectID)) == [ids[0], ids[1]])
    }

    @Test func `a statement is refused for the records that break a rule`() throws {
        let stack = try stack()
        let ids = try add(stack, 3)
        try stack.perform(synchronous: { transaction in
            let members: [Member] = transaction.fetchExisting(ids)
            for (index, member) in members.enumerated() { member.age = 149 + index / 2 }
        })
        let failure = #expect(throws: CoreStoreError.self) {
            try stack.perform(synchronous: { transaction in
                try transaction.update(From<Member>(), set: .sum(\.$age, 1))
            })
        }
        #expect(failure?.violations.map(\.objectID) == [ids[2]])
        #expect(failure?.violations.map(\.kind) == [.range])
        let ages = try queue.sync { try stack.fetchAll(From<Member>()).map(\.age).sorted() }
        #expect(ages == [149, 149, 150])
    }

    @Test func `a statement reported only the first records that break a rule`() throws {
        let stack = try stack()
        let ids = try add(stack, 5000)
        try stack.perform(synchronous: { transaction in
            let members: [Member] = transaction.fetchExisting([ids[7], ids[4900]])
            for member in members { member.age = 150 }
        })
        func failure(_ number: Int) -> CoreStoreError? {
            #expect(throws: CoreStoreError.self) {
                try stack.perform(synchronous: { transaction in
                    try transaction.update(From<Member>(), set: .sum(\.$age, number))
                })
            }
        }
        #expect(failure(1)?.violations.map(\.objectID) == [ids[7], ids[4900]])
        let error = failure(151)
        #expect(error?.violations.count == 1000)
        #expect(error?.violations.last?.objectID == ids[999])
        #expect(error?.description.hasSuffix("; and 4990 more") == true)
        let young = From<Member>().where(\.$age == 0)
        #expect(try queue.sync { try stack.fetchCount(young) } == 4998)
    }

    @Test func `a required value that is nil and a list that is too short are refused`() throws {
        let stack = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [Entity<Crew>("Crew")]),
            viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        let failure = #expect(throws: CoreStoreError.self) {
            try stack.perform(synchronous: { transaction in
                let crew = (0..<2).map { _ in transaction.create(Into<Crew>()) }
                for one in crew { one.rank = Rank(text: "mate") }
                crew[0].rank = Rank(text: nil)
                crew[0].mates = [crew[1]]
            })
        }
        let found = failure?.violations ?? []
        #expect(found.map(\.kind) == [.required, .count])
        #expect(found.map(\.keyPaths) == [["rank"], ["mates"]])
        #expect(found.first?.message == "is required, and it is nil")
        #expect(found.last?.message == "leads to 1 object(s); it takes 2 to any number")
        try stack.perform(synchronous: { transaction in
            let crew = (0..<3).map { _ in transaction.create(Into<Crew>()) }
            for one in crew { one.rank = Rank(text: "mate") }
            crew[0].mates = Set(crew[1...])
        })
        #expect(try queue.sync { try stack.fetchCount(From<Crew>()) } == 3)
    }

    @Test func `an object that breaks a rule in an unsafe transaction fails its commit`() throws {
        let stack = try stack()
        let transaction = stack.beginUnsafe()
        let member = transaction.create(Into<Member>())
        member.age = 200
        let failure = #expect(throws: CoreStoreError.self) { try transaction.commitAndWait() }
        #expect(failure?.violations.map(\.keyPaths) == [["age"]])
        member.age = 20
        try transaction.commitAndWait()
        #expect(try queue.sync { try stack.fetchAll(From<Member>()).map(\.age) } == [20])
    }
}
