import Foundation
import ObjectGraph
import PageStore
import Proof
import TestSupport

/// One run of a script: a stack that writes and one of another process are opened, the strands do
/// their steps as a weave decides, and all answers are compared with the commits.
///
/// A weave lets one strand run at a time, so that they share what is not thread-safe.
final class WovenRun: @unchecked Sendable {
    static let copyPath = "/copy.trellis"

    /// A store with a few objects, and a copy of it.
    struct Start {
        var image: DiskImage
        var names: GraphNames
        var state: GraphModel
    }

    private let script: WovenScript
    private let seed: UInt64
    private let weave: Weave
    private let start: Start
    let disk: SimulatedDisk
    let ledger: WovenLedger
    private let writer: GraphStack
    private let reader: GraphStack
    private(set) var lookCount = 0

    static func start(seed: UInt64) throws -> Start {
        let disk = SimulatedDisk(seed: seed)
        let graph = try GraphStack(GraphFileScript.storage(LockingFiles(disk)))
        var edit = WovenEdit(graph: graph, random: SeededRandom(seed: seed))
        var state = GraphModel()
        for round in 0..<14 {
            try graph.stack.perform(synchronous: { transaction in
                if round < 5 { return edit.create(transaction, &state) }
                try edit.apply(to: transaction, &state)
            })
        }
        try graph.stack.backup(to: URL(fileURLWithPath: copyPath))
        let names = graph.names
        try graph.stack.close()
        return Start(image: disk.image, names: names, state: state)
    }

    init(_ script: WovenScript, from start: Start, _ weave: Weave, seed: UInt64) throws {
        self.script = script
        self.start = start
        self.weave = weave
        self.seed = seed
        // Not the seed of the store before: a salt of a log is never used twice.
        disk = SimulatedDisk(
            start.image, seed: seed &* 31 &+ 7, records: true, weave: weave)
        ledger = WovenLedger(start.state)
        let files = LockingFiles(disk, notifiesAtOnce: true)
        writer = try GraphStack(
            GraphFileScript.storage(files, schedule: weave), names: start.names)
        // Recovery's writes are tested by another proof.
        let (writer, ledger) = (writer, ledger)
        var edit = WovenEdit(graph: writer, random: SeededRandom(seed: seed))
        var state = start.state
        try writer.stack.perform(synchronous: { edit.create($0, &state) })
        ledger.acknowledge(
            ledger.append(state, isRelaxed: false), effectCount: disk.effectCount)
        reader = try GraphStack(
            GraphFileScript.storage(files, isReadOnly: true, schedule: weave))
    }

    /// Runs all strands. The weave keeps failures.
    func run() -> Bool {
        weave.run(
            script.strands.enumerated().map { index, steps in
                (
                    name: "\(index) (\(steps.map(\.rawValue).joined(separator: " ")))",
                    body: { @Sendable [self] in
                        do {
                            for (turn, step) in steps.enumerated() {
                                try run(step, seed &+ UInt64(100 * index + turn))
                            }
                        } catch {
                            weave.fail("strand \(index): \(error)")
                        }
                    }
                )
            })
    }

    // MARK: Steps

    private func run(_ step: WovenStep, _ seed: UInt64) throws {
        weave.meetAtStep()
        switch step {
        case .durable: try commit(.durable, seed)
        case .grouped: try commit(.grouped(maxDelay: .seconds(1)), seed)
        case .relaxed: try commit(.relaxed, seed)
        case .cancelled: try cancel(seed)
        case .checkpoint: try secure { try writer.stack.checkpoint() }
        case .vacuum: _ = try writer.stack.vacuum()
        case .copy: try copy()
        case .look: try look()
        case .follow: try follow()
        }
    }

    private func commit(_ durability: Durability, _ seed: UInt64) throws {
        var index = 0
        try writer.stack.perform(
            synchronous: { transaction in
                let state = try edited(transaction, seed)
                index = ledger.append(state, isRelaxed: durability == .relaxed)
            }, durability: durability)
        ledger.acknowledge(index, effectCount: disk.effectCount)
    }

    /// A transaction shows all commits before it, also those that have not returned.
    private func edited(_ transaction: BaseDataTransaction, _ seed: UInt64) throws -> GraphModel {
        var state = ledger.last
        try writer.check(transaction, state, "a transaction")
        var edit = WovenEdit(graph: writer, random: SeededRandom(seed: seed))
        try edit.apply(to: transaction, &state)
        return state
    }

    private func cancel(_ seed: UInt64) throws {
        do {
            try writer.stack.perform(synchronous: { transaction in
                _ = try edited(transaction, seed)
                try transaction.cancel()
            })
        } catch {
            guard case .userCancelled = try GraphFileScript.typed(error) else { throw error }
        }
    }

    private func secure(_ body: () throws -> Void) throws {
        let index = ledger.newest
        try body()
        ledger.secure(index, effectCount: disk.effectCount)
    }

