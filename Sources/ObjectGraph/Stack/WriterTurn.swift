import Foundation
import Primitives

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
        wait(for: reserve())
        let thread = ObjectIdentifier(Thread.current)
        state.withLock { $0.holder = thread }
    }

    /// Takes a place in the order for a later wait. The caller must wait for it and give it up.
    func reserve() -> UInt64 {
        state.withLock { state in
            defer { state.nextTicket += 1 }
            return state.nextTicket
        }
    }

    func wait(for ticket: UInt64) {
        condition.lock()
        while state.withLock({ $0.served != ticket }) { condition.wait() }
        condition.unlock()
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
