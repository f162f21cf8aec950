import RecordStore

/// Files of earlier models.
extension DataStack {
    /// The steps that adding a storage would take with its file, without taking them: none where
    /// the file has the current model, or does not exist. It writes nothing, and reads the catalog
    /// only; where a property was removed it looks for values of it, unless they may be dropped. So
    /// it does not foresee every refusal: objects may lack a required value or break a new unique
    /// constraint, and links may not be allowed any more.
    ///
    /// The stack must not have added the storage, or an assertion fails.
    ///
    /// - Throws: `.mappingModelNotFound` where the file cannot be migrated to the model, or has a
    ///   later one, `.progressiveMigrationRequired` where it takes several steps and the storage's
    ///   options allow one, and `.internalError` for a file that cannot be read, and for a
    ///   configuration that no entity of the model has.
    public func requiredMigrationsForStorage<T: LocalStorage>(
        _ storage: T
    ) throws(CoreStoreError) -> [MigrationType] {
        assertIsDetached(storage)
        do throws(CoreStoreError) {
            return try requiredMigrations(storage)
        } catch {
            Log.error(error, "the migrations of a storage could not be found.")
            throw error
        }
    }

    /// Migrates a storage's file to the current model in the background, without adding it. The
    /// steps are planned while the caller waits. The stack must not have added the storage, or an
    /// assertion fails.
    ///
    /// - Parameters:
    ///   - storage: the storage to migrate.
    ///   - backup: a new file into which the store is written, durably, before the migration
    ///     begins; see ``LocalStore/migrationBackupURL``, which applies where this is nil.
    ///   - completion: called where the view lives, with the steps that were taken, none where the
    ///     file had the current model, or with the error.
    /// - Returns: the progress; nil where there is nothing to do.
    /// - Throws: `.internalError` for a file that cannot be read or does not exist, and for a
    ///   configuration that no entity of the model has; every other failure reaches the completion.
    @preconcurrency @discardableResult
    public func upgradeStorageIfNeeded<T: LocalStorage>(
        _ storage: T, backup: URL? = nil,
        completion: @escaping @Sendable (MigrationResult) -> Void
    ) throws(CoreStoreError) -> Progress? {
        assertIsDetached(storage)
        guard storage.fileExists else {
            throw CoreStoreError(
                StoreError(.notFound, "there is no file to migrate", path: storage.fileURL.path))
        }
        // A configuration is a mistake of the call, and no failure of a migration.
        _ = try usedModel(for: storage.configuration)
        let steps: [MigrationType]
        do throws(CoreStoreError) {
            steps = try requiredMigrations(storage)
        } catch {
            guard error.isRefusal else { throw error }
            Log.error(error, "a storage could not be migrated.")
            viewExecutor.run { completion(.failure(error)) }
            return nil
        }
        guard !steps.isEmpty else {
            viewExecutor.run { completion(.success([])) }
            return nil
        }
        let progress = progress(of: steps)
        transactionQueue.async { [self] in
            let result = migrate(storage, progress, backup)
            MigrationProgressTable.end(progress, isDone: (try? result.get()) != nil)
            viewExecutor.run { completion(result) }
        }
        return progress
    }

    private func migrate(
        _ storage: some LocalStorage, _ progress: Progress, _ backup: URL?
    ) -> MigrationResult {
        let model = model(for: storage.configuration)
        let files = (storage as? LocalStore)?.files ?? DiskFileSystem.shared
        let path = storage.fileURL.path
        do throws(CoreStoreError) {
            // Another stack or call may have migrated the file since the steps were planned.
            let steps = try SharedStores.alone(
                path, in: files, model.description
            ) { () throws(CoreStoreError) -> [MigrationType] in
                let plan = try self.plan(storage)
                if plan.steps.isEmpty { return [] }
                let database = try openDatabase(
                    .file(path), model, storage,
                    MigrationTask(progress, plan.planned, backup: backup, isForUse: false))
                do throws(StoreError) { try database.close() } catch { throw CoreStoreError(error) }
                return plan.steps
            }
            return .success(steps ?? [])
        } catch {
            Log.error(error, "a storage could not be migrated.")
            return .failure(error)
        }
    }

