import Foundation
import PageStore
import RecordStore
import Testing

/// Kills a process that migrates: the file is of the earlier model or of the later one, whole, and
/// the next process brings it to its end.
@Suite struct MigrationKillTests {
    private static var killCount: Int {
        let environment = ProcessInfo.processInfo.environment
        if let text = environment["TRELLIS_KILLS"], let count = Int(text) { return count }
        return environment["TRELLIS_LONG"] == nil ? 4 : 40
    }

    private static func run(_ arguments: String...) throws -> [String] {
        let process = Process()
        let own = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        process.executableURL = own.deletingLastPathComponent()
            .appendingPathComponent("KillChild")
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(arguments)")
        return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test func `a killed migration leaves the earlier model or the later one`() throws {
        let seed =
            ProcessInfo.processInfo.environment["TRELLIS_SEED"].flatMap(UInt64.init)
            ?? UInt64.random(in: 0...UInt64.max)
        print("MigrationKillTests: TRELLIS_SEED=\(seed)")
        var random = seed
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("migration-kill-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let original = folder.appendingPathComponent("original").path
        _ = try Self.run("fill", original, "3000")
        let expected = try Self.run("tell", original)
        try #require(expected.count == 2 && expected[0] == "V1")

        // Measures how long the migration takes if it is not killed.
        let path = folder.appendingPathComponent("store").path
        try FileManager.default.copyItem(atPath: original, toPath: path)
        let said = try Self.run("migrate", path)
        let milliseconds = try #require(said.last?.split(separator: " ").dropFirst().first)
        let whole = try #require(UInt64(milliseconds))
        #expect(try Self.run("tell", path) == ["V2", expected[1]])

        var models: [String: Int] = [:]
        for kill in 0..<Self.killCount {
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.copyItem(atPath: original, toPath: path)
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let child = try ChildProcess("migrate", path)
            #expect(child.says(1))
            usleep(UInt32((random >> 33) % (whole * 1100)))
            child.end(by: SIGKILL)
            let place = "kill \(kill), seed \(seed)"
            let left = try Self.run("tell", path)
            #expect(left.last == expected[1], "\(place)")
            models[left[0], default: 0] += 1
            _ = try Self.run("migrate", path)
            #expect(try Self.run("tell", path) == ["V2", expected[1]], "\(place)")
            try check(path, place)
        }
        print("\(Self.killCount) kills: \(models)")
    }

    /// The next process goes on with what a killed one has left.
    @Test func `a migration in chunks that is killed again and again comes to its end`() throws {
        let seed =
            ProcessInfo.processInfo.environment["TRELLIS_SEED"].flatMap(UInt64.init)
            ?? UInt64.random(in: 0...UInt64.max)
        print("MigrationKillTests: TRELLIS_SEED=\(seed)")
        var random = seed
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("migration-kill-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (original, path) = (
            folder.appendingPathComponent("original").path,
            folder.appendingPathComponent("store").path
        )
        _ = try Self.run("fill", original, "3000")
        let expected = try Self.run("tell", original)
        try FileManager.default.copyItem(atPath: original, toPath: path)
        let said = try Self.run("migrate", path, "200", "64")
        let milliseconds = try #require(said.last?.split(separator: " ").dropFirst().first)
        let whole = try #require(UInt64(milliseconds))

        var resumedCount = 0
        for kill in 0..<Self.killCount {
            let place = "kill \(kill), seed \(seed)"
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.copyItem(atPath: original, toPath: path)
            for _ in 0..<3 {
                random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let child = try ChildProcess("migrate", path, "200", "64")
                #expect(child.says(1))
                usleep(UInt32((random >> 33) % (whole * 700)))
                child.end(by: SIGKILL)
                try check(path, place)
                if try isUnfinished(path) { resumedCount += 1 }
            }
            _ = try Self.run("migrate", path, "200", "64")
            #expect(try Self.run("tell", path) == ["V2", expected[1]], "\(place)")
            #expect(try !isUnfinished(path), "\(place)")
            try check(path, place)
        }
        print("\(3 * Self.killCount) kills: \(resumedCount) left a copy that was gone on with")
        #expect(resumedCount > 0, "seed \(seed)")
    }

    /// With bounded memory, and a file that is not much larger than what is written.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["TRELLIS_LONG"] != nil))
    func `a million objects migrate in little memory`() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("migration-size-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("store").path
        _ = try Self.run("fill", path, "1000000")
        let size = try sizeInBytes(path)
        let said = try Self.run("migrate", path, "0", "64")
        let words = try #require(said.last).split(separator: " ").compactMap { Int($0) }
        try #require(words.count == 2, "\(said)")
        let later = try sizeInBytes(path)
        print("\(words[0]) ms, \(words[1]) KiB, file of \(size) bytes before and \(later) after")
        // The cache, 96 MiB, and the process itself.
        #expect(words[1] < (64 + 96 + 32) << 10, "KiB at most: \(said)")
    }

    private func sizeInBytes(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return (attributes[.size] as? NSNumber)?.intValue ?? 0
    }

    private func isUnfinished(_ path: String) throws -> Bool {
        var options = Engine.Options()
        options.mode = .reading
        let engine = try Engine.open(path: path, options: options)
        defer { #expect(throws: Never.self) { try engine.close() } }
        return try #require(try CatalogView(engine.snapshot())).trees()
            .contains { $0.name.hasPrefix("next/") || $0.name.hasPrefix("old/") }
    }

    private func check(_ path: String, _ place: String) throws {
        var options = Engine.Options()
        options.mode = .reading
        let engine = try Engine.open(path: path, options: options)
        let snapshot = try engine.snapshot()
        let trees = try #require(try CatalogView(snapshot)).trees().map(\.tree)
        let findings = StoreCheck.run(snapshot, knownTrees: trees)
        #expect(findings.isEmpty, "\(place): \(findings)")
        try engine.close()
    }
}
