import Foundation
import PageStore
import TestSupport
import Testing

/// Processes that share one file, and the state of the file after some of them died.
@Suite(.timeLimit(.minutes(10))) struct SharedFileTests {
    private static let isLong = ProcessInfo.processInfo.environment["TRELLIS_LONG"] != nil

    private static func temporaryPath() -> String {
        FileManager.default.temporaryDirectory
            .appendingPathComponent("shared-\(UUID().uuidString).trellis").path
    }

    /// Checks that every state was whole and newer than the one before.
    private func check(_ reader: ChildProcess, _ seed: UInt64) -> Int {
        var last = -1
        for line in reader.lines {
            let numbers = line.split(separator: " ").compactMap { Int($0) }
            guard numbers.count == 2 else {
                Issue.record("seed \(seed): a reader said: \(line)")
                continue
            }
            #expect(numbers[1] == 0, "seed \(seed): \(line)")
            #expect(numbers[0] >= last, "seed \(seed): \(numbers[0]) after \(last)")
            last = numbers[0]
        }
        return reader.lines.count
    }

    @Test func `readers see whole states and the file stays whole despite kills`() throws {
        var random = SeededRandom(for: "SharedFileTests")
        let path = Self.temporaryPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        var writer = try ChildProcess("churn", path)
        #expect(writer.says(3))
        let modes = ["watch", "watch", "follow"]
        var readers = try modes.map { try ChildProcess($0, path) }
        var stateCount = 0
        for _ in 0..<(Self.isLong ? 200 : 8) {
            usleep(UInt32(random.below(80_000)))
            let victim = random.below(modes.count + 2)
            guard victim < modes.count else {
                writer.end(by: SIGKILL)
                writer = try ChildProcess("churn", path)
                #expect(writer.says(1))
                continue
            }
            #expect(readers[victim].says(2))
            readers[victim].end(by: SIGKILL)
            stateCount += check(readers[victim], random.seed)
            let acknowledged = writer.lines.last.flatMap { Int($0) } ?? 0
            readers[victim] = try ChildProcess(modes[victim], path)
            #expect(readers[victim].says(1))
            if modes[victim] == "follow" {
                let first = readers[victim].lines.first?.split(separator: " ").first
                #expect(first.flatMap { Int($0) } ?? -1 >= acknowledged, "seed \(random.seed)")
            }
        }
        // The test needs several checkpoints, and a busy machine makes few.
        let deadline = ContinuousClock.now + .seconds(120)
        while try generation(path) <= 10, ContinuousClock.now < deadline { usleep(20_000) }
        writer.end(by: SIGKILL)
        for reader in readers {
            reader.end(by: SIGKILL)
            stateCount += check(reader, random.seed)
        }
        print("shared file: \(stateCount) states read")
        var options = Engine.Options()
        options.mode = .reading
        let engine = try Engine.open(path: path, options: options)
        #expect(StoreCheck.run(try engine.snapshot()).isEmpty)
        #expect(engine.statistics.generation > 10)
    }

    private func generation(_ path: String) throws -> UInt64 {
        var options = Engine.Options()
        options.mode = .reading
        let engine = try Engine.open(path: path, options: options)
        defer { try? engine.close() }
        return engine.statistics.generation
    }

    /// A file whose pages all change with every commit.
    private func churn(_ engine: Engine, _ ids: [PageID], _ count: Int) throws {
        for _ in 0..<count {
            let transaction = try engine.beginWrite()
            for id in ids {
                let page = try transaction.editablePage(id)
                page.setUInt64(page.uint64(at: 100) + 1, at: 100)
            }
            _ = try transaction.commit()
            try engine.checkpointNow()
        }
    }

    @Test func `a stopped process keeps its snapshot pinned, a dead one nothing`() throws {
        let path = Self.temporaryPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let engine = try Engine.open(path: path)
        let transaction = try engine.beginWrite()
        var random = SeededRandom(for: "SharedFileTests")
        let ids = try (0..<40).map { _ in
            let page = try transaction.allocatePage(.overflow)
            random.bytes(16_000).withView { page.copy($0, to: 300) }
            return page.id
        }
        _ = try transaction.commit()
        try engine.checkpointNow()
        let keeper = try ChildProcess("keep", path)
        #expect(keeper.says(1))
        keeper.signal(SIGSTOP)
        try churn(engine, ids, 10)
        let early = engine.statistics
        try churn(engine, ids, 30)
        let late = engine.statistics
        #expect(early.heldBytes > 40 * 16_000 && late.heldBytes == early.heldBytes)
        #expect(late.oldestReaderGeneration == early.oldestReaderGeneration)
        #expect(late.fileSizeInBytes <= early.fileSizeInBytes + 40 * 16_384)
        keeper.signal(SIGCONT)
        keeper.tell("again")
        #expect(keeper.says(2))
        #expect(Set(keeper.lines).count == 1)
        keeper.end(by: SIGKILL)
        try churn(engine, ids, 1)
        #expect(engine.statistics.heldBytes == 0)
        #expect(engine.statistics.oldestReaderGeneration == nil)
        try engine.close()
    }

    @Test func `the lock of a killed writer goes to a waiting one`() throws {
        let path = Self.temporaryPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let holder = try ChildProcess("hold", path)
        #expect(holder.says(1))
        var options = Engine.Options()
        options.writerTimeout = .milliseconds(20)
        let error = #expect(throws: StoreError.self) {
            try Engine.open(path: path, options: options)
        }
        #expect(error?.code == .lockedByOther)
        let process = holder.processIdentifier
        Thread.detachNewThread {
            usleep(100_000)
            kill(process, SIGKILL)
        }
        options.writerTimeout = .seconds(300)
        try Engine.open(path: path, options: options).close()
    }

    /// Whether this machine allows a process to create private mounts.
    private static let canMount: Bool =
        (try? shell("unshare -rm mount --bind /tmp /tmp").exitCode) == 0

    private static func shell(_ script: String) throws -> (exitCode: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", script]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let said = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: said, as: UTF8.self))
    }

    @Test(.enabled(if: canMount, "needs mounts of its own"))
    func `a store on a medium that cannot be written is read`() throws {
        let sample = try SampleStore()
        let folder = Self.temporaryPath()
        let store = folder + "/store"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.copyItem(atPath: sample.path, toPath: store)
        let tool = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("trellis").path
        let outcome = try Self.shell(
            """
            unshare -rm sh -e -c '
            mount --bind "\(folder)" "\(folder)"
            mount -o remount,bind,ro "\(folder)"
            if touch "\(folder)/new" 2>/dev/null; then echo writable; exit 9; fi
            for command in info check schema pages wal; do
                "\(tool)" $command "\(store)" > /dev/null
            done'
            """)
        #expect(outcome.exitCode == 0, "\(outcome.output)")
    }
}
