/// How an object differs from what its context reads: what it is to the commit (stored, inserted,
/// updated, deleted), and what of it still has to be handed to the record transaction.
///
/// Invariants:
/// 1. `isPending` is true from the first change after a flush to the next flush. The context's list
///    of pending objects contains every pending object, and may contain others.
/// 2. `isOpen` implies `isRowPending`, and that implies `isPending`. While an object is open, its
///    row is in memory and a write needs no more than its bit. Only ``inserting``, the states that
///    end in `Row`, and ``reverting`` have a pending row; ``reverting`` is not open, so that the
///    next write counts as a change again.
/// 3. Every state but ``inserting`` has a record that the context's reader finds, or had one.
/// 4. An object whose `kind` is `inserted` or `updated` is listed in its context or has an entry in
///    `EvictedChanges`, never both.
/// 5. ``deleted`` is final except for a rewind. Values assigned to a deleted object stay in it
///    and reach no store.
///
/// `after(_:)` is the table of legal transitions.
enum ObjectChangeState: UInt8, CaseIterable, Sendable {
    /// As the context's reader has it. All objects of a view are, unless they are deleted.
    case stored
    /// Created; no record yet.
    case inserting
    /// Created, and flushed.
    case inserted
    /// Created and flushed; links have changed since.
    case insertedLinks
    /// Created and flushed; the row has changed since.
    case insertedRow
    /// Nothing is flushed; only links have changed.
    case updatingLinks
    /// Nothing is flushed; the row has changed.
    case updatingRow
    /// Updated, and flushed.
    case updated
    /// Updated and flushed; links have changed since.
    case updatedLinks
    /// Updated and flushed; the row has changed since.
    case updatedRow
    /// Has its committed values again, which are still to overwrite what was flushed.
    case reverting
    /// Deleted, here or in the commit that the view shows.
    case deleted

    /// The commit's operation for an object.
    enum Kind: Sendable {
        case stored, inserted, updated, deleted
    }

    enum Event: UInt8, CaseIterable, Sendable {
        /// The transaction created the object.
        case create
        /// A value of the row is about to be assigned.
        case writeRow
        /// A link that is not in the row is about to change.
        case changeLinks
        /// The batch that has the object's pending changes was made.
        case flush
        /// The transaction, or a commit that the view takes over, deleted the object.
        case delete
        /// The committed values are in the row again, over others that were flushed.
        case revert
        /// The committed values are there again, and no others were flushed.
        case discard
        /// Discards values like `discard`, but keeps a link cleared that led to an object deleted
        /// in the transaction.
        case discardValues
        /// The object was read again after the context had evicted it as created.
        case restoreInserted
        /// The object was read again after the context had evicted it as updated.
        case restoreUpdated
        /// The context reads another state, such as the one that is undone to; what the object is
        /// to that is said next.
        case rewind
        /// The transaction ended; nothing is pending any more.
        case end
    }

    var kind: Kind {
        switch self {
        case .stored, .reverting: .stored
        case .inserting, .inserted, .insertedLinks, .insertedRow: .inserted
        case .updatingLinks, .updatingRow, .updated, .updatedLinks, .updatedRow: .updated
        case .deleted: .deleted
        }
    }

    /// Whether the object waits to be handed to the record transaction.
    var isPending: Bool {
        switch self {
        case .stored, .inserted, .updated, .deleted: false
        case .inserting, .insertedLinks, .insertedRow, .updatingLinks, .updatingRow,
            .updatedLinks, .updatedRow, .reverting:
            true
        }
    }

    /// Whether the row has values that the record transaction does not have.
    var isRowPending: Bool {
        switch self {
        case .inserting, .insertedRow, .updatingRow, .updatedRow, .reverting: true
        case .stored, .inserted, .insertedLinks, .updatingLinks, .updated, .updatedLinks,
            .deleted:
            false
        }
    }

    /// Whether the next write of a value changes nothing but the row.
    var isOpen: Bool { isRowPending && self != .reverting }

    /// Whether the record transaction has uncommitted changes of a stored object.
    var isUpdateFlushed: Bool {
        switch self {
        case .updated, .updatedLinks, .updatedRow: true
        default: false
        }
    }

    /// The state that an event leads to; nil where the event cannot happen.
    func after(_ event: Event) -> ObjectChangeState? {
        switch event {
        case .create: self == .stored ? .inserting : nil
        case .writeRow: afterWrite
        case .changeLinks: afterLinkChange
        case .flush: isPending ? settled : nil
        case .delete: self == .deleted ? nil : .deleted
        case .revert: self == .updatingRow || self == .updatedRow ? .reverting : nil
        case .discard: isUnflushedUpdate ? .stored : nil
        case .discardValues: isUnflushedUpdate ? .updated : nil
        case .restoreInserted: self == .stored ? .inserted : nil
        case .restoreUpdated: self == .stored ? .updated : nil
        case .rewind: .stored
        case .end: settled
        }
    }

    private var afterWrite: ObjectChangeState {
        switch self {
        case .stored, .updatingLinks, .updatingRow: .updatingRow
        case .inserting: .inserting
        case .inserted, .insertedLinks, .insertedRow: .insertedRow
        case .updated, .updatedLinks, .updatedRow, .reverting: .updatedRow
        case .deleted: .deleted
        }
    }

    private var afterLinkChange: ObjectChangeState {
        switch self {
        case .stored: .updatingLinks
        case .inserted: .insertedLinks
        case .updated: .updatedLinks
        // The row is still to be written too.
        case .reverting: .updatedRow
        case .inserting, .insertedLinks, .insertedRow, .updatingLinks, .updatingRow,
            .updatedLinks, .updatedRow, .deleted:
            self
        }
    }

    private var isUnflushedUpdate: Bool { self == .updatingLinks || self == .updatingRow }

    /// This state without anything pending.
    private var settled: ObjectChangeState {
        switch self {
        case .stored, .reverting: .stored
        case .inserting, .inserted, .insertedLinks, .insertedRow: .inserted
        case .updatingLinks, .updatingRow, .updated, .updatedLinks, .updatedRow: .updated
        case .deleted: .deleted
        }
    }
}
