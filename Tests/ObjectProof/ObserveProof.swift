import Proof
import TestSupport

/// Observes random lists over random transactions: after each step a list is what a fetch gives,
/// each difference applied to the list before gives the list after, nothing is told too early, and
/// completions see their own commits. Before that what commits note and how it is joined, commits
/// that one write makes durable, lists of unsafe transactions, and threads and observers that come
/// and go, with a watchdog.
package struct ObserveProof: StoreProof {
    package static let requiredCounts = ["lists compared", "random steps", "orders"]
    package static let stepCount: String? = "random steps"
    package private(set) var report = ProofReport()
    private let seed: UInt64
    private let budget: ProofBudget

    package init(seed: UInt64, budget: ProofBudget) {
        self.seed = seed
        self.budget = budget
    }

    package mutating func run() {
        var random = SeededRandom(seed: seed)
        let isShort = budget.isShort
        // Of a slice in the tests, of a few minutes, and of the whole proof.
        func count(_ slice: Int, _ short: Int, _ whole: Int) -> Int {
            budget.isEndless ? slice : isShort ? short : whole
        }
        do {
            var orders = ViewOrders(seed: random.next())
            defer { report.add(orders.report) }
            // 8,000 are all of two writers that only commit.
            let orderCount = budget.isEndless ? 20 : budget.isTimed ? nil : 8000
            try orders.run(
                budget.share(0.4), orderCount: orderCount,
                randomCount: budget.isEndless ? 60 : 5000)
            let joined = JoinedChanges(seed: random.next())
            report.count("joined sets", try joined.run(count(10, 40, 200)))
            let grouped = try GroupedCommits(seed: random.next())
            report.count("grouped steps", try grouped.run(count(20, 40, 300)))
            var edited = EditedLists(seed: random.next())
            report.count("steps of transactions", try edited.run(count(150, 300, 3000)))
            let rounds = ObserveRounds(seed: random.next())
            report.count("rounds of threads", try rounds.run(count(120, 1000, 10_000)))
        } catch {
            return report.fail("seed \(seed): \(error)")
        }
        repeat {
            let plan = ObservePlan(seed: random.next())
            do {
                let script = try plan.run()
                report.count("scripts")
                report.count("random steps", plan.steps.count)
                report.count("commits", script.commitCount)
                report.count("lists compared", script.listCount)
                report.count("changes told", script.changeCount)
            } catch {
                return report.fail("seed \(seed), \(plan.shrunk(error))")
            }
        } while goesOn(budget)
    }
}
