import PageStore
import Proof
import TestSupport

/// Random models and objects that follow them: whatever way a file takes from one model to another,
/// and wherever the way is cut off, its content is that of dictionaries that a plain program
/// migrates.
///
/// ``RewriteRun`` judges random models over records, ``FamilyRun`` a few fixed ones over the public
/// API.
package struct MigrationProof: StoreProof {
    package static let requiredCounts = [
        "pairs", "pairs with reused names", "chunked pairs", "kills", "power cuts",
        "resumed migrations", "copies discarded", "refused losses", "failed mappings",
        "fresh stores", "chains", "records compared", "faults", "object pairs", "object cuts",
        "object faults", "object kills", "object migrations resumed", "objects read",
    ]
    package static let stepCount: String? = "pairs"
    package private(set) var report = ProofReport()
    private let seed: UInt64
    private let budget: ProofBudget

    package init(seed: UInt64, budget: ProofBudget) {
        self.seed = seed
        self.budget = budget
    }

    package mutating func run() {
        var random = SeededRandom(seed: seed)
        // A turn is repeated by its own seed, which begins with it.
        var turn = seed
        do {
            repeat {
                try self.turn(turn)
                turn = random.next()
            } while goesOn(budget) || budget.isEndless && isIncomplete
        } catch {
            report.fail("\(error)")
        }
    }

    private var isIncomplete: Bool { Self.requiredCounts.contains { report[$0] == 0 } }

    private mutating func turn(_ turnSeed: UInt64) throws {
        // What a turn does follows from its seed.
        if turnSeed % 3 == 0 {
            let run = FamilyRun(seed: turnSeed)
            defer { report.add(run.report) }
            do { try run.run() } catch { throw failure(turnSeed, run.trace, error) }
        } else {
            var run = RewriteRun(seed: turnSeed)
            defer { report.add(run.report) }
            do { try run.run() } catch { throw failure(turnSeed, run.trace, error) }
        }
    }

    private func failure(_ turn: UInt64, _ trace: [String], _ error: any Error) -> ProofFailure {
        ProofFailure(
            "seed \(seed), repeated by --steps 1 --seed \(turn): "
                + "\(trace.joined(separator: "; ")): \(error)")
    }
}
