import PageStore
import TestSupport

/// Runs readers, writers and checkpoints of one store one step at a time, in every order with few
/// interruptions and then in random ones. Every reader sees one whole commit that is not older than
/// those that had returned; acknowledged or seen commits survive a power cut; no thread waits
/// forever.
package struct InterleavingProof: StoreProof {
    package static let requiredCounts = ["runs", "meetings"]
    package private(set) var report = ProofReport()
    private let seed: UInt64
    private let budget: ProofBudget
    private var random: SeededRandom
    private let threads = ThreadPool()

    package init(seed: UInt64, budget: ProofBudget) {
        self.seed = seed
        self.budget = budget
        random = SeededRandom(seed: seed)
    }

    /// Each script covers a fault that a store once had, ours or another.
    package static let scripts: [WeaveScript] = [
        WeaveScript([[.look], [.look], [.commit], [.checkpoint]]),
        // The relaxed commit writes the log for both.
        WeaveScript([[.commit], [.relaxed], [.look]]),
        // A checkpoint ends, another one begins, and between its look at the log's head and its
        // publication the writer commits and takes a new segment: SQLite's WAL-reset race.
        WeaveScript([[.look], [.look], [.commit, .large], [.checkpoint, .checkpoint]]),
        // One commit writes the log for two, while a third is staged after them.
        WeaveScript([[.commit, .commit], [.commit], [.commit], [.look, .look]]),
        WeaveScript([[.grouped], [.grouped], [.relaxed], [.look]]),
        // Space becomes unused, is freed and reused while a reader holds the old content.
        WeaveScript(
            [[.look], [.checkpoint, .checkpoint, .bulk], [.bulk, .commit]], isUncached: true),
        WeaveScript(
            [[.look, .look], [.large, .commit, .large], [.commit]], isInBackground: true),
        WeaveScript([[.look], [.vacuum], [.bulk, .checkpoint], [.relaxed]], isUncached: true),
    ]

    package mutating func run() {
        do {
            // First, so that the seed of a random run that failed repeats it at once.
            try runRandom(seed)
            try runOrders()
            while !budget.isEndless && !budget.isSpent { try runRandom(random.next()) }
        } catch {
            report.fail("\(error)")
        }
    }

    // MARK: In order

    /// The grains at which strands may stop, and the number of interruptions.
    private static let rounds: [(grain: Weave.Grain, interruptionsMax: Int)] = [
        (.fine, 0), (.fine, 1), (.coarse, 2), (.fine, 2), (.coarse, 3),
    ]

    /// Every order of every script, round by round; half of the remaining time is for random
    /// orders, which find distant faults sooner.
    private mutating func runOrders() throws {
        let half = budget.share(0.5)
        // Without an end to the budget, as much as takes a minute or two.
        for (grain, interruptionsMax) in Self.rounds.prefix(budget.isEndless ? 2 : .max) {
            let name = "\(interruptionsMax) interruptions, \(grain)"
            let round = half.share(0.5)
            for (index, script) in Self.scripts.enumerated() where !half.isSpent {
                let part = round.share(1 / Double(Self.scripts.count - index))
                let start = try WeaveRun.preparedStore(script)
                var prefix: [Int]? = []
                while let current = prefix, !part.isSpent {
                    let weave = Weave(threads, prefix: current, grain: grain)
                    var cuts = SeededRandom(seed: random.next())
                    try run(script, from: start, weave, "at most \(name)", &cuts)
                    prefix = Weave.prefix(after: weave.choices, interruptionsMax: interruptionsMax)
                }
                if prefix == nil { report.count("scripts in every order with at most \(name)") }
            }
        }
    }

    // MARK: At random

    private mutating func runRandom(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var script = Self.scripts[random.below(Self.scripts.count)]
        if random.below(2) == 0 {
            let steps = WeaveStep.allCases
            let strands = (0..<(2 + random.below(4))).map { _ in
                (0...random.below(5)).map { _ in steps[random.below(steps.count)] }
            }
            script = WeaveScript(
                strands, isInBackground: random.below(2) == 0, isUncached: random.below(2) == 0)
        }
        let start = try WeaveRun.preparedStore(script)
        for _ in 0..<16 where !budget.isSpent || budget.isEndless {
            let manner: Weave.Manner =
                random.below(2) == 0
                ? .restless([2, 4, 16, 64][random.below(4)])
                : .interrupted(Set((0...random.below(5)).map { _ in 1 + random.below(400) }))
            let weave = Weave(threads, manner: manner, seed: random.next())
            try run(script, from: start, weave, "at random, seed \(seed)", &random)
            report.count("random runs")
        }
    }

    // MARK: One run

    private mutating func run(
        _ script: WeaveScript, from start: DiskImage, _ weave: Weave, _ label: String,
        _ random: inout SeededRandom
    ) throws {
        let run = try WeaveRun(script, from: start, weave)
        let first = run.disk.effectCount
        let hasEnded = run.run()
        report.count("runs")
        report.count("meetings", weave.meetingCount)
        report.count("choices", weave.choices.count)
        do {
            if let failure = weave.failure { throw ProofFailure(failure) }
            guard hasEnded else { throw ProofFailure("it did not end") }
            try run.checkEnd()
            let count = run.disk.effectCount
            report.count(
                "power cuts", try run.cutPower(after: count, share: 16, random: &random))
            // A commit that was seen or acknowledged must be there from that moment on.
            let moments = run.ledger.effectCounts.filter { $0 >= first }
            if !moments.isEmpty {
                let cut = moments[random.below(moments.count)]
                report.count(
                    "power cuts", try run.cutPower(after: cut, share: 64, random: &random))
            }
            if random.below(4) == 0 {
                let cut = first + random.below(count - first + 1)
                report.count(
                    "power cuts", try run.cutPower(after: cut, share: 8, random: &random))
            }
            try run.close()
        } catch {
            throw ProofFailure(
                "seed \(seed), script \(script), \(label): \(error). The run: \(weave.trace)")
        }
    }
}
