import RecordStore

extension DataStack {
    /// Runs a transaction on the calling thread, and returns when its changes are as safe as
    /// `durability` says. Without changes it returns when the commits that it read are.
    ///
    /// Any thread may call it. It waits for the transactions before it, also until those are as
    /// safe as they asked to be, for the write of the log, and for a checkpoint that has fallen far
    /// behind; for no reader and no observer. Where the view lives, the view shows the changes when
    /// it returns, unless it is called by an observer, or with `waitForAllObservers: false` while
    /// anything is observed.
    ///
    /// - Parameters:
    ///   - task: the changes, made on the calling thread. An error that it throws discards them
    ///     all.
    ///   - waitForAllObservers: whether observers have been notified when a call from where the
    ///     view lives returns. From elsewhere, they will be before anything that is scheduled there
    ///     afterwards. With false they are notified later. No call waits for the view's executor.
    ///   - sourceIdentifier: passed on to observers, to tell where the changes came from.
    ///   - durability: how safe the changes are when the call returns; nil for the durability that
    ///     the storage was added with.
    /// - Returns: the task's result. Objects belong to the transaction: fetch them again with
    ///   `fetchExisting(_:)`.
    /// - Throws: the error of the task, one of the program's own types wrapped in `.userError`;
    ///   `.userCancelled`; `.internalError` when the changes break a rule of the schema or cannot
    ///   be written, or at once when the call is made inside another transaction.
    @discardableResult
    public func perform<T>(
        synchronous task: (SynchronousDataTransaction) throws -> T,
        waitForAllObservers: Bool = true, sourceIdentifier: Any? = nil,
        durability: Durability? = nil
    ) throws(CoreStoreError) -> T {
        guard !writerLock.isHeldByCaller else {
            throw .refusal("a transaction was begun inside another one on the same thread")
        }
        // Also when this throws: some of the storages may have the commit.
        defer {
            if !waitForAllObservers {
                viewSteps.deliverSoon()
            } else if viewExecutor.isCurrent {
                deliver()
            } else {
                viewSteps.announce()
            }
        }
        return try run(
            SynchronousDataTransaction.self, sourceIdentifier, durability, announces: true, task)
    }

    /// Runs a transaction in the background and calls the completion where the view lives, after
    /// the changes are durable. The view shows exactly the transaction's result then: later commits
    /// are seen by later calls, unless more than 64 commits waited, which are then taken as one.
    ///
    /// - Parameters:
    ///   - task: the changes, made on a queue of the stack's own. An error that it throws discards
    ///     them all.
    ///   - sourceIdentifier: passed on to observers, to tell where the changes came from.
    ///   - durability: how safe the changes are when the completion is called; nil for the
    ///     durability that the storage was added with.
    ///   - completion: receives the task's result or an error: that of the task, one of the
    ///     program's own types wrapped in `.userError`; `.userCancelled`; `.internalError` when the
    ///     changes break a rule of the schema or cannot be written.
    @preconcurrency
    public func perform<T>(
        asynchronous task: @escaping @Sendable (AsynchronousDataTransaction) throws -> T,
        sourceIdentifier: Any? = nil, durability: Durability? = nil,
        completion: @escaping @Sendable (AsynchronousDataTransaction.Result<T>) -> Void
    ) {
        let identifier = UncheckedTransfer(sourceIdentifier)
        beginView()
        transactionQueue.async { [self] in
            do throws(CoreStoreError) {
                _ = try run(
                    AsynchronousDataTransaction.self, identifier.value, durability, task
                ) { result in
                    let result = UncheckedTransfer(result)
                    // The stack lives until the program has been told.
                    return { [self] in
                        withExtendedLifetime(self) { completion(.success(result.value)) }
                    }
                }
            } catch {
                awaitEarlierSteps()
                viewSteps.call { [self] in
                    withExtendedLifetime(self) { completion(.failure(error)) }
                }
            }
        }
    }

    /// Runs a transaction in the background and calls one of two closures where the view lives,
    /// after the changes are durable.
    ///
    /// - Parameters:
    ///   - task: the changes, made on a queue of the stack's own. An error that it throws discards
    ///     them all.
    ///   - sourceIdentifier: passed on to observers, to tell where the changes came from.
    ///   - durability: how safe the changes are when the closure is called; nil for the durability
    ///     that the storage was added with.
    ///   - success: receives the task's result.
    ///   - failure: receives the error: that of the task, one of the program's own types wrapped
    ///     in `.userError`; `.userCancelled`; `.internalError`.
    @preconcurrency
    public func perform<T>(
        asynchronous task: @escaping @Sendable (AsynchronousDataTransaction) throws -> T,
        sourceIdentifier: Any? = nil, durability: Durability? = nil,
        success: @escaping @Sendable (T) -> Void,
        failure: @escaping @Sendable (CoreStoreError) -> Void
    ) {
        perform(
            asynchronous: task, sourceIdentifier: sourceIdentifier, durability: durability
        ) { result in
            switch result {
            case .success(let value): success(value)
            case .failure(let error): failure(error)
            }
        }
    }

