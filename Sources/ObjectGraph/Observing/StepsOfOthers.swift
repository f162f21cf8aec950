import RecordStore

/// The step of one transaction for the other stacks that share its stores.
///
/// Their turns are one, so that a position that is reserved here is in the same order as those of
/// their own transactions.
final class StepsOfOthers {
    private struct Recipient {
        let steps: CommitSteps
        let viewSteps: ViewSteps
        let position: UInt64
    }

    private var recipients: [Recipient] = []
    private let own: CommitSteps

    /// Made while the transaction holds the writer.
    init(besides own: CommitSteps) { self.own = own }

    /// Reserves a position in each stack that has the store as well.
    func add(_ store: AttachedStore) {
        for user in store.shared?.others(than: own) ?? []
        where !recipients.contains(where: { $0.steps === user.steps }) {
            recipients.append(
                Recipient(
                    steps: user.steps, viewSteps: user.viewSteps,
                    position: user.steps.reserve()))
        }
    }

    /// Tells what was committed. A stack that came since the positions were reserved only hears
    /// that something changed: its order does not have this transaction, and may have a later one
    /// already, which then counted as unknown.
    func publish(_ parts: [CommitStep.Part], _ sourceIdentifier: SourceIdentifier?) {
        var known: [CommitSteps] = []
        for recipient in recipients {
            known.append(recipient.steps)
            let parts = parts.compactMap { Self.part($0, for: recipient.steps) }
            let step =
                parts.isEmpty || !recipient.steps.hasSubscribers
                ? nil
                : CommitStep(parts, origin: .transaction, sourceIdentifier: sourceIdentifier)
            recipient.steps.publish(step, at: recipient.position)
            // Also where the commit was made on the thread of the other view.
            if step != nil { recipient.viewSteps.deliverSoon() }
        }
        for part in parts {
            for user in part.store.shared?.others(than: own) ?? []
            where user.steps.hasSubscribers && !known.contains(where: { $0 === user.steps }) {
                let late = CommitStep.Part(
                    store: user.store, snapshot: part.snapshot, content: .unknown)
                user.steps.publish(CommitStep([late], origin: .transaction))
                user.viewSteps.deliverSoon()
            }
        }
    }

    /// Whether anything is to be told, so that snapshots are needed.
    func hasReaders(of stores: [AttachedStore]) -> Bool {
        recipients.contains { $0.steps.hasSubscribers }
            || stores.contains { store in
                store.shared?.others(than: own).contains { $0.steps.hasSubscribers } ?? false
            }
    }

    /// The share of a store as another stack has it attached; nil when it has left.
    private static func part(
        _ part: CommitStep.Part, for steps: CommitSteps
    ) -> CommitStep.Part? {
        guard let user = part.store.shared?.user(of: steps) else { return nil }
        return CommitStep.Part(
            store: user.store, snapshot: part.snapshot, content: part.content,
            previous: part.previous)
    }
}
