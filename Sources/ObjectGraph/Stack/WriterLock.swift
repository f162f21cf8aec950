import Foundation
import Primitives
import RecordStore

/// Lets one transaction run at a time, in the order in which they came, and knows which thread
/// runs it. Locks may be joined: they are one from then on.
final class WriterLock: Sendable {
    private struct State {
        var holder: ObjectIdentifier?
        /// The lock that this one has joined: callers of this one continue there.
        var successor: WriterLock?
    }

    private let turns: TurnQueue
    private let state = Mutex(State())
    /// One at a time, so that successors make no circle.
    private static let joining = Mutex(())
    private let schedule: (any Schedule)?

    init(_ schedule: (any Schedule)? = nil) {
        self.schedule = schedule
        turns = TurnQueue(schedule)
    }

    /// For tests: the schedule decides who continues, from now on.
    func follow(_ schedule: any Schedule) { turns.follow(schedule) }

    /// Whether the calling thread runs a transaction.
    var isHeldByCaller: Bool {
        let thread = ObjectIdentifier(Thread.current)
        let (isHeld, successor) = state.withLock { ($0.holder == thread, $0.successor) }
        return successor?.isHeldByCaller ?? isHeld
    }

    func take() {
        turns.wait(for: turns.reserve())
        let thread = ObjectIdentifier(Thread.current)
        let successor = state.withLock { state in
            if state.successor == nil { state.holder = thread }
            return state.successor
        }
        guard let successor else { return }
        turns.endTurn()
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
        if hasJoined { own.turns.endTurn() } else { own.release() }
    }

    /// The lock that those which have joined have become.
    private var last: WriterLock {
        var lock = self
        while let next = lock.state.withLock({ $0.successor }) { lock = next }
        return lock
    }

    func release() {
        // Only its holder joins a lock to another, so that it is still the one that was taken.
        if let successor = state.withLock({ $0.successor }) { return successor.release() }
        state.withLock { $0.holder = nil }
        turns.endTurn()
        schedule?.meet(.gate)
    }
}
