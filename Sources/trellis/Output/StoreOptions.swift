import ArgumentParser
import PageStore
import RecordStore

/// The arguments of every command.
struct StoreOptions: ParsableArguments {
    @Argument(help: "The store's file.")
    var file: String

    @Flag(help: "Print JSON.")
    var json = false

    /// Opens for reading only. Unreadable parts of the map or the log are in `damage`.
    func openEngine() throws(StoreError) -> Engine {
        try Engine.open(path: file, options: Self.options(.readingDamaged))
    }

    /// Each image of a log is read once, so that few are worth their memory unpacked.
    static func options(_ mode: OpenMode) -> Engine.Options {
        var options = Engine.Options()
        options.mode = mode
        options.versionBytesMax = 4 << 20
        return options
    }

    /// Runs a command on the engine and closes it. A `StoreError` is printed and ends the command
    /// with exit code 1, and so does damage that was met when the file was opened: what the command
    /// printed may lack the newest commits.
    func withEngine(_ body: (Engine) throws -> Void) throws {
        do {
            let engine = try openEngine()
            defer { try? engine.close() }
            for error in engine.damage { Console.warn(error) }
            try body(engine)
            if !engine.damage.isEmpty { throw ExitCode(1) }
        } catch let error as StoreError {
            throw Console.failure(error)
        }
    }
}
