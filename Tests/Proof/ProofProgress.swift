import Foundation
import Primitives

/// What a proof has tried so far, printed to standard error once a minute. Every report notes its
/// counts here, also that of a part that has not ended.
package final class ProofProgress: Sendable {
    /// That of the process; nil if nothing prints it.
    private static let current = Mutex<ProofProgress?>(nil)

    private let start = ContinuousClock.now
    private let report = Mutex(ProofReport())

    package init() { note("failures", 0) }

    /// Prints until the process ends.
    static func begin(_ kind: String) {
        let progress = ProofProgress()
        current.withLock { $0 = progress }
        let thread = Thread {
            while true {
                Thread.sleep(forTimeInterval: 60)
                FileHandle.standardError.write(Data("\(kind): \(progress.line)\n".utf8))
            }
        }
        thread.start()
    }

    package static func note(_ name: String, _ increment: Int = 1) {
        current.withLock { $0 }?.note(name, increment)
    }

    package func note(_ name: String, _ increment: Int = 1) {
        report.withLock { $0.tally(name, increment) }
    }

    package var line: String {
        let seconds = Int((ContinuousClock.now - start) / .seconds(1))
        return "after \(seconds) s: " + report.withLock { $0.summary }
    }
}
