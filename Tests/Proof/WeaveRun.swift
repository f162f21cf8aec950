import PageStore
import TestSupport

/// One run of a script: a store is opened, the strands do their steps as a weave decides, and what
/// they leave is compared with what they were told; also after a power cut.
struct WeaveRun {
    let script: WeaveScript
    let weave: Weave
    let disk: SimulatedDisk
    private let start: DiskImage
    let ledger: WeaveLedger
    private let engine: Engine

    /// A store with a history.
    static func preparedStore(_ script: WeaveScript) throws -> DiskImage {
        let disk = SimulatedDisk(seed: 1)
        var options = script.options
        options.checkpointsInBackground = false
        let engine = try Engine.open(path: "store", options: options, files: disk)
        for durability: Durability in [.durable, .bulk, .durable] {
            let transaction = try engine.beginWrite()
            _ = try WeaveContent.write(false, to: transaction)
            try transaction.commit(durability)
            try engine.checkpointNow()
        }
        try engine.close()
        return disk.image
    }

    init(_ script: WeaveScript, from start: DiskImage, _ weave: Weave) throws {
        self.script = script
        self.start = start
        self.weave = weave
        disk = SimulatedDisk(start, seed: 2, records: true, weave: weave)
        var options = script.options
        options.schedule = weave
        engine = try Engine.open(path: "store", options: options, files: disk)
        ledger = WeaveLedger(0)
        // Recovery's writes are tested by another proof.
        try commit(.durable)
    }

    /// Runs all strands. The weave keeps failures.
    func run() -> Bool {
        let bodies = script.strands.enumerated().map { index, steps in
            (
                name: "\(index) (\(steps.map(\.rawValue).joined(separator: " ")))",
                body: { @Sendable () -> Void in
                    do {
                        for step in steps { try run(step) }
                    } catch {
                        weave.fail("strand \(index): \(error)")
                    }
                }
            )
        }
        return weave.run(bodies)
    }

    private func run(_ step: WeaveStep) throws {
        weave.meetAtStep()
        switch step {
        case .commit: try commit(.durable)
        case .large: try commit(.durable, isLarge: true)
        case .bulk: try commit(.bulk)
        case .grouped: try commit(.grouped(maxDelay: .seconds(1)))
        case .relaxed: try commit(.relaxed)
        case .checkpoint: try engine.checkpointNow()
        case .vacuum: _ = try engine.vacuum(byteBudget: 1 << 14)
        case .look: try look()
        }
    }

    private func commit(_ durability: Durability, isLarge: Bool = false) throws {
        let transaction = try engine.beginWrite()
        let number = try WeaveContent.write(isLarge, to: transaction)
        ledger.begin(number, isDurable: durability != .relaxed)
        // A staged commit keeps its own versions. Every other one is not to, so that what keeps
        // those of a group on its way is seen at work.
        let staged = number.isMultiple(of: 2) ? try transaction.stage(durability) : nil
        let given = try staged?.number ?? transaction.commit(durability)
        guard given == number else {
            throw ProofFailure("commit \(given) was given, \(number) was expected")
        }
        try staged?.finish()
        ledger.acknowledge(number, effectCount: disk.effectCount)
        // Other commits may have been written with it, and a checkpoint may have stored them since.
        guard let own = try staged?.snapshot() else { return }
        guard own.commitNumber == number else {
            throw ProofFailure("the snapshot of commit \(number) shows \(own.commitNumber)")
        }
        try WeaveContent.check(own, "a commit's own reader")
    }

    private func look() throws {
        let least = ledger.newest
        let snapshot = try engine.snapshot()
        ledger.see(snapshot.commitNumber, effectCount: disk.effectCount)
        guard snapshot.commitNumber >= least else {
            throw ProofFailure(
                "a reader sees commit \(snapshot.commitNumber) after \(least) returned")
        }
        try WeaveContent.check(snapshot, "a reader")
        weave.meetAtStep()
        try WeaveContent.check(snapshot, "a reader, again")
    }

    // MARK: Afterwards

    /// Checks that the store shows its last commit, whole and valid.
    func checkEnd() throws {
        let snapshot = try engine.snapshot()
        guard snapshot.commitNumber == ledger.newest, ledger.newest == ledger.begun else {
            throw ProofFailure("the last commit is \(ledger.begun), \(snapshot.commitNumber) shown")
        }
        try WeaveContent.check(snapshot, "at the end")
    }

    func close() throws { try engine.close() }

    /// Opens the images that a power cut after this many calls leaves: the certain one, and a share
    /// of the others. Returns the number of images.
    func cutPower(after effectCount: Int, share: Int, random: inout SeededRandom) throws -> Int {
        let effects = disk.effects
        var medium = PowerCut(start, seed: random.next())
        for effect in effects.prefix(effectCount) { medium.complete(effect) }
        let least = ledger.least(at: effectCount)
        var count = 0
        try medium.forEachImage(
            running: effectCount < effects.count ? effects[effectCount] : nil
        ) { image in
            guard image.name == "none" || random.below(share) == 0 else { return }
            count += 1
            do {
                try checkCut(image.disk, least)
            } catch {
                let calls = effects.prefix(effectCount).map(\.name).joined(separator: ", ")
                throw ProofFailure(
                    "power cut after call \(effectCount) of \(effects.count), \(image.name): "
                        + "\(error). The calls: \(calls)")
            }
        }
        return count
    }

    private func checkCut(_ image: DiskImage, _ least: UInt64) throws {
        var options = CrashProof.options
        options.mode = .reading
        let store = try Engine.open(
            path: "store", options: options, files: SimulatedDisk(image, seed: 3))
        let snapshot = try store.snapshot()
        guard snapshot.commitNumber >= least, snapshot.commitNumber <= ledger.begun else {
            throw ProofFailure(
                "commit \(snapshot.commitNumber) is left, \(least) was durable, "
                    + "\(ledger.begun) was begun")
        }
        try WeaveContent.check(snapshot, "what is left")
        if let finding = StoreCheck.run(snapshot).first { throw ProofFailure("check: \(finding)") }
    }
}
