import Foundation

/// Runs the rounds: every contender in a process of its own, who starts rotates, and what they
/// read and stored is compared before any time is.
struct Tournament {
    var options: Options

    func run() throws {
        if options.sustained != nil { return try sustain() }
        var document = Document(
            machine: Machine.description(), versions: Machine.versions(),
            commit: options.commit, stages: [])
        for file in options.from {
            let data = try Data(contentsOf: URL(fileURLWithPath: file))
            let part = try JSONDecoder().decode(Document.self, from: data)
            (document.machine, document.versions) = (part.machine, part.versions)
            document.commit = part.commit ?? document.commit
            document.loadAverageMax = [document.loadAverageMax, part.loadAverageMax]
                .compactMap { $0 }.max()
            for stage in part.stages { document.add(stage) }
        }
        if options.from.isEmpty {
            for stage in options.stages {
                for round in 0..<options.rounds {
                    document.add(try run(stage, round: round))
                    document.loadAverageMax = max(
                        document.loadAverageMax ?? 0, Machine.loadAverage())
                    // A run that is stopped keeps what it has.
                    try save(document)
                }
            }
        }
        for stage in document.stages {
            print("\(stage.persons) persons, cache \(stage.cacheSizeInMiB) MiB, CPU µs/op")
            print(Report.table(stage, .cpu), terminator: "\n\n")
            print("wall µs/op")
            print(Report.table(stage, .wall), terminator: "\n\n")
        }
        try save(document)
        if let folder = options.results { try write(document, to: folder) }
    }

    private func save(_ document: Document) throws {
        guard let json = options.json else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(document).write(to: URL(fileURLWithPath: json))
    }

    private func sustain() throws {
        let stage = options.sustainedStage
        var report = SustainedReport(points: [], stage: stage)
        for name in stage.contenders {
            note("\(stage.persons) persons, sustained: \(name)")
            report.points.append(
                try JSONDecoder().decode([SustainedPoint].self, from: output(name, stage)))
        }
        print(report.markdown())
        if let folder = options.results { try report.write(to: folder) }
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

    private func run(_ asked: Stage, round: Int) throws -> Stage {
        var stage = asked
        var measurements: [Measurement] = []
        for index in stage.contenders.indices {
            let name = stage.contenders[(index + round) % stage.contenders.count]
            note("\(stage.persons) persons, round \(round + 1) of \(options.rounds): \(name)")
            measurements += try child(name, stage)
        }
        try compareResults(measurements)
        stage.rounds = [measurements]
        return stage
    }

    private func note(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }

    private func child(_ name: String, _ stage: Stage) throws -> [Measurement] {
        try JSONDecoder().decode([Measurement].self, from: output(name, stage))
    }

    /// What the process of a contender prints.
    private func output(_ name: String, _ stage: Stage) throws -> Data {
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
        return output
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
