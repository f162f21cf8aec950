extension DataStack {
    /// The forms for `await`.
    public var async: AsyncNamespace { AsyncNamespace(base: self) }

    /// What `dataStack.async` offers.
    public struct AsyncNamespace: Sendable {
        public let base: DataStack
    }
}

extension DataStack.AsyncNamespace {
    /// Opens a storage in the background, and migrates its file as
    /// ``DataStack/addStorage(_:completion:)`` does. Returns the attached storage.
    ///
    /// A local storage also has the form that returns a sequence; this one reports no progress.
    /// Throws what ``DataStack/addStorage(_:completion:)`` passes to its completion.
    ///
    /// - Parameter isolation: where the caller runs.
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

    /// Opens a local storage, and brings its file to the model where that is an earlier one. It
    /// begins at once: the sequence tells how far the migration is, then that the storage has been
    /// added, and ends. Ending the iteration ends nothing else.
    @discardableResult
    public func addStorage<T: LocalStorage>(
        _ storage: T
    ) -> AsyncThrowingStream<MigrationProgress<T>, any Error> {
        let (stream, continuation) = AsyncThrowingStream<MigrationProgress<T>, any Error>
            .makeStream()
        let progress = base.plannedProgress(storage)
        if let progress {
            continuation.yield(.migrating(storage: storage, progressObject: progress))
            progress.setProgressHandler { progress in
                continuation.yield(.migrating(storage: storage, progressObject: progress))
            }
        }
        base.transactionQueue.async { [base] in
            do throws(CoreStoreError) {
                let added = try base.add(storage, MigrationTask(progress))
                if let progress {
                    MigrationProgressTable.report(progress.totalUnitCount, of: progress)
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
    /// says, or as the storage was added with. A caller where the view lives finds them there.
    ///
    /// - Parameter isolation: where the caller runs.
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
    ) async throws(CoreStoreError) -> Carried<Output> {
        let task = Carried(task)
        let result: Result<Carried<Output>, CoreStoreError> = await withCheckedContinuation {
            continuation in
            base.transactionQueue.async {
                let result = Result { () throws(CoreStoreError) in
                    Carried(
                        try base.run(
                            AsynchronousDataTransaction.self, nil, durability, task.value))
                }
                base.viewSteps.announce()
                continuation.resume(returning: result)
            }
        }
        return try result.get()
    }
}
