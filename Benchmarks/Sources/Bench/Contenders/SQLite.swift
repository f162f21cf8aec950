import CSQLite
import Foundation

/// SQLite through its C API: WAL, every statement prepared once.
class SQLiteContender {
    struct Failure: Error { var message: String }

    typealias Handle = Int64

    private let path: String
    private let cacheSizeInBytes: Int
    private var database: OpaquePointer?
    private var statements: [String: OpaquePointer] = [:]

    /// What makes one of the three: told to the database before the tables are made.
    class var pragmas: [String] { ["PRAGMA synchronous = FULL"] }

    required init(path: String, cacheSizeInBytes: Int) throws {
        self.path = path
        self.cacheSizeInBytes = cacheSizeInBytes
        try check(sqlite3_open(path, &database))
        sqlite3_busy_timeout(database, 10_000)
        try execute("PRAGMA journal_mode = WAL")
        try execute("PRAGMA cache_size = -\(cacheSizeInBytes / 1024)")
        try execute("PRAGMA foreign_keys = ON")
        for pragma in Self.pragmas { try execute(pragma) }
        for statement in Self.schema { try execute(statement) }
    }

    static let schema = [
        """
        CREATE TABLE IF NOT EXISTS person (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE,
            age INTEGER NOT NULL, balance REAL NOT NULL, createdAt REAL NOT NULL,
            bio TEXT NOT NULL)
        """,
        "CREATE INDEX IF NOT EXISTS person_name ON person(name)",
        "CREATE INDEX IF NOT EXISTS person_age ON person(age)",
        """
        CREATE TABLE IF NOT EXISTS dog (
            id INTEGER PRIMARY KEY, nickname TEXT NOT NULL, age INTEGER NOT NULL,
            owner INTEGER NOT NULL REFERENCES person(id) ON DELETE CASCADE)
        """,
        "CREATE INDEX IF NOT EXISTS dog_owner ON dog(owner)",
    ]

    func settle() throws { try execute("PRAGMA wal_checkpoint(TRUNCATE)") }

    func close() throws {
        for statement in statements.values { sqlite3_finalize(statement) }
        statements = [:]
        try check(sqlite3_close(database))
        database = nil
    }

    /// A connection reads or writes, and not both at once.
    func reader() throws -> Self {
        try Self(path: path, cacheSizeInBytes: cacheSizeInBytes)
    }

    // MARK: Writing

    func insert(persons: PersonSupply) throws {
        try store(persons, PeopleStatements.insertPerson)
    }

    func importUnique(persons: PersonSupply) throws {
        try store(persons, PeopleStatements.importPerson)
    }

    private func store(_ persons: PersonSupply, _ text: String) throws {
        let statement = try prepare(text)
        try transaction {
            for person in persons {
                bind(statement, 1, person.name)
                bind(statement, 2, person.email)
                sqlite3_bind_int64(statement, 3, Int64(person.age))
                sqlite3_bind_double(statement, 4, person.balance)
                sqlite3_bind_double(
                    statement, 5, person.createdAt.timeIntervalSinceReferenceDate)
                bind(statement, 6, person.bio)
                try run(statement)
            }
        }
    }

    func insert(dogs: DogSupply<Int64>) throws {
        let statement = try prepare("INSERT INTO dog (nickname, age, owner) VALUES (?, ?, ?)")
        try transaction {
            for (dog, owner) in dogs {
                bind(statement, 1, dog.nickname)
                sqlite3_bind_int64(statement, 2, Int64(dog.age))
                sqlite3_bind_int64(statement, 3, owner)
                try run(statement)
            }
        }
    }

    func update(ages: [(person: Int64, age: Int)]) throws {
        let statement = try prepare("UPDATE person SET age = ? WHERE id = ?")
        try transaction {
            for (person, age) in ages {
                sqlite3_bind_int64(statement, 1, Int64(age))
                sqlite3_bind_int64(statement, 2, person)
                try run(statement)
            }
        }
    }

    func delete(persons: [Int64]) throws {
        let statement = try prepare("DELETE FROM person WHERE id = ?")
        try transaction {
            for person in persons {
                sqlite3_bind_int64(statement, 1, person)
                try run(statement)
            }
        }
    }

    // MARK: Reading

    func read(emails: [String], into checksum: inout Checksum) throws {
        try transaction { for email in emails { try read(email: email, into: &checksum) } }
    }

    func read(email: String, into checksum: inout Checksum) throws {
        let statement = try prepare(PeopleStatements.selectPersons + " WHERE email = ?")
        bind(statement, 1, email)
        try rows(statement) { addPerson($0, to: &checksum) }
    }

    func read(persons: [Int64], into checksum: inout Checksum) throws {
        let statement = try prepare(PeopleStatements.selectPersons + " WHERE id = ?")
        try transaction {
            for person in persons {
                sqlite3_bind_int64(statement, 1, person)
                try rows(statement) { addPerson($0, to: &checksum) }
            }
        }
    }

    func readSorted(ages: ClosedRange<Int>, into checksum: inout Checksum) throws {
        let statement = try prepare(
            PeopleStatements.selectPersons + " WHERE age BETWEEN ? AND ? ORDER BY name")
        sqlite3_bind_int64(statement, 1, Int64(ages.lowerBound))
        sqlite3_bind_int64(statement, 2, Int64(ages.upperBound))
        var order = Checksum()
        try rows(statement) {
            addPerson($0, to: &checksum)
            order.addNext(text($0, 0))
        }
        checksum.addNext(order)
    }