    // MARK: Running

    /// Runs a task under the writer lock and commits what it did.
    ///
    /// - Parameter announces: whether the caller announces the step when this returns or throws.
    /// - Parameter completion: makes the closure that runs when the view shows the commit.
    func run<Transaction: BaseDataTransaction, T>(
        _ type: Transaction.Type, _ sourceIdentifier: Any?, _ durability: Durability?,
        announces: Bool = false, _ task: (Transaction) throws -> T,
        completion: ((T) -> @Sendable () -> Void)? = nil
    ) throws(CoreStoreError) -> T {
        let context = TransactionContext(of: self)
        do {
            let transaction = Transaction(
                stack: self, context: context, sourceIdentifier: sourceIdentifier)
            let (result, staged, read) = try stage(transaction, context, durability, task)
            staged?.isAnnounced = announces
            do {
                for commit in read { try commit.finish() }
            } catch {
                // Others wait for its turn.
                _ = try? staged?.finish()
                throw error
            }
            let completion = completion?(result)
            let isAttached = try staged?.finish(completion) ?? false
            if let completion, !isAttached { viewSteps.call(completion) }
            return result
        } catch let error as CoreStoreError {
            if !error.isOfProgram && !context.hasLogged(error) && !Log.hasLogged(error) {
                Log.error(error, "a transaction failed.")
            }
            throw error
        } catch let error as StoreError {
            let failure = CoreStoreError(error)
            if !context.hasLogged(failure) {
                Log.error(failure, "a transaction could not be committed.")
            }
            throw failure
        } catch {
            throw .userError(error: error)
        }
    }

    /// Returns when the steps of the commits that a transaction may have read are on their way to
    /// the view. Called where one has failed and its completion may look for what it has found; one
    /// that succeeds has a turn of its own.
    func awaitEarlierSteps() {
        if steps.hasSubscribers { steps.publish(nil, at: steps.reserve()) }
    }

    /// The part of a transaction that needs the writer lock. The next transaction begins when this
    /// returns, and may share the write that makes this one durable.
    ///
    /// - Returns: for a transaction without changes a turn without a step, so that nothing of it is
    ///   told before the steps of earlier ones, whose changes it may have read, and the commits
    ///   that it has to wait for.
    func stage<Transaction: BaseDataTransaction, T>(
        _ transaction: Transaction, _ context: TransactionContext, _ durability: Durability?,
        _ task: (Transaction) throws -> T
    ) throws -> (T, StagedTransaction?, read: [StagedRecordCommit]) {
        writerLock.take()
        defer { writerLock.release() }
        defer {
            noteObjectsMade(context.objectsMade)
            context.end()
        }
        let result = try task(transaction)
        if let failure = context.failure { throw failure }
        guard !context.changes.isEmpty else {
            let turn =
                steps.hasSubscribers ? StagedTransaction(steps: steps, sourceIdentifier: nil) : nil
            return (result, turn, try stageUnchanged(stores, context, durability))
        }
        try context.complete()
        context.changes.loadDeletedRows()
        let staged = StagedTransaction(
            steps: steps, sourceIdentifier: SourceIdentifier(transaction.sourceIdentifier))
        var used = stores.filter { context.openTransaction(for: $0) != nil }
        // Storages that were only read have no part in what may fail halfway: what was read there
        // is safe before anything is staged.
        if used.count > 1 {
            let changed = used.filter { context.openTransaction(for: $0)?.hasChanges == true }
            let unchanged = used.filter { store in !changed.contains { $0 === store } }
            for commit in try stageUnchanged(unchanged, context, durability) {
                try commit.finish()
            }
            used = changed
        }
        for (index, store) in used.enumerated() {
            guard let open = context.openTransaction(for: store) else { continue }
            do throws(StoreError) {
                staged.add(store, try open.stage(durability ?? store.durability))
            } catch {
                throw staged.finish(without: Array(used[index...]), error)
            }
        }
        return (result, staged, [])
    }

    /// The commits that a transaction has read in stores which it did not change. Earlier
    /// transactions may not have waited for them, and a program that finds its work done there
    /// takes it for durable.
    private func stageUnchanged(
        _ stores: [AttachedStore], _ context: TransactionContext, _ durability: Durability?
    ) throws(StoreError) -> [StagedRecordCommit] {
        var read: [StagedRecordCommit] = []
        for store in stores {
            let durability = durability ?? store.durability
            guard durability != .relaxed, let open = context.openTransaction(for: store) else {
                continue
            }
            // There is no write of its own that it could share.
            read.append(try open.stage(.durable))
        }
        return read
    }
}

/// Carries a value between threads where its owner changes: the task is done with it when the
/// completion receives it.
struct UncheckedTransfer<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
