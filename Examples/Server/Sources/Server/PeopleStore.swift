/// A person as the service answers.
struct PersonReply: Codable, Equatable, Sendable {
    var number: Int
    var name: String
    var city: String
    var age: Int
    var balance: Double
}

/// What the service does with its store: the two stores answer the same.
protocol PeopleStore: Sendable {
    func count() async throws -> Int
    /// Adds people who are not there yet.
    func add(_ people: [PersonReply]) async throws
    func person(_ number: Int) async throws -> PersonReply?
    /// The twenty youngest people of a city.
    func youngest(in city: String) async throws -> [PersonReply]
    /// Adds to a balance, durably; false when there is no such person.
    func pay(_ amount: Double, to number: Int) async throws -> Bool
    func close() throws
}

/// The people of the service, the same at every start.
enum People {
    static let count = 100_000
    static let cityCount = 500
    static let listCount = 20
    static let payments = 0...1_000_000.0

    static func person(_ number: Int) -> PersonReply {
        // Multiplying by an odd number spreads ages and cities over the numbers.
        let mixed = UInt64(number) &* 0x9E37_79B9_7F4A_7C15 >> 32
        return PersonReply(
            number: number, name: "Person \(number)", city: "city\(mixed % UInt64(cityCount))",
            age: Int(mixed / 7 % 90), balance: Double(mixed % 10_000) / 100)
    }

    /// Adds the people that are missing. They are added in order, so that a start which was
    /// interrupted is continued.
    static func fill(_ store: some PeopleStore) async throws {
        for start in stride(from: try await store.count(), to: count, by: 10_000) {
            try await store.add((start..<min(start + 10_000, count)).map(person))
        }
    }
}
