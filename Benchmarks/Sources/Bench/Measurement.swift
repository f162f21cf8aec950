import Foundation

/// What one workload of one contender took, in one process.
struct Measurement: Codable {
    var contender: String
    var workload: String
    var operations: Int
    var wallSeconds: Double
    var cpuSeconds: Double
    var bytesWritten: UInt64
    var peakResidentBytes: UInt64
    var fileBytes: UInt64
    var checksum: UInt64
}

/// A reading of the clocks and counters of this process.
struct Reading {
    var wall: Double
    var cpu: Double
    var bytesWritten: UInt64

    static func now() -> Reading {
        var clock = timespec()
        clock_gettime(CLOCK_MONOTONIC, &clock)
        var usage = rusage()
        getrusage(Int32(RUSAGE_SELF.rawValue), &usage)
        let cpu = seconds(usage.ru_utime) + seconds(usage.ru_stime)
        return Reading(
            wall: Double(clock.tv_sec) + Double(clock.tv_nsec) / 1e9, cpu: cpu,
            bytesWritten: processFigure("/proc/self/io", "wchar:"))
    }

    /// The most memory that this process ever had resident, in bytes.
    static func peakResidentBytes() -> UInt64 {
        processFigure("/proc/self/status", "VmHWM:") * 1024
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1e6
    }

    private static func processFigure(_ path: String, _ label: String) -> UInt64 {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return 0 }
        for line in text.split(separator: "\n") where line.hasPrefix(label) {
            let digits = line.dropFirst(label.count).drop { !$0.isNumber }.prefix { $0.isNumber }
            return UInt64(digits) ?? 0
        }
        return 0
    }
}
