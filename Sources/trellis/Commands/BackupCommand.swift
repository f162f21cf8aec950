import ArgumentParser
import Foundation
import PageStore

/// `trellis backup`: a second file with the same content and no gaps.
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Writes the store into a new file without gaps.",
        discussion: """
            Every page is read and its checksum compared; nothing is written over, and the copy \
            has its name only when it is whole and durable. Also the way to compact a store: \
            replace the old file by the copy.

            With --incremental an earlier backup of this store is brought up to date, and only the \
            pages that changed since are written. After a crash it has its earlier state or the \
            new one.
            """,
        aliases: ["compact"])

    @OptionGroup var store: StoreOptions

    @Argument(help: "The new file, or the backup to bring up to date.")
    var copy: String

    @Flag(help: "Bring an earlier backup up to date; without one, make it.")
    var incremental = false

    func run() throws {
        let options = StoreOptions.options(.reading)
        do throws(StoreError) {
            let engine = try Engine.open(path: store.file, options: options)
            defer { try? engine.close() }
            var pagesWritten: Int?
            if incremental, FileManager.default.fileExists(atPath: copy) {
                pagesWritten = try engine.updateCopy(at: copy)
            } else {
                try engine.copy(to: copy)
            }
            let reading = try Engine.open(path: copy, options: options)
            defer { try? reading.close() }
            let (before, after) = (
                engine.statistics.fileSizeInBytes, reading.statistics.fileSizeInBytes
            )
            if store.json {
                Console.print(
                    .object([
                        (name: "commitNumber", value: .integer(reading.statistics.commitNumber)),
                        (name: "sizeBefore", value: .integer(before)),
                        (name: "sizeAfter", value: .integer(after)),
                        (name: "pagesWritten", value: .optional(pagesWritten.map(UInt64.init))),
                    ]))
            } else {
                if let pagesWritten { print("\(pagesWritten) pages changed") }
                print("\(copy): \(after) bytes; \(store.file) has \(before)")
            }
        } catch {
            throw Console.failure(error)
        }
    }
}
