import Proof
import TestSupport

/// Runs two threads that write, a stack of another process that follows, backups that update a
/// copy, and checkpoints of one store one step at a time: in every order with few interruptions,
/// and then in random ones. Each answer of both stacks is that of a commit which the rules permit,
/// and so is the copy's; also after a power cut.
struct WovenStacks: GraphPart {
    private let seed: UInt64
    private let budget: ProofBudget
    private var random: SeededRandom
    private let threads = ThreadPool()
    private(set) var report = ProofReport()

    init(seed: UInt64, budget: ProofBudget) {
        self.seed = seed
        self.budget = budget
        random = SeededRandom(seed: seed ^ 0x3EA)
    }

    mutating func run() throws {
        // First, so that the seed of a random run that failed repeats it at once.
        try runRandom(seed)
        try runOrders(budget.share(0.6))
        while !budget.isEndless && !budget.isSpent { try runRandom(random.next()) }
    }

    // MARK: In order

    /// Every order of every script, with ever more interruptions, at the meetings that each run
    /// has: locks that change threads, steps, and calls that change a file.
    private mutating func runOrders(_ budget: ProofBudget) throws {
        for interruptionsMax in 0..<(budget.isEndless ? 1 : 4) {
            let round = budget.share(0.5)
            for (index, script) in WovenScript.all.enumerated() where !round.isSpent {
                let part = round.share(1 / Double(WovenScript.all.count - index))
                let start = try WovenRun.start(seed: seed)
                var prefix: [Int]? = []
                while let current = prefix, !part.isSpent {
                    let weave = Weave(threads, prefix: current, grain: .coarse)
                    var cuts = SeededRandom(seed: random.next())
                    try run(
                        script, from: start, weave, seed, "at most \(interruptionsMax)", &cuts)
                    report.count("woven orders")
                    prefix = Weave.prefix(after: weave.choices, interruptionsMax: interruptionsMax)
                }
                if prefix == nil {
                    report.count(
                        "scripts woven in every order with at most \(interruptionsMax) "
                            + "interruptions")
                }
            }
        }
    }

    // MARK: At random

    private mutating func runRandom(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var script = WovenScript.all[random.below(WovenScript.all.count)]
        if random.below(2) == 0 { script = .random(&random) }
        let start = try WovenRun.start(seed: seed)
        // How many meetings there are.
        var meetingCount = 4000
        for _ in 0..<8 where !budget.isSpent || budget.isEndless {
            let manner: Weave.Manner =
                random.below(2) == 0
                ? .restless([4, 16, 64, 512][random.below(4)])
                : .interrupted(
                    Set((0...random.below(6)).map { _ in 1 + random.below(meetingCount) }))
            let grain: Weave.Grain = random.below(3) == 0 ? .coarse : .fine
            let weave = Weave(threads, manner: manner, grain: grain, seed: random.next())
            try run(script, from: start, weave, seed, "at random", &random)
            if case .fine = grain { meetingCount = max(1, weave.meetingCount) }
            report.count("random woven runs")
        }
    }

    // MARK: One run

    private mutating func run(
        _ script: WovenScript, from start: WovenRun.Start, _ weave: Weave, _ scriptSeed: UInt64,
        _ label: String, _ random: inout SeededRandom
    ) throws {
        do {
            let run = try WovenRun(script, from: start, weave, seed: scriptSeed)
            let first = run.disk.effectCount
            let hasEnded = run.run()
            report.count("woven meetings", weave.meetingCount)
            report.count("woven looks", run.lookCount)
            if let failure = weave.failure { throw ProofFailure(failure) }
            guard hasEnded else { throw ProofFailure("it did not end") }
            try run.checkEnd()
            let count = run.disk.effectCount
            // A commit that was seen or acknowledged must be there from that moment on.
            let moments = run.ledger.effectCounts.filter { $0 >= first }
            for _ in 0..<2 {
                let cut =
                    moments.isEmpty || random.below(2) == 0
                    ? first + random.below(count - first + 1)
                    : moments[random.below(moments.count)]
                report.count(
                    "woven power cuts", try run.cutPower(after: cut, share: 32, &random))
            }
            try run.close()
        } catch {
            throw ProofFailure(
                "seed \(seed), woven script \(script) of seed \(scriptSeed), \(label): \(error). "
                    + "The run: \(weave.trace)")
        }
    }
}
