import Foundation

/// Counts of what a proof tried, and the first failure.
package struct ProofReport {
    package private(set) var counts: [(name: String, count: Int)] = []
    /// The first failure, with the seed and the trace that repeat it.
    package private(set) var failure: String?
    /// The reason why the proof could try nothing, which is no fault of the store.
    package private(set) var obstacle: String?

    package init() {}

    package mutating func count(_ name: String, _ increment: Int = 1) {
        ProofProgress.note(name, increment)
        tally(name, increment)
    }

    /// Counts what was noted as progress already.
    package mutating func tally(_ name: String, _ increment: Int) {
        if let index = counts.firstIndex(where: { $0.name == name }) {
            counts[index].count += increment
        } else {
            counts.append((name, increment))
        }
    }

    /// Adds the counts of a part of a proof.
    package mutating func add(_ other: ProofReport) {
        for (name, increment) in other.counts { tally(name, increment) }
    }

    package subscript(_ name: String) -> Int { counts.first { $0.name == name }?.count ?? 0 }

    package mutating func fail(_ text: String) {
        ProofProgress.note("failures")
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
    /// The counts that must not be zero.
    static var requiredCounts: [String] { get }
    /// The count that a budget of steps limits; nil if the proof is limited by time only.
    static var stepCount: String? { get }

    /// The counts so far, and the first failure.
    var report: ProofReport { get }

    /// - Parameter seed: what repeats the same tries.
    init(seed: UInt64, budget: ProofBudget)
    mutating func run()
}

extension StoreProof {
    package static var stepCount: String? { nil }

    /// Whether the budget allows another try; an endless budget allows one.
    package func goesOn(_ budget: ProofBudget) -> Bool {
        !budget.isEndless && !budget.isSpent(steps: Self.stepCount.map { report[$0] } ?? 0)
    }

    /// The failure; a proof without failure fails if a required count is zero.
    package var failure: String? { report.failure ?? obstacle }

    /// Why a proof without failure has proved nothing.
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

/// A requirement of a proof is missing: nothing was tried.
package struct ProofObstacle: Error, CustomStringConvertible {
    package var description: String

    package init(_ description: String) { self.description = description }
}

/// The time or the number of steps of a proof. Without either it does its required work once.
package struct ProofBudget: Sendable {
    private let end: ContinuousClock.Instant?
    private let steps: Int?

    package init(seconds: Double?, steps: Int? = nil) {
        end = seconds.map { ContinuousClock.now + .seconds($0) }
        self.steps = steps
    }

    package var isSpent: Bool { isSpent(steps: 0) }
    package var isEndless: Bool { end == nil && steps == nil }
    package var isTimed: Bool { end != nil }
    /// Whether less than ten minutes are left: what has a fixed size is smaller then.
    package var isShort: Bool { end.map { $0 - ContinuousClock.now < .seconds(600) } ?? false }

    /// - Parameter count: how many steps were taken.
    package func isSpent(steps count: Int) -> Bool {
        if let steps, count >= steps { return true }
        return end.map { ContinuousClock.now >= $0 } ?? false
    }

    /// A part of the remaining budget.
    package func share(_ fraction: Double) -> ProofBudget {
        guard let end else { return self }
        let left = (end - ContinuousClock.now) / .seconds(1)
        return ProofBudget(seconds: max(0, left * fraction))
    }
}
