import PageStore
import TestSupport

/// Cuts the power at every call of a script and within it, and again inside the recovery: the store
/// opens with one of the attempted commits, whole, loses no acknowledged one, and can be written
/// from there.
package struct CrashProof: StoreProof {
    package static let requiredCounts = ["images", "recoveries", "continued"]
    package private(set) var report = ProofReport()
    private let seed: UInt64
    private let budget: ProofBudget
    private var random: SeededRandom
    private var imageTurn: UInt64 = 0

    package init(seed: UInt64, budget: ProofBudget) {
        self.seed = seed
        self.budget = budget
        random = SeededRandom(seed: seed)
    }

    package static var options: Engine.Options {
        var options = Engine.Options()
        options.pageSizeInBytes = 512
        options.unitSizeInBytes = 64
        options.cacheSizeInBytes = 1 << 20
        options.logSegmentSizeInBytes = 16_384
        options.logBytesMax = 60_000
        options.versionBytesMax = 65_536
        options.outOfLineBytesMin = 22 * 512
        options.dirtyBytesMax = 24 * 512
        options.tailBytesMin = 4096
        options.checkpointsInBackground = false
        options.relaxedIntervalInMilliseconds = 3_600_000
        return options
    }

    /// All sequences of one to three steps in an order that the seed decides, then random ones as
    /// long as the budget lasts. Without an end to the budget, the sequences alone.
    package mutating func run() {
        do {
            try runSequences()
            while !budget.isEndless && !budget.isSpent { try runRandom() }
        } catch {
            report.fail("\(error)")
        }
    }

    private mutating func runSequences() throws {
        let steps = ScriptStep.onMedium
        var sequences: [[ScriptStep]] = steps.map { [$0] }
        var longer = steps.flatMap { first in steps.map { [first, $0] } }
        longer += steps.flatMap { first in
            steps.flatMap { second in steps.map { [first, second, $0] } }
        }
        sequences += longer.shuffled(using: &random)
        let used = try preparedStore()
        for sequence in sequences {
            guard !budget.isSpent else { return }
            let isShort = sequence.count == 1
            try run(sequence, from: used, nesting: isShort ? 24 : 96)
            if isShort { try run(sequence, from: (DiskImage(), ScriptHistory()), nesting: 48) }
            report.count("sequences")
            // Long scripts find faults that need a history, such as reuse of space.
            if !budget.isEndless && random.below(8) == 0 { try runRandom() }
        }
        report.count("exhaustive rounds")
    }

    private mutating func runRandom() throws {
        let steps = ScriptStep.allCases
        let sequence = (0..<(6 + random.below(14))).map { _ in steps[random.below(steps.count)] }
        try run(sequence, from: (DiskImage(), ScriptHistory()), nesting: 256)
        report.count("random scripts")
    }

    /// A store with a history: free space, pending space, a log of two segments.
    private func preparedStore() throws -> (DiskImage, ScriptHistory) {
        let disk = SimulatedDisk(seed: seed)
        var player = try ScriptPlayer(
            disk: disk, options: Self.options, history: ScriptHistory(), seed: seed)
        for step: ScriptStep in [
            .insert, .grow, .checkpoint, .blob, .delete, .reopen, .update, .delete, .checkpoint,
            .insert, .update,
        ] {
            try player.run(step)
        }
        let history = ScriptHistory(
            content: player.history.last, commit: UInt64(player.history.contents.count - 1))
        return (disk.image, history)
    }

    private mutating func run(
        _ steps: [ScriptStep], from start: (image: DiskImage, history: ScriptHistory),
        nesting: Int
    ) throws {
        let scriptSeed = random.next()
        let disk = SimulatedDisk(start.image, seed: scriptSeed, records: true)
        let label = "seed \(seed), steps \(steps.map(\.rawValue).joined(separator: " "))"
        var player: ScriptPlayer
        do {
            player = try ScriptPlayer(
                disk: disk, options: Self.options, history: start.history, seed: scriptSeed,
                effectCount: { disk.effectCount })
            if scriptSeed & 2 == 0 { try player.holdSnapshot() }
            for step in steps { try player.run(step) }
            if steps.count > 3 || steps.last == .reopen { try player.close() }
        } catch {
            throw ProofFailure("\(label), before any cut: \(error)")
        }
        try cutEverywhere(
            disk.effects, from: start.image, player.history, label, nesting: nesting)
    }

    /// Each state of the medium that a cut can leave is checked once for each range of commits
    /// that it may show.
    private mutating func cutEverywhere(
        _ effects: [DiskEffect], from start: DiskImage, _ history: ScriptHistory, _ label: String,
        nesting: Int
    ) throws {
        var medium = PowerCut(start, seed: random.next())
        var seen: Set<UInt64> = []
        var lastRange = 0...0
        // The last cut comes when all calls have returned.
        for (index, effect) in (effects.map(Optional.some) + [nil]).enumerated() {
            let name = effect?.name ?? "none"
            let range = history.range(at: index)
            if range != lastRange { seen = [] }
            lastRange = range
            report.count("cut points")
            try medium.forEachImage(running: effect) { image in
                report.count("images")
                guard seen.insert(image.disk.fingerprint).inserted else { return }
                imageTurn += 1
                let place = "\(label), call \(index) (\(name)), \(image.name)"
                report.count("recoveries")
                guard let found = try check(image, history, range, index, place) else { return }
                if imageTurn % UInt64(nesting) == 0 {
                    try cutRecovery(
                        Branch(
                            medium: PowerCut(image.disk, seed: random.next()),
                            history: history.seen(from: found, to: found), label: place))
                }
            }
            guard let effect else { return }
            if random.below(nesting) < 4 {
                let place = "\(label), death in call \(index) (\(name))"
                try cutAfterDeath(medium, effect, history, range, index, place)
            }
            medium.complete(effect)
            if !budget.isEndless && budget.isSpent { return }
        }
    }

    /// Opens an image and compares it with the commit whose number it has; returns that. Nil when
    /// it was refused as allowed: garbage where a store was being created is no store.
    private mutating func check(
        _ cut: PowerCut.Image, _ history: ScriptHistory, _ range: ClosedRange<Int>,
        _ effectCount: Int, _ label: String
    ) throws -> Int? {
        let image = cut.disk
        if image.names["store"] == nil {
            guard effectCount < history.namedAt && range.lowerBound == 0 else {
                throw ProofFailure("\(label): the store has lost its name")
            }
        }
        let disk = SimulatedDisk(image, seed: imageTurn ^ seed)
        let index: Int
        do {
            var options = Self.options
            // Without the name there is no file to read: a writer creates one.
            options.mode = image.names["store"] != nil ? .reading : .writing
            let engine = try openForReading(disk, &options)
            let snapshot = try engine.snapshot()
            index = Int(snapshot.commitNumber) - Int(history.firstCommit)
            guard range.contains(index) else {
                throw ProofFailure("commit \(index) is outside \(range)")
            }
            try StoreComparison.compare(snapshot, history.contents[index], "the commit")
            try checkSound(snapshot)
            try checkBackups(image, history, effectCount)
            try engine.close()
            if imageTurn % 3 == 0 { try goOn(disk, history, index) }
        } catch {
            let isUnborn =
                effectCount < history.namedAt && range.lowerBound == 0
                && history.firstCommit == 0
            if isUnborn && cut.name.hasPrefix("garbage") && error is StoreError {
                report.count("unfinished creations refused")
                return nil
            }
            throw ProofFailure("\(label): \(error)")
        }
        return index
    }

    /// Opens for reading only, so that the allocation state is checked as well; an unfinished
    /// creation is completed by a writer.
    private func openForReading(
        _ disk: SimulatedDisk, _ options: inout Engine.Options
    ) throws(StoreError) -> Engine {
        do throws(StoreError) {
            return try Engine.open(path: "store", options: options, files: disk)
        } catch {
            guard error.code == .notAStore || error.code == .corrupt, options.mode.isReadOnly else {
                throw error
            }
            options.mode = .writing
            return try Engine.open(path: "store", options: options, files: disk)
        }
    }

    private func checkSound(_ snapshot: Snapshot) throws {
        if let finding = StoreCheck.run(snapshot).first { throw ProofFailure("check: \(finding)") }
    }

    /// A copy is whole once its call has returned, and no partial copy has its name.
    private func checkBackups(
        _ image: DiskImage, _ history: ScriptHistory, _ effectCount: Int
    ) throws {
        for backup in history.backups {
            guard image.names[backup.path] != nil else {
                if backup.doneAt <= effectCount { throw ProofFailure("\(backup.path) is gone") }
                continue
            }
            // Either superblock alone is enough to read all of it.
            let slot = Int(imageTurn % 3)
            let left = slot < 2 ? image.without(superblock: slot, of: backup.path) : image
            let disk = SimulatedDisk(left, seed: imageTurn)
            var options = Self.options
            options.mode = .reading
            let copy = try Engine.open(path: backup.path, options: options, files: disk)
            try StoreComparison.compare(try copy.snapshot(), backup.content, backup.path)
        }
    }

    /// Writes after the recovery do not touch the recovered content, and are there when the store
    /// is opened again, twice.
    private mutating func goOn(
        _ disk: SimulatedDisk, _ history: ScriptHistory, _ index: Int
    ) throws {
        var next = ScriptHistory(
            content: history.contents[index], commit: history.firstCommit + UInt64(index))
        var player = try ScriptPlayer(
            disk: disk, options: Self.options, history: next, seed: imageTurn)
        let steps: [ScriptStep] = [.insert, .blob, .update, .relaxed, .delete, .checkpoint, .grow]
        for _ in 0..<3 { try player.run(steps[random.below(steps.count)]) }
        next = player.history
        if imageTurn % 2 == 0 { try player.run(.reopen) }
        for round in 0..<2 {
            let again = try Engine.open(
                path: "store", options: Self.options,
                files: SimulatedDisk(disk.image, seed: imageTurn &+ UInt64(round)))
            let snapshot = try again.snapshot()
            try StoreComparison.compare(snapshot, next.last, "opened again")
            try checkSound(snapshot)
        }
        report.count("continued")
    }

    /// A node in the tree of possible events.
    private struct Branch {
        var medium: PowerCut
        var history: ScriptHistory
        var label: String
        var depth = 2
    }

    /// The process dies inside a call, another one recovers, and only then the power fails.
    private mutating func cutAfterDeath(
        _ medium: PowerCut, _ effect: DiskEffect, _ history: ScriptHistory,
        _ range: ClosedRange<Int>, _ index: Int, _ label: String
    ) throws {
        var medium = medium
        medium.interrupt(effect)
        let found = try check((medium.visible, "all"), history, range, index, label)
        guard let found else { return }
        report.count("process deaths")
        try cutRecovery(
            Branch(
                medium: medium, history: history.seen(from: range.lowerBound, to: found),
                label: label))
    }

    /// Runs a recovery on a simulated medium and cuts that too: the recovered content stays.
    private mutating func cutRecovery(_ branch: Branch) throws {
        var medium = branch.medium
        let disk = SimulatedDisk(medium.visible, seed: imageTurn &+ 77, records: true)
        var player: ScriptPlayer
        do {
            player = try ScriptPlayer(
                disk: disk, options: Self.options, history: branch.history, seed: imageTurn,
                effectCount: { disk.effectCount })
            try player.run(.insert)
        } catch {
            throw ProofFailure("\(branch.label), recovery: \(error)")
        }
        var inner = player.history
        // The dead process may have created the store: only the first commit makes the name
        // durable.
        inner.namedAt = .max
        for (call, effect) in disk.effects.enumerated() {
            let range = inner.range(at: call)
            var deeper: Branch?
            try medium.forEachImage(running: effect) { nested in
                // All images of a call are for the first depth; deeper ones get a share.
                guard random.below(4) == 0 else { return }
                imageTurn += 1
                report.count("images")
                report.count("recoveries")
                report.count("cuts inside recovery")
                let place =
                    "\(branch.label), recovery call \(call) (\(effect.name)), \(nested.name)"
                guard let found = try check(nested, inner, range, call, place) else { return }
                if branch.depth < 3 && random.below(400) == 0 {
                    deeper = Branch(
                        medium: PowerCut(nested.disk, seed: random.next()),
                        history: inner.seen(from: found, to: found), label: place,
                        depth: branch.depth + 1)
                }
            }
            if let deeper {
                report.count("recoveries of recoveries cut")
                try cutRecovery(deeper)
            }
            medium.complete(effect)
        }
    }
}

extension DiskImage {
    /// The image with zeros in place of a superblock.
    fileprivate func without(superblock slot: Int, of path: String) -> DiskImage {
        var image = self
        let size = SuperblockLayout.size
        guard let file = names[path], let bytes = files[file], bytes.count >= 2 * size else {
            return self
        }
        image.files[file]?.replaceSubrange(
            slot * size..<(slot + 1) * size, with: repeatElement(0, count: size))
        return image
    }

    /// A hash: equal for equal images, different otherwise in practice.
    fileprivate var fingerprint: UInt64 {
        var hash: UInt64 = 0
        for (name, file) in names.sorted(by: { $0.key < $1.key }) {
            hash = Array("\(name)=\(file)".utf8).withView { Checksum.hash($0, seed: hash) }
        }
        for (file, bytes) in files.sorted(by: { $0.key < $1.key }) {
            hash = bytes.withView { Checksum.hash($0, seed: hash &+ UInt64(file)) }
        }
        return hash
    }
}
