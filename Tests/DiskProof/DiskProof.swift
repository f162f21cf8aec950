import Foundation
import Proof
import TestSupport

/// The system calls that a program over the public API really makes, below the engine.
///
/// A shim that is loaded before the program records each call with its flags and bytes. The power
/// is then cut at each call, and the images that the system's rules allow on the medium are opened
/// with the public API and compared with the program's promises. The shim can also make calls fail.
package struct DiskProof: StoreProof {
    package static let requiredCounts = ["images", "stores opened", "faults met"]
    package private(set) var report = ProofReport()
    private let seed: UInt64
    private let budget: ProofBudget
    private var random: SeededRandom

    /// How many images a proof without an end to its budget looks at.
    private static let imagesMin = 50_000

    package init(seed: UInt64, budget: ProofBudget) {
        self.seed = seed
        self.budget = budget
        random = SeededRandom(seed: seed)
    }

    package mutating func run() {
        do {
            try DiskRun.requireTools()
            try runCuts(until: budget.share(0.6))
            try runFaults()
        } catch let error as ProofObstacle {
            report.stop("\(error)")
        } catch {
            report.fail("seed \(seed): \(error)")
        }
    }

    // MARK: Cuts

    private mutating func runCuts(until budget: ProofBudget) throws {
        var start = DiskMedium.Image()
        var ledger = DiskLedger()
        repeat {
            let leftover = try runRound(from: start, ledger, budget)
            // The next program starts with an empty folder, or with the image that a cut has left.
            if let leftover, let head = leftover.0.finding.head, random.below(3) > 0 {
                start = leftover.0.image
                ledger = leftover.1
                ledger.restart(at: head, copies: leftover.0.finding.copies)
                report.count("programs on leftovers")
            } else {
                start = [:]
                ledger = DiskLedger()
            }
        } while budget.isEndless ? report["different images"] < Self.imagesMin : !budget.isSpent
    }

    /// Traces one program and judges each cut of it.
    private mutating func runRound(
        from start: DiskMedium.Image, _ ledger: DiskLedger, _ budget: ProofBudget
    ) throws -> (DiskCuts.Leftover, DiskLedger)? {
        let run = try DiskRun(start)
        let isFirst = report["programs"] == 0
        report.count("programs")
        var judge = DiskJudge(folder: run.base)
        judge.ledger = ledger
        var leftover: DiskCuts.Leftover?
        do {
            for session in 0..<3 {
                var steps = isFirst ? Self.firstSteps[session] : []
                while steps.count < 7 {
                    let all = DiskWorkload.Step.allCases
                    steps.append(all[random.below(all.count)])
                }
                try run.run(steps, seed: random.next(), closes: random.below(2) == 0)
            }
            let trace = try run.trace()
            try trace.requireKnownCalls()
            var cuts = DiskCuts(
                trace, on: DiskMedium(start), seed: random.next(), perCall: 4)
            try cuts.run(&judge, while: { !budget.isSpent })
            if !budget.isSpent { try cuts.cutAtEnd(&judge) }
            try cuts.requireSame(as: run.folder)
            if isFirst { try trace.requireCalls(Self.calls) }
            leftover = cuts.leftover
        } catch {
            throw ProofFailure("\(error); the program's folder and its trace: \(run.base.path)")
        }
        report.add(judge.report)
        report.count("transactions acknowledged", judge.ledger.acknowledgedCount)
        guard judge.ledger.errors.filter({ $0.key != "cancelled" }).isEmpty else {
            throw ProofFailure("errors without a fault: \(judge.ledger.errors)")
        }
        run.remove()
        return leftover.map { ($0, judge.ledger) }
    }

    /// The steps of the first program, so that each proof sees each call.
    private static let firstSteps: [[DiskWorkload.Step]] = [
        // An open reader would need the part of the file that is cut off.
        [.durable, .relaxed, .backup, .shrink, .bulk, .checkpoint, .relaxed],
        [.durable, .look, .copyByReader, .grouped, .update, .reopen, .beside],
        [.blob, .delete, .vacuum, .unsafe, .cancel, .copyByReader, .update],
    ]

    /// The calls that the proof depends on. Each must have been recorded.
    static let calls = [
        "open", "pread", "pwrite", "durable pwrite", "fsync", "fsync of the folder",
        "ftruncate", "ftruncate that cuts",
        "renameat2", "fcntl", "fstat", "statx",
    ]

    // MARK: Faults

    private mutating func runFaults() throws {
        var faults = DiskFaults(seed: random.next(), budget: budget)
        do {
            try faults.run()
            report.add(faults.report)
        } catch {
            report.add(faults.report)
            throw error
        }
    }
}
