import Foundation

/// What a proof tried, counted while it ran, and the first thing that went wrong.
package struct ProofReport {
    package private(set) var counts: [(name: String, count: Int)] = []
    /// What failed first, with the seed and the trace that repeat it.
    package private(set) var failure: String?
    /// What kept the proof from trying anything, which is no fault of the store.
    package private(set) var obstacle: String?

    package init() {}

    package mutating func count(_ name: String, _ increment: Int = 1) {
        if let index = counts.firstIndex(where: { $0.name == name }) {
            counts[index].count += increment
        } else {
            counts.append((name, increment))
        }
    }

    /// Adds what a part of a proof counted.
    package mutating func add(_ other: ProofReport) {
        for (name, increment) in other.counts { count(name, increment) }
    }

    package subscript(_ name: String) -> Int { counts.first { $0.name == name }?.count ?? 0 }

    package mutating func fail(_ text: String) {
        if failure == nil { failure = text }
    }

    package mutating func stop(_ text: String) {
        if obstacle == nil { obstacle = text }
    }

    /// One line with every count.
    package var summary: String {
        counts.map { "\($0.count) \($0.name)" }.joined(separator: ", ")
    }
}

/// Something that is tried in many ways, for as long as the budget lasts.
package protocol StoreProof: SendableMetatype {
    /// The counts without which nothing was proved.
    static var requiredCounts: [String] { get }
    /// The count that a budget of steps is about; none where a proof has its time alone.
    static var stepCount: String? { get }

    /// What was tried so far, and what failed first.
    var report: ProofReport { get }

    /// - Parameter seed: what repeats the same tries.
    init(seed: UInt64, budget: ProofBudget)
    mutating func run()
}

extension StoreProof {
    package static var stepCount: String? { nil }

    /// Whether another try is within the budget; without end, one try was all.
    package func goesOn(_ budget: ProofBudget) -> Bool {
        !budget.isEndless && !budget.isSpent(steps: Self.stepCount.map { report[$0] } ?? 0)
    }

    /// What failed; also that a proof which found nothing has not tried what it is for.
    package var failure: String? { report.failure ?? obstacle }

    /// Why a proof that found nothing has proved nothing.
    package var obstacle: String? {
        if report.failure != nil { return nil }
        if let obstacle = report.obstacle { return obstacle }
        let missing = Self.requiredCounts.filter { report[$0] == 0 }
        return missing.isEmpty ? nil : "nothing was tried: no \(missing.joined(separator: ", no "))"
    }
}

/// A rule that did not hold.
package struct ProofFailure: Error, CustomStringConvertible {
    package var description: String

    package init(_ description: String) { self.description = description }
}

/// What a proof needs is not there: nothing was tried.
package struct ProofObstacle: Error, CustomStringConvertible {
    package var description: String

    package init(_ description: String) { self.description = description }
}

/// How long a proof may go on, or how many steps it takes. Without either it does what it has to do
/// once.
package struct ProofBudget: Sendable {
    private let end: ContinuousClock.Instant?
    private let steps: Int?

    package init(seconds: Double?, steps: Int? = nil) {
        end = seconds.map { ContinuousClock.now + .seconds($0) }
        self.steps = steps
    }

    package var isSpent: Bool { isSpent(steps: 0) }
    package var isEndless: Bool { end == nil && steps == nil }

    /// - Parameter count: how many steps were taken.
    package func isSpent(steps count: Int) -> Bool {
        if let steps, count >= steps { return true }
        return end.map { ContinuousClock.now >= $0 } ?? false
    }

    /// A part of what is left.
    package func share(_ fraction: Double) -> ProofBudget {
        guard let end else { return self }
        let left = (end - ContinuousClock.now) / .seconds(1)
        return ProofBudget(seconds: max(0, left * fraction))
    }
}
