import CProcess
import Foundation

/// Small durable commits for minutes on a store larger than its cache: whether commits a second,
/// bytes written and the file's size level off, and how long a commit waits at the worst.
struct SustainedWork<Store: Contender> {
    let entry: Entry
    let options: Options
    let stage: Stage

    /// Updates of the indexed age in a commit.
    static var updateCount: Int { 10 }

    func run(seconds: Int) throws -> [SustainedPoint] {
        let path = options.directory + "/\(entry.name).store"
        let store = try Store(path: path, cacheSizeInBytes: stage.cacheSizeInBytes)
        defer {
            for suffix in ["", "-wal", "-shm", "-lock"] {
                try? FileManager.default.removeItem(atPath: path + suffix)
            }
        }
        let stopwatch = Stopwatch()
        // In parts, so that no contender's memory is that of one huge transaction.
        let part = 50_000
        for start in stride(from: 0, to: stage.persons, by: part) {
            try store.insert(
                persons: PersonSupply(
                    count: min(part, stage.persons - start), stopwatch: stopwatch,
                    number: { start + $0 }))
        }
        try store.settle()
        let handles = try store.handles(personCount: stage.persons)
        var random = SplitMix64(state: 7)
        var points: [SustainedPoint] = []
        let writtenBefore = ProcessCounters.bytesWritten()
        for second in 1...seconds {
            var latencies: [Double] = []
            let end = Self.now() + 1
            while Self.now() < end {
                let start = Self.now()
                try store.update(ages: changes(handles, &random))
                latencies.append(Self.now() - start)
            }
            points.append(
                SustainedPoint(
                    contender: entry.name, second: second, latencies: latencies,
                    bytesWritten: ProcessCounters.bytesWritten() - writtenBefore,
                    fileBytes: Self.size(path) + Self.size(path + "-wal")))
        }
        try store.close()
        return points
    }

    private func changes(
        _ handles: [Store.Handle], _ random: inout SplitMix64
    ) -> [(person: Store.Handle, age: Int)] {
        (0..<Self.updateCount).map { _ in
            (
                person: handles[Int(random.next() % UInt64(handles.count))],
                age: 18 + Int(random.next() % 73)
            )
        }
    }

    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func size(_ path: String) -> UInt64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.uint64Value ?? 0
    }
}

/// A second of it.
struct SustainedPoint: Codable {
    var contender: String
    var second: Int
    var commits: Int
    var p50Microseconds: Double
    var p99Microseconds: Double
    var longestMicroseconds: Double
    /// Since the first second began.
    var bytesWritten: UInt64
    var fileBytes: UInt64

    init(
        contender: String, second: Int, latencies: [Double], bytesWritten: UInt64,
        fileBytes: UInt64
    ) {
        self.contender = contender
        self.second = second
        self.bytesWritten = bytesWritten
        self.fileBytes = fileBytes
        let sorted = latencies.sorted()
        commits = sorted.count
        func quantile(_ part: Double) -> Double {
            sorted.isEmpty ? 0 : sorted[Int(part * Double(sorted.count - 1))] * 1e6
        }
        p50Microseconds = quantile(0.5)
        p99Microseconds = quantile(0.99)
        longestMicroseconds = quantile(1)
    }
}
