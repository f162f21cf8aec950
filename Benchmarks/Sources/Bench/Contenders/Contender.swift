/// What a store must do to take part: a new contender is one file that conforms, and one line in
/// ``Entry/all``.
///
/// All enforce the same: e-mail addresses are unique, an owner exists, dogs go with their owner.
/// A call that writes is one transaction, durable when it returns, unless the contender's name
/// says otherwise.
protocol Contender: AnyObject, SendableMetatype {
    /// What names a person: an object ID, a row's number.
    associatedtype Handle

    /// Opens the store at a path, making it when it is not there.
    init(path: String, cacheSizeInBytes: Int) throws

    /// Moves what a log still holds into the place where it stays.
    func settle() throws
    func close() throws
    /// What it counts by itself, since it was opened.
    func counts() -> [String: UInt64]
    /// What reads on the main thread while this one writes on another.
    func reader() throws -> Self

    // Writing
    func insert(persons: PersonSupply) throws
    func insert(dogs: DogSupply<Handle>) throws
    /// Changes the persons whose e-mail addresses are there already, and inserts the others.
    func importUnique(persons: PersonSupply) throws
    func update(ages: [(person: Handle, age: Int)]) throws
    /// Deletes persons and their dogs.
    func delete(persons: [Handle]) throws

    // Reading
    /// What names the persons with the numbers below a count, in the order of their numbers.
    func handles(personCount: Int) throws -> [Handle]
    /// Lookups in one read.
    func read(emails: [String], into checksum: inout Checksum) throws
    /// A lookup that sees what was committed before it.
    func read(email: String, into checksum: inout Checksum) throws
    func read(persons: [Handle], into checksum: inout Checksum) throws
    /// Persons in the order of their names, which is told to the checksum too.
    func readSorted(ages: ClosedRange<Int>, into checksum: inout Checksum) throws
    /// All dogs of an age: nickname, age, and their owner's e-mail address.
    func readDogs(age: Int, into checksum: inout Checksum) throws
    /// How many persons have more than a balance and a text in their name, in any case.
    func count(balanceAbove: Double, nameContains: String) throws -> Int
    func balances() throws -> BalanceSummary
    /// In the order of age.
    func ages() throws -> [AgeSummary]
    /// The name of each person and the sum of the ages of their dogs.
    func readDogs(owners: [Handle], into checksum: inout Checksum) throws
}

struct BalanceSummary: Equatable {
    var count: Int
    var sum: Double
    var average: Double
    var minimum: Double
    var maximum: Double
}

struct AgeSummary: Equatable {
    var age: Int
    var count: Int
    var averageBalance: Double
}

extension Contender where Handle == Int64 {
    /// Contenders that are given their keys count from one.
    func handles(personCount: Int) -> [Handle] { (0..<Int64(personCount)).map { $0 + 1 } }
}

extension Contender {
    func reader() -> Self { self }
    func counts() -> [String: UInt64] { [:] }
}

/// A contender that takes part.
struct Entry {
    /// The name that the command line and the tables use.
    var name: String
    var type: any Contender.Type
    /// Whether it keeps what it is given, so that commits and opening can be measured.
    var isStore = true

    /// Everybody, and variants that only some questions need.
    static var known: [Entry] {
        all + [
            Entry(name: "trellis-8k", type: TrellisSmallPages.self),
            Entry(name: "trellis-checkpointing", type: TrellisCheckpointing.self),
        ]
    }

    static var all: [Entry] {
        [
            Entry(name: "trellis", type: TrellisContender.self),
            Entry(name: "lmdb", type: LMDBContender.self),
            Entry(name: "sqlite-full", type: SQLiteFull.self),
            Entry(name: "sqlite-normal", type: SQLiteNormal.self),
            Entry(name: "sqlite-tuned", type: SQLiteTuned.self),
            Entry(name: "grdb", type: GRDBContender.self),
            Entry(name: "grdb-fast", type: GRDBFastContender.self),
            Entry(name: "dictionary", type: DictionaryContender.self, isStore: false),
        ]
    }
}
