import ArgumentParser
import PageStore

/// `trellis vacuum`: writes into the store's own file, as `trellis migrate` does.
struct VacuumCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vacuum",
        abstract: "Moves the file's end into its gaps and gives it back to the system.",
        discussion: "Takes no room that the file does not have; can be interrupted at any moment.")

    /// Each step looks at all extents of the file, and holds pages of so many bytes.
    private static let stepBytes = 32 << 20

    @OptionGroup var store: StoreOptions

    @Option(help: "About how many bytes to move at most.")
    var bytes: Int?

    func run() throws {
        do throws(StoreError) {
            try requireStore()
            let engine = try Engine.open(path: store.file)
            defer { try? engine.close() }
            let before = engine.statistics.fileSizeInBytes
            var moved = 0
            while moved < bytes ?? .max {
                let rest = (bytes ?? .max) - moved
                let step = try engine.vacuum(byteBudget: min(Self.stepBytes, rest))
                moved += step
                if step == 0 { break }
            }
            let after = engine.statistics.fileSizeInBytes
            if store.json {
                Console.print(
                    .object([
                        (name: "bytesMoved", value: .integer(moved)),
                        (name: "sizeBefore", value: .integer(before)),
                        (name: "sizeAfter", value: .integer(after)),
                    ]))
            } else {
                print("\(before) bytes before, \(after) after; \(moved) moved")
            }
        } catch {
            throw Console.failure(error)
        }
    }

    /// Opening for writing would make a store of a file that is not there, or that is cut off. Only
    /// a file without a valid superblock is opened for reading, which says what is wrong: it would
    /// read the log of any other once more.
    private func requireStore() throws(StoreError) {
        let (copies, fileSizeInBytes) = try SuperblockCopy.read(path: store.file)
        let isValid = copies.contains { copy in
            (try? copy.outcome.get()).map { $0.requiredLength <= fileSizeInBytes } ?? false
        }
        guard !isValid else { return }
        var options = Engine.Options()
        options.mode = .reading
        try Engine.open(path: store.file, options: options).close()
    }
}
