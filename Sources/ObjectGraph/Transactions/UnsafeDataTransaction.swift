import RecordStore

/// A transaction without a closure, for changes that are made over time; see
/// ``DataStack/beginUnsafe(supportsUndo:sourceIdentifier:name:fileID:line:)``.
///
/// It shows the commits of the moment when it was begun, with its own changes on top, and waits for
/// no other transaction until it commits; only the first object that is created after the storage
/// was opened may wait, to reserve numbers. A commit merges the changes into the commits made
/// meanwhile, property by property: the transaction's values win, and ``conflicts`` names the
/// properties that both had changed. Afterwards the transaction shows the newest commit, and
/// continues. Changes that were never committed are gone with the transaction.
///
/// Use a transaction and its objects on one thread at a time. The library does not enforce this,
/// hence the name.
public final class UnsafeDataTransaction: BaseDataTransaction, @unchecked Sendable {
    let changing: UnsafeContext
    private let line = CommitLine()
    /// The transaction around this one.
    private var parent: UnsafeDataTransaction?
    private var nestedConflicts: [CommitConflict] = []
    /// Whether the transaction moved to what a commit in the background left, and its monitors were
    /// not told yet.
    private var isMoveUntold = false

    required init(stack: DataStack, context: EditingContext, sourceIdentifier: Any?) {
        guard let changing = context as? UnsafeContext else {
            preconditionFailure("an unsafe transaction has a context of its kind")
        }
        self.changing = changing
        super.init(stack: stack, context: context, sourceIdentifier: sourceIdentifier)
    }

    deinit {
        stack.noteObjectsMade(changing.objectsMade)
        changing.end()
    }

    /// Whether groups of changes can be undone.
    public var supportsUndo: Bool { changing.history != nil }

    /// The conflicts of the last commit that succeeded: properties and objects that other commits
    /// had changed since the transaction read them.
    public var conflicts: [CommitConflict] { parent == nil ? line.conflicts : nestedConflicts }

    /// The program says where it is used.
    override var isUsedByCaller: Bool { true }

    override func checkOpen() {
        super.checkOpen()
        takeOver()
        // Questions such as `hasChanges` move the transaction as well, but call nothing.
        if isMoveUntold { tellObservers() }
    }

    public override var hasChanges: Bool {
        takeOver()
        return super.hasChanges
    }

    /// Moves to what the last commit left.
    private func takeOver() {
        guard let landing = line.takeLanding() else { return }
        isMoveUntold = true
        attempt("the state after a commit could not be read.") { () throws(StoreError) in
            try changing.move(to: landing.bases, committed: landing.committed)
        }
    }

    private func attempt(_ message: String, _ body: () throws(StoreError) -> Void) {
        do throws(StoreError) {
            try body()
        } catch {
            changing.fail(error, message)
        }
    }

    /// Tells the transaction's monitors what changed.
    private func tellObservers() {
        isMoveUntold = false
        changing.observers?.tell(sourceIdentifier)
    }

    // MARK: Committing

    /// Commits the changes in the background. The transaction may be used at once. A nested
    /// transaction commits into the outer one.
    ///
    /// - Parameters:
    ///   - durability: how safe the changes are when the completion is called; nil for the
    ///     durability that the storage was added with.
    ///   - completion: called where the stack's view lives, when the view shows the changes; with
    ///     nil also when there was nothing to commit. After an error the transaction keeps its
    ///     changes, but for those that storages have by ``CoreStoreError/partialCommit``.
    @preconcurrency
    public func commit(
        durability: Durability? = nil,
        _ completion: @escaping @Sendable (_ error: CoreStoreError?) -> Void = { _ in }
    ) {
        let outcome: Result<UnsafeChanges, CoreStoreError> = Result {
            () throws(CoreStoreError) in try begunCommit()
        }
        let stack = stack
        @Sendable func end(_ error: CoreStoreError?) {
            stack.viewExecutor.run {
                stack.deliver()
                completion(error)
            }
        }
        switch outcome {
        case .failure(let error): end(error)
        case .success where parent != nil: end(nil)
        case .success(let changes):
            let identifier = UncheckedTransfer(sourceIdentifier)
            line.queue.async { [line] in
                do throws(CoreStoreError) {
                    try line.commit(changes, to: stack, identifier.value, durability)
                    end(nil)
                } catch {
                    end(error)
                }
            }
        }
    }

