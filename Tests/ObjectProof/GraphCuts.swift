import Foundation
import ObjectGraph
import PageStore
import Proof
import TestSupport

/// A part of the proof.
protocol GraphPart {
    var report: ProofReport { get }
    mutating func run() throws
}

/// Cuts the power at random calls of scripts on files and judges what can be left.
struct GraphCuts: GraphPart {
    private let seed: UInt64
    private let budget: ProofBudget
    private var random: SeededRandom
    private(set) var report = ProofReport()

    init(seed: UInt64, budget: ProofBudget) {
        self.seed = seed
        self.budget = budget
        random = SeededRandom(seed: seed ^ 0xC0)
    }

    mutating func run() throws {
        repeat { try script(random.next()) } while !budget.isEndless && !budget.isSpent
    }

    private mutating func script(_ scriptSeed: UInt64) throws {
        let disk = SimulatedDisk(seed: scriptSeed, records: true)
        let policy = GraphFileScript.policies[Int(scriptSeed % 4)]
        var script: GraphFileScript?
        do {
            let running = try GraphFileScript(
                disk, policy: policy, seed: scriptSeed, effectCount: { disk.effectCount })
            script = running
            let stepCount = 6 + random.below(16)
            for step in 0..<stepCount {
                try running.step()
                if step == stepCount / 2 || step == stepCount - 2 { try running.backUp() }
            }
            try running.finish()
            report.count("file scripts")
            report.count("file commits", running.commitCount)
            report.count("looks by readers", running.followedCount)
            let judge = GraphJudge(
                policy: policy, names: running.names, random: SeededRandom(seed: scriptSeed))
            try cut(disk.effects, running.history, judge)
        } catch {
            throw ProofFailure(
                "seed \(seed), files, script \(scriptSeed): "
                    + "\(script?.trace.suffix(40).joined(separator: "; ") ?? "opening"): \(error)")
        }
    }

    private mutating func cut(
        _ effects: [DiskEffect], _ history: GraphHistory, _ judge: GraphJudge
    ) throws {
        var judge = judge
        var medium = PowerCut(DiskImage(), seed: random.next())
        // Only some of the calls, so that there is time for many scripts.
        let chosen = Set((0..<10).map { _ in random.below(effects.count) })
        for (call, effect) in effects.enumerated() {
            if chosen.contains(call), budget.isEndless || !budget.isSpent {
                var count = 0
                try medium.forEachImage(running: effect) { image in
                    guard count == 0 || count < 8 && random.below(6) == 0 else { return }
                    count += 1
                    do {
                        try check(image, history, call, &judge)
                    } catch {
                        throw ProofFailure("cut in call \(call), \(image.name): \(error)")
                    }
                }
            }
            medium.complete(effect)
        }
    }

    private mutating func check(
        _ image: PowerCut.Image, _ history: GraphHistory, _ call: Int, _ judge: inout GraphJudge
    ) throws {
        let range = history.range(at: call)
        report.count("images")
        guard image.disk.names[GraphFileScript.path] != nil else {
            guard call < history.openedAt else { throw ProofFailure("the store lost its name") }
            return
        }
        let files = LockingFiles(SimulatedDisk(image.disk, seed: random.next()))
        let index: Int
        do {
            index = try judge.judge(files, history, range, isReadOnly: random.below(3) == 0)
        } catch let error as CoreStoreError {
            // The creation had not ended.
            guard call < history.openedAt, error.storeError != nil else { throw error }
            report.count("unfinished creations refused")
            return
        }
        try checkCopies(image.disk, history, call, index, &judge)
        if random.below(4) == 0 { try goOn(image.disk, history, index, &judge) }
    }

    /// A copy shows the content it was made of, and no commit that the store has lost.
    private mutating func checkCopies(
        _ image: DiskImage, _ history: GraphHistory, _ call: Int, _ index: Int,
        _ judge: inout GraphJudge
    ) throws {
        for path in Set(history.copies.map(\.path)) {
            let states = history.states(of: path, at: call)
            guard image.names[path] != nil else {
                guard states.contains(nil) else { throw ProofFailure("\(path) is gone") }
                continue
            }
            guard let least = states.compactMap({ $0 }).min(),
                let most = states.compactMap({ $0 }).max()
            else { throw ProofFailure("\(path) is there too early") }
            let files = LockingFiles(SimulatedDisk(image, seed: random.next()))
            guard least <= index else { throw ProofFailure("the store lost what \(path) has") }
            do {
                // The copy contains commits of the store, which were made durable first.
                _ = try judge.judge(
                    files, history, least...min(most, index), path: path, isReadOnly: true)
            } catch {
                throw ProofFailure("\(path): \(error)")
            }
            report.count("copies")
        }
    }

    /// The store continues after the cut with its content at that time.
    private mutating func goOn(
        _ image: DiskImage, _ history: GraphHistory, _ index: Int, _ judge: inout GraphJudge
    ) throws {
        let disk = SimulatedDisk(image, seed: random.next())
        var start = GraphHistory(history.states[index])
        let script = try GraphFileScript(
            disk, policy: judge.policy, seed: random.next(), history: start, names: judge.names)
        do {
            for _ in 0..<4 { try script.step() }
            try script.finish()
        } catch {
            throw ProofFailure(
                "going on, \(script.trace.joined(separator: "; ")): \(error)")
        }
        start = script.history
        var after = GraphJudge(
            policy: judge.policy, names: script.names, random: SeededRandom(seed: random.next()))
        let last = start.states.count - 1
        _ = try after.judge(LockingFiles(disk), start, last...last, isReadOnly: true)
        report.count("continued")
    }
}
