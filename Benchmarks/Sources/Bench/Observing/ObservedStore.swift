import Foundation

/// A store of persons and one list of them that follows it: those of ``ageMin`` and more, by age
/// and name, with the ages as sections.
///
/// Calls that write are one durable transaction. The list has followed when ``waitForTold()``
/// returns, and the observer that shows it has been told how it differs.
protocol ObservedStore: AnyObject {
    init(path: String, cacheSizeInBytes: Int) throws
    /// Persons with the numbers below a count, in parts.
    func insert(personCount: Int) throws
    /// By the number of the person: so that it moves in the list.
    func change(names: [(number: Int, name: String)]) throws
    /// So that nothing moves.
    func change(balances: [(number: Int, balance: Double)], names: [(number: Int, name: String)])
        throws
    func observe() throws
    func waitForTold() throws
    func endObserving()
    /// How many persons the list had when it was last told.
    var listedCount: Int { get }
    func close() throws
}

enum ObservedList {
    static let ageMin = 40
}

/// One figure of one contender.
struct ObservingFigure: Codable {
    var row: String
    var contender: String
    var what: String
    var value: Double
    var unit: String
}

/// A value that threads share.
final class Shared<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func with<Result>(_ body: (inout Value) -> Result) -> Result { lock.withLock { body(&value) } }
}

/// Names and numbers that are the same for every contender.
struct ObservedChanges {
    private var random = SplitMix64(state: 99)
    let personCount: Int
    /// Numbers of persons that are in the list.
    private let listed: [Int]

    init(personCount: Int) {
        self.personCount = personCount
        listed = (0..<min(personCount, 20_000)).filter {
            PersonSource(number: $0).age >= ObservedList.ageMin
        }
    }

    mutating func listedNumber() -> Int { listed[Int(random.next() % UInt64(listed.count))] }
    mutating func name() -> String { Words.name(&random) }

    mutating func rename() -> (number: Int, name: String) { (listedNumber(), name()) }

    mutating func payment() -> (number: Int, balance: Double) {
        (listedNumber(), Double(random.next() % 6_400_000) / 64)
    }
}
