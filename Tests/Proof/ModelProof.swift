import PageStore
import TestSupport

/// Runs one script on stores with various options and compares each with a dictionary: all give the
/// same answers, and so does every snapshot held meanwhile. A failing script is shortened.
package struct ModelProof: StoreProof {
    package static let requiredCounts = ["steps"]
    package private(set) var report = ProofReport()
    private let seed: UInt64
    private let budget: ProofBudget
    private var random: SeededRandom

    package init(seed: UInt64, budget: ProofBudget) {
        self.seed = seed
        self.budget = budget
        random = SeededRandom(seed: seed)
    }

    struct Shape: CustomStringConvertible {
        var options: Engine.Options

        var description: String {
            "pages of \(options.pageSizeInBytes), units of \(options.unitSizeInBytes), cache of "
                + "\(options.cacheSizeInBytes), segments of \(options.logSegmentSizeInBytes), "
                + "log up to \(options.logBytesMax), \(options.dirtyBytesMax) in memory, out of "
                + "line from \(options.outOfLineBytesMin), "
                + (options.isCompressed ? "compressed" : "not compressed")
                + (options.checkpointsInBackground ? ", checkpoints beside commits" : "")
        }
    }

    package mutating func run() {
        do {
            while !budget.isSpent {
                let steps = script()
                let scriptSeed = random.next()
                var shapes: [Shape] = []
                for _ in 0..<6 { shapes.append(shape()) }
                for shape in shapes where !budget.isSpent {
                    report.count("runs")
                    report.count("steps", steps.count)
                    guard let failure = attempt(steps, shape, scriptSeed) else { continue }
                    let short = shrunk(steps, shape, scriptSeed)
                    throw ProofFailure(
                        "seed \(seed), \(shape), script seed \(scriptSeed), steps "
                            + "\(short.map(\.rawValue).joined(separator: " ")): "
                            + (attempt(short, shape, scriptSeed) ?? failure))
                }
                report.count("scripts")
                if budget.isEndless { return }
            }
        } catch {
            report.fail("\(error)")
        }
    }

    private mutating func script() -> [ScriptStep] {
        let steps = ScriptStep.allCases
        return (0..<(20 + random.below(100))).map { _ in
            // Most changes are small.
            random.below(3) == 0
                ? [.insert, .update, .delete, .relaxed][random.below(4)]
                : steps[random.below(steps.count)]
        }
    }

    private mutating func shape() -> Shape {
        var options = Engine.Options()
        options.pageSizeInBytes = 512 << random.below(8)
        options.unitSizeInBytes = min(64 << random.below(7), options.pageSizeInBytes * 4)
        options.cacheSizeInBytes =
            [
                0, 4 * options.pageSizeInBytes, 1 << 20, 64 << 20,
            ][random.below(4)]
        options.isCompressed = random.below(2) == 0
        options.logSegmentSizeInBytes = 16_384 << random.below(4)
        options.logBytesMax = 8_000 << UInt64(random.below(8))
        options.versionBytesMax = 16_384 << random.below(8)
        options.dirtyBytesMax = max(16, 1 << random.below(10)) * options.pageSizeInBytes
        options.outOfLineBytesMin = (1 << random.below(8)) * options.pageSizeInBytes
        options.tailBytesMin = 4096 << UInt64(random.below(8))
        options.checkpointsInBackground = random.below(3) == 0
        options.relaxedBytesMax = 1 << UInt64(8 + random.below(12))
        return Shape(options: options)
    }

    /// The failure of a script; nil if there is none.
    private func attempt(_ steps: [ScriptStep], _ shape: Shape, _ seed: UInt64) -> String? {
        let disk = SimulatedDisk(seed: seed)
        do {
            var player = try ScriptPlayer(
                disk: disk, options: shape.options, history: ScriptHistory(), seed: seed)
            for (number, step) in steps.enumerated() {
                try player.run(step)
                guard number % 5 == 4 || number == steps.count - 1 else { continue }
                let snapshot = try player.engine.snapshot()
                try StoreComparison.compare(snapshot, player.history.last, "after step \(number)")
            }
            try player.close()
            var options = shape.options
            options.mode = .reading
            let engine = try Engine.open(path: "store", options: options, files: disk)
            let snapshot = try engine.snapshot()
            try StoreComparison.compare(snapshot, player.history.last, "at the end")
            if let finding = StoreCheck.run(snapshot).first { return "check: \(finding)" }
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// Removes the steps that the failure does not need: halves first, then single steps.
    private func shrunk(_ steps: [ScriptStep], _ shape: Shape, _ seed: UInt64) -> [ScriptStep] {
        var steps = steps
        var size = steps.count / 2
        while size > 0 {
            var start = 0
            while start < steps.count {
                var fewer = steps
                fewer.removeSubrange(start..<min(start + size, steps.count))
                if attempt(fewer, shape, seed) != nil { steps = fewer } else { start += size }
            }
            size /= 2
        }
        return steps
    }
}
