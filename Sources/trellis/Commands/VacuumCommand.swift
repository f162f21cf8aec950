import ArgumentParser
import PageStore

/// `trellis vacuum`: writes into the store's own file, as `trellis migrate` does.
struct VacuumCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vacuum",
        abstract: "Moves the file's end into its gaps and gives it back to the system.",
        discussion: "The file may grow a little on the way; can be interrupted at any moment.")

    /// Each step looks at all extents of the file, and holds pages of so many bytes.
    private static let stepBytes = 32 << 20

    @OptionGroup var store: StoreOptions

    @Option(help: "About how many bytes to move at most.")
    var bytes: Int?

    func run() throws {
        do throws(StoreError) {
            var options = Engine.Options()
            options.createsFile = false
            let engine = try Engine.open(path: store.file, options: options)
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
}
