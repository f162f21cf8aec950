import RecordStore

extension DataStack {
    /// Runs a transaction on the calling thread, and returns when its changes are durable.
    ///
    /// Any thread may call it; it waits its turn behind other transactions, and for nothing else.
    /// Where the view lives, the view has moved when it returns. A call from inside another
    /// transaction throws at once.
    ///
    /// - Parameters:
    ///   - task: the changes. An error that it throws discards them all; it is thrown on, the
    ///     program's own wrapped in `.userError`.
    ///   - waitForAllObservers: accepted for its name. Observers are told where the view lives, and
    ///     nobody waits for them.
    ///   - sourceIdentifier: what tells where the changes came from.
    ///   - durability: how safe the changes are when the call returns; nil is what the storage was
    ///     added with.
    /// - Returns: what the task returned. Objects belong to the transaction: fetch them again with
    ///   ``FetchableSource/fetchExisting(_:)``.
    @discardableResult
    public func perform<T>(
        synchronous task: (SynchronousDataTransaction) throws -> T,
        waitForAllObservers: Bool = true, sourceIdentifier: Any? = nil,
        durability: Durability? = nil
    ) throws(CoreStoreError) -> T {
        guard !writerTurn.isHeldByCaller else {
            throw .failure(
                .misuse, "a transaction was begun inside another one on the same thread")
        }
        let result = try run(
            SynchronousDataTransaction(stack: self, sourceIdentifier: sourceIdentifier),
            durability, task)
        if viewExecutor.isCurrent { _ = currentView() }
        return result
    }

    /// Runs a transaction in the background and calls the completion where the view lives, after
    /// the changes are durable and the view has them.
    @preconcurrency
    public func perform<T>(
        asynchronous task: @escaping @Sendable (AsynchronousDataTransaction) throws -> T,
        sourceIdentifier: Any? = nil, durability: Durability? = nil,
        completion: @escaping @Sendable (AsynchronousDataTransaction.Result<T>) -> Void
    ) {
        let identifier = Carried(sourceIdentifier)
        transactionQueue.async { [self] in
            let transaction = AsynchronousDataTransaction(
                stack: self, sourceIdentifier: identifier.value)
            let result: Carried<AsynchronousDataTransaction.Result<T>>
            do throws(CoreStoreError) {
                result = Carried(.success(try run(transaction, durability, task)))
            } catch {
                result = Carried(.failure(error))
            }
            viewExecutor.run { [self] in
                _ = currentView()
                completion(result.value)
            }
        }
    }

    /// The same with separate closures for success and failure.
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

    /// Runs a task in the writer's turn and commits what it did.
    func run<Transaction: BaseDataTransaction, T>(
        _ transaction: Transaction, _ durability: Durability?, _ task: (Transaction) throws -> T
    ) throws(CoreStoreError) -> T {
        do {
            let (result, staged) = try stage(transaction, durability, task)
            try staged?.finish()
            return result
        } catch let error as CoreStoreError {
            if error != .userCancelled { Log.error(error, "a transaction failed.") }
            throw error
        } catch let error as StoreError {
            let failure = CoreStoreError(error)
            Log.error(failure, "a transaction could not be committed.")
            throw failure
        } catch {
            throw .userError(error: error)
        }
    }

    /// What needs the turn. The next transaction begins when this returns, and may share the write
    /// that makes this one durable.
    private func stage<Transaction: BaseDataTransaction, T>(
        _ transaction: Transaction, _ durability: Durability?, _ task: (Transaction) throws -> T
    ) throws -> (T, StagedTransaction?) {
        writerTurn.take()
        defer { writerTurn.give() }
        let context = transaction.context
        defer {
            noteObjectsMade(context.objectsMade)
            context.end()
        }
        let result = try task(transaction)
        if let failure = context.failure { throw failure }
        guard context.hasChanges || !context.links.isEmpty || !context.unflushedDeletions.isEmpty
        else { return (result, nil) }
        try UniqueConflicts(context).resolve()
        try context.validate()
        try context.flush()
        // Resolving and validating read too.
        if let failure = context.failure { throw failure }
        context.keepDeletedRows()
        let staged = StagedTransaction(stack: self)
        for store in stores {
            guard let open = context.openTransaction(for: store) else { continue }
            let commit = try open.stage(durability ?? store.durability)
            let names =
                hasReaders
                ? CommittedChange.Names(
                    updated: context.updatedNames(of: store),
                    deleted: context.removedNames(of: store)) : nil
            staged.add(store, commit, names)
        }
        return (result, staged)
    }
}

/// Carries a value between threads where its owner changes: the task is done with it when the
/// completion receives it.
struct Carried<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
