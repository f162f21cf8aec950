/// What a store must do to take part: a new contender is one file that conforms, and one line in
/// `contenders()`.
protocol Contender: AnyObject {
    /// The name that the command line and the tables use.
    static var name: String { get }

    /// Opens the store at a path, creating it when it is not there.
    init(path: String) throws

    /// Inserts the persons of a range of numbers in one durable transaction.
    func insert(_ numbers: Range<Int>) throws

    /// Reads the persons with these e-mail addresses, each by a lookup of its own.
    /// Returns a checksum over every column.
    func lookUp(emails: [String]) throws -> UInt64

    /// Reads the persons of these ages in order of age. Returns a checksum over every column.
    func persons(ages: ClosedRange<Int>) throws -> UInt64

    /// Makes all that was written part of the store's file and closes it.
    func close() throws
}

/// Those who take part. A function, because types are not `Sendable` and a global must be.
func contenders() -> [any Contender.Type] { [TrellisContender.self, SQLiteContender.self] }

/// Sums what a contender read, so that two contenders can be compared before their times are.
struct Checksum {
    private(set) var value: UInt64 = 0

    mutating func add(
        name: String, email: String, city: String, number: Int, age: Int, balance: Double,
        createdAt: Double, isMember: Bool
    ) {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for text in [name, email, city] {
            for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        }
        for bits in [
            UInt64(bitPattern: Int64(number)), UInt64(bitPattern: Int64(age)),
            balance.bitPattern, createdAt.bitPattern, isMember ? 1 : 0,
        ] {
            hash = (hash ^ bits) &* 0x9E37_79B9_7F4A_7C15
        }
        // A sum does not depend on the order of equal keys.
        value &+= hash
    }
}
