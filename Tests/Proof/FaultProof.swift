import Foundation
import PageStore
import TestSupport

/// Makes every call of scripts fail in every way, alone and with all later calls: nothing traps,
/// acknowledged commits are there afterwards, also after a power cut, and after a failed write or
/// sync nothing more is acknowledged.
package struct FaultProof: StoreProof {
    package static let requiredCounts = ["faults", "errors", "states checked"]
    package private(set) var report = ProofReport()
    private let seed: UInt64
    private let budget: ProofBudget
    private var random: SeededRandom

    package init(seed: UInt64, budget: ProofBudget) {
        self.seed = seed
        self.budget = budget
        random = SeededRandom(seed: seed)
    }

    private static let scripts: [[ScriptStep]] = [
        [.insert, .update, .delete], [.insert, .checkpoint, .update, .checkpoint],
        [.grow, .delete, .vacuum], [.blob, .update, .reopen, .insert],
        [.relaxed, .relaxed, .insert], [.relaxed, .checkpoint, .relaxed, .reopen],
        [.rotate, .rotate], [.rotate, .relaxed, .rotate, .checkpoint],
        [.bulk, .delete, .bulk, .checkpoint], [.spill, .spill, .reopen, .update],
        [.insert, .backup, .update, .backup], [.grow, .reopen, .delete, .reopen, .insert],
        [.insert, .die, .update, .die], [.relaxed, .die, .relaxed, .checkpoint],
        [.spill, .delete, .checkpoint, .delete, .vacuum], [.blob, .blob, .delete, .die, .blob],
        [.hold, .update, .checkpoint, .grow, .checkpoint, .delete],
        [.insert, .insert, .insert, .checkpoint, .rotate], [.grow, .vacuum, .backup, .reopen],
        [.bulk, .die, .checkpoint, .spill], [.grow, .merge, .merge, .checkpoint, .merge],
        [.spill, .merge, .revisit, .reopen, .merge, .build],
    ]

    package mutating func run() {
        do {
            var round: UInt64 = 0
            repeat {
                for (number, steps) in Self.scripts.enumerated() {
                    try sweep(steps, seed &+ round &+ UInt64(number), isReal: false)
                    if budget.isSpent { return }
                }
                report.count("complete rounds")
                for steps in Self.scripts where !budget.isSpent {
                    try sweep(steps, seed &+ round, isReal: true)
                }
                round += 1
            } while !budget.isEndless && !budget.isSpent
        } catch {
            report.fail("\(error)")
        }
    }

    /// One script: every call, every kind of fault, once and permanently. On a real disk only a
    /// share.
    private mutating func sweep(_ steps: [ScriptStep], _ seed: UInt64, isReal: Bool) throws {
        let whole = try Run(steps, seed, nil, isReal: isReal)
        guard whole.failures.isEmpty else {
            throw ProofFailure("\(steps) without a fault: \(whole.failures)")
        }
        whole.end()
        report.count("scripts")
        for kind in FaultKind.allCases {
            let count = kind == .unreadable ? whole.readCount : whole.changeCount
            for call in 1...max(1, count) {
                for goesOn in [false, true] {
                    if budget.isSpent { return }
                    if isReal && random.below(6) > 0 { continue }
                    let fault = FaultInjector.Fault(call: call, kind: kind, goesOn: goesOn)
                    let label =
                        "seed \(self.seed), steps \(steps.map(\.rawValue).joined(separator: " ")), "
                        + "\(kind.rawValue) in call \(call) \(goesOn ? "and on" : "once")"
                        + (isReal ? ", real files" : "")
                    do {
                        let run = try Run(steps, seed, fault, isReal: isReal)
                        report.count(isReal ? "faults in real files" : "faults")
                        report.count("errors", run.failures.count)
                        report.count("states checked", try run.check(&random))
                    } catch {
                        throw ProofFailure("\(label): \(error)")
                    }
                }
            }
        }
    }
}

/// A script with a fault in it.
private final class Run {
    private let base: any FileSystem
    private let faults: FaultInjector
    private let path: String
    private var player: ScriptPlayer?
    private var history = ScriptHistory()
    private(set) var failures: [StoreError] = []

