import Foundation
import Primitives
import RecordStore

/// Lets threads continue one at a time, in the order in which they took their tickets.
final class TurnQueue: Sendable {
    private struct State {
        var nextTicket: UInt64 = 0
        var served: UInt64 = 0
        var schedule: (any Schedule)?
    }

    private let condition = NSCondition()
    private let state: Mutex<State>

    init(_ schedule: (any Schedule)? = nil) { state = Mutex(State(schedule: schedule)) }

    /// For tests: the schedule decides who continues, from now on.
    func follow(_ schedule: any Schedule) { state.withLock { $0.schedule = schedule } }

    /// Takes a ticket for a later turn. The caller must wait for the turn and end it.
    func reserve() -> UInt64 {
        state.withLock { state in
            defer { state.nextTicket += 1 }
            return state.nextTicket
        }
    }

    func wait(for ticket: UInt64) {
        if let schedule = state.withLock({ $0.schedule }) {
            schedule.wait(at: ObjectIdentifier(self)) { isTurn(of: ticket) }
            return
        }
        condition.lock()
        while !isTurn(of: ticket) { condition.wait() }
        condition.unlock()
    }

    private func isTurn(of ticket: UInt64) -> Bool { state.withLock { $0.served == ticket } }

    /// Ends the turn of the ticket that was waited for.
    func endTurn() {
        condition.lock()
        let schedule = state.withLock { state in
            state.served += 1
            return state.schedule
        }
        condition.broadcast()
        condition.unlock()
        schedule?.wake(ObjectIdentifier(self))
    }
}
