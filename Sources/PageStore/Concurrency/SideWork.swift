import struct Synchronization.Atomic

/// Work that another thread does beside the caller, or the caller itself if no thread is free: to
/// wait for one could last forever where the system's threads all wait for something.
final class SideWork<Value: Sendable>: Sendable {
    typealias Body = @Sendable (_ isGivenUp: () -> Bool) throws(StoreError) -> Value

    private enum State {
        case offered(Body)
        case taken
        case done(Result<Value, StoreError>)
    }

    private let state: Guarded<State>
    private let finished: HandoffLock
    private let isGivenUp = Atomic(false)

    /// - Parameter body: ends early with any error where it is given up.
    init(_ schedule: (any Schedule)?, _ body: @escaping Body) {
        state = Guarded(.offered(body), schedule)
        finished = HandoffLock(isLocked: true, schedule)
        BackgroundWork(schedule: schedule).beginBeside { self.run() }
    }

    /// The work's value, for which the caller waits once.
    func value() throws(StoreError) -> Value {
        run()
        finished.lock()
        guard case .done(let result) = state.withLock({ $0 }) else {
            preconditionFailure("finished work has a result")
        }
        return try result.get()
    }

    /// Ends the work before its time. No thread does it any more afterwards.
    func giveUp() {
        isGivenUp.store(true, ordering: .relaxed)
        _ = try? value()
    }

    /// Does the work unless a thread has taken it already.
    private func run() {
        guard let result = result() else { return }
        state.withLock { $0 = .done(result) }
        finished.unlock()
    }

    /// Does the work. What it has read is released when this returns, before the caller goes on.
    @inline(never)
    private func result() -> Result<Value, StoreError>? {
        let offered: Body? = state.withLock { state in
            guard case .offered(let body) = state else { return nil }
            state = .taken
            return body
        }
        guard let body = offered else { return nil }
        do throws(StoreError) {
            return .success(try body { isGivenUp.load(ordering: .relaxed) })
        } catch {
            return .failure(error)
        }
    }
}

extension Engine {
    /// Runs a body, and beside it work on another thread if one is free. Both have ended when this
    /// returns or throws: the body's error, or else that of the work.
    ///
    /// - Parameter work: asks from time to time whether it is given up because the body has failed,
    ///   and then ends early with any error.
    package func run<Own, Other: Sendable>(
        _ body: () throws(StoreError) -> Own,
        beside work: @escaping @Sendable (_ isGivenUp: () -> Bool) throws(StoreError) -> Other
    ) throws(StoreError) -> (Own, Other) {
        let side = SideWork(options.schedule, work)
        let own: Own
        do throws(StoreError) {
            own = try body()
        } catch {
            side.giveUp()
            throw error
        }
        return (own, try side.value())
    }
}
