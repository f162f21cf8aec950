import CProcess
import Foundation
import ObjectGraph

/// Migrations of one store of persons and dogs, beside what SQLite and GRDB do for the same: each
/// on a fresh copy, in turn, in this process.
struct MigrationBench {
    private struct Figure {
        var wall: Double
        var cpu: Double
        var bytesWritten: UInt64
        var fileBytes: UInt64
    }

    /// M8's store has more persons than a migration writes in one transaction.
    private static let chunkedPersonsMin = 200_000
    /// The cache of the contenders that fill the stores.
    static let filledCacheSizeInBytes = 64 << 20

    let options: Options
    let rounds: Int

    private var persons: Int { options.stages.first?.persons ?? 100_000 }
    private var directory: String { options.directory }

    func run() throws {
        if let name = options.child { return try runChild(name) }
        let trellis = directory + "/trellis.store"
        let sqlite = directory + "/sqlite.store"
        try fill(TrellisContender.self, trellis)
        try fill(SQLiteFull.self, sqlite)
        var report = MigrationReport(persons: persons, rounds: rounds, commit: options.commit)
        for row in MigrationRow.all where isAsked(row.name) {
            report.lines.append(try measure(row, trellis, sqlite))
        }
        if isAsked("M2"), FileManager.default.isExecutableFile(atPath: "/usr/bin/valgrind") {
            report.figures += try MigratedReads(directory: directory).figures()
        }
        if isAsked("M8") {
            let persons = max(persons, Self.chunkedPersonsMin)
            report.figures += try ResumedMigration(directory: directory, persons: persons).figures()
        }
        if isAsked("M9") {
            report.figures += try ColdOpening(
                directory: directory, persons: persons, source: trellis
            ).figures()
        }
        print(report.markdown())
        if let folder = options.results {
            try Data(report.markdown().utf8)
                .write(to: URL(fileURLWithPath: folder + "/MIGRATIONS.md"))
        }
    }

    private func isAsked(_ row: String) -> Bool { options.rows?.contains(row) != false }

    private func runChild(_ name: String) throws {
        switch name {
        case "trellis-migrated": try MigratedReads(directory: directory).runChild()
        case "trellis-killed": try ResumedMigration.runChild(directory)
        default: throw Options.Failure(message: "no store migrates by the name of \(name)")
        }
    }

    private func fill<Store: Contender>(_ type: Store.Type, _ path: String) throws {
        let store = try Store(path: path, cacheSizeInBytes: Self.filledCacheSizeInBytes)
        let stopwatch = Stopwatch()
        try store.insert(
            persons: PersonSupply(count: persons, stopwatch: stopwatch, number: { $0 }))
        try store.insert(
            dogs: DogSupply(
                count: 2 * persons, owners: store.handles(personCount: persons),
                stopwatch: stopwatch))
        try store.settle()
        try store.close()
    }

    private func measure(
        _ row: MigrationRow, _ trellis: String, _ sqlite: String
    ) throws -> MigrationReport.Line {
        var own: [Figure] = []
        var peers: [Figure] = []
        ProcessCounters.resetPeak()
        var peak: UInt64 = 0
        for round in 0..<rounds {
            let order = round.isMultiple(of: 2) ? [true, false] : [false, true]
            for isOwn in order {
                if isOwn {
                    ProcessCounters.resetPeak()
                    own.append(
                        try onCopy(of: trellis) { path in
                            let stack = try row.migrateTrellis(path)
                            return { stack.unsafeRemoveAllPersistentStoresAndWait() }
                        })
                    peak = max(peak, ProcessCounters.peakResidentBytes())
                } else if row.peer != nil {
                    peers.append(
                        try onCopy(of: sqlite) { path in
                            try row.migratePeer(path)
                            return {}
                        })
                }
            }
        }
        func middle(_ figures: [Figure], _ part: (Figure) -> Double) -> Double? {
            Stage.median(figures.map(part))
        }
        return MigrationReport.Line(
            row: row, wall: middle(own, \.wall) ?? .nan, cpu: middle(own, \.cpu) ?? .nan,
            peerWall: middle(peers, \.wall), peerCPU: middle(peers, \.cpu),
            bytesWritten: middle(own) { Double($0.bytesWritten) } ?? .nan,
            bytesBefore: Double(Self.size(trellis)),
            bytesAfter: middle(own) { Double($0.fileBytes) } ?? .nan, peakBytes: Double(peak))
    }

    /// What a migration of a copy takes, opening the copy included. What the body returns is done
    /// when it has been measured.
    private func onCopy(
        of path: String, _ body: (String) throws -> () throws -> Void
    ) throws -> Figure {
        let copy = path + ".copy"
        let suffixes = ["", "-wal", "-shm", "-lock"]
        defer {
            for suffix in suffixes { try? FileManager.default.removeItem(atPath: copy + suffix) }
        }
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        sync()
        let written = ProcessCounters.bytesWritten()
        let stopwatch = Stopwatch()
        stopwatch.resume()
        let end = try body(copy)
        stopwatch.pause()
        let figure = Figure(
            wall: stopwatch.wall, cpu: stopwatch.cpu,
            bytesWritten: ProcessCounters.bytesWritten() - written,
            fileBytes: Self.size(copy) + Self.size(copy + "-wal"))
        try end()
        return figure
    }

    private static func size(_ path: String) -> UInt64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.uint64Value ?? 0
    }
}
