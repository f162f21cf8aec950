import Foundation

/// The built tool as a user runs it.
enum Tool {
    struct Outcome {
        var exitCode: Int32
        var output: String
        var errors: String

        func json() throws -> Any {
            try JSONSerialization.jsonObject(with: Data(output.utf8))
        }
    }

    static func run(_ arguments: String...) throws -> Outcome { try run(arguments) }

    /// - Parameter output: where the output goes instead of the outcome.
    static func run(_ arguments: [String], output: FileHandle? = nil) throws -> Outcome {
        let process = Process()
        // The test bundle lies beside the tool.
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
            .resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("trellis")
        process.arguments = arguments
        let folder = FileManager.default.temporaryDirectory
        let names = (0..<2).map { _ in folder.appendingPathComponent("tool-\(UUID().uuidString)") }
        defer { for name in names { try? FileManager.default.removeItem(at: name) } }
        // Files, not pipes: neither can fill up while the other is read.
        for name in names { try Data().write(to: name) }
        process.standardOutput = try output ?? FileHandle(forWritingTo: names[0])
        process.standardError = try FileHandle(forWritingTo: names[1])
        try process.run()
        process.waitUntilExit()
        return Outcome(
            exitCode: process.terminationStatus,
            output: try String(contentsOf: names[0], encoding: .utf8),
            errors: try String(contentsOf: names[1], encoding: .utf8))
    }
}
