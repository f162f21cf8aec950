import Foundation

/// What the command line says; see `scripts/bench`. Without persons, contenders, cache and
/// workloads: all that the project promises figures for.
struct Options {
    struct Failure: Error, CustomStringConvertible {
        var message: String
        var description: String { message }
    }

    var rounds = 5
    var workloads = Set(Workload.allCases)
    /// Where the stores are made; it must be on a disk for durability to cost what it costs.
    var directory = FileManager.default.temporaryDirectory.path
    /// The name of what is measured, for the report.
    var commit: String?
    /// Where the measurements are kept.
    var json: String?
    /// Where RESULTS.md and the charts are written.
    var results: String?
    /// Measurements of earlier runs, to be reported instead of a new one's.
    var from: [String] = []
    /// The file of counts to compare with, or to write anew.
    var counts: String?
    var updatesCounts = false
    /// For how many seconds each contender commits, instead of the workloads.
    var sustained: Int?
    /// How often each migration is measured, instead of the workloads.
    var migrations: Int?
    /// The migrations that are measured; nil for all.
    var rows: Set<String>?
    /// With how many persons lists are observed, instead of the workloads.
    var observing: Int?
    /// The contender whose part of a round this process is.
    var child: String?

    private var sizes: [Int]?
    private var caches: [Int]?
    private var names: [String]?

    init(arguments: [String]) throws {
        var rest = arguments[...]
        while let flag = rest.popFirst() {
            guard let value = rest.popFirst() else {
                throw Failure(message: "\(flag) needs a value")
            }
            let list = value.split(separator: ",").map(String.init)
            switch flag {
            case "--persons": sizes = try list.map { try Self.number($0, flag) }
            case "--rounds": rounds = try Self.number(value, flag)
            case "--cache": caches = try list.map { try Self.number($0, flag) }
            case "--contenders": names = try Self.contenders(list)
            case "--workloads": workloads = try Self.workloads(list)
            case "--directory": directory = value
            case "--commit": commit = value
            case "--json": json = value
            case "--results": results = value
            case "--from": from = list
            case "--counts": counts = value
            case "--update-counts": (counts, updatesCounts) = (value, true)
            case "--sustained": sustained = try Self.number(value, flag)
            case "--migrations": migrations = try Self.number(value, flag)
            case "--rows": rows = Set(list)
            case "--observing": observing = try Self.number(value, flag)
            case "--child": child = value
            default: throw Failure(message: "unknown option \(flag)")
            }
        }
    }

    var stages: [Stage] {
        if sizes == nil, caches == nil, names == nil, workloads.count == Workload.allCases.count {
            return Stage.full
        }
        return (sizes ?? [100_000]).flatMap { persons in
            (caches ?? [64]).map { cache in
                Stage(
                    persons: persons, cacheSizeInMiB: cache,
                    contenders: names ?? Entry.all.map(\.name))
            }
        }
    }

    /// A store of about ten times its cache.
    var sustainedStage: Stage {
        Stage(
            persons: sizes?.first ?? 400_000, cacheSizeInMiB: caches?.first ?? 16,
            contenders: names
                ?? ["trellis", "trellis-8k", "trellis-checkpointing", "sqlite-full", "lmdb"])
    }

    /// The same for the process of a contender.
    func arguments(child: String, _ stage: Stage) -> [String] {
        [
            "--child", child, "--persons", "\(stage.persons)", "--cache",
            "\(stage.cacheSizeInMiB)", "--directory", directory, "--workloads",
            workloads.map(\.rawValue).joined(separator: ","),
        ] + (sustained.map { ["--sustained", "\($0)"] } ?? [])
    }

    private static func number(_ text: String, _ flag: String) throws -> Int {
        guard let number = Int(text), number > 0 else {
            throw Failure(message: "\(flag) needs a number above zero, not \(text)")
        }
        return number
    }

    private static func contenders(_ names: [String]) throws -> [String] {
        for name in names where !Entry.known.contains(where: { $0.name == name }) {
            throw Failure(message: "no contender is named \(name)")
        }
        return names
    }

    private static func workloads(_ names: [String]) throws -> Set<Workload> {
        var found: Set<Workload> = []
        for name in names {
            guard let workload = Workload(rawValue: name) else {
                throw Failure(message: "no workload is named \(name)")
            }
            found.insert(workload)
        }
        return found
    }
}