    private func assertIsDetached(_ storage: some LocalStorage) {
        let path = storage.fileURL.standardizedFileURL.path
        Log.assert(
            !stores.contains { store in
                (store.storage as? any LocalStorage)?.fileURL.standardizedFileURL.path == path
            }, "a storage that the stack has added is of its model already")
    }

    /// As many units as steps, a hundred for each.
    func progress(of steps: [MigrationType]) -> Progress {
        let progress = DescribedProgress(parent: nil)
        progress.totalUnitCount = Int64(100 * steps.count)
        MigrationProgressTable.add(progress, viewExecutor)
        return progress
    }

    // MARK: Planning

    func requiredMigrations(
        _ storage: some LocalStorage
    ) throws(CoreStoreError) -> [MigrationType] { try plan(storage).steps }

    /// The steps of a storage's file, none where nothing is migrated, and their plan.
    func plan(
        _ storage: some LocalStorage
    ) throws(CoreStoreError) -> (steps: [MigrationType], planned: PlannedMigration?) {
        guard storage.fileExists else { return ([], nil) }
        let model = try usedModel(for: storage.configuration)
        let path = MigrationPath(self, storage)
        let options = (storage as? LocalStore)?.engineOptions ?? EngineOptions()
        let planned: PlannedMigration?
        do throws(StoreError) {
            planned = try RecordDatabase.plan(
                path: storage.fileURL.path, schema: model.description,
                options: options.engine,
                files: (storage as? LocalStore)?.files ?? DiskFileSystem.shared,
                route: { path.versions(from: $0) }, earlier: path.earlier)
        } catch {
            throw planningFailure(of: error, storage)
        }
        guard let planned else { return ([], nil) }
        if planned.steps.count > 1,
            storage.localStorageOptions.contains(.preventProgressiveMigration)
        {
            throw .progressiveMigrationRequired(localStoreURL: storage.fileURL)
        }
        let sources = [planned.sourceVersion] + planned.steps.map(\.version)
        let steps = zip(sources, planned.steps).map { source, step -> MigrationType in
            step.limit == .mappings
                ? .heavyweight(sourceVersion: source, destinationVersion: step.version)
                : .lightweight(sourceVersion: source, destinationVersion: step.version)
        }
        return (steps, planned)
    }
}

extension DataStack {
    /// The error of a migration that cannot be planned. A file that cannot follow, or is of a later
    /// model, has a case of its own.
    func planningFailure(
        of error: StoreError, _ storage: any LocalStorage
    ) -> CoreStoreError {
        switch error.code {
        case .schemaMismatch, .newerModel:
            .mappingModelNotFound(
                localStoreURL: storage.fileURL, NSError: StoreFailure.nsError(error),
                targetModelVersion: modelVersion)
        default: CoreStoreError(error)
        }
    }
}

extension CoreStoreError {
    /// Whether a file was read, and cannot follow the model.
    fileprivate var isRefusal: Bool {
        guard case .internalError = self else { return true }
        switch storeError?.code {
        case .invalidArgument, .invalidModel: return true
        default: return false
        }
    }
}

/// The way of a storage's file through the versions of a stack's model.
struct MigrationPath {
    private let history: SchemaHistory
    private let configuration: ModelConfiguration
    private let options: LocalStorageOptions
    private let providers: [CustomSchemaMappingProvider]
    private let storage: any StorageInterface

    init(_ stack: DataStack, _ storage: any StorageInterface) {
        self.storage = storage
        history = stack.schemaHistory
        configuration = storage.configuration
        let local = storage as? any LocalStorage
        options = local?.localStorageOptions ?? .none
        providers = (local?.migrationMappingProviders ?? []).compactMap {
            $0 as? CustomSchemaMappingProvider ?? ($0 as? any CustomMappingSource)?.customProvider
        }
    }

