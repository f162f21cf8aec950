import Foundation
import PageStore
import TestSupport
import Testing

/// Kills a committing process repeatedly: every commit that was acknowledged as durable is there,
/// whole, and at most one commit more.
@Suite struct KillLoopTests {
    /// The long loop is 200 kills; plain test runs take a slice.
    private static var killCount: Int {
        let environment = ProcessInfo.processInfo.environment
        if let text = environment["TRELLIS_KILLS"], let count = Int(text) { return count }
        return environment["TRELLIS_LONG"] == nil ? 12 : 200
    }

    /// `scripts/prove kill` gives a time instead of a count.
    private static let end: ContinuousClock.Instant? = ProcessInfo.processInfo
        .environment["TRELLIS_KILL_SECONDS"].flatMap(Double.init)
        .map { ContinuousClock.now + .seconds($0) }

    private static func child(_ arguments: String...) -> (Process, Pipe) {
        let process = Process()
        let own = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        process.executableURL = own.deletingLastPathComponent()
            .appendingPathComponent("KillChild")
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        return (process, pipe)
    }

    @Test func `a killed writer loses no commit that was acknowledged as durable`() throws {
        let seed =
            ProcessInfo.processInfo.environment["TRELLIS_SEED"].flatMap(UInt64.init)
            ?? UInt64.random(in: 0...UInt64.max)
        print("seed", seed)
        var random = seed
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("kill-\(UUID().uuidString).trellis").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        var acknowledged = 0
        var kill = 0
        while Self.end.map({ ContinuousClock.now < $0 }) ?? (kill < Self.killCount) {
            defer { kill += 1 }
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            acknowledged = try writeAndKill(
                path, after: UInt32(random >> 40) % 60_000, acknowledged)
            try checkFile(path)
            let last = try readBack(path)
            #expect(
                last == acknowledged || last == acknowledged + 1,
                "kill \(kill), seed \(seed): \(acknowledged) acknowledged, \(last) there")
            acknowledged = last
        }
        print("\(kill) kills, \(acknowledged) commits")
        #expect(acknowledged >= kill)
    }

    /// Returns the last acknowledged batch.
    private func writeAndKill(
        _ path: String, after microseconds: UInt32, _ before: Int
    ) throws -> Int {
        let (process, pipe) = Self.child("write", path)
        try process.run()
        // The first commit of a run is waited for, so that every run commits something.
        var output = pipe.fileHandleForReading.availableData
        usleep(microseconds)
        let memory = PeakMemory.mebibytes(of: "\(process.processIdentifier)")
        // Where the system tells it of another process.
        #if os(Linux)
            #expect(memory ?? .max <= 160, "MiB that the writer took")
        #endif
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        output += pipe.fileHandleForReading.readDataToEndOfFile()
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n")
        return lines.last.flatMap { Int($0) } ?? before
    }

    private func checkFile(_ path: String) throws {
        var options = Engine.Options()
        options.mode = .reading
        let engine = try Engine.open(path: path, options: options)
        let findings = StoreCheck.run(try engine.snapshot())
        #expect(findings.isEmpty, "\(findings)")
        try engine.close()
    }

    /// Checks that each batch is whole; returns the last.
    private func readBack(_ path: String) throws -> Int {
        let (process, pipe) = Self.child("read", path)
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        var batches: [Int] = []
        for line in String(decoding: output, as: UTF8.self).split(separator: "\n") {
            let numbers = line.split(separator: " ").compactMap { Int($0) }
            #expect(numbers.count == 3)
            guard numbers.count == 3 else { continue }
            #expect(numbers[1] == 1 + numbers[0] % 40, "batch \(numbers[0]) is not whole")
            #expect(numbers[2] == numbers[1] - 1, "batch \(numbers[0]) lost links")
            batches.append(numbers[0])
        }
        let last = batches.last ?? 0
        #expect(batches == Array(max(1, last - 59)...max(1, last)))
        return last
    }
}
