/// State protected by a ``HandoffLock``. Taking the lock moves the state out, and releasing it
/// moves it in, so that no other path reaches it.
final class HandoffState<State: ~Copyable>: @unchecked Sendable {
    private let handoff: HandoffLock
    /// Nil while it is taken.
    private var state: State?

    init(_ state: consuming sending State, _ schedule: (any Schedule)?) {
        handoff = HandoffLock(schedule)
        self.state = consume state
    }

    /// Waits for the state. The caller gives it back with ``release(_:)``, on whatever thread.
    func take() -> State {
        handoff.lock()
        return taken()
    }

    /// The state if it is free now.
    func takeIfFree() -> State? {
        handoff.tryLock() ? taken() : nil
    }

    func release(_ state: consuming State) {
        self.state = consume state
        handoff.unlock()
    }

    /// Lends the state for as long as the body runs.
    func withState<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        handoff.lock()
        defer { handoff.unlock() }
        return try lend(body)
    }

    /// Lends the state if it is free now; nil when it is not.
    func withStateIfFree<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard handoff.tryLock() else { return nil }
        defer { handoff.unlock() }
        return try lend(body)
    }

    private func taken() -> State {
        guard let state = state.take() else {
            preconditionFailure("the state comes and goes with the lock")
        }
        return state
    }

    private func lend<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var state = taken()
        do throws(Failure) {
            let result = try body(&state)
            self.state = consume state
            return result
        } catch {
            self.state = consume state
            throw error
        }
    }
}
