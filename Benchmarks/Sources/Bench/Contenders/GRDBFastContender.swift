import Foundation
import GRDB

/// GRDB in its fastest form: SQL, cached statements, columns by index.
final class GRDBFastContender: Contender {
    typealias Handle = Int64

    private let pool: DatabasePool

    init(path: String, cacheSizeInBytes: Int) throws {
        pool = try openPool(path: path, cacheSizeInBytes: cacheSizeInBytes)
        try pool.write { database in
            for statement in SQLiteContender.schema { try database.execute(sql: statement) }
        }
    }

    func settle() throws { try settlePool(pool) }
    func close() throws { try pool.close() }

    // MARK: Writing

    func insert(persons: PersonSupply) throws {
        try store(persons, PeopleStatements.insertPerson)
    }

    func importUnique(persons: PersonSupply) throws {
        try store(persons, PeopleStatements.importPerson)
    }

    private func store(_ persons: PersonSupply, _ text: String) throws {
        try pool.write { database in
            let statement = try database.cachedStatement(sql: text)
            for person in persons {
                try statement.execute(arguments: [
                    person.name, person.email, person.age, person.balance,
                    person.createdAt.timeIntervalSinceReferenceDate, person.bio,
                ])
            }
        }
    }

    func insert(dogs: DogSupply<Int64>) throws {
        try pool.write { database in
            let statement = try database.cachedStatement(
                sql: "INSERT INTO dog (nickname, age, owner) VALUES (?, ?, ?)")
            for (dog, owner) in dogs {
                try statement.execute(arguments: [dog.nickname, dog.age, owner])
            }
        }
    }

    func update(ages: [(person: Int64, age: Int)]) throws {
        try pool.write { database in
            let statement = try database.cachedStatement(
                sql: "UPDATE person SET age = ? WHERE id = ?")
            for (person, age) in ages { try statement.execute(arguments: [age, person]) }
        }
    }

    func delete(persons: [Int64]) throws {
        try pool.write { database in
            let statement = try database.cachedStatement(sql: "DELETE FROM person WHERE id = ?")
            for person in persons { try statement.execute(arguments: [person]) }
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
        let statement = try database.cachedStatement(
            sql: PeopleStatements.selectPersons + " WHERE email = ?")
        let rows = try Row.fetchCursor(statement, arguments: [email])
        while let row = try rows.next() { add(row, to: &checksum) }
    }

    func read(persons: [Int64], into checksum: inout Checksum) throws {
        try pool.read { database in
            let statement = try database.cachedStatement(
                sql: PeopleStatements.selectPersons + " WHERE id = ?")
            for id in persons {
                let rows = try Row.fetchCursor(statement, arguments: [id])
                while let row = try rows.next() { add(row, to: &checksum) }
            }
        }
    }

    func readSorted(ages: ClosedRange<Int>, into checksum: inout Checksum) throws {
        try pool.read { database in
            let statement = try database.cachedStatement(
                sql: PeopleStatements.selectPersons + " WHERE age BETWEEN ? AND ? ORDER BY name")
            let rows = try Row.fetchCursor(
                statement, arguments: [ages.lowerBound, ages.upperBound])
            var order = Checksum()
            while let row = try rows.next() {
                add(row, to: &checksum)
                order.addNext(row[0] as String)
            }
            checksum.addNext(order)
        }
    }

    func count(balanceAbove: Double, nameContains: String) throws -> Int {
        try pool.read { database in
            try Int.fetchOne(
                database, sql: "SELECT count(*) FROM person WHERE balance > ? AND name LIKE ?",
                arguments: [balanceAbove, "%\(nameContains)%"]) ?? 0
        }
    }

    func balances() throws -> BalanceSummary {
        let row = try pool.read { database in
            try Row.fetchOne(
                database,
                sql: """
                    SELECT count(balance), sum(balance), avg(balance), min(balance), max(balance)
                    FROM person
                    """)
        }
        guard let row else { throw CocoaError(.featureUnsupported) }
        return BalanceSummary(
            count: row[0], sum: row[1], average: row[2], minimum: row[3], maximum: row[4])
    }

    func ages() throws -> [AgeSummary] {
        try pool.read { database in
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT age, count(balance), avg(balance) FROM person GROUP BY age ORDER BY age
                    """)
            var ages: [AgeSummary] = []
            while let row = try rows.next() {
                ages.append(AgeSummary(age: row[0], count: row[1], averageBalance: row[2]))
            }
            return ages
        }
    }

    func readDogs(owners: [Int64], into checksum: inout Checksum) throws {
        try pool.read { database in
            let nameStatement = try database.cachedStatement(
                sql: "SELECT name FROM person WHERE id = ?")
            let dogStatement = try database.cachedStatement(
                sql: "SELECT age FROM dog WHERE owner = ?")
            for id in owners {
                let name = try String.fetchOne(nameStatement, arguments: [id]) ?? ""
                let ages = try Int.fetchCursor(dogStatement, arguments: [id])
                var sum = 0
                while let age = try ages.next() { sum += age }
                checksum.add(name: name, dogAges: sum)
            }
        }
    }

    func readDogs(age: Int, into checksum: inout Checksum) throws {
        try pool.read { database in
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT nickname, email FROM dog JOIN person ON person.id = owner
                    WHERE dog.age = ?
                    """,
                arguments: [age])
            while let row = try rows.next() {
                checksum.add(nickname: row[0], dogAge: age, owner: row[1])
            }
        }
    }

    private func add(_ row: Row, to checksum: inout Checksum) {
        checksum.add(
            name: row[0], email: row[1], age: row[2], balance: row[3],
            createdAt: Date(timeIntervalSinceReferenceDate: row[4]), bio: row[5])
    }
}
