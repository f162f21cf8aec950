extension DataStack {
    /// The forms for `await`.
    public var async: AsyncNamespace { AsyncNamespace(base: self) }

    /// What `dataStack.async` offers.
    public struct AsyncNamespace: Sendable {
        public let base: DataStack
    }
}

extension DataStack.AsyncNamespace {
    /// Opens a storage.
    @discardableResult
    public func addStorage<T: StorageInterface>(_ storage: T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            base.transactionQueue.async {
                continuation.resume(
                    with: Result { try base.addStorageAndWait(storage) })
            }
        }
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
    ) async throws -> Output {
        let output = try await carried(durability, asynchronous)
        base.deliverIfCurrent()
        return output.value
    }

    private func carried<Output>(
        _ durability: Durability? = nil,
        _ task: @escaping (AsynchronousDataTransaction) throws -> Output
    ) async throws -> Carried<Output> {
        let task = Carried(task)
        return try await withCheckedThrowingContinuation { continuation in
            base.transactionQueue.async {
                let result = Result {
                    Carried(
                        try base.run(
                            AsynchronousDataTransaction.self, nil, durability, task.value))
                }
                base.viewSteps.announce()
                continuation.resume(with: result)
            }
        }
    }

    // MARK: Importing

    // The results are objects of the view, and for use where it lives.

    private func viewObjects<O: CoreStoreObject>(_ ids: [NSManagedObjectID]) async -> [O] {
        let objects: Carried<[O]> = await withCheckedContinuation { continuation in
            base.viewExecutor.run {
                base.deliver()
                continuation.resume(returning: Carried(base.fetchExisting(ids)))
            }
        }
        return objects.value
    }

    private func viewObject<O: CoreStoreObject>(_ id: NSManagedObjectID?) async -> O? {
        let objects: [O] = await viewObjects([id].compactMap { $0 })
        return objects.first
    }

    /// Makes an object from a source; nil when the class does not want it.
    @discardableResult
    public func importObject<O: CoreStoreObject & ImportableObject>(
        _ into: Into<O>, source: O.ImportSource
    ) async throws -> O? {
        let source = Carried(source)
        let id = try await perform { transaction in
            try transaction.importObject(into, source: source.value)?.objectID()
        }
        return await viewObject(id)
    }

    /// Fills an object from a source; throws `.userCancelled` when the object is gone.
    @discardableResult
    public func importObject<O: CoreStoreObject & ImportableObject>(
        _ object: O, source: O.ImportSource
    ) async throws -> O? {
        let source = Carried(source)
        let id = object.objectID()
        try await perform { transaction in
            guard let object = transaction.fetchExisting(id) as O? else {
                try transaction.cancel()
            }
            try transaction.importObject(object, source: source.value)
        }
        return await viewObject(id)
    }

    /// Changes the object that a source names, or makes it; nil when the source is left out.
    @discardableResult
    public func importUniqueObject<O: CoreStoreObject & ImportableUniqueObject>(
        _ into: Into<O>, source: O.ImportSource
    ) async throws -> O? {
        let source = Carried(source)
        let id = try await perform { transaction in
            try transaction.importUniqueObject(into, source: source.value)?.objectID()
        }
        return await viewObject(id)
    }

    /// Changes the objects that sources name, and makes those that there are not; see
    /// ``BaseDataTransaction/importUniqueObjects(_:sourceArray:preProcess:)``.
    @discardableResult
    public func importUniqueObjects<O: CoreStoreObject & ImportableUniqueObject, S: Sequence>(
        _ into: Into<O>, sourceArray: S,
        preProcess:
            @escaping @Sendable (_ mapping: [O.UniqueIDType: O.ImportSource]) throws
            -> [O.UniqueIDType: O.ImportSource]
    ) async throws -> [O] where S.Element == O.ImportSource {
        let sources = Carried(Array(sourceArray))
        let ids = try await perform { transaction in
            try transaction.importUniqueObjects(
                into, sourceArray: sources.value, preProcess: preProcess
            ).map { $0.objectID() }
        }
        return await viewObjects(ids)
    }

    /// The same without a chance to change the sources.
    @discardableResult
    public func importUniqueObjects<O: CoreStoreObject & ImportableUniqueObject, S: Sequence>(
        _ into: Into<O>, sourceArray: S
    ) async throws -> [O] where S.Element == O.ImportSource {
        let sources = Carried(Array(sourceArray))
        let ids = try await perform { transaction in
            try transaction.importUniqueObjects(into, sourceArray: sources.value).map {
                $0.objectID()
            }
        }
        return await viewObjects(ids)
    }
}
