import PageStore

/// Runs the steps of a plan, pass by pass.
struct MigrationSteps {
    let run: MigrationRun
    let control: MigrationControl?

    func take(_ plan: MigrationPlan) throws(StoreError) {
        for (index, step) in plan.steps.enumerated() {
            run.progress.begin(step: plan.stepNumbers[index], isFirst: index == 0)
            // The program may have cancelled before the first record is passed.
            try run.progress.report()
            try take(step, isFirst: index == 0)
        }
    }

    private func take(_ step: VersionPlan, isFirst: Bool) throws(StoreError) {
        // The loss of the first step was checked before anything was written.
        if !isFirst, let loss = step.refusedLoss {
            try use(loss.schema)
            try run.perform { () throws(StoreError) in
                try LossCheck(loss, run.transaction).run()
            }
        }
        switch step {
        case .layout(let plan):
            let passed = LayoutPreparation(plan, run).passedTags
            run.progress.expect(try run.recordCount(passed))
            try take(plan, moving: plan.moves)
        case .rewrite(let plan):
            for layout in plan.first { try take(layout) }
            try use(plan.both)
            let rewrites = try RecordMover(plan, run, control).move()
            try take(plan.last.without(rewrites))
        }
    }

    /// Continues with a schema that the catalog already has, and builds its missing indexes.
    private func use(_ schema: Schema) throws(StoreError) {
        run.use(schema)
        for index in schema.indexes { try build(index) }
    }

    /// - Parameter moves: what becomes of the entities; empty if other passes record it.
    private func take(
        _ plan: LayoutPlan, moving moves: [MovedObjects.Move] = []
    ) throws(StoreError) {
        if plan.writesRecords {
            try use(plan.stored)
            try LayoutPreparation(plan, run).perform()
        }
        try run.emptyTrees { () throws(StoreError) in
            let names = try run.catalog.treeNames(run.editor)
            return names.filter(plan.endingTrees(among: names).contains)
        }
        try run.perform { () throws(StoreError) in
            try follow(plan)
            try run.catalog.addMoves(moves, in: run.editor)
        }
        run.use(plan.schema)
        try run.perform { () throws(StoreError) in try check(plan, run.transaction) }
        for index in plan.schema.indexes {
            // Objects that had nil may now have equal values.
            if index.isUnique, !plan.fills.isEmpty {
                try run.perform { () throws(StoreError) in
                    guard try isThere(index) else { return }
                    try DuplicateSearch(index, run.transaction).refusePairs()
                }
            }
            try build(index, isChecked: true)
        }
    }

    // MARK: The catalog

    private func follow(_ plan: LayoutPlan) throws(StoreError) {
        let (catalog, editor) = (run.catalog, run.editor)
        for name in plan.deadTrees { try catalog.removeTree(name, in: editor) }
        for key in plan.deadCounters { try catalog.removeCounter(key, in: editor) }
        // Names may be swapped, so all trees are first renamed to temporary names.
        for (number, tree) in plan.renamedTrees.enumerated() {
            try catalog.renameTree(tree.old, to: "renamed/\(number)", in: editor)
        }
        for (number, tree) in plan.renamedTrees.enumerated() {
            try catalog.renameTree("renamed/\(number)", to: tree.new, in: editor)
        }
        for name in plan.staleIndexes { try catalog.removeTree(name, in: editor) }
        for name in try RecordDatabase.surplusIndexes(plan.schema, catalog, editor) {
            try catalog.removeTree(name, in: editor)
        }
        try catalog.setSchema(plan.schema.description, in: editor)
        try catalog.setLayout(StoredLayout.bytes(of: plan.schema), in: editor)
        let (_, missing) = try TreeTable.open(plan.schema, catalog, editor)
        for name in missing where !TreeTable.isIndex(name) {
            _ = try catalog.createTree(name, in: editor)
        }
    }

    // MARK: Indexes

    private func isThere(_ index: IndexLayout) throws(StoreError) -> Bool {
        try run.catalog.tree(index.treeName, of: run.editor) != nil
    }

    /// A pass that builds an index if it does not exist.
    ///
    /// - Parameter isChecked: whether objects that break a unique constraint are refused.
    private func build(
        _ index: IndexLayout, isChecked: Bool = false
    ) throws(StoreError) {
        try run.performLong { () throws(StoreError) in
            try !isThere(index)
        } _: { () throws(StoreError) in
            _ = try run.catalog.createTree(index.treeName, in: run.editor)
            run.forgetTrees()
            let build = IndexBuild(index, in: try run.transaction, isFinal: run.isChunked)
            try build.run(isChecked: isChecked)
        }
    }

    // MARK: Required values

    private func check(
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

    private func firstWithoutValue(
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
