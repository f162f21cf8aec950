import PageStore

/// Migrates a file to a later schema when it is opened.
extension RecordDatabase {
    /// The effect that opening a file with a schema would have on it; nil for a file that has no
    /// schema yet. Writes nothing. If a property is removed without permission, its records are
    /// searched for values.
    ///
    /// Throws `schemaMismatch` if the file cannot be migrated, and `newerModel` if the program's
    /// model is an earlier one of the file's.
    ///
    /// - Parameter earlier: as for an opening.
    package static func forecast(
        path: String, schema: SchemaDescription, options: Engine.Options = Engine.Options(),
        files: any FileSystem = DiskFileSystem.shared, route: MigrationRoute? = nil,
        earlier: @autoclosure @escaping () -> [SchemaDescription] = []
    ) throws(StoreError) -> MigrationForecast? {
        try planning(
            path: path, schema: schema, options: options, files: files,
            MigrationTerms(route: route, earlier: earlier)
        ) { planned, engine, catalog throws(StoreError) in
            let size = MigrationSize(
                engine: engine, catalog: catalog, plan: planned.plan, stored: planned.stored)
            return MigrationForecast(
                sourceVersion: planned.sourceVersion, steps: planned.steps,
                space: try size.forecast(isChunked: size.isChunked()))
        }
    }

    /// The plan of the same effect, for an opening that follows.
    package static func plan(
        path: String, schema: SchemaDescription, options: Engine.Options = Engine.Options(),
        files: any FileSystem = DiskFileSystem.shared, route: MigrationRoute? = nil,
        earlier: @autoclosure @escaping () -> [SchemaDescription] = []
    ) throws(StoreError) -> PlannedMigration? {
        try planning(
            path: path, schema: schema, options: options, files: files,
            MigrationTerms(route: route, earlier: earlier)
        ) { planned, _, _ in planned }
    }

    /// What a closure makes of a file's plan; nil for a file that has no schema yet.
    private static func planning<Result>(
        path: String, schema: SchemaDescription, options: Engine.Options, files: any FileSystem,
        _ terms: MigrationTerms,
        _ use: (PlannedMigration, Engine, Catalog) throws(StoreError) -> Result
    ) throws(StoreError) -> Result? {
        var options = options
        options.mode = .reading
        let engine = try Engine.open(path: path, options: options, files: files)
        defer { try? engine.close() }
        let snapshot = try engine.snapshot()
        guard let catalog = try Catalog.open(snapshot) else { return nil }
        let stored = try catalog.resolvedSchema(snapshot)
        let plan = try MigrationPlan(from: stored, to: schema, catalog.history(snapshot), terms)
        try checkLoss(plan, catalog, snapshot)
        return try use(
            PlannedMigration(plan, from: stored, to: schema, catalog, snapshot), engine, catalog)
    }

    /// Discards the copy of an unfinished migration, and drops its trees. Returns false if there is
    /// no such migration.
    ///
    /// Throws `notFound` if there is no file.
    package static func discardMigration(
        path: String, options: Engine.Options = Engine.Options(),
        files: any FileSystem = DiskFileSystem.shared
    ) throws(StoreError) -> Bool {
        guard try files.identity(path) != nil else {
            throw StoreError(.notFound, "there is no store", path: path)
        }
        var options = options
        options.createsFile = false
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

    /// Opens a file of another schema: migrates it, or reads it as it is if it is opened for
    /// reading only and ``UnmigratedFile`` can.
    ///
    /// - Parameter text: the saved form of the file's schema.
    static func openOther(
        _ engine: Engine, _ catalog: Catalog, _ declared: DeclaredSchema, _ snapshot: Snapshot,
        of text: [UInt8]?, _ terms: MigrationTerms
    ) throws(StoreError) -> RecordDatabase {
        let stored = try catalog.resolvedSchema(snapshot)
        let plan = try MigrationPlan(
            from: stored, to: declared.description, catalog.history(snapshot), terms)
        if engine.options.mode.isReadOnly, terms.readsEarlierModel,
            let file = try UnmigratedFile(
                plan, from: stored, to: declared.description, catalog, snapshot)
        {
            return RecordDatabase(
                engine: engine, schema: file.schema, catalog: catalog, trees: file.trees,
                identities: file.identities, structure: try catalog.structure(snapshot))
        }
        return try migrate(engine, catalog, declared, plan, from: stored, of: text, terms)
    }

    /// Migrates a file to a later schema: its names, layout, records, missing trees and indexes.
    /// Until the last commit is durable the file has the old schema; any error leaves it so. A step
    /// that a closure finishes ends in a commit of its own: an error in a later step leaves its
    /// schema.
    ///
    /// Throws `duplicateValues` if objects break a new unique constraint, and `schemaMismatch` if
    /// objects lack a value that a later schema requires.
    ///
    /// - Parameter text: the saved form of the schema that the plan starts from.
    static func migrate(
        _ engine: Engine, _ catalog: Catalog, _ declared: DeclaredSchema, _ plan: MigrationPlan,
        from stored: Schema, of text: [UInt8]?, _ terms: MigrationTerms
    ) throws(StoreError) -> RecordDatabase {
        guard !engine.options.mode.isReadOnly else {
            throw StoreError(
                .schemaMismatch,
                "the model is later than the file, which is opened for reading only")
        }
        try checkLoss(plan, catalog, engine.snapshot())
        var terms = terms
        terms.planned = nil
        if let backup = terms.backup {
            try engine.copy(to: backup)
            // The opening that follows must not write it again.
            terms.backup = nil
        }
        let part = try plan.firstPart(from: stored)
        try Migration(
            engine: engine, catalog: catalog, plan: part, control: terms.control, stored: stored,
            text: text
        ).run()
        terms.control?.noteCommitted(stepCount: part.models.count)
        // A step that only adds a constraint is left to the opening: a route that named the same
        // versions once more would begin anew for it, for ever.
        if part.models.count == plan.models.count { terms.route = nil }
        // Plans and migrates the rest, if a closure ended the part before the last version.
        return try open(engine, declared, terms)
    }

    /// Why a program that may recreate its file cannot use it otherwise.
    enum RecreationReason {
        /// No migration leads from the file's model to the program's even with every option set, or
        /// the only one would drop stored data without permission.
        case noMigration
        /// The migration began, and met a link that it would drop without permission: links are
        /// compared only while they are written.
        case lateLoss
    }

    /// Nil if a program that may recreate its file must not.
    ///
    /// A file that would lose data is kept if the program's model adds nothing, because the program
    /// may be older than the file. Throws `newerModel` if it certainly is.
    ///
    /// - Parameter failure: the error of the opening.
    static func recreationReason(
        _ engine: Engine, to declared: DeclaredSchema, _ terms: MigrationTerms,
        after failure: StoreError
    ) throws(StoreError) -> RecreationReason? {
        let snapshot = try engine.snapshot()
        guard let catalog = try Catalog.open(snapshot) else { return nil }
        let stored = try catalog.resolvedSchema(snapshot)
        var terms = terms
        (terms.limit, terms.isOneStep) = (.mappings, false)
        do throws(StoreError) {
            let plan = try MigrationPlan(
                from: stored, to: declared.description, catalog.history(snapshot), terms)
            if LayoutEdits(from: stored, to: declared.description).addsNothing { return nil }
            try checkLoss(plan, catalog, snapshot)
            return failure.refusesLoss ? .lateLoss : nil
        } catch {
            guard error.code == .schemaMismatch else { throw error }
            return .noMigration
        }
    }

    /// Refuses a first step that drops data without permission, before anything is written.
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
