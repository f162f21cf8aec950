import Primitives
import RecordStore

/// The effect of one commit, or of several joined ones, on the stores of a stack: everything that a
/// subscriber needs to move from the commit before to this one.
struct CommitStep: Sendable {
    /// The share of one store.
    struct Part: Sendable {
        let store: AttachedStore
        /// The store exactly as the commit left it. Reading it beside the snapshot that the
        /// subscriber has shows what changed.
        var snapshot: RecordSnapshot
        var content: Content
        /// The number of the commit since which changes are recorded: that of the transaction
        /// before.
        fileprivate(set) var previous: UInt64
        /// The number of the first commit whose changes the content joins.
        fileprivate var earliest: UInt64
        /// Changes that were computed where the content does not have them.
        private var found = FoundChanges()

        /// - Parameter previous: 0 for a step that records no changes, and where a subscriber
        ///   cannot have missed a transaction.
        init(
            store: AttachedStore, snapshot: RecordSnapshot, content: Content, previous: UInt64 = 0
        ) {
            self.store = store
            self.snapshot = snapshot
            self.content = content
            self.previous = previous
            earliest = snapshot.commitNumber
        }

        /// The content for a subscriber that has a commit. A stack that added the file while a
        /// commit was on its way may receive the next one before it, or without it. A subscriber
        /// that began at one of several joined commits has some of their changes already: what
        /// was created in it and deleted since is in no joined set.
        ///
        /// - Parameter number: the commit's number.
        func content(since number: UInt64) -> Content {
            guard case .changes = content else { return content }
            let isInside = number >= earliest && number < snapshot.commitNumber
            return previous > number || isInside ? .unknown : content
        }

        /// The changes since a commit that a subscriber has. They are computed by comparing the
        /// leaves that were written where no transaction of the stack recorded them.
        func changes(since before: RecordSnapshot) -> ChangeSet {
            if case .changes(let changes) = content(since: before.commitNumber) { return changes }
            return found.changes(from: before, to: snapshot)
        }
    }

    enum Content: Sendable {
        /// These objects changed and no others. Of a hierarchy with very many changes the set
        /// says no more than that; subscribers compare.
        case changes(ChangeSet)
        /// Any object may have changed: the commit was made elsewhere, or nothing recorded its
        /// changes. Subscribers compare with the commit that they have:
        /// ``Part/changes(since:)``.
        case unknown
        /// Nothing changed. The commit is stored elsewhere in the file, and a reader that moves
        /// there frees the space of the former pages.
        case relocation
    }

    enum Origin: Sendable {
        /// A transaction of this stack.
        case transaction
        /// A process that writes a file which this stack has opened for reading.
        case otherProcess
        /// A checkpoint, or a refresh.
        case maintenance
    }

    var parts: [Part]
    var origin: Origin
    /// The identifier that the program gave the transaction. Nil when joined transactions have
    /// different ones.
    var sourceIdentifier: SourceIdentifier?
    /// The place among the steps that the view received: that of the last one that this covers.
    var position: UInt64 = 0
    /// Whether the thread that publishes the step has the lists take it directly afterwards, so
    /// that no other one need be woken for it.
    var isAnnounced = false
    /// To be run when the step has been delivered, in this order.
    var completions: [@Sendable () -> Void] = []

    init(
        _ parts: [Part], origin: Origin, sourceIdentifier: SourceIdentifier? = nil,
        completion: (@Sendable () -> Void)? = nil
    ) {
        self.parts = parts
        self.origin = origin
        self.sourceIdentifier = sourceIdentifier
        completions = completion.map { [$0] } ?? []
    }

    /// The net change of this step and the one after it.
    func joined(with later: CommitStep) -> CommitStep {
        var step = self
        for part in later.parts {
            if let index = parts.firstIndex(where: { $0.store === part.store }) {
                step.parts[index] = parts[index].joined(with: part)
            } else {
                step.parts.append(part)
            }
        }
        step.position = max(position, later.position)
        step.completions += later.completions
        switch (origin, later.origin) {
        case (.maintenance, _):
            (step.origin, step.sourceIdentifier) = (later.origin, later.sourceIdentifier)
        case (_, .maintenance): break
        default:
            if later.origin == .otherProcess { step.origin = .otherProcess }
            if sourceIdentifier != later.sourceIdentifier { step.sourceIdentifier = nil }
        }
        return step
    }
}

extension CommitStep.Content {
    /// - Parameter changes: what a commit recorded; nil for nothing.
    init(_ changes: ChangeSet?) {
        if let changes, !changes.isUnknown { self = .changes(changes) } else { self = .unknown }
    }
}

extension CommitStep.Part {
    /// A relocation and an unknown change may be published before the steps of commits that they
    /// show, so the order of the numbers counts and not that of the arrival.
    fileprivate func joined(with later: CommitStep.Part) -> CommitStep.Part {
        var part = later
        let (number, laterNumber) = (snapshot.commitNumber, later.snapshot.commitNumber)
        switch (content, later.content) {
        case (.changes(var changes), .changes(let others)):
            changes.join(others)
            part.content = later.previous > number ? .unknown : CommitStep.Content(changes)
            (part.previous, part.earliest) = (previous, earliest)
        case (.relocation, .relocation):
            part.content = number == laterNumber ? .relocation : .unknown
        case (.changes, .relocation):
            part.content = number == laterNumber ? content : .unknown
            (part.previous, part.earliest) = (previous, earliest)
        case (.relocation, .changes): if number > laterNumber { part.content = .unknown }
        case (.unknown, _), (_, .unknown): part.content = .unknown
        }
        // Of one commit, the snapshot of a relocation keeps less of the file from being reused.
        if number > laterNumber { part.snapshot = snapshot }
        if number == laterNumber, case .relocation = content { part.snapshot = snapshot }
        return part
    }
}

/// The last comparison of two commits: several lists of a stack ask for the same one.
private final class FoundChanges: Sendable {
    private let last = Mutex<(before: UInt64, after: UInt64, changes: ChangeSet)?>(nil)

    func changes(from before: RecordSnapshot, to after: RecordSnapshot) -> ChangeSet {
        last.withLock { last in
            if let last, last.before == before.commitNumber, last.after == after.commitNumber {
                return last.changes
            }
            // The subscriber that then fetches everything again reports the error.
            let changes = (try? ChangeSet.between(before, after)) ?? .unknown
            last = (before.commitNumber, after.commitNumber, changes)
            return changes
        }
    }
}

/// The source identifier of a transaction: any value of the program's, which the library only
/// compares and hands on.
struct SourceIdentifier: @unchecked Sendable, Equatable {
    let value: Any

    init?(_ value: Any?) {
        guard let value else { return nil }
        self.value = value
    }

    /// Values are equal by their own meaning, or are the same object.
    static func == (left: SourceIdentifier, right: SourceIdentifier) -> Bool {
        if let left = left.value as? AnyHashable, let right = right.value as? AnyHashable {
            return left == right
        }
        guard type(of: left.value) is AnyClass, type(of: right.value) is AnyClass else {
            return false
        }
        return left.value as AnyObject === right.value as AnyObject
    }
}
