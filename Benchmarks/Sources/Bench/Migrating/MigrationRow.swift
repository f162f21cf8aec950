import CSQLite
import Foundation
import GRDB
import ObjectGraph

/// One row of the table of migrations: what both contenders do to stores of the same content.
struct MigrationRow {
    var name: String
    var title: String
    var model: LaterModel
    /// The most that the wall clock may be of the peer's, or of M4's for each object that is
    /// written, for a row without one.
    var goal: Double?
    /// The objects that are written for each person: persons, and twice as many dogs.
    var objectsPerPerson = 1.0
    /// What SQLite does for it; empty for none.
    var statements: [String] = []
    /// What a GRDB migrator does instead.
    var migration: (@Sendable (Database) throws -> Void)?

    var peer: String? { migration != nil ? "grdb" : statements.isEmpty ? nil : "sqlite-full" }

    static var all: [MigrationRow] {
        [
            MigrationRow(
                name: "M1", title: "property with a default, one renamed, one optional",
                model: .added, goal: 1,
                statements: [
                    "ALTER TABLE person ADD COLUMN score INTEGER NOT NULL DEFAULT 7",
                    "ALTER TABLE person RENAME COLUMN balance TO credit",
                ]),
            MigrationRow(
                name: "M3", title: "index added", model: .indexed, goal: 1,
                statements: ["CREATE INDEX person_createdAt ON person(createdAt)"]),
            MigrationRow(
                name: "M4", title: "Int to Double, with the indexes", model: .widened, goal: 1,
                statements: [
                    person(age: "REAL"),
                    """
                    INSERT INTO later SELECT id, name, email, CAST(age AS REAL), balance, createdAt,
                        bio FROM person
                    """,
                    "DROP TABLE person", "ALTER TABLE later RENAME TO person",
                    "CREATE UNIQUE INDEX person_email ON person(email)",
                    "CREATE INDEX person_name ON person(name)",
                    "CREATE INDEX person_age ON person(age)",
                ]),
            MigrationRow(
                name: "M5", title: "a closure makes two names of one", model: .split, goal: 0.5,
                migration: splitNames),
            MigrationRow(
                name: "M6", title: "an entity above persons and dogs", model: .raised, goal: 1.2,
                objectsPerPerson: 3),
            MigrationRow(
                name: "M7", title: "to-one of all dogs to to-many", model: .shared, goal: 1,
                statements: [
                    """
                    CREATE TABLE ownership (
                        dog INTEGER NOT NULL, person INTEGER NOT NULL, PRIMARY KEY (dog, person)
                    ) WITHOUT ROWID
                    """,
                    "INSERT INTO ownership SELECT id, owner FROM dog ORDER BY id",
                    "CREATE INDEX ownership_person ON ownership(person, dog)",
                    "DROP INDEX dog_owner",
                    "ALTER TABLE dog RENAME COLUMN owner TO former",
                ]),
        ]
    }

    private static func person(age: String) -> String {
        """
        CREATE TABLE later (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, age \(age) NOT NULL,
            balance REAL NOT NULL, createdAt REAL NOT NULL, bio TEXT NOT NULL)
        """
    }

    @Sendable private static func splitNames(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE later (
                    id INTEGER PRIMARY KEY, givenName TEXT NOT NULL, familyName TEXT NOT NULL,
                    email TEXT NOT NULL, age INTEGER NOT NULL, balance REAL NOT NULL,
                    createdAt REAL NOT NULL, bio TEXT NOT NULL)
                """)
        let insert = try database.makeStatement(
            sql: "INSERT INTO later VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
        let rows = try Row.fetchCursor(database, sql: "SELECT * FROM person")
        while let row = try rows.next() {
            let names = LaterModel.names(of: row["name"])
            try insert.execute(arguments: [
                row["id"] as Int64, names.given, names.family, row["email"] as String,
                row["age"] as Int, row["balance"] as Double, row["createdAt"] as Double,
                row["bio"] as String,
            ])
        }
        for statement in [
            "DROP TABLE person", "ALTER TABLE later RENAME TO person",
            "CREATE UNIQUE INDEX person_email ON person(email)",
            "CREATE INDEX person_familyName ON person(familyName)",
            "CREATE INDEX person_age ON person(age)",
        ] { try database.execute(sql: statement) }
    }

    // MARK: Running

    func migrateTrellis(_ path: String) throws -> DataStack { try Self.migrate(model, path) }

    /// Opens a store with a model, as a program does.
    static func migrate(
        _ model: LaterModel, _ path: String, following follow: (Progress) -> Void = { _ in }
    ) throws -> DataStack {
        let stack = DataStack(
            schemaHistory: SchemaHistory(model.schema), viewContext: .queue(Self.queue))
        let storage = LocalStore(
            fileURL: URL(fileURLWithPath: path), migrationMappingProviders: model.mappings)
        let done = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var failure: CoreStoreError?
        let progress = stack.addStorage(storage) { result in
            if case .failure(let error) = result { failure = error }
            done.signal()
        }
        if let progress { follow(progress) }
        done.wait()
        if let failure { throw failure }
        return stack
    }

    static let queue = DispatchQueue(label: "view")

    func migratePeer(_ path: String) throws {
        if let migration {
            let pool = try openPool(path: path, cacheSizeInBytes: 64 << 20)
            var migrator = DatabaseMigrator()
            migrator.registerMigration("V2", migrate: migration)
            try migrator.migrate(pool)
            try pool.close()
            return
        }
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        let all =
            [
                "PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL",
                "PRAGMA cache_size = -65536", "PRAGMA legacy_alter_table = ON", "BEGIN",
            ] + statements + ["COMMIT"]
        guard sqlite3_open(path, &database) == SQLITE_OK else {
            throw SQLiteContender.Failure(message: "no database at \(path)")
        }
        for statement in all {
            guard sqlite3_exec(database, statement, nil, nil, nil) == SQLITE_OK else {
                throw SQLiteContender.Failure(message: String(cString: sqlite3_errmsg(database)))
            }
        }
    }
}
