import Foundation
import ObjectGraph
import PageStore
import Proof
import TestSupport

/// Makes calls of scripts on files fail in every way: each answer is right or a typed error, and
/// promised commits are there when the files work again.
struct GraphFaults: GraphPart {
    private let seed: UInt64
    private let budget: ProofBudget
    private var random: SeededRandom
    private(set) var report = ProofReport()

    init(seed: UInt64, budget: ProofBudget) {
        self.seed = seed
        self.budget = budget
        random = SeededRandom(seed: seed ^ 0xFA)
    }

    mutating func run() throws {
        repeat { try script(random.next()) } while !budget.isEndless && !budget.isSpent
    }

    private mutating func script(_ scriptSeed: UInt64) throws {
        let stepCount = 5 + random.below(12)
        // Counts the calls that can fail.
        let whole = FaultInjector(SimulatedDisk(seed: scriptSeed), nil)
        do {
            let script = try play(whole, scriptSeed, stepCount, mayFail: false)
            try script.finish()
        } catch {
            throw ProofFailure("seed \(seed), script \(scriptSeed) without a fault: \(error)")
        }
        for _ in 0..<12 {
            let kind = FaultKind.allCases[random.below(FaultKind.allCases.count)]
            let count = kind == .unreadable ? whole.readCount : whole.changeCount
            let fault = FaultInjector.Fault(
                call: 1 + random.below(max(1, count)), kind: kind, goesOn: random.below(3) == 0)
            do {
                try sweep(fault, scriptSeed, stepCount)
            } catch {
                throw ProofFailure(
                    "seed \(seed), faults, script \(scriptSeed), \(kind.rawValue) in call "
                        + "\(fault.call) \(fault.goesOn ? "and on" : "once"): \(error)")
            }
            if budget.isSpent { return }
        }
    }

    private func play(
        _ faults: FaultInjector, _ scriptSeed: UInt64, _ stepCount: Int, mayFail: Bool
    ) throws -> GraphFileScript {
        let script = try GraphFileScript(
            faults, policy: GraphFileScript.policies[Int(scriptSeed % 4)], seed: scriptSeed,
            mayFail: mayFail)
        do {
            for _ in 0..<stepCount where script.isOpen { try script.step() }
        } catch {
            throw ProofFailure("\(script.trace.suffix(30).joined(separator: "; ")): \(error)")
        }
        return script
    }

    private mutating func sweep(
        _ fault: FaultInjector.Fault, _ scriptSeed: UInt64, _ stepCount: Int
    ) throws {
        let disk = SimulatedDisk(seed: scriptSeed, records: true)
        let script = try play(
            FaultInjector(disk, fault), scriptSeed, stepCount, mayFail: true)
        try script.finish()
        report.count("object faults")
        report.count("object errors", script.errors.count)
        var judge = GraphJudge(
            policy: GraphFileScript.policies[Int(scriptSeed % 4)], names: script.names,
            random: SeededRandom(seed: scriptSeed))
        let range = script.history.rangeAtEnd
        let trace = script.trace.suffix(30).joined(separator: "; ")
        func check(_ image: DiskImage, _ name: String) throws {
            guard image.names[GraphFileScript.path] != nil else {
                guard range.lowerBound == 0 else { throw ProofFailure("\(name): it is gone") }
                return
            }
            do {
                let files = LockingFiles(SimulatedDisk(image, seed: 7))
                _ = try judge.judge(files, script.history, range, isReadOnly: false)
            } catch let error as CoreStoreError {
                // Bytes of an unfinished creation, which no commit depends on.
                let isUnborn = range.lowerBound == 0 && name.hasPrefix("garbage")
                guard isUnborn else { throw ProofFailure("\(trace); \(name): \(error)") }
            } catch {
                throw ProofFailure("\(trace); \(name): \(error)")
            }
            report.count("states after faults")
        }
        try check(disk.image, "afterwards")
        var medium = PowerCut(DiskImage(), seed: random.next())
        for effect in disk.effects { medium.complete(effect) }
        var count = 0
        try medium.forEachImage(running: nil) { image in
            guard count == 0 || random.below(8) == 0 else { return }
            count += 1
            try check(image.disk, image.name)
        }
    }
}
