import Proof
import TestSupport

/// Runs writers, the queues and the executor of one stack one move at a time: every order of the
/// first moves of each script, then random orders with stops at every meeting, of longer scripts
/// too. At each move all that is seen on the executor must be of one commit; every step is told
/// once and in order, a completion sees its own commit, and nothing is told after removal.
struct ViewOrders {
    /// The choices of who goes on that are made in every way; afterwards a strand goes on for as
    /// long as it can.
    private static let choiceCountMax = 12

    private let threads = ThreadPool()
    private let seed: UInt64
    private(set) var report = ProofReport()

    init(seed: UInt64) { self.seed = seed }

    /// - Parameters:
    ///   - orderCount: the most orders of each script; nil for as many as the time allows.
    ///   - randomCount: the most random orders.
    mutating func run(_ budget: ProofBudget, orderCount: Int?, randomCount: Int) throws {
        let ordered = budget.share(0.5)
        for (index, script) in ViewScript.scripts.enumerated() where !ordered.isSpent {
            // The first scripts have few enough orders for all of them.
            let part = ordered.share(max(0.25, 1 / Double(ViewScript.scripts.count - index)))
            try runAll(script, part, upTo: orderCount)
        }
        var random = SeededRandom(seed: seed)
        for _ in 0..<randomCount where !budget.isSpent { try runRandom(random.next()) }
    }

    private mutating func runAll(
        _ script: ViewScript, _ budget: ProofBudget, upTo count: Int?
    ) throws {
        var prefix: [Int]? = []
        var done = 0
        while let current = prefix, done < count ?? .max, !budget.isSpent {
            let weave = Weave(threads, prefix: current, grain: .moves)
            try run(script, weave)
            prefix = Weave.prefix(
                after: Array(weave.choices.prefix(Self.choiceCountMax)), interruptionsMax: .max)
            done += 1
            report.count("orders")
        }
        if prefix == nil { report.count("scripts in every order") }
    }

    private mutating func runRandom(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let script =
            random.below(2) == 0
            ? ViewScript.scripts[random.below(ViewScript.scripts.count)] : .random(&random)
        let weave = Weave(
            threads, manner: .restless([1, 2, 4, 16][random.below(4)]), seed: random.next())
        try run(script, weave)
        report.count("random orders")
    }

    private mutating func run(_ script: ViewScript, _ weave: Weave) throws {
        let run = try ViewRun(script, weave)
        let hasEnded = run.run()
        if hasEnded, weave.failure == nil { run.checkEnd() }
        report.count("moves", weave.meetingCount)
        report.count("changes told in orders", run.changeCount)
        if let failure = weave.failure ?? (hasEnded ? nil : "it did not end") {
            throw ProofFailure(
                "orders, seed \(seed), script \(script): \(failure). The run: \(weave.trace)")
        }
    }
}
