import Primitives

extension DataStack {
    /// The functions of the stack for `await`.
    public var async: AsyncNamespace { AsyncNamespace(base: self) }

    /// The functions of `dataStack.async`.
    public struct AsyncNamespace: Sendable {
        /// The stack.
        public let base: DataStack
    }
}

/// Whether a sequence of progress has ended.
private final class StreamEnd: Sendable {
    let hasCome = Mutex(false)
}

extension DataStack.AsyncNamespace {
    /// Opens a storage in the background, and migrates its file as
    /// ``DataStack/addStorage(_:completion:)`` does. Returns the attached storage.
    ///
    /// A local storage also has the form that returns a sequence; this one reports no progress.
    ///
    /// - Parameters:
    ///   - storage: the storage to open.
    ///   - isolation: the actor to return to; the caller's own.
    /// - Throws: the error that ``DataStack/addStorage(_:completion:)`` passes to its completion.
    @discardableResult
    public func addStorage<T: StorageInterface>(
        _ storage: T, isolation: isolated (any Actor)? = #isolation
    ) async throws(CoreStoreError) -> T {
        let result: SetupResult<T> = await withCheckedContinuation { continuation in
            base.transactionQueue.async {
                continuation.resume(
                    returning: SetupResult<T> { () throws(CoreStoreError) in
                        try base.add(storage, MigrationTask(nil))
                    })
            }
        }
        return try result.get()
    }

    /// Opens a local storage, and migrates its file where that has an earlier model. Work begins at
    /// once. The sequence yields the migration's progress, then the attached storage, and ends, or
    /// throws the error that ``DataStack/addStorage(_:completion:)`` passes to its completion.
    /// Leaving the loop does not cancel the migration.
    @discardableResult
    public func addStorage<T: LocalStorage>(
        _ storage: T
    ) -> AsyncThrowingStream<MigrationProgress<T>, any Error> {
        let (stream, continuation) = AsyncThrowingStream<MigrationProgress<T>, any Error>
            .makeStream()
        let task = base.plannedTask(storage)
        let progress = task.progress
        // The handler is called where the view lives, hence perhaps after the end.
        let end = StreamEnd()
        if let progress {
            continuation.yield(.migrating(storage: storage, progressObject: progress))
            progress.setProgressHandler { progress in
                end.hasCome.withLock { hasCome in
                    guard !hasCome else { return }
                    continuation.yield(.migrating(storage: storage, progressObject: progress))
                }
            }
        }
        base.transactionQueue.async { [base] in
            let result = Result { () throws(CoreStoreError) in
                try base.add(storage, task)
            }
            end.hasCome.withLock { $0 = true }
            MigrationProgressTable.end(progress, isDone: (try? result.get()) != nil)
            do throws(CoreStoreError) {
                let added = try result.get()
                if let progress {
                    continuation.yield(.migrating(storage: storage, progressObject: progress))
                }
                continuation.yield(.finished(storage: added, migrationRequired: progress != nil))
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        return stream
    }

    /// Runs a transaction in the background; returns when its changes are as safe as the durability
    /// says. To a caller where the view lives the view shows them then. A cancelled task does not
    /// cancel the transaction.
    ///
    /// - Parameters:
    ///   - durability: how safe the changes are when the call returns; nil for the durability that
    ///     the storage was added with.
    ///   - isolation: the actor to return to; the caller's own.
    ///   - asynchronous: the changes, made on a queue of the stack's own. An error that it throws
    ///     discards them all.
    /// - Returns: the closure's result. Objects belong to the transaction: fetch them again with
    ///   `fetchExisting(_:)`.
    /// - Throws: the error of the closure, one of the program's own types wrapped in `.userError`;
    ///   `.userCancelled`; `.internalError` when the changes break a rule of the schema or cannot
    ///   be written.
    @preconcurrency
    public func perform<Output>(
        durability: Durability? = nil, isolation: isolated (any Actor)? = #isolation,
        _ asynchronous: @escaping @Sendable (AsynchronousDataTransaction) throws -> Output
    ) async throws(CoreStoreError) -> Output {
        let output = try await carried(durability, asynchronous)
        base.deliverIfCurrent()
        return output.value
    }

    func carried<Output>(
        _ durability: Durability? = nil,
        _ task: @escaping @Sendable (AsynchronousDataTransaction) throws -> Output
    ) async throws(CoreStoreError) -> UncheckedTransfer<Output> {
        typealias Outcome = Result<UncheckedTransfer<Output>, CoreStoreError>
        let task = UncheckedTransfer(task)
        let outcome: Outcome = await withCheckedContinuation { continuation in
            base.transactionQueue.async {
                let outcome = Result { () throws(CoreStoreError) in
                    UncheckedTransfer(
                        try base.run(
                            AsynchronousDataTransaction.self, nil, durability, announces: true,
                            task.value))
                }
                if case .failure = outcome { base.awaitEarlierSteps() }
                base.viewSteps.announce()
                continuation.resume(returning: outcome)
            }
        }
        return try outcome.get()
    }
}
