import Foundation

/// The rounds of a fuzz: a short default number, or with `TRELLIS_FUZZ_SECONDS` in the environment
/// as many as fit in that time.
public struct FuzzRounds: Sequence, IteratorProtocol {
    private let countMin: Int
    private let end: ContinuousClock.Instant?
    private var round = 0

    /// - Parameter seconds: instead of what the environment says.
    public init(_ countMin: Int, seconds: Double? = nil) {
        self.countMin = countMin
        let environment = ProcessInfo.processInfo.environment
        let given = seconds ?? environment["TRELLIS_FUZZ_SECONDS"].flatMap { Double($0) }
        end = given.map { ContinuousClock.now + .seconds($0) }
    }

    public mutating func next() -> Int? {
        guard round < countMin || end.map({ ContinuousClock.now < $0 }) ?? false else { return nil }
        defer { round += 1 }
        return round
    }
}
