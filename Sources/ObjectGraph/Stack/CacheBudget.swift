import Foundation

/// The memory that a storage keeps pages in, and where its size comes from: part of
/// ``DataStackStatistics``.
public struct CacheBudget: Hashable, Sendable, CustomStringConvertible {
    /// The source of the size.
    public enum Origin: Hashable, Sendable {
        /// ``EngineOptions/cacheSizeInBytes`` was assigned.
        case options
        /// An eighth of the machine's memory.
        case machine(bytes: Int)
        /// An eighth of what the process's control group, or one above it, may use.
        case controlGroup(bytes: Int)
    }

    /// The size in bytes.
    public let sizeInBytes: Int
    /// The source of the size.
    public let origin: Origin

    public var description: String {
        switch origin {
        case .options: "\(sizeInBytes) bytes, by EngineOptions"
        case .machine(let bytes): "\(sizeInBytes) bytes, for a machine with \(bytes)"
        case .controlGroup(let bytes):
            "\(sizeInBytes) bytes, for a control group that may use \(bytes)"
        }
    }

    init(sizeInBytes: Int, origin: Origin) {
        self.sizeInBytes = sizeInBytes
        self.origin = origin
    }

    /// An eighth of the memory, within bounds.
    init(_ origin: Origin) {
        let bytes =
            switch origin {
            case .options: 0
            case .machine(let bytes), .controlGroup(let bytes): bytes
            }
        self.init(sizeInBytes: min(max(bytes / 8, Self.sizeMin), Self.sizeMax), origin: origin)
    }

    private static let sizeMin = 64 << 20
    private static let sizeMax = 1 << 30

    /// The default, looked up once in a process.
    static let ofMachine = CacheBudget(
        MachineMemory(
            bytes: Int(clamping: ProcessInfo.processInfo.physicalMemory),
            contents: { try? String(contentsOfFile: $0, encoding: .utf8) }
        ).origin)
}

/// The memory that a process may use.
struct MachineMemory {
    /// The machine's.
    let bytes: Int
    /// The content of a file of the system; nil when there is none.
    let contents: (String) -> String?

    /// The smallest of the limits that hold for the process.
    var origin: CacheBudget.Origin {
        guard let limit = controlGroupLimit, limit < bytes else { return .machine(bytes: bytes) }
        return .controlGroup(bytes: limit)
    }

    /// Linux: the limits of the process's groups, of the second and of the first version. A
    /// container may see the groups of its host's names or of its own, so that each folder from
    /// the group's up to the root is looked at.
    private var controlGroupLimit: Int? {
        var limits: [Int] = []
        for line in (contents("/proc/self/cgroup") ?? "").split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { continue }
            if parts[1].isEmpty {
                limits += limitsOnTheWay("/sys/fs/cgroup", parts[2], "memory.max")
            } else if parts[1].split(separator: ",").contains("memory") {
                limits += limitsOnTheWay(
                    "/sys/fs/cgroup/memory", parts[2], "memory.limit_in_bytes")
            }
        }
        return limits.min()
    }

    private func limitsOnTheWay(
        _ root: String, _ group: Substring, _ name: String
    ) -> [Int] {
        var limits: [Int] = []
        var folders = group.split(separator: "/")
        while true {
            let path = ([root] + folders.map(String.init) + [name]).joined(separator: "/")
            let text = contents(path)?.trimmingCharacters(in: .whitespacesAndNewlines)
            // "max" is no limit, and so is a number that no machine reaches.
            if let limit = text.flatMap({ Int($0) }), limit > 0 { limits.append(limit) }
            guard folders.popLast() != nil else { return limits }
        }
    }
}
