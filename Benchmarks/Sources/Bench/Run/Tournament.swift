import Foundation

/// Runs the rounds: every contender in a process of its own, who starts rotates, and what they
/// read and stored is compared before any time is.
struct Tournament {
    var options: Options

    func run() throws {
        var rounds: [[Measurement]] = []
        for round in 0..<options.rounds {
            var measurements: [Measurement] = []
            for index in options.names.indices {
                let name = options.names[(index + round) % options.names.count]
                note("round \(round + 1) of \(options.rounds): \(name)")
                measurements += try child(name)
            }
            try compareResults(measurements)
            rounds.append(measurements)
        }
        let results = Results(options: options, rounds: rounds)
        print(results.table())
        if let json = options.json {
            try results.json().write(to: URL(fileURLWithPath: json))
        }
    }

    private func note(_ text: String) {
        FileHandle.standardError.write(Data("\(options.persons) persons, \(text)\n".utf8))
    }

    private func child(_ name: String) throws -> [Measurement] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = options.arguments(child: name)
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Options.Failure(message: "\(name) ended with \(process.terminationStatus)")
        }
        return try JSONDecoder().decode([Measurement].self, from: output)
    }

    private func compareResults(_ measurements: [Measurement]) throws {
        for (workload, group) in Dictionary(grouping: measurements, by: \.workload) {
            guard Set(group.map(\.checksum)).count == 1 else {
                let sums = group.map { "\($0.contender) \($0.checksum)" }
                throw Options.Failure(
                    message: "the contenders differ in \(workload): "
                        + sums.joined(separator: ", "))
            }
        }
    }
}
