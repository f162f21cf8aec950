import Foundation

/// The same work on every contender, each in a process of its own; see ``Options``.
@main
struct Bench {
    static func main() {
        do {
            try run(Options(arguments: Array(CommandLine.arguments.dropFirst())))
        } catch {
            FileHandle.standardError.write(Data("Bench: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ asked: Options) throws {
        var options = asked
        if options.child == nil {
            // Runs at the same time must not meet.
            options.directory += "/bench-\(ProcessInfo.processInfo.processIdentifier)"
            try FileManager.default.createDirectory(
                atPath: options.directory, withIntermediateDirectories: true)
        }
        defer {
            if options.child == nil {
                try? FileManager.default.removeItem(atPath: options.directory)
            }
        }
        if let file = options.counts {
            let thresholds = Thresholds(file: file, directory: options.directory)
            return try options.updatesCounts ? thresholds.update() : thresholds.check()
        }
        if let rounds = options.migrations {
            return try MigrationBench(options: options, rounds: rounds).run()
        }
        if let persons = options.observing {
            return try ObservingRun(options: options, persons: persons).run()
        }
        guard let name = options.child else { return try Tournament(options: options).run() }
        guard let entry = Entry.known.first(where: { $0.name == name }) else {
            throw Options.Failure(message: "no contender is named \(name)")
        }
        if let seconds = options.sustained {
            let points = try sustain(entry.type, entry, options, seconds)
            FileHandle.standardOutput.write(try JSONEncoder().encode(points))
            return
        }
        guard let stage = options.stages.first else { return }
        let measurements = try run(entry.type, entry, options, stage)
        FileHandle.standardOutput.write(try JSONEncoder().encode(measurements))
    }

    private static func sustain<Store: Contender>(
        _ type: Store.Type, _ entry: Entry, _ options: Options, _ seconds: Int
    ) throws -> [SustainedPoint] {
        try SustainedWork<Store>(entry: entry, options: options, stage: options.sustainedStage)
            .run(seconds: seconds)
    }

    private static func run<Store: Contender>(
        _ type: Store.Type, _ entry: Entry, _ options: Options, _ stage: Stage
    ) throws -> [Measurement] {
        try Round(type, entry: entry, options: options, stage: stage).run()
    }
}
