import Primitives
import RecordStore
import struct Foundation.UUID
import struct Synchronization.Atomic

/// A receiver of steps. It is called by the threads that commit, in the order of the commits, and
/// must neither wait nor run code of the program.
protocol StepSubscriber: AnyObject, Sendable {
    /// Whether the subscriber uses what transactions record of their changes.
    var needsChanges: Bool { get }
    /// Whether the subscriber runs the completions of steps.
    var runsCompletions: Bool { get }
    func receive(_ step: CommitStep)
    /// A store cannot be followed any more, or the stack is gone.
    func end(_ failure: CoreStoreError?)
}

extension StepSubscriber {
    var runsCompletions: Bool { false }
    func end(_ failure: CoreStoreError?) {}
}

/// Delivers the steps of a stack's commits to any number of subscribers. The view is the first of
/// them whenever it subscribes, so that the others can wait for what it has been given.
///
/// Steps of transactions are delivered in the order in which they held the writer, though their
/// logs may become durable on several threads at once. Other steps may be published at any time:
/// joining them goes by commit numbers.
final class CommitSteps: Sendable {
    private struct State {
        var subscribers: [any StepSubscriber] = []
        /// Why there are no more steps of stores.
        var failures: [UUID: CoreStoreError] = [:]
    }

    /// Tickets in the order of the writers.
    private let turns: TurnQueue
    private let state = Mutex(State())
    private let subscriberCount = Atomic<Int>(0)
    private let changeUserCount = Atomic<Int>(0)

    init(_ schedule: (any Schedule)?) { turns = TurnQueue(schedule) }

    /// Whether transactions have to record what they change. Read when a transaction begins; a
    /// subscriber that comes later receives that transaction's step as an unknown change.
    var areChangesNeeded: Bool { changeUserCount.load(ordering: .sequentiallyConsistent) > 0 }

    var hasSubscribers: Bool { subscriberCount.load(ordering: .sequentiallyConsistent) > 0 }

    /// A subscriber receives every step that is published after this returns. It must read its
    /// first snapshot afterwards. It is told at once of a store that cannot be followed any more.
    func subscribe(_ subscriber: any StepSubscriber) {
        let failures = state.withLock { state in
            // Views run completions.
            let place =
                subscriber.runsCompletions
                ? state.subscribers.startIndex : state.subscribers.endIndex
            state.subscribers.insert(subscriber, at: place)
            count(state.subscribers)
            return state.failures.values
        }
        for failure in failures { subscriber.end(failure) }
    }

    func unsubscribe(_ subscriber: any StepSubscriber) {
        state.withLock { state in
            guard let index = state.subscribers.firstIndex(where: { $0 === subscriber }) else {
                return
            }
            state.subscribers.remove(at: index)
            count(state.subscribers)
        }
    }

    private func count(_ subscribers: [any StepSubscriber]) {
        subscriberCount.store(subscribers.count, ordering: .sequentiallyConsistent)
        changeUserCount.store(
            subscribers.count { $0.needsChanges }, ordering: .sequentiallyConsistent)
    }

    /// A transaction's position in the order. It is reserved while the transaction holds the
    /// writer, and must be published, or skipped with nil.
    func reserve() -> UInt64 { turns.reserve() }

    /// For tests: the schedule decides who continues, from now on.
    func follow(_ schedule: any Schedule) { turns.follow(schedule) }

    /// Delivers the step of a position when all before it have been delivered.
    ///
    /// - Returns: whether a subscriber runs the step's completions. The view may have unsubscribed
    ///   while this waited.
    @discardableResult
    func publish(_ step: CommitStep?, at position: UInt64) -> Bool {
        turns.wait(for: position)
        defer { turns.endTurn() }
        return step.map { publish($0) } ?? false
    }

    /// Delivers a step that has no position among the transactions.
    ///
    /// - Returns: whether a subscriber runs the step's completions.
    @discardableResult
    func publish(_ step: CommitStep) -> Bool {
        let subscribers = state.withLock { $0.subscribers }
        for subscriber in subscribers { subscriber.receive(step) }
        return subscribers.contains(where: \.runsCompletions)
    }

    /// Tells all subscribers, those to come too, why there will be no more steps of a store.
    func fail(_ failure: CoreStoreError, of store: UUID) {
        let subscribers = state.withLock { state in
            state.failures[store] = failure
            return state.subscribers
        }
        for subscriber in subscribers { subscriber.end(failure) }
    }

    /// Called when a store goes, and when it is followed anew.
    func forgetFailure(of store: UUID) { state.withLock { $0.failures[store] = nil } }

    /// Ends all subscriptions.
    func end() {
        let ended = state.withLock { state in
            defer {
                state.subscribers = []
                count(state.subscribers)
            }
            return state.subscribers
        }
        for subscriber in ended { subscriber.end(nil) }
    }
}
