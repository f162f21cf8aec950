import ArgumentParser
import PageStore

/// `trellis vacuum`: writes into the store's own file, as `trellis migrate` does.
struct VacuumCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vacuum",
        abstract: "Moves the file's end into its gaps and gives it back to the system.",
        discussion: "Takes no room that the file does not have; can be interrupted at any moment.")

    @OptionGroup var store: StoreOptions

    @Option(help: "About how many bytes to move at most.")
    var bytes: Int?

    func run() throws {
        do throws(StoreError) {
            // Opening for writing would make a file that is not there.
            _ = try Engine.open(path: store.file, options: readOnly()).close()
            let engine = try Engine.open(path: store.file)
            defer { try? engine.close() }
            let before = engine.statistics.fileSizeInBytes
            var moved = 0
            while moved < bytes ?? .max {
                let step = try engine.vacuum(byteBudget: min(16 << 20, (bytes ?? .max) - moved))
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

    private func readOnly() -> Engine.Options {
        var options = Engine.Options()
        options.mode = .reading
        return options
    }
}
