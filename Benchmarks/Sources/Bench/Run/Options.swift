import Foundation

/// What the command line says: `[--persons N] [--rounds R] [--contenders a,b] [--workloads W1,…]
/// [--cache MiB] [--directory D] [--json FILE]`.
struct Options {
    struct Failure: Error, CustomStringConvertible {
        var message: String
        var description: String { message }
    }

    var persons = 100_000
    var rounds = 5
    var names = Entry.all.map(\.name)
    var workloads = Set(Workload.allCases)
    var cacheSizeInBytes = 64 << 20
    /// Where the stores are made; it must be on a disk for durability to cost what it costs.
    var directory = FileManager.default.temporaryDirectory.path
    var json: String?
    /// The contender whose part of a round this process is.
    var child: String?

    init(arguments: [String]) throws {
        var rest = arguments[...]
        while let flag = rest.popFirst() {
            guard let value = rest.popFirst() else {
                throw Failure(message: "\(flag) needs a value")
            }
            switch flag {
            case "--persons": persons = try number(value, flag)
            case "--rounds": rounds = try number(value, flag)
            case "--cache": cacheSizeInBytes = try number(value, flag) << 20
            case "--contenders": names = try contenders(value)
            case "--workloads": workloads = try workloads(value)
            case "--directory": directory = value
            case "--json": json = value
            case "--child": child = value
            default: throw Failure(message: "unknown option \(flag)")
            }
        }
    }

    /// The same for the process of a contender.
    func arguments(child: String) -> [String] {
        [
            "--child", child, "--persons", "\(persons)", "--cache", "\(cacheSizeInBytes >> 20)",
            "--workloads", workloads.map(\.rawValue).joined(separator: ","), "--directory",
            directory,
        ]
    }

    private func number(_ text: String, _ flag: String) throws -> Int {
        guard let number = Int(text), number > 0 else {
            throw Failure(message: "\(flag) needs a number above zero, not \(text)")
        }
        return number
    }

    private func contenders(_ list: String) throws -> [String] {
        let names = list.split(separator: ",").map(String.init)
        for name in names where !Entry.all.contains(where: { $0.name == name }) {
            throw Failure(message: "no contender is named \(name)")
        }
        return names
    }

    private func workloads(_ list: String) throws -> Set<Workload> {
        var found: Set<Workload> = []
        for name in list.split(separator: ",") {
            guard let workload = Workload(rawValue: String(name)) else {
                throw Failure(message: "no workload is named \(name)")
            }
            found.insert(workload)
        }
        return found
    }
}
