import Foundation

/// The most memory that this process has had at once, of which proofs and their children have a
/// bound.
package enum PeakMemory {
    package static var mebibytes: Int? { mebibytes(of: "self") }

    /// What a process has had that still runs; nil where the system does not tell.
    package static func mebibytes(of process: String) -> Int? {
        let path = "/proc/\(process)/status"
        guard let status = try? String(contentsOfFile: path, encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let kibibytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return nil }
        return kibibytes / 1024
    }

    /// What is wrong when the process has had more than a bound; nil when it has not.
    package static func excess(over most: Int) -> String? {
        guard let mebibytes, mebibytes > most else { return nil }
        return "the process took \(mebibytes) MiB of memory, which may be \(most) MiB"
    }
}
