import Foundation
import GRDB

/// A person as a program that uses GRDB declares it.
private struct PersonRecord: Codable, FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "person"
    static let dogs = hasMany(DogRecord.self)

    enum Columns {
        static let name = Column(CodingKeys.name)
        static let email = Column(CodingKeys.email)
        static let age = Column(CodingKeys.age)
        static let balance = Column(CodingKeys.balance)
    }

    var id: Int64?
    var name: String
    var email: String
    var age: Int
    var balance: Double
    var createdAt: Date
    var bio: String

    var dogs: QueryInterfaceRequest<DogRecord> { request(for: PersonRecord.dogs) }

    init(_ source: PersonSource) {
        name = source.name
        email = source.email
        age = source.age
        balance = source.balance
        createdAt = source.createdAt
        bio = source.bio
    }

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

private struct DogRecord: Codable, FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "dog"
    static let person = belongsTo(PersonRecord.self)

    var id: Int64?
    var nickname: String
    var age: Int
    var owner: Int64

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

private struct OwnedDog: Decodable, FetchableRecord {
    var dog: DogRecord
    var person: PersonRecord
}

/// GRDB as its guide shows it: a pool, Codable records, requests in Swift.
final class GRDBContender: Contender {
    typealias Handle = Int64

    private let pool: DatabasePool

    init(path: String, cacheSizeInBytes: Int) throws {
        pool = try openPool(path: path, cacheSizeInBytes: cacheSizeInBytes)
        try pool.write { database in
            try database.create(table: "person", options: .ifNotExists) { table in
                table.autoIncrementedPrimaryKey("id")
                table.column("name", .text).notNull().indexed()
                table.column("email", .text).notNull().unique()
                table.column("age", .integer).notNull().indexed()
                table.column("balance", .double).notNull()
                table.column("createdAt", .datetime).notNull()
                table.column("bio", .text).notNull()
            }
            try database.create(table: "dog", options: .ifNotExists) { table in
                table.autoIncrementedPrimaryKey("id")
                table.column("nickname", .text).notNull()
                table.column("age", .integer).notNull()
                table.column("owner", .integer).notNull().indexed()
                    .references("person", onDelete: .cascade)
            }
        }
    }

    func settle() throws { try settlePool(pool) }
    func close() throws { try pool.close() }

    // MARK: Writing

    func insert(persons: PersonSupply) throws {
        try pool.write { database in
            for person in persons {
                var record = PersonRecord(person)
                try record.insert(database)
            }
        }
    }

    func importUnique(persons: PersonSupply) throws {
        try pool.write { database in
            for person in persons {
                var record = PersonRecord(person)
                try record.upsert(database)
            }
        }
    }

    func insert(dogs: DogSupply<Int64>) throws {
        try pool.write { database in
            for (dog, owner) in dogs {
                var record = DogRecord(nickname: dog.nickname, age: dog.age, owner: owner)
                try record.insert(database)
            }
        }
    }

    func update(ages: [(person: Int64, age: Int)]) throws {
        try pool.write { database in
            for (id, age) in ages {
                guard var person = try PersonRecord.fetchOne(database, key: id) else { continue }
                try person.updateChanges(database) { $0.age = age }
            }
        }
    }

    func delete(persons: [Int64]) throws {
        try pool.write { database in
            for id in persons { try PersonRecord.deleteOne(database, key: id) }
        }
    }

    // MARK: Reading

    func read(emails: [String], into checksum: inout Checksum) throws {
        try pool.read { database in
            for email in emails { try read(email, database, into: &checksum) }
        }
    }

    func read(email: String, into checksum: inout Checksum) throws {
        try pool.read { database in try read(email, database, into: &checksum) }
    }

    private func read(
        _ email: String, _ database: Database, into checksum: inout Checksum
    ) throws {
        let request = PersonRecord.filter(PersonRecord.Columns.email == email)
        if let person = try request.fetchOne(database) { add(person, to: &checksum) }
    }

    func read(persons: [Int64], into checksum: inout Checksum) throws {
        try pool.read { database in
            for id in persons {
                if let person = try PersonRecord.fetchOne(database, key: id) {
                    add(person, to: &checksum)
                }
            }
        }
    }

    func readSorted(ages: ClosedRange<Int>, into checksum: inout Checksum) throws {
        let persons = try pool.read { database in
            try PersonRecord.filter(ages.contains(PersonRecord.Columns.age))
                .order(PersonRecord.Columns.name)
                .fetchAll(database)
        }
        var order = Checksum()
        for person in persons {
            add(person, to: &checksum)
            order.addNext(person.name)
        }
        checksum.addNext(order)
    }

    func count(balanceAbove: Double, nameContains: String) throws -> Int {
        try pool.read { database in
            try PersonRecord
                .filter(
                    PersonRecord.Columns.balance > balanceAbove
                        && PersonRecord.Columns.name.like("%\(nameContains)%")
                )
                .fetchCount(database)
        }
    }

    func balances() throws -> BalanceSummary {
        let balance = PersonRecord.Columns.balance
        let row = try pool.read { database in
            try Row.fetchOne(
                database,
                PersonRecord.select(
                    GRDB.count(balance), sum(balance), average(balance), min(balance),
                    max(balance)))
        }
        guard let row else { throw CocoaError(.featureUnsupported) }
        return BalanceSummary(
            count: row[0], sum: row[1], average: row[2], minimum: row[3], maximum: row[4])
    }

    func ages() throws -> [AgeSummary] {
        let (age, balance) = (PersonRecord.Columns.age, PersonRecord.Columns.balance)
        return try pool.read { database in
            let request = PersonRecord.select(age, GRDB.count(balance), average(balance))
                .group(age).order(age)
            return try Row.fetchAll(database, request).map { row in
                AgeSummary(age: row[0], count: row[1], averageBalance: row[2])
            }
        }
    }

    func readDogs(owners: [Int64], into checksum: inout Checksum) throws {
        try pool.read { database in
            for id in owners {
                guard let person = try PersonRecord.fetchOne(database, key: id) else { continue }
                let dogs = try person.dogs.fetchAll(database)
                checksum.add(name: person.name, dogAges: dogs.reduce(0) { $0 + $1.age })
            }
        }
    }

    func readDogs(age: Int, into checksum: inout Checksum) throws {
        let dogs = try pool.read { database in
            try DogRecord.filter(Column("age") == age)
                .including(required: DogRecord.person)
                .asRequest(of: OwnedDog.self)
                .fetchAll(database)
        }
        for owned in dogs {
            checksum.add(
                nickname: owned.dog.nickname, dogAge: owned.dog.age, owner: owned.person.email)
        }
    }

    private func add(_ person: PersonRecord, to checksum: inout Checksum) {
        checksum.add(
            name: person.name, email: person.email, age: person.age, balance: person.balance,
            createdAt: person.createdAt, bio: person.bio)
    }
}

/// A pool whose commits are as durable as ours: GRDB's own choice is `synchronous=NORMAL`.
func openPool(path: String, cacheSizeInBytes: Int) throws -> DatabasePool {
    var configuration = Configuration()
    configuration.prepareDatabase { database in
        try database.execute(sql: "PRAGMA cache_size = -\(cacheSizeInBytes / 1024)")
    }
    let pool = try DatabasePool(path: path, configuration: configuration)
    try pool.writeWithoutTransaction { database in
        try database.execute(sql: "PRAGMA synchronous = FULL")
    }
    return pool
}

func settlePool(_ pool: DatabasePool) throws {
    _ = try pool.writeWithoutTransaction { database in try database.checkpoint(.truncate) }
}
