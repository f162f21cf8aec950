import Primitives
import struct Synchronization.Atomic

/// The steps that one subscriber has not taken yet, in the order of their commits.
///
/// A waiting step pins its snapshot, so their number is bounded whether or not the subscriber ever
/// comes: no writer waits for it, and steps are joined instead.
///
/// - While nothing needs the steps apart and none has a completion, they are joined to one.
/// - Apart, more than `separateMax` join from the oldest on, each into the one after it, but those
///   with completions: so a completion still runs when the view shows exactly its commit.
/// - More than `completionMax` are joined to one whatever they have; the completions run in order.
final class StepQueue: StepSubscriber {
    static let separateMax = 16
    static let completionMax = 64

    private struct State {
        var steps: [CommitStep] = []
        var keepsApart = false
        /// The position of the last step that was taken.
        var taken: UInt64 = 0

        var hasCompletions: Bool { steps.contains { !$0.completions.isEmpty } }

        mutating func joinSurplus() {
            guard keepsApart || hasCompletions, steps.count <= StepQueue.completionMax else {
                return joinAll()
            }
            guard steps.count > StepQueue.separateMax,
                let oldest = steps.dropLast().firstIndex(where: { $0.completions.isEmpty })
            else { return }
            steps[oldest + 1] = steps[oldest].joined(with: steps[oldest + 1])
            steps.remove(at: oldest)
        }

        mutating func joinAll() {
            guard let first = steps.first, steps.count > 1 else { return }
            steps = [steps.dropFirst().reduce(first) { $0.joined(with: $1) }]
        }
    }

    private let state = Mutex(State())
    /// So that a fetch takes no lock when there is nothing to take.
    private let isFilled = Atomic<Bool>(false)

    let needsChanges = true
    var isEmpty: Bool { !isFilled.load(ordering: .acquiring) }
    /// The steps, which stay.
    var waiting: [CommitStep] { isEmpty ? [] : state.withLock { $0.steps } }
    var count: Int { state.withLock { $0.steps.count } }

    /// The position of the last step that the subscriber took, and those of the steps that wait:
    /// it stops at no other position among them, since joining only removes some.
    var positions: (taken: UInt64, waiting: [UInt64]) {
        state.withLock { ($0.taken, $0.steps.map(\.position)) }
    }

    /// Whether a step waits that has a completion.
    var hasCompletions: Bool { !isEmpty && state.withLock { $0.hasCompletions } }

    /// Whether the subscriber wants to see each step for itself. Observers do; a view that is only
    /// fetched from does not.
    var keepsApart: Bool {
        get { state.withLock { $0.keepsApart } }
        set { state.withLock { $0.keepsApart = newValue } }
    }

    func receive(_ step: CommitStep) {
        state.withLock { state in
            state.steps.append(step)
            state.joinSurplus()
            isFilled.store(true, ordering: .releasing)
        }
    }

    /// Takes out what the steps say of a store.
    func drop(_ store: AttachedStore) {
        state.withLock { state in
            for index in state.steps.indices {
                state.steps[index].parts.removeAll { $0.store === store }
            }
        }
    }

    /// The oldest step.
    func takeFirst() -> CommitStep? {
        state.withLock { state in
            guard !state.steps.isEmpty else { return nil }
            let step = state.steps.removeFirst()
            state.taken = step.position
            isFilled.store(!state.steps.isEmpty, ordering: .releasing)
            return step
        }
    }

    /// All steps as one.
    ///
    /// - Parameter takesCompletions: with false nothing is taken while a step has a completion.
    func takeAll(takesCompletions: Bool) -> CommitStep? {
        state.withLock { state in
            guard takesCompletions || !state.hasCompletions else { return nil }
            state.joinAll()
            isFilled.store(false, ordering: .releasing)
            guard let step = state.steps.popLast() else { return nil }
            state.taken = step.position
            return step
        }
    }
}
