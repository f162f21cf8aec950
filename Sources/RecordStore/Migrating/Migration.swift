import PageStore

/// Brings a file to a later model, for as long as the plan takes: in one transaction where it
/// writes few records, else in chunks beside the model that the file has.
///
/// Whenever it ends, the file is of the earlier model or of the later one. What it throws leaves
/// the earlier one, without a copy; a process that ends leaves the copy, with which the next one
/// goes on that has the same plan, where nothing was committed in between.
struct Migration {
    let engine: Engine
    let catalog: Catalog
    let plan: MigrationPlan
    let control: MigrationControl?

    /// The file's schema.
    let stored: Schema
    /// As it is saved.
    let text: [UInt8]?

    private var size: MigrationSize {
        MigrationSize(engine: engine, catalog: catalog, plan: plan, stored: stored)
    }

    func run() throws(StoreError) {
        try resumeOrBegin()
        // The new model is durable: what is left of the old one only takes space.
        try? ReplacedTrees.drop(catalog, of: engine)
    }

    private func resumeOrBegin() throws(StoreError) {
        let state = try catalog.migration(engine.snapshot())
        if let state {
            if state.phase == .copying, try isOwn(state) { return try resume(state) }
            // Which trees are the copy's own is told by the model that the file has now.
            try Self.discard(catalog, of: engine)
            try ReplacedTrees.drop(catalog, of: engine)
        }
        let isChunked = try size.mayWriteMany()
        try checkSpace(isChunked: isChunked, hasDropped: state != nil)
        if isChunked {
            try begin(copying: plan.copiedTrees(of: stored))
        } else {
            try runWhole()
        }
    }

    /// Refuses what would not fit before a byte is written.
    ///
    /// - Parameter hasDropped: whether a copy was given up just now, whose space a checkpoint
    ///   notes as free.
    private func checkSpace(isChunked: Bool, hasDropped: Bool) throws(StoreError) {
        if hasDropped, try !size.forecast(isChunked: isChunked).fits {
            try engine.checkpointNow()
        }
        try size.forecast(isChunked: isChunked).check()
    }

    /// Whether nothing has happened since the plan's last chunk.
    private func isOwn(_ state: MigrationState) throws(StoreError) -> Bool {
        let commitNumber = try engine.snapshot().commitNumber
        guard state.commitNumber == commitNumber, state.plan == plan.fingerprint else {
            return false
        }
        return plan.callsProgram ? program != 0 && state.program == program : state.program == 0
    }

    /// Closures of another program may make other values; zero where it is not known which it is.
    private var program: UInt64 { plan.callsProgram ? engine.programIdentity : 0 }

    // MARK: In one transaction

    private func runWhole() throws(StoreError) {
        let editor = try engine.beginWrite()
        guard try isStill(editor) else { return editor.rollback() }
        let run = MigrationRun(
            engine, catalog, nil, editor, stored, MigrationState(.copying),
            MigrationProgress(control))
        do throws(StoreError) {
            try MigrationSteps(run: run, control: control).take(plan.steps)
            try run.finish(plan, from: stored)
        } catch {
            run.rollBack()
            throw error
        }
    }

    /// Another process was faster where not; its schema may be this one.
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

    private func begin(copying names: Set<String>) throws(StoreError) {
        let editor = try engine.beginWrite()
        guard try isStill(editor) else { return editor.rollback() }
        var start = MigrationState(.copying)
        (start.plan, start.program) = (plan.fingerprint, program)
        let shadow: MigrationShadow
        do throws(StoreError) {
            shadow = try MigrationShadow.create(beside: catalog, copying: names, in: editor)
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
        copying names: Set<String>
    ) throws(StoreError) {
        let progress = MigrationProgress(control)
        let run = MigrationRun(engine, catalog, shadow, editor, stored, start, progress)
        do throws(StoreError) {
            progress.beginCopying(try size.recordCount())
            let copy = TreeCopy(run: run, live: catalog)
            for name in names.sorted() where try catalog.tree(name, of: run.editor) != nil {
                try copy.copy(name)
            }
            try MigrationSteps(run: run, control: control).take(plan.steps)
            try run.performLong { () throws(StoreError) in
                true
            } _: { () throws(StoreError) in
                try MigrationVerification(run, catalog, stored, plan.steps).verify()
            }
            try run.finish(plan, from: stored)
        } catch {
            run.rollBack()
            Self.clear(catalog, of: engine)
            throw error
        }
    }

    // MARK: What is left

    /// Gives a copy up that is not gone on with, and drops what was replaced. Where that fails the
    /// next opening does it. Returns whether there is no copy any more: as long as there is one, no
    /// tree of the earlier model may go, because it may be the copy's as well.
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

    /// Gives a copy up, where there is one: what it leaves is dropped afterwards.
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
