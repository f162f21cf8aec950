import Foundation

/// The peak memory of this process. Proofs and their child processes have a limit for it.
package enum PeakMemory {
    package static var mebibytes: Int? { mebibytes(of: "self") }

    /// The peak memory of a running process; nil if the system does not report it.
    package static func mebibytes(of process: String) -> Int? {
        let path = "/proc/\(process)/status"
        guard let status = try? String(contentsOfFile: path, encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let kibibytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return nil }
        return kibibytes / 1024
    }

    /// A message if the peak memory exceeds a limit, or is not known where the system can tell it;
    /// nil otherwise.
    package static func excess(over most: Int) -> String? {
        guard let mebibytes else {
            #if os(Linux)
                return "the memory that the process took is not known"
            #else
                return nil
            #endif
        }
        guard mebibytes > most else { return nil }
        return "the process took \(mebibytes) MiB of memory, which may be \(most) MiB"
    }
}