    /// Commits the changes; returns when they are as safe as the durability says. A nested
    /// transaction commits into the outer one.
    ///
    /// - Parameter durability: how safe the changes are when the call returns; nil for the
    ///   durability that the storage was added with.
    /// - Throws: `.internalError` when the changes break a rule of the schema or cannot be written,
    ///   or when the call is made inside another transaction. The transaction then keeps its
    ///   changes, but for those that storages have by ``CoreStoreError/partialCommit``.
    public func commitAndWait(durability: Durability? = nil) throws(CoreStoreError) {
        guard !stack.writerLock.isHeldByCaller || parent != nil else {
            throw .failure(
                .misuse, "an unsafe transaction was committed inside another transaction")
        }
        let changes = try begunCommit()
        guard parent == nil else { return }
        // Also when this throws: some of the storages may have the commit.
        defer {
            if stack.viewExecutor.isCurrent { stack.deliver() } else { stack.viewSteps.announce() }
        }
        let outcome: Result<Void, CoreStoreError> = line.queue.sync {
            Result { () throws(CoreStoreError) in
                try line.commit(changes, to: stack, sourceIdentifier, durability)
            }
        }
        try outcome.get()
        takeOver()
        tellObservers()
    }

    /// The changes that a commit takes up; those of a nested transaction are in the outer one then.
    private func begunCommit() throws(CoreStoreError) -> UnsafeChanges {
        checkOpen()
        do throws(StoreError) {
            if let failure = changing.failure { throw failure }
            try changing.endGroup()
        } catch {
            let failure = CoreStoreError(error)
            throw changing.hasLogged(failure) ? failure : Self.reported(failure)
        }
        tellObservers()
        do throws(CoreStoreError) {
            try changing.validateDenials(sparesNew: !line.isUnderWay)
        } catch {
            throw Self.reported(error)
        }
        do throws(StoreError) {
            let changes = try changing.freeze()
            if let parent {
                nestedConflicts = try parent.merge(changes)
                try changing.move(
                    to: try parent.frozenStates(of: changes), committed: changes.states)
                parent.tellObservers()
                tellObservers()
            } else {
                line.begin()
            }
            return changes
        } catch {
            throw Self.reported(CoreStoreError(error))
        }
    }

    private static func reported(_ failure: CoreStoreError) -> CoreStoreError {
        Log.error(failure, "an unsafe transaction could not be committed.")
        return failure
    }

    private func merge(_ changes: UnsafeChanges) throws(StoreError) -> [CommitConflict] {
        checkOpen()
        var merge = ChangeMerge(changes, into: changing, over: try frozenStates(of: changes))
        do throws(StoreError) {
            try merge.apply()
            try changing.flush()
        } catch {
            // A part of the merge is undone with the rest.
            changing.refuseCommit(error)
            throw error
        }
        return merge.conflicts
    }

    private func frozenStates(
        of changes: UnsafeChanges
    ) throws(StoreError) -> [ObjectIdentifier: RecordReader] {
        var states: [ObjectIdentifier: RecordReader] = [:]
        for part in changes.parts {
            states[ObjectIdentifier(part.store)] = try changing.frozen(part.store)
        }
        return states
    }

    // MARK: Groups and undoing

    /// Ends a group of changes, which ``undo()`` reverts as a whole, and notifies the transaction's
    /// monitors. Nothing is stored.
    public func flush() {
        checkOpen()
        attempt("the changes of a transaction could not be flushed.") { () throws(StoreError) in
            try changing.endGroup()
        }
        tellObservers()
    }

