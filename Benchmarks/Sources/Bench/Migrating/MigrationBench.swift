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

    let persons: Int
    let rounds: Int
    let directory: String
    let rows: Set<String>?

    func run() throws {
        let trellis = directory + "/trellis.store"
        let sqlite = directory + "/sqlite.store"
        try fill(TrellisContender.self, trellis)
        try fill(SQLiteFull.self, sqlite)
        print("\(persons) persons, \(2 * persons) dogs; medians of \(rounds) rounds in turn")
        print(
            "| row | work | peer | ms | peer's ms | ratio | CPU ms | ratio | KiB written | "
                + "file MiB before | after | peak MiB |")
        print("|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
        for row in MigrationRow.all where rows?.contains(row.name) != false { try measure(row, trellis, sqlite) }
    }

    private func fill<Store: Contender>(_ type: Store.Type, _ path: String) throws {
        let store = try Store(path: path, cacheSizeInBytes: 64 << 20)
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

    private func measure(_ row: MigrationRow, _ trellis: String, _ sqlite: String) throws {
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
        let before = Self.size(trellis)
        func middle(_ figures: [Figure], _ part: (Figure) -> Double) -> Double? {
            Stage.median(figures.map(part))
        }
        func text(_ number: Double?, _ digits: Int = 1) -> String {
            number.map { String(format: "%.\(digits)f", $0) } ?? "–"
        }
        func ratio(_ part: (Figure) -> Double) -> Double? {
            guard let mine = middle(own, part), let other = middle(peers, part) else { return nil }
            return mine / other
        }
        print(
            "| \(row.name) | \(row.title) | \(row.peer ?? "–") | "
                + "\(text(middle(own) { $0.wall * 1000 })) | "
                + "\(text(middle(peers) { $0.wall * 1000 })) | \(text(ratio(\.wall), 2)) | "
                + "\(text(middle(own) { $0.cpu * 1000 })) | \(text(ratio(\.cpu), 2)) | "
                + "\(text(middle(own) { Double($0.bytesWritten) / 1024 }, 0)) | "
                + "\(text(Double(before) / 1_048_576)) | "
                + "\(text(middle(own) { Double($0.fileBytes) / 1_048_576 })) | "
                + "\(text(Double(peak) / 1_048_576, 0)) |")
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
