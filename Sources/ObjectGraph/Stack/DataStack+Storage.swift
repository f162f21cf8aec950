import RecordStore

extension DataStack {
    /// Opens the program's own store: see ``LocalStore/init()``.
    @discardableResult
    public func addStorageAndWait() throws(CoreStoreError) -> LocalStore {
        try addStorageAndWait(LocalStore())
    }

    /// Opens a storage of a kind with its own defaults.
    @discardableResult
    public func addStorageAndWait(_ type: LocalStore.Type) throws(CoreStoreError) -> LocalStore {
        try addStorageAndWait(LocalStore())
    }

    @discardableResult
    public func addStorageAndWait(
        _ type: InMemoryStore.Type
    ) throws(CoreStoreError) -> InMemoryStore {
        try addStorageAndWait(InMemoryStore())
    }

    /// Opens a storage while the caller waits. The same instance, or another for a file that the
    /// stack has open in the same way, gives the one that is attached.
    ///
    /// Throws `.differentStorageExistsAtURL` for a file that is attached in another way,
    /// `.asynchronousMigrationRequired` or `.internalError` for a file of another model, and
    /// `.internalError` with its ``CoreStoreError/storeError`` for everything else.
    @discardableResult
    public func addStorageAndWait<T: StorageInterface>(
        _ storage: T
    ) throws(CoreStoreError) -> T {
        storageLock.lock()
        defer { storageLock.unlock() }
        do throws(CoreStoreError) {
            return try open(storage)
        } catch {
            Log.error(error, "a storage could not be added.")
            throw error
        }
    }

    /// Opens a storage in the background; the completion is called where the view lives. Returns
    /// nil: there is no progress to follow when nothing is migrated.
    @preconcurrency @discardableResult
    public func addStorage<T: StorageInterface>(
        _ storage: T, completion: @escaping @Sendable (SetupResult<T>) -> Void
    ) -> Progress? {
        transactionQueue.async { [self] in
            let result: SetupResult<T>
            do throws(CoreStoreError) {
                result = .success(try addStorageAndWait(storage))
            } catch {
                result = .failure(error)
            }
            viewExecutor.run { completion(result) }
        }
        return nil
    }

    /// Closes all storages. Objects that were fetched keep their last values; nothing new can be
    /// fetched.
    public func unsafeRemoveAllPersistentStoresAndWait() {
        guard !writerTurn.isHeldByCaller else {
            Log.assert(false, "a transaction cannot close the storages that it changes")
            return
        }
        writerTurn.take()
        defer { writerTurn.give() }
        let detached = detachAll()
        forgetView()
        for store in detached {
            do throws(StoreError) {
                try store.database.close()
            } catch {
                Log.error(CoreStoreError(error), "a storage could not be closed.")
            }
        }
    }

    /// Closes all storages in the background.
    @preconcurrency
    public func unsafeRemoveAllPersistentStores(
        completion: @escaping @Sendable () -> Void = {}
    ) {
        transactionQueue.async { [self] in
            unsafeRemoveAllPersistentStoresAndWait()
            viewExecutor.run(completion)
        }
    }

    // MARK: Opening

    private func open<T: StorageInterface>(_ storage: T) throws(CoreStoreError) -> T {
        if let known = stores.first(where: { $0.storage === storage })?.storage as? T {
            return known
        }
        let location: RecordDatabase.Location
        if let local = storage as? any LocalStorage {
            if let known = try attached(at: local, as: T.self) { return known }
            let isReadOnly = (local as? LocalStore)?.engineOptions.engine.isReadOnly ?? false
            if !isReadOnly { try makeFolder(of: local.fileURL) }
            location = .file(local.fileURL.path)
        } else {
            location = .memory
        }
        let model = model(for: storage.configuration)
        let database = try openDatabase(location, model, storage)
        let store = AttachedStore(storage: storage, database: database, model: model)
        attach(store)
        follow(store)
        return storage
    }

    private func attached<T: StorageInterface>(
        at local: any LocalStorage, as type: T.Type
    ) throws(CoreStoreError) -> T? {
        Log.assert(local.fileURL.isFileURL, "a local storage has a file URL")
        let path = local.fileURL.standardizedFileURL.path
        for store in stores {
            guard let other = store.storage as? any LocalStorage,
                other.fileURL.standardizedFileURL.path == path
            else { continue }
            if let known = other as? T, other.configuration == local.configuration {
                return known
            }
            throw .differentStorageExistsAtURL(existingPersistentStoreURL: local.fileURL)
        }
        return nil
    }

    private func makeFolder(of url: URL) throws(CoreStoreError) {
        do {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        } catch {
            let code: StoreError.Code =
                switch (error as? CocoaError)?.code {
                case .fileWriteNoPermission?, .fileWriteVolumeReadOnly?: .permissionDenied
                case .fileWriteOutOfSpace?: .diskFull
                default: .io
                }
            throw CoreStoreError(
                StoreError(
                    code, "the folder of the store cannot be made: \(error.localizedDescription)",
                    path: url.path))
        }
    }

    private func model(for configuration: ModelConfiguration) -> SchemaModel {
        let schema = schemaHistory.current
        guard configuration != nil else { return schema.model }
        return SchemaModel(
            modelVersion: schema.modelVersion, entities: schema.entities(in: configuration))
    }

    private func openDatabase(
        _ location: RecordDatabase.Location, _ model: SchemaModel, _ storage: any StorageInterface
    ) throws(CoreStoreError) -> RecordDatabase {
        do throws(StoreError) {
            let files = (storage as? LocalStore)?.files ?? DiskFileSystem.shared
            let options = (storage as? LocalStore)?.engineOptions ?? EngineOptions()
            return try RecordDatabase.open(
                location, schema: model.description, options: options.engine, files: files)
        } catch {
            guard error.code == .schemaMismatch, let local = storage as? any LocalStorage else {
                throw CoreStoreError(error)
            }
            return try openMismatched(local, location, model, error)
        }
    }

    private func openMismatched(
        _ local: any LocalStorage, _ location: RecordDatabase.Location, _ model: SchemaModel,
        _ mismatch: StoreError
    ) throws(CoreStoreError) -> RecordDatabase {
        let options = local.localStorageOptions
        guard options.contains(.recreateStoreOnModelMismatch) else {
            guard options.contains(.allowSynchronousLightweightMigration) else {
                throw CoreStoreError(mismatch)
            }
            throw .asynchronousMigrationRequired(
                localStoreURL: local.fileURL, NSError: StoreFailure.nsError(mismatch))
        }
        do {
            try FileManager.default.removeItem(at: local.fileURL)
            let options = (local as? LocalStore)?.engineOptions ?? EngineOptions()
            return try RecordDatabase.open(
                location, schema: model.description, options: options.engine)
        } catch {
            throw CoreStoreError(error)
        }
    }
}
