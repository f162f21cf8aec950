import Foundation

/// Counts that do not depend on the machine, beside what they were: page lookups, bytes written
/// and objects made by the engine's own count, instructions by callgrind's.
struct Thresholds {
    /// One count of one workload, as a line of the file says it.
    private struct Line: Hashable {
        var workload: String
        var count: String
    }

    let file: String
    let directory: String

    private static let persons = 2000
    /// Instructions differ a little from run to run: threads meet in another order.
    private static let growthMax = 1.10
    /// How often a count that has grown is measured.
    private static let roundCount = 3
    private static let header =
        "# Counts of `scripts/bench --counts`, at \(persons) persons; "
        + "`scripts/bench --update-counts` writes them anew.\n"

    /// Measures, and fails when a count has grown by more than a tenth. What a thread in the
    /// background does is counted with the workload that it meets, now and then with the next one:
    /// a count that has grown is measured again, and more work has grown every time.
    func check() throws {
        let before = try read()
        var now = try count()
        for _ in 1..<Self.roundCount where now.contains(where: { hasGrown($0, $1, before) }) {
            now.merge(try count()) { min($0, $1) }
        }
        var failures: [String] = []
        for (line, value) in now.sorted(by: { Self.name($0.key) < Self.name($1.key) }) {
            let limit = before[line] ?? 0
            let ratio = Double(value) / Double(max(limit, 1))
            print("\(Self.name(line)): \(value), was \(limit) (\(Figure.text(ratio)))")
            if hasGrown(line, value, before) {
                failures.append("\(Self.name(line)) is \(value), was \(limit)")
            }
        }
        guard failures.isEmpty else {
            throw Options.Failure(
                message: "more work than before:\n" + failures.joined(separator: "\n"))
        }
    }

    private func hasGrown(_ line: Line, _ value: UInt64, _ before: [Line: UInt64]) -> Bool {
        // What is not there was nothing.
        Double(value) > Double(before[line] ?? 0) * Self.growthMax + 16
    }

    func update() throws {
        let lines = try count().filter { $0.value > 0 }.map {
            "\($0.key.workload)\t\($0.key.count)\t\($0.value)\n"
        }
        try Data((Self.header + lines.sorted().joined()).utf8)
            .write(to: URL(fileURLWithPath: file))
    }

    private static func name(_ line: Line) -> String { "\(line.workload) \(line.count)" }

    private func read() throws -> [Line: UInt64] {
        var found: [Line: UInt64] = [:]
        let text = try String(contentsOfFile: file, encoding: .utf8)
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: "\t")
            guard parts.count == 3, let value = UInt64(parts[2]) else {
                throw Options.Failure(message: "\(file) has a line “\(line)”")
            }
            found[Line(workload: String(parts[0]), count: String(parts[1]))] = value
        }
        return found
    }

    // MARK: Counting

    private func count() throws -> [Line: UInt64] {
        let folder = directory + "/callgrind"
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let measurements = try run(folder)
        var counts: [Line: UInt64] = [:]
        for (index, measurement) in measurements.enumerated() {
            for (name, value) in measurement.counts {
                counts[Line(workload: measurement.workload, count: name)] = value
            }
            // The first dump is the first workload's.
            counts[Line(workload: measurement.workload, count: "instructions")] =
                try instructions(folder + "/out.\(index + 1)")
        }
        return counts
    }

    /// Valgrind 3.19 gives up on the debugging information of Swift programs: it runs a copy
    /// that has none.
    private func copyProgram(to folder: String) throws {
        let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
        let strip = try Process.run(
            URL(fileURLWithPath: "/usr/bin/strip"),
            arguments: ["--strip-debug", "-o", folder + "/Bench", own])
        strip.waitUntilExit()
        guard strip.terminationStatus == 0 else {
            throw Options.Failure(message: "strip ended with \(strip.terminationStatus)")
        }
    }

    private func run(_ folder: String) throws -> [Measurement] {
        let workloads = Workload.allCases.filter { $0 != .readBesideWriter }.map(\.rawValue)
        let output = try callgrind(
            folder, [],
            [
                "--child", "trellis", "--persons", "\(Self.persons)", "--directory", directory,
                "--workloads", workloads.joined(separator: ","),
            ])
        return try JSONDecoder().decode([Measurement].self, from: output)
    }

    /// What the main thread of a run of this program does in each of its counted parts.
    func instructions(ofMainThread arguments: [String], count: Int) throws -> [UInt64] {
        let folder = directory + "/callgrind"
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        _ = try callgrind(folder, ["--separate-threads=yes"], arguments)
        return try (1...count).map { try instructions(folder + "/out.\($0)-01") }
    }

    private func callgrind(
        _ folder: String, _ options: [String], _ arguments: [String]
    ) throws -> Data {
        try copyProgram(to: folder)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/valgrind")
        process.arguments =
            [
                "--quiet", "--tool=callgrind", "--callgrind-out-file=\(folder)/out",
                "--zero-before=bench_workload_begins", "--dump-before=bench_workload_ends",
                "--toggle-collect=bench_uncounted", "--collect-atstart=yes",
            ] + options + [folder + "/Bench"] + arguments
        // Dictionaries are walked in the same order each time.
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["SWIFT_DETERMINISTIC_HASHING": "1"]) { _, new in new }
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Options.Failure(message: "valgrind ended with \(process.terminationStatus)")
        }
        return output
    }

    private func instructions(_ path: String) throws -> UInt64 {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        for line in text.split(separator: "\n").reversed() {
            for label in ["totals: ", "summary: "] where line.hasPrefix(label) {
                return UInt64(line.dropFirst(label.count)) ?? 0
            }
        }
        throw Options.Failure(message: "\(path) has no totals")
    }
}
