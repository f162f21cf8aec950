import ArgumentParser
import PageStore
import RecordStore

/// What every command takes.
struct StoreOptions: ParsableArguments {
    @Argument(help: "The store's file.")
    var file: String

    @Flag(help: "Print JSON.")
    var json = false

    /// Opens for reading only. What of the map or the log cannot be read is in `damage`.
    func openEngine() throws(StoreError) -> Engine {
        var options = Engine.Options()
        options.mode = .readingDamaged
        return try Engine.open(path: file, options: options)
    }

    /// Runs a command on the engine and closes it. A `StoreError` is printed and ends the command
    /// with exit code 1.
    func withEngine(_ body: (Engine) throws -> Void) throws {
        do {
            let engine = try openEngine()
            defer { try? engine.close() }
            for error in engine.damage { Console.warn(error) }
            try body(engine)
        } catch let error as StoreError {
            throw Console.failure(error)
        }
    }
}
