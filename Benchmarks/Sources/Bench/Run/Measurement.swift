import CProcess
import Foundation

/// What one workload of one contender took, in one process.
struct Measurement: Codable {
    var contender: String
    var workload: String
    /// What was done: persons inserted, rows looked at, lookups.
    var operations: Int
    /// Until the last commit was durable.
    var wallSeconds: Double
    /// Of all threads, user and system, until what was written had come where it stays.
    var cpuSeconds: Double
    /// By the same time, to any file.
    var bytesWritten: UInt64
    /// The most memory that was resident while the workload ran, mapped files included.
    var peakResidentBytes: UInt64
    var fileBytes: UInt64
    var checksum: UInt64
    /// What the contender counts by itself, such as pages looked up.
    var counts: [String: UInt64] = [:]

    var wallPerOperation: Double { wallSeconds / Double(max(operations, 1)) }
    var cpuPerOperation: Double { cpuSeconds / Double(max(operations, 1)) }
}

/// The system's counters of this process.
enum ProcessCounters {
    static func bytesWritten() -> UInt64 { figure("/proc/self/io", "wchar:") }

    /// The most memory that was resident since the last reset, in bytes.
    static func peakResidentBytes() -> UInt64 { figure("/proc/self/status", "VmHWM:") * 1024 }

    /// Gives free memory back first, so that the next peak is the next workload's.
    static func resetPeak() {
        bench_trim_memory()
        try? Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
    }

    private static func figure(_ path: String, _ label: String) -> UInt64 {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return 0 }
        for line in text.split(separator: "\n") where line.hasPrefix(label) {
            let digits = line.dropFirst(label.count).drop { !$0.isNumber }.prefix { $0.isNumber }
            return UInt64(digits) ?? 0
        }
        return 0
    }
}
