import CLMDB
import CSQLite
import Foundation

/// What the figures were measured on.
enum Machine {
    static func description() -> String {
        let processors = ProcessInfo.processInfo.activeProcessorCount
        let memory = ProcessInfo.processInfo.physicalMemory >> 30
        return "\(model()), \(processors) cores, \(memory) GiB"
    }

    static func versions() -> String {
        var (major, minor, patch) = (Int32(0), Int32(0), Int32(0))
        mdb_version(&major, &minor, &patch)
        return "SQLite \(String(cString: sqlite3_libversion())), LMDB \(major).\(minor).\(patch), "
            + "GRDB 7.10.0"
    }

    /// How many threads of all programs wanted to run, over the last minute.
    static func loadAverage() -> Double {
        var average = 0.0
        return getloadavg(&average, 1) == 1 ? average : 0
    }

    private static func model() -> String {
        let text = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        for line in text.split(separator: "\n") where line.hasPrefix("model name") {
            if let colon = line.firstIndex(of: ":") {
                return line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            }
        }
        return "a processor without a name"
    }
}