    private func copy() throws {
        let number = ledger.beginCopy(effectCount: disk.effectCount)
        var isDone = false
        defer { ledger.endCopy(number, isDone: isDone, effectCount: disk.effectCount) }
        do {
            try secure {
                try writer.stack.backup(
                    to: URL(fileURLWithPath: Self.copyPath), isIncremental: true)
            }
            isDone = true
        } catch {
            let failure = try GraphFileScript.typed(error)
            let code = failure.storeError?.code
            // Another backup writes the file.
            guard code == .alreadyOpen || code == .lockedByOther, copyCount > 1 else {
                throw failure
            }
        }
    }

    private var copyCount: Int { script.strands.count { $0.contains(.copy) } }

    private func look() throws {
        let least = ledger.newest
        let view = try writer.stack.beginRead()
        let index = try index(of: view, writer, least, "a view")
        // An equal older commit may be the one that is shown.
        if ledger.states.count(where: { $0 == ledger.states[index] }) == 1 {
            ledger.see(index, effectCount: disk.effectCount)
        }
        weave.meetAtStep()
        try writer.check(view, ledger.states[index], "a view, again")
    }

    private func follow() throws {
        // Another strand may follow further once this view has its state.
        let least = ledger.followed
        let view = try reader.stack.beginRead()
        // Not before: the view may show a commit that another strand makes while it is begun.
        reader.names = writer.names
        let index = try index(of: view, reader, least, "a stack that follows")
        ledger.follow(index)
        weave.meetAtStep()
        try reader.check(view, ledger.states[index], "a stack that follows, again")
    }

    private func index(
        of view: ReadView, _ graph: GraphStack, _ least: Int, _ name: String
    ) throws -> Int {
        lookCount += 1
        let found = try graph.graph(view)
        let states = ledger.states
        guard let index = states.indices.dropFirst(least).first(where: { states[$0] == found })
        else {
            try GraphStack.throwFault(view)
            let other = states.firstIndex(of: found)
            throw ProofFailure(
                "\(name) shows " + (other.map { "commit \($0)" } ?? "no commit")
                    + ", and \(least)...\(states.count - 1) may be shown:\n"
                    + found.difference(from: states[states.count - 1]))
        }
        return index
    }

    // MARK: Afterwards

    /// Both stacks show the last commit, by every way to ask.
    func checkEnd() throws {
        let last = ledger.last
        guard ledger.newest == ledger.begun else { throw ProofFailure("a commit has not returned") }
        reader.names = writer.names
        for (graph, name) in [(writer, "the stack"), (reader, "the stack that follows")] {
            let view = try graph.stack.beginRead()
            try graph.check(view, last, "\(name), at the end,")
            var queries = GraphQueries(graph, last, seed: seed)
            try queries.check(view, 2)
        }
        try writer.queue.sync { try writer.check(writer.stack, last, "the view") }
    }

    /// Closes both, and checks the files.
    func close() throws {
        try reader.stack.close()
        try writer.stack.close()
        let image = disk.image
        for path in [GraphFileScript.path, Self.copyPath] {
            let findings = try FuzzedEntries.check(image.bytes(of: path) ?? [])
            if let finding = findings.first { throw ProofFailure("check of \(path): \(finding)") }
        }
        _ = try checkFiles(image, ledger.begun...ledger.begun, ledger.copied(at: .max))
    }

    /// Opens the images that a power cut after this many calls leaves: the certain one, and a share
    /// of the others. Returns the number of images.
    func cutPower(after effectCount: Int, share: Int, _ random: inout SeededRandom) throws -> Int {
        let effects = disk.effects
        var medium = PowerCut(start.image, seed: random.next())
        for effect in effects.prefix(effectCount) { medium.complete(effect) }
        let allowed = ledger.least(at: effectCount)...ledger.begun
        var count = 0
        try medium.forEachImage(
            running: effectCount < effects.count ? effects[effectCount] : nil
        ) { image in
            guard image.name == "none" || random.below(share) == 0 else { return }
            count += 1
            do {
                let copied = ledger.copied(at: effectCount)
                try checkFiles(image.disk, allowed, copied)
            } catch {
                throw ProofFailure(
                    "power cut after call \(effectCount) of \(effects.count), \(image.name): "
                        + "\(error)")
            }
        }
        return count
    }

    /// The copy shows a commit that it may show, and none that the store has lost.
    private func checkFiles(
        _ image: DiskImage, _ allowed: ClosedRange<Int>, _ copied: Set<Int>
    ) throws {
        var history = GraphHistory(start.state)
        for state in ledger.states.dropFirst() { history.append(state, begun: 0) }
        var judge = GraphJudge(
            policy: writer.policy, names: writer.names, random: SeededRandom(seed: seed))
        let files = LockingFiles(SimulatedDisk(image, seed: 3))
        let index = try judge.judge(files, history, allowed, isReadOnly: true)
        guard let least = copied.min(), let most = copied.max() else { return }
        guard least <= index else { throw ProofFailure("the store lost what the copy has") }
        let found = try judge.judge(
            files, history, least...min(most, index), path: Self.copyPath, isReadOnly: true)
        // Equal commits may be told apart by their numbers alone.
        guard copied.contains(where: { ledger.states[$0] == ledger.states[found] }) else {
            throw ProofFailure("the copy shows commit \(found), and \(copied.sorted()) may be")
        }
    }
}
