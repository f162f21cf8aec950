import Foundation
import TestSupport
import Testing

@testable import PageStore

/// The tool's time and memory depend on the size of a file on the disk, not on the sizes that it
/// claims: see decisions/044.
@Suite(.serialized) struct BoundsTests {
    /// The cache of 64 MiB, and 256 MiB.
    private static let memoryInKiBMax = 320 << 10
    private static let secondsMax = 20

    private static let commands: [[String]] = [
        ["info"], ["check"], ["dump", "Author"], ["wal"], ["stats"], ["pages"], ["schema"],
        ["salvage"], ["backup"], ["vacuum"],
    ]

    /// The cost of one command.
    private struct Cost {
        var outcome: Int
        var milliseconds: Int
        var kibibytes: Int
        /// The beginning of its output.
        var output: String

        var isBounded: Bool {
            !output.contains("notFound") && !output.contains("does not begin as")
                && (outcome == 0 || outcome == 1)
                && kibibytes <= memoryInKiBMax
                && milliseconds <= secondsMax * 1000
        }
    }

    private static func run(_ command: [String], _ file: CraftedFile) throws -> Cost {
        let path = file.path
        defer { withExtendedLifetime(file) {} }
        let own = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent()
        let output = path + ".output"
        let other = path + ".other"
        defer {
            for name in [output, output + ".errors", other, other + ".part"] {
                try? FileManager.default.removeItem(atPath: name)
            }
        }
        let tool = ProcessInfo.processInfo.environment["TRELLIS_TOOL"]
        var arguments = [tool ?? own.appendingPathComponent("trellis").path, command[0], path]
        if command[0] == "salvage" { arguments += ["--to", other] }
        if command[0] == "backup" { arguments.append(other) }
        arguments += command.dropFirst()
        let process = Process()
        process.executableURL = own.appendingPathComponent("KillChild")
        process.arguments = ["measure", output] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let said = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let figures = said.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        try #require(figures.count == 3, "\(said)")
        let printed = [output, output + ".errors"].map { name in
            let file = FileHandle(forReadingAtPath: name)
            return String(decoding: (try? file?.read(upToCount: 500)) ?? Data(), as: UTF8.self)
        }
        return Cost(
            outcome: figures[0], milliseconds: figures[1], kibibytes: figures[2],
            output: printed.joined())
    }

    /// A bug: most of these files took a gigabyte or more.
    @Test(.timeLimit(.minutes(hangMinutes)), arguments: Bomb.allCases)
    fileprivate func `a file that claims much costs little`(bomb: Bomb) throws {
        let file = try bomb.file(4 << 20)
        for command in [["info"], ["check"]] {
            let cost = try Self.run(command, file)
            #expect(cost.isBounded, "\(bomb) \(command): \(cost)")
        }
    }

    /// A bug: it held the value three times.
    @Test func `salvage copies a long value without holding it`() throws {
        let cost = try Self.run(["salvage"], try Bomb.longValue.file(8 << 20))
        #expect(cost.isBounded && cost.outcome == 0, "\(cost)")
    }

    /// Zero is no page ID. A bug: copying a map that contains it ended the process.
    @Test func `a map with page ID zero is refused`() throws {
        let file = try CraftedFile()
        let page = try file.append(file.emptyPage(0).view, id: 0, kind: .page)
        let node = PageBuffer(id: PageID(0), count: file.geometry.pageSizeInBytes)
        page.store(in: node, at: 0)
        let root = try file.append(
            node.view, id: MapNode.storedID(level: 0, firstID: 0), kind: .map)
        file.change {
            $0.mapRoot = root
            $0.mapDepth = 1
            $0.catalogRoot = 0
        }
        try file.finish()
        for command in [["check"], ["backup"], ["stats"]] {
            let cost = try Self.run(command, file)
            #expect(cost.isBounded, "\(command): \(cost)")
        }
    }

    @Test func `a log that frees more pages than the file can have is refused`() throws {
        let cost = try Self.run(["check"], try Bomb.frees.file(2 << 20))
        #expect(
            cost.outcome == 1 && cost.output.contains("the log names more freed pages"), "\(cost)")
    }

    @Test func `a map of more pages than the file can have is refused`() throws {
        let cost = try Self.run(["check"], try Bomb.mapEntries.file(1 << 20))
        #expect(
            cost.outcome == 1 && cost.output.contains("the map names more pages"), "\(cost)")
    }

    /// `TRELLIS_BOUNDS=100 swift test --filter 'costs of files'` prints a table of files of 100 MB,
    /// `TRELLIS_TOOL=PATH` that of another build of the tool, `TRELLIS_BOMB=NAME` that of one file.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["TRELLIS_BOUNDS"] != nil))
    func `costs of files that claim much`() throws {
        let environment = ProcessInfo.processInfo.environment
        let megabytes = environment["TRELLIS_BOUNDS"].flatMap { Int($0) } ?? 10
        let only = environment["TRELLIS_BOMB"]
        print("| file | MB on the disk | command | exit | seconds | MiB |")
        print("|---|---|---|---|---|---|")
        for bomb in Bomb.allCases where only == nil || only == "" || only == bomb.rawValue {
            let file = try bomb.file(megabytes * 1_000_000)
            let size = try file.finish() / 1_000_000
            for command in Self.commands {
                let cost = try Self.run(command, file)
                let mark = cost.isBounded ? "" : " !"
                print(
                    "| \(bomb) | \(size) | \(command[0]) | \(cost.outcome) | "
                        + "\(Double(cost.milliseconds / 100) / 10) | "
                        + "\(cost.kibibytes >> 10)\(mark) |")
                fflush(nil)
            }
        }
    }
}