    var changeCount: Int { faults.changeCount }
    var readCount: Int { faults.readCount }
    private var simulated: SimulatedDisk? { base as? SimulatedDisk }

    init(
        _ steps: [ScriptStep], _ seed: UInt64, _ fault: FaultInjector.Fault?, isReal: Bool
    ) throws {
        if isReal {
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("faults-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            path = folder.appendingPathComponent("store").path
            base = DiskFileSystem.shared
        } else {
            path = "store"
            base = SimulatedDisk(seed: seed, records: true)
        }
        faults = FaultInjector(base, fault)
        try play(steps, seed)
    }

    deinit { end() }

    func end() {
        player = nil
        guard simulated == nil else { return }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        try? FileManager.default.removeItem(at: folder)
    }

    private func play(_ steps: [ScriptStep], _ seed: UInt64) throws {
        do {
            player = try ScriptPlayer(
                disk: faults, options: CrashProof.options, history: history, seed: seed,
                path: path)
        } catch let error as StoreError {
            failures.append(error)
            return
        }
        for step in steps {
            do {
                try player?.run(step)
            } catch let error as StoreError {
                failures.append(error)
                history = player?.history ?? history
                try expectHonest(error)
                // A store that was closed during the fault is reopened without it.
                guard player?.isOpen == true else { break }
                if history.isUnknown { try expectPoison() }
                // Lack of space before the log is written fails only the transaction.
                if error.code != .diskFull || history.isUnknown { break }
            }
        }
        if let last = player?.history { history = last }
        player = nil
    }

    /// Checks that the error says whether the commit may be there, and that lack of space leaves a
    /// writable store.
    private func expectHonest(_ error: StoreError) throws {
        if history.isUnknown && error.code != .commitUncertain {
            throw ProofFailure("the log's write failed, and the error does not say so: \(error)")
        }
        if faults.isOnce && failures.count > 1 && failures[0].code == .diskFull {
            throw ProofFailure("a store that lacked space once is not usable: \(error)")
        }
    }

    /// The outcome of a commit is unknown: no later commit may be acknowledged.
    private func expectPoison() throws {
        guard let engine = try player?.engine else { return }
        var isRefused = false
        do throws(StoreError) {
            let transaction = try engine.beginWrite()
            _ = try transaction.allocatePage(.overflow)
            _ = try transaction.commit()
        } catch {
            isRefused = true
        }
        if !isRefused { throw ProofFailure("a commit succeeded behind one whose log failed") }
    }

    /// Checks the file's content now and after power cuts. Returns the number of states.
    func check(_ random: inout SeededRandom) throws -> Int {
        let range = history.rangeAtEnd
        guard let simulated else {
            try check(base, range)
            return 1
        }
        try check(SimulatedDisk(simulated.image, seed: 5), range)
        var medium = PowerCut(DiskImage(), seed: random.next())
        for effect in simulated.effects { medium.complete(effect) }
        var count = 1
        try medium.forEachImage(running: nil) { image in
            guard count == 1 || random.below(6) == 0 else { return }
            count += 1
            if image.disk.names["store"] == nil {
                guard range.lowerBound == 0 else { throw ProofFailure("the store is gone") }
                return
            }
            do {
                try check(SimulatedDisk(image.disk, seed: 6), range)
            } catch {
                // Bytes of an unfinished creation, which no commit depends on.
                let isUnborn = range.lowerBound == 0 && image.name.hasPrefix("garbage")
                guard isUnborn else { throw ProofFailure("power cut, \(image.name): \(error)") }
            }
        }
        return count
    }

    private func check(_ files: any FileSystem, _ range: ClosedRange<Int>) throws {
        let engine = try Engine.open(path: path, options: CrashProof.options, files: files)
        let snapshot = try engine.snapshot()
        let number = Int(snapshot.commitNumber)
        guard range.contains(number) else {
            throw ProofFailure("commit \(number) is outside \(range)")
        }
        try StoreComparison.compare(snapshot, history.contents[number], "the commit")
        if let finding = StoreCheck.run(snapshot).first { throw ProofFailure("\(finding)") }
        let transaction = try engine.beginWrite()
        _ = try transaction.allocatePage(.overflow)
        _ = try transaction.commit()
        try engine.close()
    }
}
