import Foundation
import Synchronization

/// Lets one transaction run at a time, in the order in which they came, and knows which thread
/// runs it.
final class WriterTurn: Sendable {
    private struct State {
        var nextTicket: UInt64 = 0
        var served: UInt64 = 0
        var holder: ObjectIdentifier?
    }

    private let condition = NSCondition()
    private let state = Mutex(State())

    /// Whether the calling thread runs a transaction.
    var isHeldByCaller: Bool {
        let thread = ObjectIdentifier(Thread.current)
        return state.withLock { $0.holder == thread }
    }

    func take() {
        let ticket = state.withLock { state in
            defer { state.nextTicket += 1 }
            return state.nextTicket
        }
        condition.lock()
        while state.withLock({ $0.served != ticket }) { condition.wait() }
        condition.unlock()
        let thread = ObjectIdentifier(Thread.current)
        state.withLock { $0.holder = thread }
    }

    func give() {
        condition.lock()
        state.withLock { state in
            state.holder = nil
            state.served += 1
        }
        condition.broadcast()
        condition.unlock()
    }
}
