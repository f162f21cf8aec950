import Proof

/// Runs scripts of transactions on files that lose power, fail and are damaged, and compares every
/// answer with the states that were promised: ``WovenStacks``, ``GraphCuts``, ``GraphFaults``,
/// ``GraphLies``, ``GraphDamage``.
package struct ObjectFileProof: StoreProof {
    package static let requiredCounts = [
        "images", "continued", "copies", "looks by readers", "object errors",
        "states after faults", "named damage", "right answers", "woven orders", "woven looks",
        "woven power cuts", "judged lies", "lies reported",
    ]
    package private(set) var report = ProofReport()
    private let seed: UInt64
    private let budget: ProofBudget

    package init(seed: UInt64, budget: ProofBudget) {
        self.seed = seed
        self.budget = budget
    }

    package mutating func run() {
        do {
            try run(WovenStacks(seed: seed, budget: budget.share(0.25)))
            try run(GraphCuts(seed: seed, budget: budget.share(0.4)))
            try run(GraphFaults(seed: seed, budget: budget.share(0.5)))
            try run(GraphLies(seed: seed, budget: budget.share(0.5)))
            try run(GraphDamage(seed: seed, budget: budget))
        } catch {
            report.fail("\(error)")
        }
    }

    private mutating func run(_ part: some GraphPart) throws {
        var part = part
        defer { report.add(part.report) }
        try part.run()
    }
}
