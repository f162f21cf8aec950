import CSQLite

/// SQLite through its C API: prepared statements, WAL, `synchronous=FULL`.
final class SQLiteContender: Contender {
    static let name = "sqlite"

    struct Failure: Error { var message: String }

    private var database: OpaquePointer?

    init(path: String) throws {
        try check(sqlite3_open(path, &database))
        try execute("PRAGMA journal_mode=WAL")
        try execute("PRAGMA synchronous=FULL")
        try execute("PRAGMA cache_size=-65536")
        try execute(
            """
            CREATE TABLE IF NOT EXISTS person (
                id INTEGER PRIMARY KEY, number INTEGER NOT NULL, name TEXT NOT NULL,
                email TEXT NOT NULL, city TEXT NOT NULL, age INTEGER NOT NULL,
                balance REAL NOT NULL, createdAt REAL NOT NULL, isMember INTEGER NOT NULL)
            """)
        try execute("CREATE INDEX IF NOT EXISTS person_name ON person(name)")
        try execute("CREATE INDEX IF NOT EXISTS person_age ON person(age)")
        try execute("CREATE UNIQUE INDEX IF NOT EXISTS person_email ON person(email)")
    }

    func insert(_ numbers: Range<Int>) throws {
        try execute("BEGIN IMMEDIATE")
        let statement = try prepare(
            """
            INSERT INTO person (number, name, email, city, age, balance, createdAt, isMember)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """)
        defer { sqlite3_finalize(statement) }
        for number in numbers {
            let person = PersonSource(number: number)
            sqlite3_bind_int64(statement, 1, Int64(person.number))
            bind(statement, 2, person.name)
            bind(statement, 3, person.email)
            bind(statement, 4, person.city)
            sqlite3_bind_int64(statement, 5, Int64(person.age))
            sqlite3_bind_double(statement, 6, person.balance)
            sqlite3_bind_double(statement, 7, person.createdAt)
            sqlite3_bind_int64(statement, 8, person.isMember ? 1 : 0)
            try check(sqlite3_step(statement))
            sqlite3_reset(statement)
        }
        try execute("COMMIT")
    }

    func lookUp(emails: [String]) throws -> UInt64 {
        let statement = try prepare(Self.select + " WHERE email = ?")
        defer { sqlite3_finalize(statement) }
        var checksum = Checksum()
        for email in emails {
            bind(statement, 1, email)
            read(statement, into: &checksum)
            sqlite3_reset(statement)
        }
        return checksum.value
    }

    func persons(ages: ClosedRange<Int>) throws -> UInt64 {
        let statement = try prepare(Self.select + " WHERE age BETWEEN ? AND ? ORDER BY age")
        defer { sqlite3_finalize(statement) }
        sqlite3_bind_int64(statement, 1, Int64(ages.lowerBound))
        sqlite3_bind_int64(statement, 2, Int64(ages.upperBound))
        var checksum = Checksum()
        read(statement, into: &checksum)
        return checksum.value
    }

    func close() throws {
        try execute("PRAGMA wal_checkpoint(TRUNCATE)")
        try check(sqlite3_close(database))
        database = nil
    }

    private static let select =
        "SELECT number, name, email, city, age, balance, createdAt, isMember FROM person"

    private func read(_ statement: OpaquePointer?, into checksum: inout Checksum) {
        while sqlite3_step(statement) == SQLITE_ROW {
            checksum.add(
                name: String(cString: sqlite3_column_text(statement, 1)),
                email: String(cString: sqlite3_column_text(statement, 2)),
                city: String(cString: sqlite3_column_text(statement, 3)),
                number: Int(sqlite3_column_int64(statement, 0)),
                age: Int(sqlite3_column_int64(statement, 4)),
                balance: sqlite3_column_double(statement, 5),
                createdAt: sqlite3_column_double(statement, 6),
                isMember: sqlite3_column_int64(statement, 7) != 0)
        }
    }

    private func bind(_ statement: OpaquePointer?, _ column: Int32, _ text: String) {
        // SQLITE_TRANSIENT: SQLite copies the text before the call returns.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        sqlite3_bind_text(statement, column, text, -1, transient)
    }

    private func prepare(_ text: String) throws -> OpaquePointer? {
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v2(database, text, -1, &statement, nil))
        return statement
    }

    private func execute(_ text: String) throws {
        try check(sqlite3_exec(database, text, nil, nil, nil))
    }

    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW else {
            throw Failure(message: String(cString: sqlite3_errmsg(database)))
        }
    }
}
