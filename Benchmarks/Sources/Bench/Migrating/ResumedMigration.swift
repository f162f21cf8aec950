import Foundation
import ObjectGraph

/// M8: a migration whose process is killed amid its records, and goes on in another process.
struct ResumedMigration {
    /// What the process that is killed says before.
    private struct Word: Codable {
        var wall: Double
        var fraction: Double
    }

    /// At which part of its progress the process is killed, amid the records.
    private static let fraction = 0.75

    let directory: String
    /// Enough that the migration is in chunks.
    let persons: Int

    private var path: String { directory + "/killed.store" }

    func figures() throws -> [MigrationFigure] {
        defer { remove(path) }
        try fill()
        let whole = try onCopy { copy in try finish(copy, from: 0).wall }
        let (killed, resumed) = try onCopy { copy in
            let killed = try kill(copy)
            return (killed, try finish(copy, from: killed.fraction))
        }
        // One pass copies and writes each record, and is all of the progress.
        let again = max(0, killed.fraction - resumed.fraction) * Double(persons)
        return [
            MigrationFigure(
                row: "M8",
                what: "M4 of \(persons) persons, killed at \(Int(100 * Self.fraction)) % and "
                    + "resumed, against uninterrupted",
                value: (killed.wall + resumed.wall) / whole, unit: "× wall", goal: nil),
            MigrationFigure(
                row: "M8", what: "records written twice, of a chunk of 250,000", value: again,
                unit: "records", goal: 250_000),
        ]
    }

    private func fill() throws {
        let store = try TrellisContender(path: path, cacheSizeInBytes: 64 << 20)
        try store.insert(persons: PersonSupply(count: persons, stopwatch: Stopwatch()) { $0 })
        try store.settle()
        try store.close()
    }

    private func onCopy<Result>(_ body: (String) throws -> Result) throws -> Result {
        let copy = path + ".copy"
        defer { remove(copy) }
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        sync()
        return try body(copy)
    }

    private func remove(_ path: String) {
        for suffix in ["", "-wal", "-lock"] {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
    }

    /// Migrates, or goes on. The fraction is that of the first progress.
    private func finish(_ path: String, from fraction: Double) throws -> Word {
        let (stopwatch, watch) = (Stopwatch(), ProgressWatch())
        stopwatch.resume()
        let stack = try MigrationRow.migrate(.widened, path) { watch.follow($0) { _ in false } }
        stopwatch.pause()
        watch.end()
        let count = try MigrationRow.queue.sync {
            try stack.fetchCount(From<Widened.Person>().where(\.$age >= 18))
        }
        stack.unsafeRemoveAllPersistentStoresAndWait()
        guard count == persons else {
            throw Options.Failure(message: "\(count) of \(persons) persons were migrated")
        }
        return Word(wall: stopwatch.wall, fraction: fraction > 0 ? watch.first : 0)
    }

    // MARK: The killed process

    private func kill(_ path: String) throws -> Word {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [
            "--child", "trellis-killed", "--migrations", "1", "--directory", path,
        ]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationReason == .uncaughtSignal else {
            throw Options.Failure(message: "the process that was to be killed has ended")
        }
        return try JSONDecoder().decode(Word.self, from: output)
    }

    /// Migrates a file until the process is killed.
    static func runChild(_ path: String) throws {
        let (stopwatch, watch) = (Stopwatch(), ProgressWatch())
        stopwatch.resume()
        _ = try MigrationRow.migrate(.widened, path) { progress in
            watch.follow(progress) { fraction in
                guard fraction >= Self.fraction else { return false }
                stopwatch.pause()
                let word = Word(wall: stopwatch.wall, fraction: fraction)
                FileHandle.standardOutput.write((try? JSONEncoder().encode(word)) ?? Data())
                Foundation.kill(getpid(), SIGKILL)
                return true
            }
        }
    }
}

/// Follows a progress from a thread of its own.
private final class ProgressWatch: @unchecked Sendable {
    private let lock = NSLock()
    private var isEnded = false
    private var firstFraction: Double?

    /// The first fraction above zero; zero if there was none.
    var first: Double { lock.withLock { firstFraction ?? 0 } }

    /// Calls the closure with each fraction, until it returns true.
    func follow(_ progress: Progress, _ body: @escaping (Double) -> Bool) {
        nonisolated(unsafe) let body = body
        Thread.detachNewThread { [self] in
            while !lock.withLock({ isEnded }) {
                let fraction = progress.fractionCompleted
                if fraction > 0 { lock.withLock { firstFraction = firstFraction ?? fraction } }
                if body(fraction) { return }
                usleep(200)
            }
        }
    }

    func end() { lock.withLock { isEnded = true } }
}
