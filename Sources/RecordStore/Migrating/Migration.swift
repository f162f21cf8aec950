import PageStore

/// Brings a file to a later model: in one transaction if it writes few records, otherwise in chunks
/// into a shadow copy beside the file's model. A migration that a closure finishes takes the second
/// way, whatever its size.
///
/// At any moment the file has the earlier model or the later one. An error leaves the earlier model
/// and discards the copy. A killed process leaves the copy, which the next migration with the same
/// plan resumes if nothing was committed in between.
struct Migration {
    let engine: Engine
    let catalog: Catalog
    let plan: MigrationPlan
    let control: MigrationControl?

    /// The file's schema.
    let stored: Schema
    /// The saved form of ``stored``.
    let text: [UInt8]?

    private var size: MigrationSize {
        MigrationSize(engine: engine, catalog: catalog, plan: plan, stored: stored)
    }

    func run() throws(StoreError) {
        try resumeOrBegin()
        // The new model is durable; a failure here only leaves unused trees in the file.
        try? ReplacedTrees.drop(catalog, of: engine)
    }

    private func resumeOrBegin() throws(StoreError) {
        let state = try catalog.migration(engine.snapshot())
        if let state {
            if state.phase == .copying, try isOwn(state) { return try resume(state) }
            // Must precede any change of the file's model, which shows which trees are the copy's
            // own.
            try Self.discard(catalog, of: engine)
            try ReplacedTrees.drop(catalog, of: engine)
        }
        let isChunked = try size.isChunked()
        try checkSpace(isChunked: isChunked, hasDropped: state != nil)
        if isChunked {
            try begin(copying: plan.copiedTrees(of: stored))
        } else {
            try runWhole()
        }
    }

    /// Refuses a migration that would not fit, before anything is written.
    ///
    /// - Parameter hasDropped: whether a copy was just discarded; a checkpoint frees its space.
    private func checkSpace(isChunked: Bool, hasDropped: Bool) throws(StoreError) {
        if hasDropped, try !size.forecast(isChunked: isChunked).fits {
            try engine.checkpointNow()
        }
        try size.forecast(isChunked: isChunked).check()
    }

    /// Whether the copy is of the same plan and nothing was committed since its last chunk.
    private func isOwn(_ state: MigrationState) throws(StoreError) -> Bool {
        let commitNumber = try engine.snapshot().commitNumber
        guard state.commitNumber == commitNumber, state.plan == plan.fingerprint else {
            return false
        }
        return plan.callsProgram ? program != 0 && state.program == program : state.program == 0
    }

    /// Identifies the program if the plan calls its closures: those of another program may return
    /// other values. Zero if the plan calls none or the program is unknown.
    private var program: UInt64 { plan.callsProgram ? engine.programIdentity : 0 }

    // MARK: In one transaction

    private func runWhole() throws(StoreError) {
        let editor = try engine.beginWrite()
        guard try isStill(editor) else { return editor.rollback() }
        let run = MigrationRun(
            engine, catalog, nil, editor, stored, MigrationState(.copying),
            MigrationProgress(control))
        do throws(StoreError) {
            try MigrationSteps(run: run, control: control).take(plan)
            try run.finish(plan, from: stored, control)
        } catch {
            run.rollBack()
            throw error
        }
    }

    /// Whether the file still has the plan's schema. If not, another process has migrated it,
    /// perhaps to the schema that this one wants. Rolls back on errors.
    private func isStill(_ editor: WriteTransaction) throws(StoreError) -> Bool {
        do throws(StoreError) {
            for prefix in [MigrationShadow.prefix, ReplacedTrees.prefix]
            where try !catalog.keys(beginning: prefix, of: editor).isEmpty {
                throw .corrupt(
                    catalog.root.root, "the catalog has keys below \(prefix) without a migration")
            }
            return try catalog.schemaText(editor) == text
        } catch {
            editor.rollback()
            throw error
        }
    }

    // MARK: In chunks

    private func begin(copying names: CopiedTrees) throws(StoreError) {
        let editor = try engine.beginWrite()
        guard try isStill(editor) else { return editor.rollback() }
        var start = MigrationState(.copying)
        (start.plan, start.program) = (plan.fingerprint, program)
        let shadow: MigrationShadow
        do throws(StoreError) {
            shadow = try MigrationShadow.create(
                beside: catalog, copying: names.first, in: editor)
        } catch {
            editor.rollback()
            throw error
        }
        try run(shadow, editor, start, copying: names)
    }

    private func resume(_ state: MigrationState) throws(StoreError) {
        let editor = try engine.beginWrite()
        let shadow: MigrationShadow
        do throws(StoreError) {
            shadow = try MigrationShadow.open(beside: catalog, in: editor)
        } catch {
            editor.rollback()
            throw error
        }
        try run(shadow, editor, state, copying: plan.copiedTrees(of: stored))
    }

    private func run(
        _ shadow: MigrationShadow, _ editor: WriteTransaction, _ start: MigrationState,
        copying names: CopiedTrees
    ) throws(StoreError) {
        let progress = MigrationProgress(control)
        let run: MigrationRun
        do throws(StoreError) {
            run = MigrationRun(
                engine, catalog, shadow, editor, stored, start, progress,
                changing: try trees(names.later, editor))
        } catch {
            editor.rollback()
            throw error
        }
        do throws(StoreError) {
            progress.beginCopying(try size.recordCount(copying: names.first))
            let copy = TreeCopy(run: run, live: catalog)
            for name in names.first.sorted() where try catalog.tree(name, of: run.editor) != nil {
                try copy.copy(name)
            }
            try MigrationSteps(run: run, control: control).take(plan)
            try run.performLong { () throws(StoreError) in
                true
            } _: { () throws(StoreError) in
                try MigrationVerification(run, catalog, stored, plan.steps).verify()
            }
            try run.finish(plan, from: stored, control)
        } catch {
            run.rollBack()
            Self.clear(catalog, of: engine)
            throw error
        }
    }

    private func trees(
        _ names: Set<String>, _ view: PageView
    ) throws(StoreError) -> Set<TreeID> {
        var trees: Set<TreeID> = []
        for name in names {
            if let tree = try catalog.tree(name, of: view) { trees.insert(tree) }
        }
        return trees
    }

    // MARK: Leftovers

    /// Discards an unfinished copy and drops replaced trees; if that fails, the next opening does
    /// it. Returns whether there is no copy any more: while one exists, no tree of the earlier
    /// model may be dropped, because the copy may share it.
    @discardableResult
    static func clear(_ catalog: Catalog, of engine: Engine) -> Bool {
        do throws(StoreError) {
            try discard(catalog, of: engine)
        } catch {
            return false
        }
        try? ReplacedTrees.drop(catalog, of: engine)
        return true
    }

    /// Discards the copy, if there is one. Its trees are dropped by ``ReplacedTrees``.
    static func discard(_ catalog: Catalog, of engine: Engine) throws(StoreError) {
        let editor = try engine.beginWrite()
        do throws(StoreError) {
            if try catalog.migration(editor)?.phase == .copying {
                try MigrationShadow.open(beside: catalog, in: editor).discard(in: editor)
            }
            try editor.commit()
        } catch {
            editor.rollback()
            throw error
        }
    }
}
