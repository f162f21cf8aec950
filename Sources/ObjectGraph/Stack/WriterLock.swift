import Foundation
import Primitives
import RecordStore

/// Lets one transaction run at a time, in the order in which they came, and knows which thread
/// runs it. Locks may be joined: they are one from then on.
final class WriterLock: Sendable {
    private struct State {
        var nextTicket: UInt64 = 0
        var served: UInt64 = 0
        var holder: ObjectIdentifier?
        /// The lock that this one has joined: callers of this one continue there.
        var successor: WriterLock?
    }

    private let condition = NSCondition()
    private let state = Mutex(State())
    /// One at a time, so that successors make no circle.
    private static let joining = Mutex(())
    private let schedule: (any Schedule)?

    init(_ schedule: (any Schedule)? = nil) { self.schedule = schedule }

    /// Whether the calling thread runs a transaction.
    var isHeldByCaller: Bool {
        let thread = ObjectIdentifier(Thread.current)
        let (isHeld, successor) = state.withLock { ($0.holder == thread, $0.successor) }
        return successor?.isHeldByCaller ?? isHeld
    }

    func take() {
        wait(for: reserve())
        let thread = ObjectIdentifier(Thread.current)
        let successor = state.withLock { state in
            if state.successor == nil { state.holder = thread }
            return state.successor
        }
        guard let successor else { return }
        pass()
        successor.take()
    }

    /// Makes this lock and another one, so that a transaction that has taken either excludes the
    /// other. Waits for the transaction that has this one, and must not be called by it.
    func join(_ other: WriterLock) {
        take()
        let own = last
        let hasJoined = Self.joining.withLock { _ in
            let target = other.last
            guard target !== own else { return false }
            own.state.withLock { state in
                state.holder = nil
                state.successor = target
            }
            return true
        }
        if hasJoined { own.pass() } else { own.release() }
    }

    /// The lock that those which have joined have become.
    private var last: WriterLock {
        var lock = self
        while let next = lock.state.withLock({ $0.successor }) { lock = next }
        return lock
    }

    /// Takes a place in the order for a later wait. The caller must wait for it and give it up.
    func reserve() -> UInt64 {
        state.withLock { state in
            defer { state.nextTicket += 1 }
            return state.nextTicket
        }
    }

    func wait(for ticket: UInt64) {
        if let schedule {
            return schedule.wait(at: ObjectIdentifier(self)) {
                state.withLock { $0.served == ticket }
            }
        }
        condition.lock()
        while state.withLock({ $0.served != ticket }) { condition.wait() }
        condition.unlock()
    }

    func release() {
        // Only its holder joins a lock to another, so that it is still the one that was taken.
        if let successor = state.withLock({ $0.successor }) { return successor.release() }
        state.withLock { $0.holder = nil }
        pass()
        schedule?.meet(.gate)
    }

    /// Serves the next ticket.
    func pass() {
        condition.lock()
        state.withLock { $0.served += 1 }
        condition.broadcast()
        condition.unlock()
        schedule?.wake(ObjectIdentifier(self))
    }
}
