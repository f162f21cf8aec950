import RecordStore

/// The editing context of a transaction that holds the writer: it reads a store by the write
/// transaction, hands changes to that whenever a fetch needs them, and evicts what has been handed
/// over when the changed objects outgrow their share of memory. A store that is open for reading is
/// read as by the view, and a change to an object of it is an error of the commit.
final class TransactionContext: RecordingContext {
    private final class Access: EditedAccess {
        let transaction: RecordTransaction

        init(_ store: AttachedStore, _ transaction: RecordTransaction, _ evicted: EvictedTable) {
            self.transaction = transaction
            super.init(store, editor: transaction, evicted)
        }
    }

    /// All of the context's accesses, as what they are.
    private var writes: [Access] = []
    /// The write transaction of the stack's only store, where it is the caller's to end.
    private let lent: RecordTransaction?

    /// - Parameter lent: the write transaction of the stack's only store; nil for transactions that
    ///   the context begins itself.
    init(of stack: DataStack, in lent: RecordTransaction? = nil) {
        self.lent = lent
        super.init(of: stack)
    }

    /// The objects that unique conflicts replaced; nil where nothing asks for them.
    private(set) var replacements: [CommitConflict]?

    override var editedAccesses: [EditedAccess] { writes }

    override func openAccess(to store: AttachedStore) throws(StoreError) -> StoreAccess {
        guard !store.isDetached else {
            throw StoreError(.closed, "the storage of this object was removed from its stack")
        }
        guard !store.database.isReadOnly else {
            return StoreAccess(store, try store.database.snapshot())
        }
        // A subscriber that comes later receives an unknown change.
        var isRecorded = false
        if let steps = stack?.steps {
            isRecorded =
                steps.areChangesNeeded || store.shared?.areChangesNeeded(besides: steps) == true
        }
        let transaction: RecordTransaction
        if let lent {
            transaction = lent
            // What a migration did is for its checks.
            _ = lent.takeShortenedLists()
        } else {
            transaction = try store.database.beginWrite(notesChanges: isRecorded)
        }
        let access = Access(store, transaction, changes.open(store))
        // Assigned and not changed in its place, as `accesses` is.
        writes = writes + [access]
        return access
    }

    /// The write transaction of a store, begun at the first use. Throws `readOnly` for a store that
    /// is open for reading.
    func transaction(for store: AttachedStore) throws(StoreError) -> RecordTransaction {
        if let open = openTransaction(for: store) { return open }
        _ = try access(to: store)
        guard let open = openTransaction(for: store) else { throw Self.readOnlyError(store) }
        return open
    }

    /// The write transaction of a store that was used.
    func openTransaction(for store: AttachedStore) -> RecordTransaction? {
        for access in writes where access.store === store { return access.transaction }
        return nil
    }

    /// The commit that the transaction goes on from. It may still be on its way to the disk, so
    /// that no snapshot shows it yet.
    override func readerBefore(for store: AttachedStore) throws(StoreError) -> RecordReader {
        let access = try access(to: store)
        if let open = openTransaction(for: store) { return try open.before }
        // A store that is open for reading has no changes to leave out.
        return access.reader
    }

    private static func readOnlyError(_ store: AttachedStore) -> StoreError {
        StoreError(
            .readOnly, "the store was opened for reading only",
            path: (store.storage as? any LocalStorage)?.fileURL.path)
    }

    /// A change to an object of a store that is open for reading would be lost.
    override func willFlush() throws(StoreError) {
        guard accesses.count > writes.count else { return }
        var refused: AttachedStore?
        changes.forEachUnflushed { object in
            if let store = object.raw?.store, store.database.isReadOnly { refused = store }
        }
        if let refused { throw Self.readOnlyError(refused) }
    }

    /// Hands all changes to the write transactions, after conflicts are resolved and rules are
    /// checked.
    func complete() throws {
        let conflicts = UniqueConflicts(self)
        try conflicts.resolve()
        try validate(besides: conflicts.violations)
        try flush()
        // Resolving and validating read too.
        if let failure { throw failure }
    }

    /// Applies changes of records that no object has. Nothing may be pending.
    func apply(
        _ batch: borrowing RecordBatch, to store: AttachedStore
    ) throws(StoreError) {
        do throws(StoreError) {
            try transaction(for: store).apply(batch)
        } catch {
            // As of a flush: what is applied in part is only mended by a rollback.
            refuseCommit(error)
            throw error
        }
    }

    override func takeShortenedLists() -> [ShortenedLists] {
        writes.flatMap { access in
            access.transaction.takeShortenedLists().map { id, owners in
                ShortenedLists(store: access.store, relationshipID: id, owners: owners)
            }
        }
    }

    override func nextNumber(for kind: ObjectKind) throws(StoreError) -> ObjectNumber {
        try transaction(for: kind.store).allocateNumber(in: kind.entity.hierarchy)
    }

    /// An object that is known to exist reads its row when that is first needed: an object that is
    /// only linked to never needs it.
    override func existing(
        _ id: NSManagedObjectID, _ access: StoreAccess
    ) throws(StoreError) -> CoreStoreObject? {
        // Objects that the transaction deleted are retained, and so they are registered.
        if let known = access.registered(id.number, in: id.hierarchy) {
            return known.change == .deleted ? nil : known
        }
        if access.kind(id.entity.tag, in: self).evicted?.isDeletedRecord(id.number) == true {
            return nil
        }
        guard
            try openTransaction(for: access.store)?.isKnownToExist(id.number, of: id.entity) == true
        else { return try object(id.number, in: id.hierarchy, access) }
        return make(id.number, access.kind(id.entity.tag, in: self))
    }

    /// Has the objects that unique conflicts replace listed.
    func listReplacements() { replacements = [] }

    func noteReplacement(
        of loser: CoreStoreObject, by survivor: CoreStoreObject, _ names: [KeyPathString]
    ) {
        guard replacements != nil else { return }
        let kind = CommitConflict.Kind.replaced(by: survivor.objectID(), unique: names)
        replacements?.append(CommitConflict(objectID: loser.objectID(), kind: kind))
    }

    /// Rolls back what was not committed.
    override func end() {
        changes.end()
        changes.loadDeletedRows()
        if lent == nil {
            for access in writes { access.transaction.rollback() }
        }
        writes = []
        super.end()
        changes.forgetDeleted()
    }

    // MARK: Memory

    /// A transaction may change more objects than memory holds: flushes and evicts what has
    /// outgrown the limit. An object that the program still holds goes on as it is; another is read
    /// again when it is asked for, and finds in ``EvictedChanges`` what its record does not say.
    override func makeRoom() throws(StoreError) {
        guard changes.measure() else { return }
        try flush()
        changes.evictListed()
    }
}
