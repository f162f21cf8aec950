import PageStore

/// Following a later schema when a file is opened.
extension RecordDatabase {
    /// What opening a file for a schema would do to it. Nothing is written; nil for a file that
    /// no program has given a schema yet. Where a property is gone that is not allowed to, its
    /// records are looked through for values.
    ///
    /// Throws `schemaMismatch` where the file cannot follow, and `newerModel` for a program whose
    /// model is an earlier one of the file's.
    package static func forecast(
        path: String, schema: SchemaDescription, options: Engine.Options = Engine.Options(),
        files: any FileSystem = DiskFileSystem.shared, route: MigrationRoute? = nil
    ) throws(StoreError) -> MigrationForecast? {
        var options = options
        options.mode = .reading
        let engine = try Engine.open(path: path, options: options, files: files)
        defer { try? engine.close() }
        let snapshot = try engine.snapshot()
        guard let catalog = try Catalog.open(snapshot) else { return nil }
        let stored = try catalog.resolvedSchema(snapshot)
        let plan = try MigrationPlan(
            from: stored, to: schema, catalog.history(snapshot), MigrationTerms(route: route))
        try checkLoss(plan, catalog, snapshot)
        let size = MigrationSize(engine: engine, catalog: catalog, plan: plan, stored: stored)
        return MigrationForecast(
            sourceVersion: stored.description.modelVersion,
            steps: plan.steps.map {
                MigrationForecast.Step(version: $0.schema.description.modelVersion, limit: $0.limit)
            }, space: try size.forecast(isChunked: size.mayWriteMany()))
    }

    /// Gives up what a migration that has not come to its end has written beside the file's model,
    /// and drops what is left of it. Returns false where there is no such migration.
    ///
    /// Throws `notFound` where there is no file.
    package static func discardMigration(
        path: String, options: Engine.Options = Engine.Options(),
        files: any FileSystem = DiskFileSystem.shared
    ) throws(StoreError) -> Bool {
        guard try files.identity(path) != nil else {
            throw StoreError(.notFound, "there is no store", path: path)
        }
        let engine = try Engine.open(path: path, options: options, files: files)
        var isThere = false
        do throws(StoreError) {
            let snapshot = try engine.snapshot()
            if let catalog = try Catalog.open(snapshot), try catalog.migration(snapshot) != nil {
                isThere = true
                try Migration.discard(catalog, of: engine)
                try ReplacedTrees.drop(catalog, of: engine)
            }
        } catch {
            try? engine.close()
            throw error.at(path: path)
        }
        try engine.close(makesCheckpoint: isThere)
        return isThere
    }

    /// Makes a file one of a later schema: its names, its layout, its records, what trees it lacks,
    /// and its indexes. Until its last commit is durable the file is one of the old schema;
    /// whatever is thrown leaves it so.
    ///
    /// Throws `duplicateValues` for a new unique constraint that objects break, and
    /// `schemaMismatch` for objects without a value that a later schema requires.
    ///
    /// - Parameter text: the schema that the plan begins from, as it is saved.
    static func migrate(
        _ engine: Engine, _ catalog: Catalog, _ declared: Schema, _ plan: MigrationPlan,
        from stored: Schema, of text: [UInt8]?, _ terms: MigrationTerms
    ) throws(StoreError) -> RecordDatabase {
        guard !engine.options.mode.isReadOnly else {
            throw StoreError(
                .schemaMismatch,
                "the model is later than the file, which is opened for reading only")
        }
        try checkLoss(plan, catalog, engine.snapshot())
        try Migration(
            engine: engine, catalog: catalog, plan: plan, control: terms.control, stored: stored,
            text: text
        ).run()
        return try open(engine, declared, terms)
    }

    /// Whether a program that may recreate its file has no other way to use it: no migration leads
    /// from the file's model to the program's even with every option set, or the one that does
    /// would drop stored values and may not.
    ///
    /// A model without anything that the file lacks keeps the file in the second case: the program
    /// may be older than the file. Throws `newerModel` where it certainly is.
    static func mustRecreate(
        _ engine: Engine, to declared: Schema, _ terms: MigrationTerms
    ) throws(StoreError) -> Bool {
        let snapshot = try engine.snapshot()
        guard let catalog = try Catalog.open(snapshot) else { return false }
        let stored = try catalog.resolvedSchema(snapshot)
        var terms = terms
        (terms.limit, terms.isOneStep) = (.mappings, false)
        do throws(StoreError) {
            let plan = try MigrationPlan(
                from: stored, to: declared.description, catalog.history(snapshot), terms)
            if LayoutEdits(from: stored, to: declared.description).addsNothing { return false }
            try checkLoss(plan, catalog, snapshot)
            return false
        } catch {
            guard error.code == .schemaMismatch else { throw error }
            return true
        }
    }

    /// Refuses a first step that drops values before a byte is written.
    private static func checkLoss(
        _ plan: MigrationPlan, _ catalog: Catalog, _ view: PageView
    ) throws(StoreError) {
        guard let loss = plan.steps.first?.refusedLoss else { return }
        let (trees, _) = try TreeTable.open(loss.schema, catalog, view)
        try LossCheck(
            loss, RecordReader(schema: loss.schema, view: view, catalog: catalog, trees: trees)
        ).run()
    }
}
