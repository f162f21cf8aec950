import Primitives
import Query
import RecordStore
import struct Synchronization.Atomic

/// The lists of a stack that are observed. Equal ones are kept once.
final class ListShares: Sendable {
    /// Where lists report what they could not read.
    let faults: StorageFaults

    init(_ faults: StorageFaults, _ schedule: (any Schedule)?) {
        self.faults = faults
        computing = RecursiveLock(schedule)
    }

    private struct Entry {
        weak var share: ListShare?
        let name: ObjectIdentifier
        /// Nil for one that no other observer may use yet, or any more.
        var key: ListKey?
    }

    /// Guards computation alone: no code of the program runs with it held, but that of sections
    /// that are computed.
    private let computing: RecursiveLock
    /// What the program's logger is told when the lock is open again.
    private let messages = Mutex<[@Sendable () -> Void]>([])
    private let hasMessages = Atomic<Bool>(false)
    private let entries = Mutex<[Entry]>([])
    private let liveCount = Atomic<Int>(0)

    var count: Int { liveCount.load(ordering: .sequentiallyConsistent) }
    var isEmpty: Bool { count == 0 }

    func compute<Result>(_ body: () throws -> Result) rethrows -> Result {
        computing.lock()
        defer { if computing.unlock() { sendMessages() } }
        return try body()
    }

    /// Keeps a call of the program's logger for when the lock of computation is open, which others
    /// wait for; called with it.
    func log(_ message: @escaping @Sendable () -> Void) {
        messages.withLock { $0.append(message) }
        hasMessages.store(true, ordering: .sequentiallyConsistent)
    }

    private func sendMessages() {
        guard hasMessages.exchange(false, ordering: .sequentiallyConsistent) else { return }
        let kept = messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
        for message in kept { message() }
    }

    private var all: [ListShare] { entries.withLock { $0.compactMap(\.share) } }

    /// Has all lists take a step; called with the lock of computation.
    ///
    /// - Parameter waiting: the steps that the view has not taken; not yet this one.
    func take(_ step: CommitStep, _ waiting: StepQueue) {
        guard !isEmpty, !step.parts.isEmpty else { return }
        for share in all { share.take(step, waiting) }
    }

    /// Has the lists that are computed on the executor take the step that is delivered next.
    func takeDelivered(_ step: CommitStep) {
        guard !isEmpty else { return }
        let bound = all.filter(\.isBound)
        // The executor does not wait for a computation that it has no part in.
        guard !bound.isEmpty else { return }
        compute { for share in bound { share.takeDelivered(step) } }
    }

    /// Has all lists show what they are after the step of a position.
    func show(_ position: UInt64) {
        guard !isEmpty else { return }
        for share in all { share.show(position) }
    }

    /// - Parameter key: what others find the list by.
    func add(_ share: ListShare, _ key: ListKey?) {
        entries.withLock { entries in
            entries.append(Entry(share: share, name: ObjectIdentifier(share), key: key))
            liveCount.store(entries.count, ordering: .sequentiallyConsistent)
        }
    }

    /// The newest list of a key that shows what the view does.
    func share(_ key: ListKey) -> ListShare? {
        entries.withLock { entries in
            for entry in entries.reversed() where entry.key == key {
                if let share = entry.share, !share.isBehind { return share }
            }
            return nil
        }
    }

    /// Lets others find a list.
    func name(_ share: ListShare, _ key: ListKey) {
        let name = ObjectIdentifier(share)
        entries.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.name == name }) else { return }
            entries[index].key = key
        }
    }

    func remove(_ share: ListShare) {
        let name = ObjectIdentifier(share)
        entries.withLock { entries in
            entries.removeAll { $0.name == name }
            liveCount.store(entries.count, ordering: .sequentiallyConsistent)
        }
    }
}

/// The terms that two observers must have in common to share a list.
struct ListKey: Hashable {
    /// Of the attached stores: a storage that was removed and added again is another one.
    var stores: [ObjectIdentifier]
    var entityName: EntityName
    var fetch: FetchRequest
    var section: SectionRule.Name
    var watchedPaths: [[String]]
}
