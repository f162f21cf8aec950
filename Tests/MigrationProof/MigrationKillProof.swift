import Foundation
import PageStore
import Proof
import TestSupport

/// Kills processes that migrate a file of many objects, at moments spread over the whole of the
/// migration: a killed one leaves the earlier model or the later one, whole, and the end is what a
/// migration gives that was never killed.
package struct MigrationKillProof: StoreProof {
    package static let requiredCounts = [
        "kills", "kills before the first chunk", "kills between chunks", "kills after the switch",
        "completed migrations", "comparisons",
    ]
    package static let stepCount: String? = "kills"
    package private(set) var report = ProofReport()
    private let budget: ProofBudget
    private let seed: UInt64
    private var random: SeededRandom

    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("trellis-migrate-kill-\(UUID().uuidString)")
    private var path: String { folder.appendingPathComponent("store").path }
    private var original: String { folder.appendingPathComponent("original").path }

    /// What `tell` says of the objects, in both models.
    private var told = ""
    private var earlier = KilledFile()
    private var later = KilledFile()
    /// How long a migration takes that is not killed, and when its file gets the later model.
    private var wholeInMilliseconds = 0
    private var switchInMilliseconds = 0

    package init(seed: UInt64, budget: ProofBudget) {
        (self.seed, self.budget) = (seed, budget)
        random = SeededRandom(seed: seed)
    }

    package mutating func run() {
        defer { try? FileManager.default.removeItem(at: folder) }
        do {
            try begin()
            repeat { try migrate() } while goesOn(budget) || budget.isEndless && isIncomplete
        } catch let obstacle as ProofObstacle {
            report.stop(obstacle.description)
        } catch {
            report.fail("seed \(seed): after \(report["kills"]) kills, \(error)")
        }
    }

    private var isIncomplete: Bool { Self.requiredCounts.contains { report[$0] == 0 } }

    private static var objectCount: Int {
        ProcessInfo.processInfo.environment["TRELLIS_KILL_OBJECTS"].flatMap(Int.init) ?? 200_000
    }

    /// Small chunks, and many transactions that free the pages of replaced trees.
    private static let limits = [
        "\(max(1, objectCount / 80))", "64", "\(max(1, objectCount / 20_000))",
    ]

    private func migration() throws -> KilledChild {
        try KilledChild(["migrate", path] + Self.limits)
    }

    // MARK: Files

    /// Fills a file, and migrates a copy of it without a kill.
    private mutating func begin() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        _ = try KilledChild(["fill", original, "\(Self.objectCount)"]).end()
        try copy()
        let first = try KilledChild(["tell", path]).end()
        try hold(first.count == 2 && first[0] == "V1", "the filled file is told as \(first)")
        told = first[1]
        earlier = try KilledFile(path)
        try measure()
        later = try KilledFile(path)
        try hold(
            earlier.model == "V1" && later.model == "V2" && later.unfinishedTrees.isEmpty,
            "a migration without a kill leaves \(later.model), \(later.unfinishedTrees)")
        try compareTold("V2", "migrated without a kill")
    }

    /// Migrates the file without a kill, and looks at it meanwhile as other processes do.
    private mutating func measure() throws {
        let child = try migration()
        child.awaitLine()
        let begin = ContinuousClock.now
        func milliseconds() -> Int { Int((ContinuousClock.now - begin) / .milliseconds(1)) }
        while child.isRunning {
            let isEarlier = try KilledFile(path, readsContent: false).model == "V1"
            if isEarlier { switchInMilliseconds = milliseconds() }
            usleep(5000)
        }
        _ = try child.end()
        wholeInMilliseconds = milliseconds()
        report.count("ms without a kill", wholeInMilliseconds)
        report.count("ms of them before the switch", switchInMilliseconds)
    }

    private func copy() throws {
        try? FileManager.default.removeItem(atPath: path)
        try FileManager.default.copyItem(atPath: original, toPath: path)
    }

    // MARK: One file

    /// Migrates a copy of the file by processes that are killed, and by one that is not.
    private mutating func migrate() throws {
        try copy()
        var isDone = false
        // What follows the switch is short: some kills wait for it.
        let isAimed = random.below(4) == 0
        let moments = isAimed ? [switchInMilliseconds * 9 / 10] : moments()
        do {
            for moment in moments where !isDone {
                isDone = try !kill(at: moment, afterSwitch: isAimed)
            }
            if !isDone { _ = try migration().end() }
            try compare(
                try KilledFile(path, checksRecords: random.below(8) == 0), "at the end")
            report.count("completed migrations")
            if random.below(10) == 0 { try compareTold("V2", "at the end") }
        } catch {
            throw ProofFailure("killed after \(moments) ms: \(error)")
        }
    }

    /// When the processes of one file are killed, in milliseconds after each has begun: together
    /// they take about as long as the whole.
    private mutating func moments() -> [Int] {
        let count = 1 + random.below(8)
        return (0..<count).map { _ in
            random.below(max(1, wholeInMilliseconds * (count == 1 ? 1 : 2) / count))
        }
    }

    /// Returns false for a process that had ended before.
    private mutating func kill(at moment: Int, afterSwitch: Bool) throws -> Bool {
        let child = try migration()
        child.awaitLine()
        usleep(UInt32(moment) * 1000)
        if afterSwitch {
            while child.isRunning, try KilledFile(path, readsContent: false).model == "V1" {
                usleep(1000)
            }
            let left = max(1, wholeInMilliseconds - switchInMilliseconds)
            usleep(UInt32(random.below(left * 1000)))
        }
        guard child.kill() else {
            _ = try child.end()
            return false
        }
        report.count("kills")
        let left = try KilledFile(path, readsContent: random.below(4) == 0)
        let phase =
            switch (left.model, left.unfinishedTrees.isEmpty) {
            case ("V2", true): "after the end"
            case ("V2", false): "after the switch"
            case (_, true): "before the first chunk"
            case (_, false): "between chunks"
            }
        report.count("kills \(phase)")
        if left.content != nil { try compare(left, phase, mayBeUnfinished: true) }
        if random.below(10) == 0 {
            // The program with the earlier model discards the copy; of a later one it is refused.
            try compareTold(left.model, phase)
            report.count("looks by the earlier program")
            let next = try KilledFile(path, readsContent: false)
            try hold(
                next.model == left.model && next.unfinishedTrees.isEmpty,
                "\(phase), the program leaves \(next.model), \(next.unfinishedTrees)")
        }
        return true
    }

    private mutating func compare(
        _ found: KilledFile, _ what: String, mayBeUnfinished: Bool = false
    ) throws {
        try hold(mayBeUnfinished || found.model == "V2", "\(what): the model is \(found.model)")
        try hold(
            mayBeUnfinished || found.unfinishedTrees.isEmpty,
            "\(what): the trees \(found.unfinishedTrees) are left")
        let expected = found.model == "V2" ? later : earlier
        try hold(found.objectCount == expected.objectCount, "\(what): \(found.objectCount) objects")
        try hold(found.content == expected.content, "\(what): the content differs")
        report.count("comparisons")
    }

    /// What the programs find over the public API.
    private mutating func compareTold(_ model: String, _ what: String) throws {
        let said = try KilledChild(["tell", path]).end()
        try hold(said == [model, told], "\(what): \(said) is told instead of \([model, told])")
        report.count("comparisons")
    }
}
