import RecordStore

extension DataStack {
    /// Opens the program's own store and attaches it; see ``LocalStore/init()``.
    ///
    /// - Throws: the errors of the form for any storage.
    @discardableResult
    public func addStorageAndWait() throws(CoreStoreError) -> LocalStore {
        try addStorageAndWait(LocalStore())
    }

    /// Opens the program's own store and attaches it; see ``LocalStore/init()``.
    ///
    /// - Throws: the errors of the form for any storage.
    @discardableResult
    public func addStorageAndWait(_ type: LocalStore.Type) throws(CoreStoreError) -> LocalStore {
        try addStorageAndWait(LocalStore())
    }

    /// Attaches an empty store in memory for all entities.
    ///
    /// - Throws: `.internalError`.
    @discardableResult
    public func addStorageAndWait(
        _ type: InMemoryStore.Type
    ) throws(CoreStoreError) -> InMemoryStore {
        try addStorageAndWait(InMemoryStore())
    }

    /// Opens a storage and attaches it while the caller waits. If the stack has this instance
    /// already, or another one for its file with an equal configuration, it returns the attached
    /// one.
    ///
    /// A file of an earlier model is migrated at once where entities, properties or indexes were
    /// added or renamed, types became wider, values optional, or required with a default, and
    /// where properties or entities were removed: at most the objects concerned are written. With
    /// `.allowSynchronousLightweightMigration` it is also migrated where all objects of an entity
    /// are read and written, unless a mapping of the program's own is needed. A storage that is
    /// opened for reading migrates nothing: it reads a file of an earlier model as it is where a
    /// migration would write and check no object.
    ///
    /// Any thread may call it. A storage that another stack of the program has open is shared with
    /// it.
    ///
    /// - Returns: the attached storage.
    /// - Throws: `.differentStorageExistsAtURL` for a file that the stack has attached in another
    ///   way; `.asynchronousMigrationRequired`, `.progressiveMigrationRequired` or `.internalError`
    ///   for a file of another model that cannot be migrated here; `.mappingModelNotFound` for one
    ///   of a later model; `.internalError` with its ``CoreStoreError/storeError`` for every other
    ///   failure.
    @discardableResult
    public func addStorageAndWait<T: StorageInterface>(
        _ storage: T
    ) throws(CoreStoreError) -> T {
        try add(storage, nil)
    }

    /// - Parameter task: the migration of an opening in the background; nil for one that may do
    ///   what the storage's options allow.
    func add<T: StorageInterface>(
        _ storage: T, _ task: MigrationTask?
    ) throws(CoreStoreError) -> T {
        let (added, isNew) = try addLocked(storage, task)
        // Without the lock: observers may wait for another thread that adds a storage.
        if isNew { storesChanged() }
        return added
    }

    private func addLocked<T: StorageInterface>(
        _ storage: T, _ task: MigrationTask?
    ) throws(CoreStoreError) -> (storage: T, isNew: Bool) {
        // A thread that adds a shared file holds the lock while it waits for the writer lock.
        if writerLock.isHeldByCaller {
            guard storageLock.try() else {
                throw .failure(
                    .misuse, "a transaction adds a storage while another thread adds one")
            }
        } else {
            storageLock.lock()
        }
        defer { storageLock.unlock() }
        do throws(CoreStoreError) {
            return try open(storage, task)
        } catch {
            Log.error(error, "a storage could not be added.")
            throw error
        }
    }

    /// Opens a storage and attaches it in the background, and migrates its file where that has an
    /// earlier model. The steps are planned while the caller waits.
    ///
    /// - Parameters:
    ///   - storage: the storage to open.
    ///   - completion: called where the view lives, with the attached storage or the error: one
    ///     that `addStorageAndWait` throws, `.mappingModelNotFound` for every file that cannot be
    ///     migrated to the model, or `.userCancelled` when the progress was cancelled.
    /// - Returns: the progress of the migration; nil where nothing is migrated, as with a storage
    ///   that is opened for reading.
    @preconcurrency @discardableResult
    public func addStorage<T: StorageInterface>(
        _ storage: T, completion: @escaping @Sendable (SetupResult<T>) -> Void
    ) -> Progress? {
        let task = plannedTask(storage)
        addStorage(storage, task, completion: completion)
        return task.progress
    }

