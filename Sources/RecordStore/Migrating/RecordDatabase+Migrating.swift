import PageStore

/// Following a later schema when a file is opened.
extension RecordDatabase {
    /// What opening a file for a schema would do to it. Nothing is written; nil for a file that
    /// no program has given a schema yet. Where a property is gone that is not allowed to, its
    /// records are looked through for values.
    ///
    /// Throws `schemaMismatch` where the file cannot follow.
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
            from: stored, to: schema, MigrationTerms(route: route))
        try checkLoss(plan, catalog, snapshot)
        return MigrationForecast(
            sourceVersion: stored.description.modelVersion,
            steps: plan.steps.map {
                MigrationForecast.Step(version: $0.schema.description.modelVersion, limit: $0.limit)
            })
    }

    /// Makes a file one of a later schema, in one durable transaction: its names, its layout, what
    /// trees it lacks, and its indexes. Until that is durable the file is one of the old schema;
    /// whatever is thrown leaves it so.
    ///
    /// Throws `duplicateValues` for a new unique constraint that objects break, and
    /// `schemaMismatch` for objects without a value that a later schema requires.
    ///
    /// - Parameter text: the schema that the plan begins from, as it is saved.
    static func migrate(
        _ engine: Engine, _ catalog: Catalog, _ declared: Schema, _ plan: MigrationPlan,
        of text: [UInt8]?, _ terms: MigrationTerms
    ) throws(StoreError) -> RecordDatabase {
        guard !engine.options.mode.isReadOnly else {
            throw StoreError(
                .schemaMismatch,
                "the model is later than the file, which is opened for reading only")
        }
        try checkLoss(plan, catalog, engine.snapshot())
        let editor = try engine.beginWrite()
        do throws(StoreError) {
            if try catalog.schemaText(editor) == text {
                for (number, step) in plan.steps.enumerated() {
                    terms.control?.begin(step: number)
                    try take(step, catalog, editor, terms.control, isFirst: number == 0)
                }
                try editor.commit()
            } else {
                // Another process was faster; its schema may be this one.
                editor.rollback()
            }
        } catch {
            editor.rollback()
            throw error
        }
        return try open(engine, declared, terms)
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

    private static func take(
        _ step: VersionPlan, _ catalog: Catalog, _ editor: WriteTransaction,
        _ control: MigrationControl?, isFirst: Bool
    ) throws(StoreError) {
        if !isFirst, let loss = step.refusedLoss {
            try LossCheck(loss, transaction(loss.schema, catalog, editor)).run()
        }
        switch step {
        case .layout(let plan): try take(plan, catalog, editor)
        case .rewrite(let plan):
            for layout in plan.first { try take(layout, catalog, editor) }
            try RecordMover(plan, transaction(plan.both, catalog, editor), control).run()
            try take(plan.last, catalog, editor)
        }
    }

    private static func take(
        _ step: LayoutPlan, _ catalog: Catalog, _ editor: WriteTransaction
    ) throws(StoreError) {
        let schema = step.schema
        if step.writesRecords {
            try LayoutPreparation(step, transaction(step.stored, catalog, editor)).run()
        }
        for name in step.deadTrees { try catalog.removeTree(name, in: editor) }
        for key in step.deadCounters { try catalog.removeCounter(key, in: editor) }
        // Two names may change places: first all go, then all come.
        for (number, tree) in step.renamedTrees.enumerated() {
            try catalog.renameTree(tree.old, to: "renamed/\(number)", in: editor)
        }
        for (number, tree) in step.renamedTrees.enumerated() {
            try catalog.renameTree("renamed/\(number)", to: tree.new, in: editor)
        }
        for name in step.staleIndexes { try catalog.removeTree(name, in: editor) }
        for name in try surplusIndexes(schema, catalog, editor) {
            try catalog.removeTree(name, in: editor)
        }
        try catalog.setSchema(schema.description, in: editor)
        try catalog.setLayout(StoredLayout.bytes(of: schema), in: editor)
        let (_, missing) = try TreeTable.open(schema, catalog, editor)
        for name in missing { _ = try catalog.createTree(name, in: editor) }
        let (trees, _) = try TreeTable.open(schema, catalog, editor)
        let transaction = RecordTransaction(
            schema: schema, editor: editor, catalog: catalog, trees: trees,
            numbers: NumberReserve(schema, catalog))
        try check(step, transaction)
        for index in schema.indexes {
            let isMissing = missing.contains(index.treeName)
            // Defaults in the place of nil may be equal.
            if index.isUnique, isMissing || !step.fills.isEmpty {
                try DuplicateSearch(index, transaction).refusePairs()
            }
            if isMissing {
                var build = IndexBuild(index, in: transaction)
                try build.run()
            }
        }
    }

    /// A transaction by the schema that the catalog has now, with all its indexes.
    private static func transaction(
        _ schema: Schema, _ catalog: Catalog, _ editor: WriteTransaction
    ) throws(StoreError) -> RecordTransaction {
        let (_, missing) = try TreeTable.open(schema, catalog, editor)
        for name in missing {
            guard TreeTable.isIndex(name) else {
                throw .corrupt(catalog.root.root, "the catalog does not name the tree \(name)")
            }
            _ = try catalog.createTree(name, in: editor)
        }
        let (trees, _) = try TreeTable.open(schema, catalog, editor)
        let transaction = RecordTransaction(
            schema: schema, editor: editor, catalog: catalog, trees: trees,
            numbers: NumberReserve(schema, catalog))
        for index in schema.indexes where missing.contains(index.treeName) {
            var build = IndexBuild(index, in: transaction)
            try build.run()
        }
        return transaction
    }

    // MARK: Values that are required

    private static func check(
        _ plan: LayoutPlan, _ reader: RecordReader
    ) throws(StoreError) {
        for path in plan.withoutDefault {
            guard let entity = reader.schema.entity(named: path.entityName),
                try reader.recordCount(of: entity) > 0
            else { continue }
            throw StoreError(
                .schemaMismatch,
                "\(path) is new and required, and has no default for the objects that are stored")
        }
        for path in plan.required {
            guard let number = try firstWithoutValue(path, reader) else { continue }
            throw StoreError(
                .schemaMismatch,
                "\(path) may not be nil any more, and object \(number.rawValue) has no value")
        }
    }

    private static func firstWithoutValue(
        _ path: PropertyPath, _ reader: RecordReader
    ) throws(StoreError) -> ObjectNumber? {
        guard let entity = reader.schema.entity(named: path.entityName),
            let field = entity.field(named: path.name)
        else { return nil }
        let cursor = reader.recordCursor(entity.hierarchy, isScan: true)
        while try cursor.next() {
            let row = try cursor.row()
            if entity.tags.contains(row.entityTag), row.isNull(at: field.byteOffset) {
                return cursor.number
            }
        }
        return nil
    }
}