    /// The versions that follow the one of a file: by the migration chain, or the current one at
    /// once where there is no chain. Nil where the chain does not lead to the current version, or
    /// does not know the file's. A chain that names the versions allows that what a version has no
    /// place for is dropped.
    func versions(from stored: SchemaDescription) -> [MigrationStep]? {
        guard !history.migrationChain.isEmpty else {
            // Only providers need the file's version here.
            let known = providers.isEmpty ? nil : version(of: stored)
            // A version that only adds a unique constraint has the entities of the file too.
            let isCurrent = known == history.currentModelVersion
            return [
                step(
                    from: isCurrent ? stored.modelVersion : known ?? stored.modelVersion,
                    to: history.current,
                    allowedLoss: options.contains(.allowDataLoss) ? .all : .none)
            ]
        }
        guard var version = version(of: stored) else { return nil }
        var versions: [MigrationStep] = []
        while version != history.currentModelVersion {
            // More steps than versions go round in a circle.
            guard versions.count < history.schemas.count,
                let next = history.migrationChain.nextVersions[version],
                let schema = history.schemas[next]
            else { return nil }
            var step = step(from: version, to: schema, allowedLoss: .all)
            step.isNamed = true
            versions.append(step)
            version = schema.modelVersion
        }
        return versions
    }

    /// The versions from which the chain leads to the current one.
    var earlier: [SchemaDescription] {
        // A version may have no entities of the storage's configuration.
        earlierNames.sorted().compactMap { history.schemas[$0].map(description) }
            .filter { !$0.entities.isEmpty }
    }

    private var earlierNames: Set<ModelVersion> {
        let next = history.migrationChain.nextVersions
        var earlier: Set<ModelVersion> = []
        var found: Set<ModelVersion> = [history.currentModelVersion]
        while !found.isEmpty {
            found = Set(next.filter { found.contains($0.value) }.keys).subtracting(earlier)
            earlier.formUnion(found)
        }
        return earlier
    }

    private func step(
        from version: ModelVersion, to schema: any DescribedSchema,
        allowedLoss: LossPermission
    ) -> MigrationStep {
        let provider = providers.first {
            $0.sourceVersion == version && $0.destinationVersion == schema.modelVersion
        }
        var step = MigrationStep(
            description(schema), allowedLoss: allowedLoss, mappings: provider?.model.mappings,
            isNamed: provider != nil)
        step.mappingContent = provider?.content ?? ""
        // A version without classes makes none.
        let model = (schema as? CoreStoreSchema)?.model(for: configuration)
        step.initialValues = model?.initialValues(ofOptional: false) ?? [:]
        step.optionalInitialValues = model?.initialValues(ofOptional: true) ?? [:]
        step.finishing = provider?.finishing.map { finishing(schema, by: $0) }
        return step
    }

    private func finishing(
        _ schema: any DescribedSchema, by task: @escaping CustomSchemaMappingProvider.Finishing
    ) -> MigrationFinishing {
        guard let schema = schema as? CoreStoreSchema else {
            let message =
                "a transaction cannot finish the step to “\(schema.modelVersion)”, a version "
                + "without classes"
            Log.assert(false, message)
            return { _, _ in throw StoreError(.invalidModel, message) }
        }
        let transaction = FinishingTransaction(schema: schema, storage: storage, task: task)
        return { try transaction.run($0, $1) }
    }

    /// The version whose entities are those of a file.
    private func version(of stored: SchemaDescription) -> ModelVersion? {
        func isSame(_ schema: any DescribedSchema) -> Bool {
            !SchemaDifference.needsMigration(from: stored, to: description(schema))
        }
        // The one of its name where several versions have the same entities.
        if let named = history.schemas[stored.modelVersion], isSame(named) {
            return stored.modelVersion
        }
        // Else one from which the chain leads to the current one.
        let names = history.schemas.keys.sorted()
        var found = names.filter { history.schemas[$0].map(isSame) == true }
        if found.isEmpty {
            // A program that states no earlier names any more has written the file.
            let fingerprint = stored.fingerprint
            found = names.filter { name in
                history.schemas[name].map { description($0).fingerprint == fingerprint } == true
            }
        }
        return found.first { $0 == history.currentModelVersion || earlierNames.contains($0) }
            ?? found.first
    }

    private func description(_ schema: any DescribedSchema) -> SchemaDescription {
        schema.description(for: configuration)
    }
}

extension LocalStorage {
    fileprivate var fileExists: Bool {
        let files = (self as? LocalStore)?.files ?? DiskFileSystem.shared
        return (try? files.identity(fileURL.path)) ?? nil != nil
    }
}
