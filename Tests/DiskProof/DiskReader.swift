import Foundation
import ObjectGraph

/// A process that reads the store beside its writer and makes copies of it: it follows the commands
/// of its input line by line and answers each with a line.
struct DiskReader {
    private let folder: URL
    private let notes: DiskNotes

    init(_ folder: URL, _ notes: DiskNotes) {
        self.folder = folder
        self.notes = notes
    }

    private func open() throws(CoreStoreError) -> DiskStore {
        try DiskStore(folder.appendingPathComponent(DiskStore.name), isReadOnly: true)
    }

    func run() throws {
        notes.say("arm")
        // One stack stays open, so that the writer must keep its pages.
        var held: DiskStore?
        while let line = nextLine() {
            let words = line.split(separator: " ").map(String.init)
            if held == nil { held = try? open() }
            if words.first == "look" {
                look()
            } else if words.count == 2 {
                copy(to: words[1], held)
            }
            print("done")
            fflush(nil)
        }
        try? held?.close()
    }

    /// Not by `readLine`, which takes an earlier call's EINTR at the input's end for its own.
    private func nextLine() -> String? {
        let bytes = FileHandle.standardInput.availableData
        return bytes.isEmpty ? nil : String(decoding: bytes.dropLast(), as: UTF8.self)
    }

    private func look() {
        notes.task("look") {
            let store = try open()
            let (head, rows) = try store.content()
            notes.say("saw \(head) \(DiskRow.digest(rows))")
            try store.close()
        }
    }

    /// - Parameter held: a stack that follows the writer.
    private func copy(to name: String, _ held: DiskStore?) {
        let url = folder.appendingPathComponent(name)
        let isIncremental = FileManager.default.fileExists(atPath: url.path)
        notes.task("backup \(name)") {
            let store = try open()
            try store.stack.backup(to: url, isIncremental: isIncremental)
            try store.close()
        }
        guard let held else { return }
        notes.task("follow") {
            let (head, rows) = try held.content()
            notes.say("followed \(head) \(DiskRow.digest(rows))")
        }
    }
}

/// The reader's process as seen by the writer.
final class DiskReaderProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(_ folder: URL) throws {
        var environment = ProcessInfo.processInfo.environment
        environment["TRELLIS_DISK_FAULT"] = environment["TRELLIS_DISK_READER_FAULT"]
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = ["read", folder.path, environment["TRELLIS_DISK_NOTES"] ?? ""]
        process.environment = environment
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    /// Returns when the reader has done the command or has ended.
    func tell(_ line: String) {
        try? input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
        _ = output.fileHandleForReading.availableData
    }

    /// Returns whether the reader ended normally.
    func end() -> Bool {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
        return process.terminationReason == .exit && process.terminationStatus == 0
    }
}
