import PageStore

/// The way of a migration through its passes, in one transaction or in many.
///
/// Which passes there are, and in which order, follows from the plan and from what the file held
/// before: a later run counts them alike. So the number of a pass, and the last key that it is done
/// with, are all that a chunk has to note beside what it has written.
final class MigrationRun {
    private let engine: Engine
    private let live: Catalog
    /// Nil for a migration in one transaction, which changes the file's own trees.
    private let shadow: MigrationShadow?
    /// Of the model that is changed.
    let catalog: Catalog
    private(set) var editor: WriteTransaction
    let progress: MigrationProgress

    private var schema: Schema
    private var current: RecordTransaction?
    /// Where an earlier run has come to, or the beginning.
    private let start: MigrationState
    /// How many passes have begun; the first ones were done by an earlier run.
    private var passCount = 0
    private var chunkRowCount = 0
    /// Of an earlier run's schema, until it was compared.
    private var isUnchecked: Bool

    var isChunked: Bool { shadow != nil }

    init(
        _ engine: Engine, _ live: Catalog, _ shadow: MigrationShadow?, _ editor: WriteTransaction,
        _ schema: Schema, _ start: MigrationState, _ progress: MigrationProgress
    ) {
        self.engine = engine
        self.live = live
        self.shadow = shadow
        catalog = shadow?.catalog ?? live
        self.editor = editor
        self.schema = schema
        self.start = start
        self.progress = progress
        isUnchecked = start.passCount > 0
    }

    // MARK: The records

    /// The schema of the passes that follow.
    func use(_ schema: Schema) {
        self.schema = schema
        forgetTrees()
    }

    /// The next use looks for the trees of the schema again.
    func forgetTrees() { current = nil }

    /// The records by the schema that is used. Only within a pass: before it the catalog may be one
    /// of a later schema.
    var transaction: RecordTransaction {
        get throws(StoreError) {
            if let current { return current }
            if isUnchecked {
                guard try catalog.layout(editor) == StoredLayout.bytes(of: schema) else {
                    throw .corrupt(
                        live.root.root, "the layout is not the one that the migration had reached")
                }
                isUnchecked = false
            }
            let (trees, missing) = try TreeTable.open(schema, catalog, editor)
            if let name = missing.first(where: { !TreeTable.isIndex($0) }) {
                throw .corrupt(live.root.root, "the catalog does not name the tree \(name)")
            }
            let transaction = RecordTransaction(
                schema: schema, editor: editor, catalog: catalog, trees: trees,
                numbers: NumberReserve(schema, catalog))
            transaction.blobLedger = shadow?.ledger
            current = transaction
            return transaction
        }
    }

    // MARK: Passes

    /// A pass that is done whole: a kill repeats it.
    func perform(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        defer { passCount += 1 }
        guard isLeft() else { return }
        try body()
        try endChunkIfFull(passCount + 1, [])
    }

    /// The same for one that takes long where it is needed: nothing before it is repeated, and
    /// nothing of it once it is done.
    func performLong(
        if isNeeded: () throws(StoreError) -> Bool, _ body: () throws(StoreError) -> Void
    ) throws(StoreError) {
        defer { passCount += 1 }
        guard isLeft(), try isNeeded() else { return }
        if isChunked { try endChunk(passCount, []) }
        try body()
        if isChunked { try endChunk(passCount + 1, []) }
    }

    /// A pass of many batches, between which a chunk may end. The body gets the last key that is
    /// done, does what follows, and returns the last key of that; nil at the end.
    func performInParts(
        _ body: (_ last: [UInt8]) throws(StoreError) -> [UInt8]?
    ) throws(StoreError) {
        defer { passCount += 1 }
        guard isLeft() else { return }
        var last = passCount == start.passCount ? start.position : []
        while let next = try body(last) {
            last = next
            try endChunkIfFull(passCount, last)
        }
        try endChunkIfFull(passCount + 1, [])
    }

    /// A pass after which the trees of some names are nearly empty, so that removing them takes
    /// little of a chunk. In one transaction it does nothing.
    func emptyTrees(_ names: () throws(StoreError) -> [String]) throws(StoreError) {
        try performInParts { _ throws(StoreError) in
            guard isChunked else { return nil }
            for name in try names() {
                guard let tree = try catalog.tree(name, of: editor),
                    !catalog.lentTrees.contains(tree)
                else { continue }
                let isEmpty = try editor.trimTree(tree, while: { !isChunkFull })
                // Nothing of the position is needed: what is gone is not there any more.
                guard isEmpty else { return [] }
            }
            return nil
        }
    }

    /// Whether the pass that begins is not done yet.
    private func isLeft() -> Bool {
        if passCount == start.passCount { progress.goOn(at: start.doneCount) }
        return passCount >= start.passCount
    }

    /// One more record was read or written; throws where the program has cancelled the migration.
    func count() throws(StoreError) {
        chunkRowCount += 1
        try progress.pass()
    }

    // MARK: Chunks

    /// Whether the next part should be left to another chunk.
    var isChunkFull: Bool {
        isChunked
            && (chunkRowCount >= engine.options.migrationChunkRowsMax
                || editor.changedBytes >= engine.options.migrationChunkBytesMax
                || editor.freedPageCount >= engine.options.migrationDropPagesMax)
    }

    private func endChunkIfFull(_ passCount: Int, _ position: [UInt8]) throws(StoreError) {
        if isChunkFull { try endChunk(passCount, position) }
    }

    private func endChunk(_ passCount: Int, _ position: [UInt8]) throws(StoreError) {
        chunkRowCount = 0
        guard editor.hasChanges else { return }
        try progress.report()
        var state = start
        (state.passCount, state.position) = (passCount, position)
        state.commitNumber = editor.nextCommitNumber
        state.doneCount = progress.doneCount
        try live.setMigration(state, in: editor)
        current = nil
        try editor.commit(.bulk)
        editor = try engine.beginWrite()
    }

    /// Gives the file the later model and its history in one durable commit.
    func finish(_ plan: MigrationPlan, from stored: Schema) throws(StoreError) {
        current = nil
        guard passCount >= start.passCount else {
            throw .corrupt(
                live.root.root, "the migration has noted more passes than its plan has")
        }
        if isChunked { try endChunk(passCount, []) }
        try shadow?.replace(in: editor)
        try live.noteModels(
            plan.models, after: plan.followsStored ? stored.description : nil,
            earlier: plan.earlier, at: engine.now(), in: editor)
        try editor.commit()
    }

    /// Forgets what was not committed.
    func rollBack() {
        current = nil
        editor.rollback()
    }
}