    /// - Parameter task: what ``plannedTask(_:)`` has returned for the storage.
    func addStorage<T: StorageInterface>(
        _ storage: T, _ task: MigrationTask,
        completion: @escaping @Sendable (SetupResult<T>) -> Void
    ) {
        transactionQueue.async { [self] in
            let result: SetupResult<T>
            do throws(CoreStoreError) {
                result = .success(try add(storage, task))
                MigrationProgressTable.end(task.progress, isDone: true)
            } catch {
                result = .failure(error)
                MigrationProgressTable.end(task.progress, isDone: false)
            }
            viewExecutor.run { completion(result) }
        }
    }

    /// The migration of a storage that is to be added: without a progress where nothing is
    /// migrated, and for an error that adding the storage will report.
    func plannedTask(_ storage: some StorageInterface) -> MigrationTask {
        guard let local = storage as? any LocalStorage, !isReadOnly(storage),
            !stores.contains(where: { $0.storage === storage }),
            let plan = try? self.plan(local), !plan.steps.isEmpty
        else { return MigrationTask(nil) }
        return MigrationTask(progress(of: plan.steps), plan.planned)
    }

    // MARK: Opening

    private func open<T: StorageInterface>(
        _ storage: T, _ task: MigrationTask?
    ) throws(CoreStoreError) -> (storage: T, isNew: Bool) {
        if let known = stores.first(where: { $0.storage === storage })?.storage as? T {
            return (known, false)
        }
        let location: RecordDatabase.Location
        if let options = (storage as? LocalStore)?.engineOptions {
            do throws(StoreError) {
                try options.check()
            } catch {
                throw CoreStoreError(error)
            }
        }
        if let local = storage as? any LocalStorage {
            if let known = try attached(at: local, as: T.self) { return (known, false) }
            if !isReadOnly(storage) { try makeFolder(of: local.fileURL) }
            location = .file(local.fileURL.path)
        } else {
            location = .memory
        }
        let model = try usedModel(for: storage.configuration)
        let store: AttachedStore
        if case .file(let path) = location, !isReadOnly(storage) {
            store = try shared(path, model, storage, task)
        } else {
            let database = try openDatabase(location, model, storage, task)
            store = AttachedStore(
                storage: storage, database: database, shared: nil, model: model)
        }
        if let other = stores.first(where: { $0.id == store.id }) {
            try? store.close()
            throw Self.sameIdentity(other.storage)
        }
        attach(store)
        follow(store)
        return (storage, true)
    }

    /// The IDs of a store's objects are those of its copy too: in one stack they would name two.
    private static func sameIdentity(_ other: any StorageInterface) -> CoreStoreError {
        let path = (other as? any LocalStorage)?.fileURL.path
        return CoreStoreError(
            StoreError(
                .alreadyOpen,
                "the stack has this store or a copy of it already: open copies by another stack",
                path: path))
    }

    /// Opens a file that will be written, or shares it with the stack that has it open.
    private func shared(
        _ path: String, _ model: SchemaModel, _ storage: any StorageInterface,
        _ task: MigrationTask?
    ) throws(CoreStoreError) -> AttachedStore {
        let files = (storage as? LocalStore)?.files ?? DiskFileSystem.shared
        let budget = ((storage as? LocalStore)?.engineOptions ?? EngineOptions()).cacheBudget
        let shared = try SharedStores.open(
            path, in: files, model.description, budget, writerLock
        ) { () throws(CoreStoreError) in
            try openDatabase(.file(path), model, storage, task)
        }
        let store = AttachedStore(
            storage: storage, database: shared.database, shared: shared, model: model)
        // By another path, through a link.
        if stores.contains(where: { $0.database === shared.database }),
            let local = storage as? any LocalStorage
        {
            try? store.close()
            throw .differentStorageExistsAtURL(existingPersistentStoreURL: local.fileURL)
        }
        if shared.writerLock !== writerLock {
            guard !writerLock.isHeldByCaller else {
                try? store.close()
                throw .failure(
                    .misuse,
                    "a transaction cannot add a store that another stack has open: add it before")
            }
            writerLock.join(shared.writerLock)
        }
        shared.enter(
            SharedStore.User(store: store, link: link, steps: steps, viewSteps: viewSteps))
        return store
    }

