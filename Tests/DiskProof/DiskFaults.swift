import Dispatch
import Foundation
import Primitives
import Proof
import TestSupport

/// Makes each call of programs fail: they end by themselves with typed errors only, and what they
/// were promised is there, also after a power cut.
struct DiskFaults {
    private(set) var report = ProofReport()
    private let seed: UInt64
    private let budget: ProofBudget
    private var random: SeededRandom

    init(seed: UInt64, budget: ProofBudget) {
        self.seed = seed
        self.budget = budget
        random = SeededRandom(seed: seed)
    }

    private struct Program {
        var name: String
        var sessions: [[DiskWorkload.Step]]
        /// Whether the reader's calls fail instead of those of the last session.
        var isOfReader = false
        /// The kinds of calls that fail; empty for all.
        var kinds: Set<String> = []
    }

    private static let programs = [
        Program(
            name: "commits",
            sessions: [
                [.durable, .relaxed, .checkpoint, .grouped, .bulk, .relaxed, .unsafe, .durable]
            ]),
        Program(
            name: "care",
            sessions: [
                [.durable, .relaxed, .blob],
                [.relaxed, .backup, .delete, .update, .vacuum, .reopen, .beside, .update],
            ]),
        Program(
            name: "cutting",
            sessions: [
                [.durable, .bulk], [.relaxed, .shrink, .durable, .reopen, .relaxed],
            ]),
        Program(
            name: "race", sessions: [[.durable, .race, .race]], kinds: ["sync"]),
        Program(
            name: "reader",
            sessions: [
                [.durable, .checkpoint, .blob],
                [.look, .copyByReader, .relaxed, .checkpoint, .look, .copyByReader, .copyByReader],
            ], isOfReader: true),
    ]

    private static let (io, full, quota) = ("\(EIO)", "\(ENOSPC)", "\(EDQUOT)")
    private static let (interrupted, again) = ("\(EINTR)", "\(EAGAIN)")
    private static let (unknown, noLocks) = ("\(EINVAL)", "\(ENOLCK)")

    /// The effects that each kind of call can have instead, and how many in a row: 0 for all from
    /// then on.
    private static let effects: [(kind: String, effects: [(String, [Int])])] = [
        ("open", [(io, [1, 0]), (full, [1]), (quota, [1]), (interrupted, [3]), (again, [1])]),
        (
            "read",
            [
                (io, [1, 0]), (interrupted, [3]), (again, [1]), ("half", [1, 0]), ("one", [40]),
                ("zero", [1, 0]),
            ]
        ),
        (
            "write",
            [
                (io, [1, 0]), (full, [1, 0]), (quota, [1]), (interrupted, [3]), (again, [1]),
                ("half", [1, 0]), ("one", [40]), ("zero", [1, 7, 8, 0]), ("after", [1]),
            ]
        ),
        (
            "sync",
            [
                (io, [1, 0]), (full, [1, 0]), (quota, [1]), (interrupted, [3]), (again, [1]),
                ("late", [1]), ("after", [1]),
            ]
        ),
        ("truncate", [(io, [1, 0]), (full, [1]), (interrupted, [3]), (again, [1])]),
        (
            "name",
            [
                (io, [1, 0]), (full, [1]), (quota, [1]), (interrupted, [1]), ("after", [1]),
                // A file system without such renames, and one without hard links as well.
                (unknown, [1, 0]),
            ]
        ),
        ("stat", [(io, [1, 0]), (interrupted, [1]), (again, [1])]),
        ("lock", [(io, [1, 0]), (interrupted, [1]), (again, [1, 0]), (noLocks, [1, 0])]),
        ("seek", [(io, [1, 0])]),
    ]

    /// A program and its initial image, after the sessions without faults.
    private struct Start {
        var program: Program
        var medium = DiskMedium()
        var ledger = DiskLedger()
    }

    /// Every fault of every program, in an order that the seed decides; as many as the budget
    /// allows.
    mutating func run() throws {
        var left: [(start: Start, fault: DiskFault)] = []
        for program in Self.programs {
            let start = try start(program)
            left += try points(start).map { (start, $0) }
        }
        report.count("fault points", left.count)
        left.shuffle(using: &random)
        // The rare faults in which threads meet a failing sync are tried first.
        let late = left.partition { $0.fault.effect == "late" }
        report.count("late failures", left.count - late)
        let shared = Mutex(Shared(report: report, left: left))
        let group = DispatchGroup()
        for index in 0..<max(1, min(4, ProcessInfo.processInfo.activeProcessorCount)) {
            group.enter()
            Thread.detachNewThread { [budget, seed] in
                var random = SeededRandom(seed: seed &+ UInt64(index))
                while let (start, fault) = shared.withLock({ $0.next(budget) }) {
                    let result = Result { try Self.run(start, fault, seed, &random) }
                    shared.withLock { $0.take(result, start.program.name, fault, seed) }
                }
                group.leave()
            }
        }
        group.wait()
        report = shared.withLock { $0.report }
        if let failure = shared.withLock({ $0.failure }) { throw failure }
        // With several threads a program makes a few calls more or less each time.
        guard report["faults met"] * 10 >= report["faults"] * 7 else {
            throw ProofFailure(
                "of \(report["faults"]) faults \(report["faults met"]) were met by a call")
        }
        if shared.withLock({ $0.left.isEmpty }) { report.count("complete sweeps of faults") }
    }

