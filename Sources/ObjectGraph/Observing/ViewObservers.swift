import Primitives
import struct Synchronization.Atomic

/// A participant in the deliveries of a stack's steps: a monitor, a publisher, an observed object.
///
/// All calls come where the view lives, and one after the other.
protocol ViewParticipant: AnyObject {
    /// Finds out what a step does to what is observed; false when that is nothing. The view shows
    /// the commit before.
    func prepare(_ delivery: Delivery) -> Bool
    /// Tells observers that something will change. The view shows the commit before.
    func tellBefore(_ delivery: Delivery)
    /// Called with the view's lock held, before the view moves: what is needed of the commit before
    /// is read now. No code of the program may run.
    func keepOld(_ delivery: Delivery)
    /// Moves to the step, as the view just has. Called of all participants, also of those that the
    /// step does not concern and of new ones, with the view's lock held. No code of the program may
    /// run.
    func show(_ delivery: Delivery)
    /// Tells observers what has changed. The view and all participants show the step, as in all
    /// that follows.
    func tellChanges(_ delivery: Delivery)
    /// Tells observers that all changes were told.
    func tellAfter(_ delivery: Delivery)
    /// Storages came or went.
    func storesChanged()
}

extension ViewParticipant {
    func tellBefore(_ delivery: Delivery) {}
    func keepOld(_ delivery: Delivery) {}
    func show(_ delivery: Delivery) {}
    func tellAfter(_ delivery: Delivery) {}
    func storesChanged() {}
}

/// The participants of one stack. It keeps none of them alive.
final class ViewObservers: Sendable {
    /// In which order kinds of participants are told. Those of a kind are told as they came.
    enum Rank: Int, Comparable {
        case monitor, publisher, property

        static func < (left: Rank, right: Rank) -> Bool { left.rawValue < right.rawValue }
    }

    /// A participant is used where the view lives alone, and only named elsewhere.
    private struct Entry: @unchecked Sendable {
        weak var participant: (any ViewParticipant)?
        let name: ObjectIdentifier
        let rank: Rank
    }

    private let entries = Mutex<[Entry]>([])
    private let count = Atomic<Int>(0)
    private let steps: ViewSteps

    init(_ steps: ViewSteps) { self.steps = steps }

    /// Asked by each fetch that finds steps waiting, hence without a lock.
    var isEmpty: Bool { count.load(ordering: .sequentiallyConsistent) == 0 }

    func add(_ participant: any ViewParticipant, _ rank: Rank) {
        let entry = Entry(
            participant: participant, name: ObjectIdentifier(participant), rank: rank)
        entries.withLock { entries in
            let index = entries.firstIndex { $0.rank > rank } ?? entries.count
            entries.insert(entry, at: index)
            note(entries.count)
        }
    }

    /// Called by the participant's `deinit` at the latest.
    func remove(_ participant: any ViewParticipant) {
        let name = ObjectIdentifier(participant)
        entries.withLock { entries in
            entries.removeAll { $0.name == name }
            note(entries.count)
        }
    }

    private func note(_ count: Int) {
        self.count.store(count, ordering: .sequentiallyConsistent)
        steps.keepApart(count > 0)
    }

    /// Those that there are, in their order. They live at least until the caller is done.
    var all: [any ViewParticipant] { entries.withLock { $0 }.compactMap(\.participant) }

    /// Those that are not among some participants, but for publishers, in their order.
    func newcomers(to known: [any ViewParticipant]) -> [any ViewParticipant] {
        let names = Set(known.map { ObjectIdentifier($0) })
        return entries.withLock { $0 }
            .filter { $0.rank != .publisher && !names.contains($0.name) }
            .compactMap(\.participant)
    }
}
