/// What every contender on SQLite says in the same words.
enum PeopleStatements {
    static let selectPersons = "SELECT name, email, age, balance, createdAt, bio FROM person"

    static let insertPerson = """
        INSERT INTO person (name, email, age, balance, createdAt, bio)
        VALUES (?, ?, ?, ?, ?, ?)
        """

    static let importPerson = """
        \(insertPerson)
        ON CONFLICT (email) DO UPDATE SET name = excluded.name, age = excluded.age,
            balance = excluded.balance, createdAt = excluded.createdAt, bio = excluded.bio
        """
}
