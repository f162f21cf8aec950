import Foundation
import ObjectGraph
import Primitives
import Proof

/// An executor whose jobs run one at a time, in the order in which they came; each begins when a
/// weave chooses it.
final class ToldExecutor: SerialExecutor {
    private struct State {
        var nextTicket = 0
        var served = 0
        var thread: ObjectIdentifier?
    }

    private let state = Mutex(State())
    private let weave: Weave

    init(_ weave: Weave) { self.weave = weave }

    func enqueue(_ job: UnownedJob) {
        run { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func run(_ work: @escaping @Sendable () -> Void) {
        let ticket = state.withLock { state in
            defer { state.nextTicket += 1 }
            return state.nextTicket
        }
        let gate = ObjectIdentifier(self)
        weave.begin(isTimed: false) { [self] in
            weave.wait(at: gate) { state.withLock { $0.served == ticket } }
            state.withLock { $0.thread = ObjectIdentifier(Thread.current) }
            work()
            state.withLock { state in
                state.thread = nil
                state.served += 1
            }
            weave.wake(gate)
        }
    }

    func isIsolatingCurrentContext() -> Bool? {
        let thread = ObjectIdentifier(Thread.current)
        return state.withLock { $0.thread == thread }
    }
}

/// Runs tasks on the threads that make or resume them.
final class InlineExecutor: TaskExecutor {
    static let shared = InlineExecutor()

    func enqueue(_ job: UnownedJob) { job.runSynchronously(on: asUnownedTaskExecutor()) }
}

/// An actor that lives where a stack's view does.
actor ViewDweller {
    private let executor: ToldExecutor

    init(_ executor: ToldExecutor) { self.executor = executor }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func run(_ work: @Sendable (isolated ViewDweller) async -> Void) async { await work(self) }
}
