import Foundation

/// A process of `KillChild` that goes on beside the test. What it says goes to a file, so that it
/// never waits for the test to read.
final class ChildProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = FileManager.default.temporaryDirectory
        .appendingPathComponent("child-\(UUID().uuidString)")

    init(_ arguments: String...) throws {
        let own = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        process.executableURL = own.deletingLastPathComponent()
            .appendingPathComponent("KillChild")
        process.arguments = arguments
        try Data().write(to: output)
        process.standardInput = input
        process.standardOutput = try FileHandle(forWritingTo: output)
        try process.run()
    }

    deinit {
        end(by: SIGKILL)
        try? FileManager.default.removeItem(at: output)
    }

    var processIdentifier: Int32 { process.processIdentifier }

    /// The whole lines that it has said so far.
    var lines: [String] {
        let said = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
        return said.components(separatedBy: "\n").dropLast()
    }

    /// Whether it says that many lines before it ends.
    func says(_ count: Int) -> Bool {
        while lines.count < count {
            guard process.isRunning else { return lines.count >= count }
            usleep(2000)
        }
        return true
    }

    func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    func end(by number: Int32) {
        guard process.isRunning else { return }
        signal(number)
        process.waitUntilExit()
    }

    func tell(_ line: String) {
        try? input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
    }
}
