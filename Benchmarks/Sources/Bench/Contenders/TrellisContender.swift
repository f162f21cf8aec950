import ObjectGraph
import Synchronization

final class Person: CoreStoreObject, ImportableUniqueObject {
    @Field.Stored("name") var name: String = ""
    @Field.Stored("email") var email: String = ""
    @Field.Stored("age") var age: Int = 0
    @Field.Stored("balance") var balance: Double = 0
    @Field.Stored("createdAt") var createdAt: Date = Date(timeIntervalSinceReferenceDate: 0)
    @Field.Stored("bio") var bio: String = ""
    @Field.Relationship("dogs", inverse: \.$owner, deleteRule: .cascade) var dogs: Set<Dog>

    typealias ImportSource = PersonSource
    typealias UniqueIDType = String
    static let uniqueIDKeyPath = "email"

    static func uniqueID(
        from source: PersonSource, in transaction: BaseDataTransaction
    ) throws -> String? {
        source.email
    }

    func update(from source: PersonSource, in transaction: BaseDataTransaction) throws {
        name = source.name
        age = source.age
        balance = source.balance
        createdAt = source.createdAt
        bio = source.bio
    }
}

final class Dog: CoreStoreObject {
    @Field.Stored("nickname") var nickname: String = ""
    @Field.Stored("age") var age: Int = 0
    @Field.Relationship("owner") var owner: Person?
}

/// Trellis through its public API, as a program uses it.
class TrellisContender: Contender {
    typealias Handle = NSManagedObjectID

    fileprivate let stack: DataStack

    class var pageSizeInBytes: Int { EngineOptions().pageSizeInBytes }