    func count(balanceAbove: Double, nameContains: String) throws -> Int {
        let statement = try prepare(
            "SELECT count(*) FROM person WHERE balance > ? AND name LIKE ?")
        sqlite3_bind_double(statement, 1, balanceAbove)
        bind(statement, 2, "%\(nameContains)%")
        var count = 0
        try rows(statement) { count = Int(sqlite3_column_int64($0, 0)) }
        return count
    }

    func balances() throws -> BalanceSummary {
        let statement = try prepare(
            """
            SELECT count(balance), sum(balance), avg(balance), min(balance), max(balance)
            FROM person
            """)
        var summary = BalanceSummary(count: 0, sum: 0, average: 0, minimum: 0, maximum: 0)
        try rows(statement) {
            summary = BalanceSummary(
                count: Int(sqlite3_column_int64($0, 0)), sum: sqlite3_column_double($0, 1),
                average: sqlite3_column_double($0, 2), minimum: sqlite3_column_double($0, 3),
                maximum: sqlite3_column_double($0, 4))
        }
        return summary
    }

    func ages() throws -> [AgeSummary] {
        let statement = try prepare(
            "SELECT age, count(balance), avg(balance) FROM person GROUP BY age ORDER BY age")
        var ages: [AgeSummary] = []
        try rows(statement) {
            ages.append(
                AgeSummary(
                    age: Int(sqlite3_column_int64($0, 0)),
                    count: Int(sqlite3_column_int64($0, 1)),
                    averageBalance: sqlite3_column_double($0, 2)))
        }
        return ages
    }

    func readDogs(owners: [Int64], into checksum: inout Checksum) throws {
        let nameStatement = try prepare("SELECT name FROM person WHERE id = ?")
        let dogStatement = try prepare("SELECT age FROM dog WHERE owner = ?")
        try transaction {
            for owner in owners {
                var name = ""
                sqlite3_bind_int64(nameStatement, 1, owner)
                try rows(nameStatement) { name = text($0, 0) }
                var sum = 0
                sqlite3_bind_int64(dogStatement, 1, owner)
                try rows(dogStatement) { sum += Int(sqlite3_column_int64($0, 0)) }
                checksum.add(name: name, dogAges: sum)
            }
        }
    }

    func readDogs(age: Int, into checksum: inout Checksum) throws {
        let statement = try prepare(
            "SELECT nickname, email FROM dog JOIN person ON person.id = owner WHERE dog.age = ?")
        sqlite3_bind_int64(statement, 1, Int64(age))
        try rows(statement) {
            checksum.add(nickname: text($0, 0), dogAge: age, owner: text($0, 1))
        }
    }

    // MARK: Statements

    private func addPerson(_ statement: OpaquePointer, to checksum: inout Checksum) {
        checksum.add(
            name: text(statement, 0), email: text(statement, 1),
            age: Int(sqlite3_column_int64(statement, 2)),
            balance: sqlite3_column_double(statement, 3),
            createdAt: Date(timeIntervalSinceReferenceDate: sqlite3_column_double(statement, 4)),
            bio: text(statement, 5))
    }

    private func text(_ statement: OpaquePointer, _ column: Int32) -> String {
        sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
    }

    func bind(_ statement: OpaquePointer, _ column: Int32, _ text: String) {
        // SQLITE_TRANSIENT: SQLite copies the text before the call returns.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        var text = text
        text.withUTF8 { bytes in
            _ = bytes.withMemoryRebound(to: CChar.self) { characters in
                sqlite3_bind_text(
                    statement, column, characters.baseAddress, Int32(characters.count), transient)
            }
        }
    }

    func rows(_ statement: OpaquePointer, _ body: (OpaquePointer) -> Void) throws {
        defer { sqlite3_reset(statement) }
        while true {
            let code = sqlite3_step(statement)
            guard code == SQLITE_ROW else { return try check(code) }
            body(statement)
        }
    }

    func run(_ statement: OpaquePointer) throws {
        try check(sqlite3_step(statement))
        sqlite3_reset(statement)
    }

    func transaction(_ body: () throws -> Void) throws {
        try run(prepare("BEGIN"))
        try body()
        try run(prepare("COMMIT"))
    }

    func prepare(_ text: String) throws -> OpaquePointer {
        if let statement = statements[text] { return statement }
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v2(database, text, -1, &statement, nil))
        guard let statement else { throw Failure(message: "\(text) is no statement") }
        statements[text] = statement
        return statement
    }

    func execute(_ text: String) throws {
        try check(sqlite3_exec(database, text, nil, nil, nil))
    }

    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK || code == SQLITE_DONE else {
            throw Failure(message: String(cString: sqlite3_errmsg(database)))
        }
    }
}

/// `synchronous=FULL`: a commit that returned is durable, as ours is.
final class SQLiteFull: SQLiteContender, Contender {}

/// `synchronous=NORMAL`: a power cut may lose the last commits. Shown beside, never a target.
final class SQLiteNormal: SQLiteContender, Contender {
    override class var pragmas: [String] { ["PRAGMA synchronous = NORMAL"] }
}

/// `synchronous=FULL` with the file mapped and temporary tables in memory.
final class SQLiteTuned: SQLiteContender, Contender {
    override class var pragmas: [String] {
        [
            "PRAGMA synchronous = FULL", "PRAGMA mmap_size = 8589934592",
            "PRAGMA temp_store = MEMORY",
        ]
    }
}
