import Foundation

/// Runs the rounds and prints one table: medians, and the ratio to the first contender's rival
/// within each round.
struct Tournament {
    var options: Options

    func run() throws {
        var rounds: [[Measurement]] = []
        for round in 0..<options.rounds {
            var measurements: [Measurement] = []
            for index in options.names.indices {
                let name = options.names[(index + round) % options.names.count]
                measurements += try child(name)
            }
            try compareResults(measurements)
            rounds.append(measurements)
        }
        printTable(rounds)
    }

    private func child(_ name: String) throws -> [Measurement] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [
            "--child", name, "--persons", "\(options.persons)", "--batch", "\(options.batch)",
            "--directory", options.directory,
        ]
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
                throw Options.Failure(message: "the contenders read different data in \(workload)")
            }
        }
    }

    private func printTable(_ rounds: [[Measurement]]) {
        print("| work | contender | wall s | CPU µs/op | ratio wall | ratio CPU | peak MiB |")
        print("|---|---|---|---|---|---|---|")
        let workloads = rounds[0].filter { $0.contender == options.names[0] }.map(\.workload)
        for workload in workloads {
            for name in options.names {
                let own = rounds.map { row($0, workload, name) }
                let base = rounds.map { row($0, workload, options.names[options.names.count - 1]) }
                let wall = median(own.map(\.wallSeconds))
                let cpu = median(own.map { $0.cpuSeconds / Double($0.operations) * 1e6 })
                let wallRatio = median(zip(own, base).map { $0.wallSeconds / $1.wallSeconds })
                let cpuRatio = median(zip(own, base).map { $0.cpuSeconds / $1.cpuSeconds })
                let peak = median(own.map { Double($0.peakResidentBytes) / 1_048_576 })
                print(
                    "| \(workload) | \(name) | \(text(wall, 4)) | \(text(cpu, 2)) | "
                        + "\(text(wallRatio, 2)) | \(text(cpuRatio, 2)) | \(text(peak, 0)) |")
            }
        }
        for name in options.names {
            let size = rounds[0].last { $0.contender == name }?.fileBytes ?? 0
            let written = rounds[0].first { $0.contender == name }?.bytesWritten ?? 0
            print(
                "\(name): file \(text(Double(size) / 1_048_576, 1)) MiB, "
                    + "written by the import \(text(Double(written) / 1_048_576, 1)) MiB")
        }
    }

    private func row(_ round: [Measurement], _ workload: String, _ name: String) -> Measurement {
        guard let found = round.first(where: { $0.workload == workload && $0.contender == name })
        else { preconditionFailure("every contender ran every workload") }
        return found
    }

    private func median(_ values: [Double]) -> Double {
        values.sorted()[values.count / 2]
    }

    private func text(_ value: Double, _ digits: Int) -> String {
        String(format: "%.\(digits)f", value)
    }
}
