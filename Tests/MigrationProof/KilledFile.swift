import Foundation
import PageStore
import Proof
import RecordStore

/// What a process has left of a file: its model, the trees of an unfinished migration, and a hash
/// of all objects with their numbers, values and links.
struct KilledFile {
    private(set) var model = ""
    private(set) var unfinishedTrees: [String] = []
    private(set) var objectCount = 0
    /// Comparable within this process; nil if it was not asked for.
    private(set) var content: Int?

    init() {}

    /// Reads a file, and checks every page when it reads the content too; `checksRecords` compares
    /// all records, indexes, links and counts.
    init(_ path: String, readsContent: Bool = true, checksRecords: Bool = false) throws {
        var options = Engine.Options()
        options.mode = .reading
        let engine = try Engine.open(path: path, options: options)
        let snapshot = try engine.snapshot()
        let trees = try known(try CatalogView(snapshot)).trees()
        unfinishedTrees = trees.map(\.name).filter {
            $0.hasPrefix("next/") || $0.hasPrefix("old/")
        }
        if readsContent {
            let findings = StoreCheck.run(snapshot, knownTrees: trees.map(\.tree))
            try hold(findings.isEmpty, "\(findings)")
        }
        try engine.close()
        let database = try RecordDatabase.openReadOnly(path: path)
        model = database.schema.description.modelVersion
        if readsContent { try read(database, checksRecords: checksRecords) }
        try database.close()
    }

    private mutating func read(_ database: RecordDatabase, checksRecords: Bool) throws {
        let reader = try database.snapshot()
        if checksRecords, let finding = reader.check().first { throw ProofFailure("\(finding)") }
        var hasher = Hasher()
        for root in database.schema.entities where root.superentityTag == nil {
            let cursor = reader.recordCursor(root.hierarchy)
            while try cursor.next() {
                let row = try cursor.row()
                let entity = database.schema.knownEntity(tag: row.entityTag)
                hasher.combine(entity.name)
                hasher.combine(cursor.number)
                for field in entity.fields { hasher.combine(try reader.value(field, of: row)) }
                for relationship in entity.relationships where relationship.field == nil {
                    hasher.combine(try reader.linkedNumbers(relationship, of: cursor.number))
                }
                objectCount += 1
            }
        }
        content = hasher.finalize()
    }
}

/// A process of `KillChild`.
final class KilledChild {
    private let process = Process()
    private let output = Pipe()
    private let arguments: [String]
    private var said = Data()

    init(_ arguments: [String]) throws {
        self.arguments = arguments
        guard FileManager.default.isExecutableFile(atPath: Self.program.path) else {
            throw ProofObstacle("there is no program at \(Self.program.path)")
        }
        process.executableURL = Self.program
        process.arguments = arguments
        process.standardOutput = output
        // Errors are said too.
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    private static var program: URL {
        let named = ProcessInfo.processInfo.environment["TRELLIS_KILL_CHILD"]
        if let named { return URL(fileURLWithPath: named) }
        let own = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        return own.deletingLastPathComponent().appendingPathComponent("KillChild")
    }

    var isRunning: Bool { process.isRunning }

    /// Waits until the process says something or ends.
    func awaitLine() { said += output.fileHandleForReading.availableData }

    /// Returns whether the process ended by this.
    func kill() -> Bool {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        return process.terminationReason == .uncaughtSignal
    }

    /// Waits for the end, which must be one without an error; returns the lines that it said.
    func end() throws -> [String] {
        said += output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let lines = String(decoding: said, as: UTF8.self).split(separator: "\n").map(String.init)
        let isWell = process.terminationReason == .exit && process.terminationStatus == 0
        try hold(
            isWell && !lines.contains { $0.hasPrefix("failed") },
            "\(arguments.first ?? "") ends with \(process.terminationStatus): \(lines)")
        return lines
    }
}