    /// The state shared by the threads that run programs.
    private struct Shared {
        var report: ProofReport
        var left: [(start: Start, fault: DiskFault)]
        var failure: ProofFailure?

        mutating func next(_ budget: ProofBudget) -> (Start, DiskFault)? {
            guard failure == nil, !budget.isSpent || report["faults"] < 20 else { return nil }
            guard let next = left.popLast() else { return nil }
            report.count("faults")
            return next
        }

        mutating func take(
            _ result: Result<DiskJudge, any Error>, _ name: String, _ fault: DiskFault,
            _ seed: UInt64
        ) {
            switch result {
            case .success(let judge):
                // Noted as progress by the judge.
                report.tally("faults met", judge.report["faults met"])
                report.tally("images after faults", judge.report["images"])
                report.count("errors", judge.ledger.errors.values.reduce(0, +))
            case .failure(let error):
                failure = ProofFailure(
                    "program \(name), fault “\(fault.text)”, seed \(seed): \(error)")
            }
        }
    }

    private func start(_ program: Program) throws -> Start {
        var start = Start(program: program)
        guard program.sessions.count > 1 else { return start }
        let run = try DiskRun()
        defer { run.remove() }
        for (index, steps) in program.sessions.dropLast().enumerated() {
            try run.run(steps, seed: seed &+ UInt64(index), closes: false)
        }
        var judge = DiskJudge(folder: run.base)
        var cuts = DiskCuts(try run.trace(), on: start.medium, seed: seed, perCall: 0)
        try cuts.run(&judge, while: { false })
        (start.medium, start.ledger) = (cuts.medium, judge.ledger)
        return start
    }

    /// The last session, in which calls may fail.
    private static func play(
        _ start: Start, _ seed: UInt64, _ fault: DiskFault?, closes: Bool = true
    ) throws -> DiskRun {
        let run = try DiskRun(start.medium.visible)
        do {
            let steps = start.program.sessions.last ?? []
            try run.run(steps, seed: seed, closes: closes, fault: fault)
            return run
        } catch {
            throw ProofFailure("\(error); its folder and trace: \(run.base.path)")
        }
    }

    /// Counts the calls of a program without faults.
    private func points(_ start: Start) throws -> [DiskFault] {
        let run = try Self.play(start, seed, nil)
        defer { run.remove() }
        var counts: [String: Int] = [:]
        // The calls of the process in which faults were enabled last.
        let events = try run.trace().events
        let arms = events.indices.filter { events[$0].kind == .note && events[$0].text == "arm" }
        guard let last = arms.last else { throw ProofFailure("no program was armed") }
        for event in events[last...] where event.process == events[last].process {
            if let kind = event.faultKind { counts[kind, default: 0] += 1 }
        }
        let kinds = start.program.kinds
        return Self.effects.filter { kinds.isEmpty || kinds.contains($0.kind) }.flatMap {
            (kind, effects) in
            (0..<counts[kind, default: 0]).flatMap { index in
                effects.flatMap { effect, lengths in
                    lengths.map {
                        DiskFault(
                            kind: kind, call: index + 1, effect: effect, count: $0,
                            isOfReader: start.program.isOfReader)
                    }
                }
            }
        }
    }

    private static func run(
        _ start: Start, _ fault: DiskFault, _ seed: UInt64, _ random: inout SeededRandom
    ) throws -> DiskJudge {
        let run = try play(start, seed, fault, closes: random.below(4) > 0)
        do {
            let trace = try run.trace()
            try trace.requireKnownCalls()
            var judge = DiskJudge(folder: run.base)
            judge.ledger = start.ledger
            if trace.events.contains(where: \.isFaulted) { judge.count("faults met") }
            var cuts = DiskCuts(trace, on: start.medium, seed: random.next(), perCall: 1)
            // A few cuts after the fault too, while programs continue.
            var chance = random
            try cuts.run(&judge, while: { chance.below(24) == 0 })
            try cuts.cutAtEnd(&judge)
            try cuts.requireSame(as: run.folder)
            run.remove()
            return judge
        } catch {
            throw ProofFailure("\(error); its folder and trace: \(run.base.path)")
        }
    }
}

extension DiskEvent {
    /// The kind of fault that applies to the call.
    fileprivate var faultKind: String? {
        switch kind {
        case .open: "open"
        case .read: "read"
        case .write: "write"
        case .sync, .syncFolder: "sync"
        case .truncate: "truncate"
        case .link, .rename, .unlink: "name"
        case .stat: "stat"
        case .lock: "lock"
        case .seek: "seek"
        case .note, .map, .unknown: nil
        }
    }
}