    private func isReadOnly(_ storage: any StorageInterface) -> Bool {
        (storage as? LocalStore)?.engineOptions.engine.mode.isReadOnly ?? false
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
        let folder = url.deletingLastPathComponent()
        let missing = sequence(first: folder.path) { path in
            path.count > 1 ? NSString(string: path).deletingLastPathComponent : nil
        }.prefix { !FileManager.default.fileExists(atPath: $0) }
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            // Until its parent is synchronised, a power cut may take a new folder with its store.
            for path in missing { try DiskFileSystem.shared.syncDirectory(of: path) }
        } catch let error as StoreError {
            throw CoreStoreError(error)
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

    func model(for configuration: ModelConfiguration) -> SchemaModel {
        schemaHistory.current.model(for: configuration)
    }

    /// Refuses a configuration without entities: a file must not be emptied for a misspelt name.
    func usedModel(
        for configuration: ModelConfiguration
    ) throws(CoreStoreError) -> SchemaModel {
        let model = model(for: configuration)
        if let configuration, model.entities.isEmpty {
            throw .failure(
                .misuse, "no entity of the model belongs to the configuration “\(configuration)”")
        }
        return model
    }

    func openDatabase(
        _ location: RecordDatabase.Location, _ model: SchemaModel,
        _ storage: any StorageInterface, _ task: MigrationTask?
    ) throws(CoreStoreError) -> RecordDatabase {
        let local = storage as? any LocalStorage
        let allowed = local?.localStorageOptions ?? .none
        var options = ((storage as? LocalStore)?.engineOptions ?? EngineOptions()).engine
        if let schedule = (storage as? LocalStore)?.schedule {
            options.schedule = schedule
            writerLock.follow(schedule)
            steps.follow(schedule)
        }
        let path = MigrationPath(self, storage)
        let backup = try (task?.backup ?? (storage as? LocalStore)?.migrationBackupURL)
            .map(Self.backupPath)
        var stepCount = 0
        do throws(StoreError) {
            return try RecordDatabase.open(
                location, schema: model.description, options: options,
                files: (storage as? LocalStore)?.files ?? DiskFileSystem.shared,
                // An upgrade alone only migrates.
                recreatesOnMismatch: allowed.contains(.recreateStoreOnModelMismatch)
                    && task?.isForUse ?? true,
                route: { stored in
                    let versions = path.versions(from: stored)
                    stepCount = versions?.count ?? 0
                    return versions
                },
                earlier: path.earlier, limit: Self.limit(of: allowed, task),
                isOneStep: allowed.contains(.preventProgressiveMigration),
                readsEarlierModel: task?.isForUse ?? true, backup: backup,
                control: task?.control, planned: task?.planned)
        } catch {
            throw failure(of: error, storage, stepCount: stepCount, task)
        }
    }

    /// The most that an opening may migrate, in the background or while the caller waits.
    private static func limit(
        of options: LocalStorageOptions, _ task: MigrationTask?
    ) -> MigrationLimit {
        guard task == nil else { return .mappings }
        return options.contains(.allowSynchronousLightweightMigration) ? .records : .layout
    }

    private func failure(
        of error: StoreError, _ storage: any StorageInterface, stepCount: Int,
        _ task: MigrationTask?
    ) -> CoreStoreError {
        if let control = task?.control {
            if control.isCancelled { return .userCancelled }
            if let failure = control.failure {
                return failure as? CoreStoreError ?? .userError(error: failure)
            }
        }
        guard let local = storage as? any LocalStorage else { return CoreStoreError(error) }
        if error.code == .newerModel { return planningFailure(of: error, local) }
        guard error.code == .schemaMismatch else { return CoreStoreError(error) }
        let allowed = local.localStorageOptions
        if stepCount > 1, allowed.contains(.preventProgressiveMigration) {
            return .progressiveMigrationRequired(localStoreURL: local.fileURL)
        }
        // A file that is opened for reading cannot follow, whatever the options allow.
        if isReadOnly(storage) { return CoreStoreError(error) }
        guard task == nil else { return planningFailure(of: error, local) }
        guard allowed.contains(.allowSynchronousLightweightMigration) else {
            return CoreStoreError(error)
        }
        return .asynchronousMigrationRequired(
            localStoreURL: local.fileURL, NSError: StoreFailure.nsError(error))
    }
}
