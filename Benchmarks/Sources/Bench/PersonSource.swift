/// One person of the benchmark data: every contender stores these eight attributes.
struct PersonSource {
    var number: Int
    var name: String
    var email: String
    var city: String
    var age: Int
    var balance: Double
    var createdAt: Double
    var isMember: Bool

    /// The person with this number: the same for every contender, process and run.
    init(number: Int) {
        var random = SplitMix64(state: UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9 &+ 7)
        let first = Self.firstNames[Int(random.next() % UInt64(Self.firstNames.count))]
        let last = Self.lastNames[Int(random.next() % UInt64(Self.lastNames.count))]
        self.number = number
        self.name = "\(first) \(last)"
        self.email = "\(first.lowercased()).\(number)@example.org"
        self.city = Self.cities[Int(random.next() % UInt64(Self.cities.count))]
        self.age = 18 + Int(random.next() % 73)
        self.balance = Double(random.next() % 10_000_000) / 100
        self.createdAt = Double(random.next() % 788_918_400)
        self.isMember = random.next() % 3 == 0
    }

    private static let firstNames = [
        "Ada", "Bea", "Carl", "Dora", "Emil", "Fatma", "Goran", "Hana", "Igor", "Jana", "Kofi",
        "Lena", "Mira", "Nils", "Olga", "Paul", "Rosa", "Sven", "Tara", "Uwe", "Vera", "Yara",
    ]
    private static let lastNames = [
        "Abe", "Berg", "Costa", "Dahl", "Evans", "Fischer", "Garcia", "Haas", "Ivanov", "Jensen",
        "Kaya", "Lindgren", "Moreau", "Novak", "Okafor", "Petrov", "Quinn", "Rossi", "Sato",
    ]
    private static let cities = [
        "Oslo", "Lima", "Kyoto", "Accra", "Porto", "Quito", "Turku", "Delhi", "Perth", "Lyon",
    ]
}

/// A small generator whose numbers are the same on every machine.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