    required init(path: String, cacheSizeInBytes: Int) throws {
        stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Person>(
                        "Person", indexes: [[\Person.$name], [\Person.$age]],
                        uniqueConstraints: [[\Person.$email]]),
                    Entity<Dog>("Dog"),
                ]))
        var options = EngineOptions()
        options.cacheSizeInBytes = cacheSizeInBytes
        options.pageSizeInBytes = Self.pageSizeInBytes
        try stack.addStorageAndWait(
            LocalStore(fileURL: URL(fileURLWithPath: path), engineOptions: options))
    }

    func settle() throws { try stack.checkpoint() }

    func close() throws { stack.unsafeRemoveAllPersistentStoresAndWait() }

    func counts() -> [String: UInt64] {
        let statistics = stack.statistics
        return [
            "page lookups": UInt64(statistics.pageLookups),
            "pages read": UInt64(statistics.pagesRead),
            "bytes written": UInt64(statistics.bytesWritten),
            "objects made": statistics.objectsMade,
        ]
    }

    // MARK: Writing

    func insert(persons: PersonSupply) throws {
        try stack.perform(synchronous: { transaction in
            for source in persons {
                let person = transaction.create(Into<Person>())
                person.name = source.name
                person.email = source.email
                person.age = source.age
                person.balance = source.balance
                person.createdAt = source.createdAt
                person.bio = source.bio
            }
        })
    }

    func insert(dogs: DogSupply<Handle>) throws {
        try stack.perform(synchronous: { transaction in
            for (source, owner) in dogs {
                let dog = transaction.create(Into<Dog>())
                dog.nickname = source.nickname
                dog.age = source.age
                dog.owner = transaction.edit(Into<Person>(), owner)
            }
        })
    }

    func importUnique(persons: PersonSupply) throws {
        _ = try stack.perform(synchronous: { transaction in
            try transaction.importUniqueObjects(Into<Person>(), sourceArray: persons).count
        })
    }

    func update(ages: [(person: Handle, age: Int)]) throws {
        try stack.perform(synchronous: { transaction in
            for (id, age) in ages { transaction.edit(Into<Person>(), id)?.age = age }
        })
    }

    func delete(persons: [Handle]) throws {
        try stack.perform(synchronous: { transaction in transaction.delete(objectIDs: persons) })
    }

    // MARK: Reading

    func handles(personCount: Int) throws -> [Handle] {
        var found = [Handle?](repeating: nil, count: personCount)
        // By age, so that not all objects are in memory at once.
        for age in PersonSource.ages {
            for person in try stack.fetchAll(From<Person>().where(\.$age == age)) {
                if let number = PersonSource.number(ofEmail: person.email), number < personCount {
                    found[number] = person.objectID()
                }
            }
        }
        return found.compactMap { $0 }
    }

    func read(emails: [String], into checksum: inout Checksum) throws {
        for email in emails { try read(email: email, into: &checksum) }
    }

    func read(email: String, into checksum: inout Checksum) throws {
        if let person = try stack.fetchOne(From<Person>().where(\.$email == email)) {
            add(person, to: &checksum)
        }
    }

    func read(persons: [Handle], into checksum: inout Checksum) throws {
        for id in persons {
            if let person: Person = stack.fetchExisting(id) { add(person, to: &checksum) }
        }
    }

    func readSorted(ages: ClosedRange<Int>, into checksum: inout Checksum) throws {
        let persons = try stack.fetchAll(
            From<Person>()
                .where(\.$age >= ages.lowerBound && \.$age <= ages.upperBound)
                .orderBy(.ascending(\.$name)))
        var order = Checksum()
        for person in persons {
            add(person, to: &checksum)
            order.addNext(person.name)
        }
        checksum.addNext(order)
    }

    func count(balanceAbove: Double, nameContains: String) throws -> Int {
        try stack.fetchCount(
            From<Person>().where(
                \.$balance > balanceAbove && Where<Person>("name CONTAINS[c] %@", nameContains)))
    }

    func balances() throws -> BalanceSummary {
        let rows = try stack.queryAttributes(
            From<Person>().select(
                .count(\.$balance, as: "count"), .sum(\.$balance, as: "sum"),
                .average(\.$balance, as: "average"), .minimum(\.$balance, as: "minimum"),
                .maximum(\.$balance, as: "maximum")))
        let row = rows.first ?? [:]
        return BalanceSummary(
            count: row["count"] as? Int ?? 0, sum: row["sum"] as? Double ?? .nan,
            average: row["average"] as? Double ?? .nan,
            minimum: row["minimum"] as? Double ?? .nan,
            maximum: row["maximum"] as? Double ?? .nan)
    }

    func ages() throws -> [AgeSummary] {
        let rows = try stack.queryAttributes(
            From<Person>()
                .select(
                    .attribute(\.$age), .count(\.$balance, as: "count"),
                    .average(\.$balance, as: "average")
                )
                .groupBy(\.$age)
                .orderBy(.ascending(\.$age)))
        return rows.map { row in
            AgeSummary(
                age: row["age"] as? Int ?? 0, count: row["count"] as? Int ?? 0,
                averageBalance: row["average"] as? Double ?? .nan)
        }
    }

    func readDogs(owners: [Handle], into checksum: inout Checksum) throws {
        for id in owners {
            guard let person: Person = stack.fetchExisting(id) else { continue }
            var sum = 0
            for dog in person.dogs { sum += dog.age }
            checksum.add(name: person.name, dogAges: sum)
        }
    }

    func readDogs(age: Int, into checksum: inout Checksum) throws {
        for dog in try stack.fetchAll(From<Dog>().where(\.$age == age)) {
            checksum.add(nickname: dog.nickname, dogAge: dog.age, owner: dog.owner?.email ?? "")
        }
    }

    private func add(_ person: Person, to checksum: inout Checksum) {
        checksum.add(
            name: person.name, email: person.email, age: person.age, balance: person.balance,
            createdAt: person.createdAt, bio: person.bio)
    }
}

/// The same with pages of half the usual size.
final class TrellisSmallPages: TrellisContender {
    override class var pageSizeInBytes: Int { 8192 }
}

/// The same with a thread that makes one checkpoint behind the other, from the first one on.
final class TrellisCheckpointing: TrellisContender, @unchecked Sendable {
    private let isClosed = Atomic(false)
    private let done = DispatchSemaphore(value: 0)
    private var hasThread = false

    override func settle() throws {
        try super.settle()
        guard !hasThread else { return }
        hasThread = true
        Thread.detachNewThread { [self] in
            defer { done.signal() }
            while !isClosed.load(ordering: .relaxed) {
                do { try stack.checkpoint() } catch { fatalError("\(error)") }
            }
        }
    }

    override func close() throws {
        isClosed.store(true, ordering: .relaxed)
        if hasThread { done.wait() }
        try super.close()
    }
}
