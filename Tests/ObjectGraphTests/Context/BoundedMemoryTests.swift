import ObjectGraph
import Testing

/// Peak memory of a child process. ThreadSanitizer needs more.
@Suite struct BoundedMemoryTests {
    private let isLong = ProcessInfo.processInfo.environment["TRELLIS_LONG"] != nil

    /// The figures that a child process reports of its work on its own store, by name.
    private func figures(of use: String, _ arguments: Int...) throws -> [String: Int] {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("memory-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
            .resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("KillChild")
        process.arguments =
            [use, folder.appendingPathComponent("store.trellis").path]
            + arguments.map { "\($0)" }
        process.standardOutput = output
        try process.run()
        let said = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        var figures: [String: Int] = [:]
        for line in String(decoding: said, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: " ")
            if parts.count == 2 { figures[String(parts[0])] = Int(parts[1]) }
        }
        return figures
    }

    private func expect(_ figures: [String: Int], below limit: Int) {
        let most = figures["most"] ?? .max
        #expect(most > 0 && most < limit, "KiB at most: \(figures)")
    }

    @Test func `a large transaction takes little memory`() throws {
        let (count, cache, limit) =
            isLong ? (1_000_000, 64, 256 << 10) : (40_000, 8, 64 << 10)
        let figures = try figures(of: "load", count, cache)
        #expect(figures["count"] == count && figures["found"] == count / 2, "\(figures)")
        let (before, idle) = (figures["before"] ?? 0, figures["idle"] ?? .max)
        #expect(idle < before + (cache + 16) << 10, "KiB when idle: \(figures)")
        expect(figures, below: limit)
    }

    /// As objects the records would take some hundred bytes each and more.
    @Test func `statements over all records take little memory`() throws {
        let (count, limit) = isLong ? (1_000_000, 360 << 10) : (40_000, 72 << 10)
        let figures = try figures(of: "state", count, 8)
        #expect(figures["updated"] == count && figures["deleted"] == count, "\(figures)")
        #expect(figures["count"] == 0)
        print("statements over \(count) records: \(figures)")
        expect(figures, below: limit)
    }

    /// The objects of the whole file would take several times as much.
    @Test func `an import of a long file takes little memory`() throws {
        let (mebibytes, limit) = isLong ? (100, 128 << 10) : (16, 72 << 10)
        let figures = try figures(of: "intake", mebibytes, 8)
        let count = figures["written"] ?? 0
        #expect(count > 0 && figures["imported"] == count && figures["stored"] == count)
        #expect(figures["linked"] == count - 1, "\(figures)")
        let size = figures["size"] ?? 0
        #expect(size >= mebibytes << 20 && figures["completed"] == size, "\(figures)")
        expect(figures, below: limit)
    }
}
