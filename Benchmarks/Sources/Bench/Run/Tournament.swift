import Foundation

/// Runs the rounds: every contender in a process of its own, who starts rotates, and what they
/// read and stored is compared before any time is.
struct Tournament {
    var options: Options

    func run() throws {
        var document = Document(
            machine: Machine.description(), versions: Machine.versions(), stages: [])
        for file in options.from {
            let data = try Data(contentsOf: URL(fileURLWithPath: file))
            let part = try JSONDecoder().decode(Document.self, from: data)
            (document.machine, document.versions) = (part.machine, part.versions)
            document.stages += part.stages
        }
        if options.from.isEmpty {
            for stage in options.stages { document.stages.append(try run(stage)) }
        }
        for stage in document.stages {
            print("\(stage.persons) persons, cache \(stage.cacheSizeInMiB) MiB, CPU µs/op")
            print(Report.table(stage, .cpu), terminator: "\n\n")
            print("wall µs/op")
            print(Report.table(stage, .wall), terminator: "\n\n")
        }
        if let json = options.json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            try encoder.encode(document).write(to: URL(fileURLWithPath: json))
        }
        if let folder = options.results { try write(document, to: folder) }
    }

    private func write(_ document: Document, to folder: String) throws {
        let charts = URL(fileURLWithPath: folder + "/charts")
        try FileManager.default.createDirectory(at: charts, withIntermediateDirectories: true)
        for stage in document.stages where stage.cacheSizeInMiB == 64 {
            try Data(Chart(stage: stage).svg().utf8)
                .write(to: charts.appendingPathComponent("cpu-\(stage.persons).svg"))
        }
        var report = Report(document: document)
        let reasons = try? String(contentsOfFile: folder + "/REASONS.md", encoding: .utf8)
        for line in (reasons ?? "").split(separator: "\n") where line.hasPrefix("- **") {
            let parts = line.dropFirst(4).split(separator: "**: ", maxSplits: 1)
            if parts.count == 2 { report.reasons[String(parts[0])] = String(parts[1]) }
        }
        try Data(report.markdown().utf8)
            .write(to: URL(fileURLWithPath: folder + "/RESULTS.md"))
    }

    private func run(_ asked: Stage) throws -> Stage {
        var stage = asked
        for round in 0..<options.rounds {
            var measurements: [Measurement] = []
            for index in stage.contenders.indices {
                let name = stage.contenders[(index + round) % stage.contenders.count]
                note("\(stage.persons) persons, round \(round + 1) of \(options.rounds): \(name)")
                measurements += try child(name, stage)
            }
            try compareResults(measurements)
            // In the order of the contenders, whoever started.
            stage.rounds.append(
                stage.contenders.flatMap { name in
                    measurements.filter { $0.contender == name }
                })
        }
        return stage
    }

    private func note(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }

    private func child(_ name: String, _ stage: Stage) throws -> [Measurement] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = options.arguments(child: name, stage)
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
