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

    /// Prints until it is ended, by default with the process.
    @discardableResult
    package static func begin(
        _ kind: String, every seconds: Double = 60,
        _ print: @escaping @Sendable (String) -> Void = {
            FileHandle.standardError.write(Data("\($0)\n".utf8))
        }
    ) -> ProofProgress {
        let progress = ProofProgress()
        current.withLock { $0 = progress }
        let thread = Thread {
            while current.withLock({ $0 === progress }) {
                Thread.sleep(forTimeInterval: seconds)
                print("\(kind): \(progress.line)")
            }
        }
        thread.start()
        return progress
    }

    package func end() { Self.current.withLock { if $0 === self { $0 = nil } } }

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