    /// Runs a closure and then ends the group of changes as ``flush()`` does, unless the closure
    /// throws.
    ///
    /// - Throws: the error of the closure.
    public func flush<Failure: Error>(closure: () throws(Failure) -> Void) throws(Failure) {
        try closure()
        flush()
    }

    /// Discards all changes since the last commit, and all groups that could be undone. A commit
    /// that is under way counts as the last one; if it fails, its changes stay.
    public func rollback() {
        checkOpen()
        attempt("the changes of a transaction could not be taken back.") { () throws(StoreError) in
            try changing.rollBack(keepsCommit: line.isUnderWay)
        }
        tellObservers()
    }

    /// Whether there is a group of changes to revert. Commits and ``rollback()`` discard the
    /// groups, and the oldest ones are discarded when all of them take more than 64 MiB.
    public var canUndo: Bool {
        takeOver()
        return supportsUndo
            && (changing.history?.canUndo == true || changing.changes.isFlushNeeded)
    }

    /// Whether there is a group of changes that was undone, with no changes since.
    public var canRedo: Bool {
        takeOver()
        return changing.history?.canRedo == true && !changing.changes.isFlushNeeded
    }

    /// Reverts the changes since the last ``flush()``, or else those of the group before it.
    /// Objects show their earlier values; those created in the group are deleted, and those deleted
    /// in it exist again. It needs a transaction that supports undo, or an assertion fails.
    public func undo() { goBack(redoes: false) }

    /// Repeats the changes that ``undo()`` reverted last. It needs a transaction that supports
    /// undo, or an assertion fails.
    public func redo() { goBack(redoes: true) }

    private func goBack(redoes: Bool) {
        checkOpen()
        guard supportsUndo else {
            Log.assert(false, "a transaction was begun without support for undoing")
            return
        }
        attempt("changes could not be undone.") { () throws(StoreError) in
            _ = try changing.goBack(redoes: redoes)
        }
        tellObservers()
    }

    // MARK: Nesting

    /// Begins a transaction inside this one: it shows this one's changes, and its commits go to
    /// this one and to no store.
    ///
    /// - Parameters:
    ///   - supportsUndo: whether groups of changes can be undone.
    ///   - sourceIdentifier: passed on to observers, to tell where the changes came from.
    public func beginUnsafe(
        supportsUndo: Bool = false, sourceIdentifier: Any? = nil
    ) -> UnsafeDataTransaction {
        checkOpen()
        let context = UnsafeContext(
            of: stack, parent: changing, supportsUndo: supportsUndo, nil)
        let nested = UnsafeDataTransaction(
            stack: stack, context: context, sourceIdentifier: sourceIdentifier)
        nested.parent = self
        return nested
    }
}

extension DataStack {
    /// Begins a transaction without a closure, for changes that are made over time. It pins the
    /// newest commits and blocks no other transaction:
    ///
    /// ```swift
    /// let transaction = dataStack.beginUnsafe(supportsUndo: true)
    /// let person = transaction.edit(person)
    /// person?.name = "Ada"
    /// transaction.flush()
    /// transaction.undo()
    /// try transaction.commitAndWait()
    /// ```
    ///
    /// - Parameters:
    ///   - supportsUndo: whether groups of changes can be undone.
    ///   - sourceIdentifier: passed on to observers, to tell where the changes came from.
    ///   - name: the transaction's name in ``DataStack/statistics``; nil for the caller's file and
    ///     line.
    ///   - fileID: the file that is named without a name.
    ///   - line: the line that is named without a name.
    public func beginUnsafe(
        supportsUndo: Bool = false, sourceIdentifier: Any? = nil, name: String? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> UnsafeDataTransaction {
        let context = UnsafeContext(
            of: self, parent: nil, supportsUndo: supportsUndo,
            PinPlace(name: name, fileID: fileID, line: line))
        return UnsafeDataTransaction(
            stack: self, context: context, sourceIdentifier: sourceIdentifier)
    }
}
