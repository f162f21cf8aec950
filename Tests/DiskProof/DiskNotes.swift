import Foundation
import ObjectGraph
import Primitives

/// The notes of the traced program: each becomes an event of the trace, between the calls before
/// and after it.
final class DiskNotes: Sendable {
    private let file: Mutex<FileHandle>

    init(path: String) throws {
        file = Mutex(try FileHandle(forWritingTo: URL(fileURLWithPath: path)))
    }

    func say(_ note: String) {
        file.withLock { $0.write(Data(note.utf8)) }
    }

    /// Runs a body that makes all acknowledged transactions durable. Returns whether it did.
    @discardableResult
    func task(_ name: String, _ body: () throws -> Void) -> Bool {
        say("start \(name)")
        do {
            try body()
            say("end \(name)")
            return true
        } catch {
            say("stopped \(name) \(code(error))")
            return false
        }
    }

    /// The code of a typed error. Any other error is wrong.
    func code(_ error: any Error) -> String {
        if let code = (error as? CoreStoreError)?.storeError?.code { return code.rawValue }
        if case .userCancelled? = error as? CoreStoreError { return "cancelled" }
        say("wrong: an error without a code: \(error)")
        return "untyped"
    }
}
