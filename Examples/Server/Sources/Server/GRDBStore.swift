import GRDB

extension PersonReply: FetchableRecord, PersistableRecord {
    static let databaseTableName = "person"

    enum Columns {
        static let number = Column("number")
        static let city = Column("city")
        static let age = Column("age")
    }
}

/// The same as GRDB's guide shows it: a pool, Codable records, requests in Swift.
struct GRDBStore: PeopleStore {
    private let pool: DatabasePool

    init(folder: String) throws {
        var configuration = Configuration()
        // As durable as the other store; GRDB's own choice is NORMAL.
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA synchronous = FULL")
        }
        pool = try DatabasePool(path: folder + "/people.sqlite", configuration: configuration)
        try pool.write { database in
            try database.create(table: "person", options: .ifNotExists) { table in
                table.primaryKey("number", .integer)
                table.column("name", .text).notNull()
                table.column("city", .text).notNull().indexed()
                table.column("age", .integer).notNull()
                table.column("balance", .double).notNull()
            }
        }
    }

    func count() async throws -> Int {
        try await pool.read { database in try PersonReply.fetchCount(database) }
    }

    func add(_ people: [PersonReply]) async throws {
        try await pool.write { database in
            for person in people { try person.insert(database) }
        }
    }

    func person(_ number: Int) async throws -> PersonReply? {
        try await pool.read { database in try PersonReply.fetchOne(database, key: number) }
    }

    func youngest(in city: String) async throws -> [PersonReply] {
        try await pool.read { database in
            try PersonReply.filter(PersonReply.Columns.city == city)
                .order(PersonReply.Columns.age, PersonReply.Columns.number)
                .limit(People.listCount).fetchAll(database)
        }
    }

    func pay(_ amount: Double, to number: Int) async throws -> Bool {
        try await pool.write { database in
            guard var person = try PersonReply.fetchOne(database, key: number) else { return false }
            person.balance += amount
            try person.update(database)
            return true
        }
    }

    func close() throws { try pool.close() }
}
