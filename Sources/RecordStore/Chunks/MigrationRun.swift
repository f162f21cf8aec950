import PageStore

/// Runs the passes of a migration, in one transaction or in many.
///
/// The number and order of passes follow from the plan and from the file's contents before the
/// migration, so that a resumed run counts them alike. A chunk therefore records only the number of
/// its pass and the last key that the pass has processed.
final class MigrationRun {
    let engine: Engine
    let live: Catalog
    /// Nil for a migration in one transaction, which changes the file's own trees.
    private let shadow: MigrationShadow?
    /// The catalog of the model that is changed.
    let catalog: Catalog
    private(set) var editor: WriteTransaction
    let progress: MigrationProgress

    private(set) var schema: Schema
    /// The tags of the file's entities before the migration.
    private let storedTags: Set<UInt16>
    private var current: RecordTransaction?
    /// The names of ``RecordEditor/unmaintainedTrees``.
    private(set) var unmaintainedTrees: Set<String> = []
    /// The position that an earlier run has reached, or the beginning.
    private let start: MigrationState
    /// Trees of the file's model that the shadow copy has as well.
    let lentTrees: Set<TreeID>
    /// Those that passes may change, and copy then.
    let changingTrees: Set<TreeID>
    /// How many passes have begun; an earlier run has completed the first `start.passCount`.
    private var passCount = 0
    private var chunkRowCount = 0
    private let chunkRowsMax: Int
    private let chunkBytesMax: Int
    private let dropPagesMax: Int
    /// Whether the layout that an earlier run has reached is still to be compared.
    private var isUnchecked: Bool

    var isChunked: Bool { shadow != nil }

    init(
        _ engine: Engine, _ live: Catalog, _ shadow: MigrationShadow?, _ editor: WriteTransaction,
        _ schema: Schema, _ start: MigrationState, _ progress: MigrationProgress,
        changing changingTrees: Set<TreeID> = []
    ) {
        self.engine = engine
        // Not read for every record: each look at the options copies all of them.
        let options = engine.options
        chunkRowsMax = options.migrationChunkRowsMax
        chunkBytesMax = options.migrationChunkBytesMax
        dropPagesMax = options.migrationDropPagesMax
        self.live = live
        self.shadow = shadow
        catalog = shadow?.catalog ?? live
        lentTrees = Set(catalog.lentTrees)
        self.changingTrees = lentTrees.intersection(changingTrees)
        self.editor = editor
        self.schema = schema
        storedTags = Set(schema.entities.map(\.tag))
        self.start = start
        self.progress = progress
        isUnchecked = start.passCount > 0
    }

    // MARK: The records

    /// Sets the schema of the following passes.
    func use(_ schema: Schema) {
        self.schema = schema
        forgetTrees()
    }

    /// Runs passes that change records, and do not maintain some trees that are dropped or built
    /// before anything reads them.
    func withoutMaintaining(
        _ names: Set<String>, _ body: () throws(StoreError) -> Void
    ) throws(StoreError) {
        (unmaintainedTrees, current) = (names, nil)
        try body()
        (unmaintainedTrees, current) = ([], nil)
    }

    /// Makes the next access look up the schema's trees again.
    func forgetTrees() { current = nil }

    /// The records by the current schema. Only within a pass: before it, the catalog of a resumed
    /// run may have a later schema.
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
            let transaction = try makeTransaction(openTrees(), NumberReserve(schema, catalog))
            current = transaction
            return transaction
        }
    }

    private func openTrees() throws(StoreError) -> TreeTable {
        let (trees, missing) = try TreeTable.open(schema, catalog, editor)
        if let name = missing.first(where: { !TreeTable.isIndex($0) }) {
            throw .corrupt(live.root.root, "the catalog does not name the tree \(name)")
        }
        return trees
    }

    private func makeTransaction(
        _ trees: TreeTable, _ numbers: NumberReserve
    ) throws(StoreError) -> RecordTransaction {
        let transaction = RecordTransaction(
            schema: schema, editor: editor, catalog: catalog, trees: trees, numbers: numbers)
        transaction.blobLedger = shadow?.ledger
        transaction.lentTrees = lentTrees
        for name in unmaintainedTrees {
            if let tree = try catalog.tree(name, of: editor) {
                transaction.unmaintainedTrees.insert(tree)
            }
        }
        return transaction
    }

    /// The number of records of exactly some entities, as the counters have it: those of the file's
    /// model, which a resumed run finds as they were, and of the later one for new entities.
    func recordCount(_ tags: [UInt16]) throws(StoreError) -> Int {
        var count = 0
        for tag in tags {
            let counters = storedTags.contains(tag) ? live : catalog
            let counted = try counters.counter(Catalog.countKey(tag), of: editor)
            count += Int(min(counted, 1 << 40))
        }
        return count
    }

    /// Whether exactly an entity has as many records as before the migration. False for one that
    /// the file did not have.
    func hasAllRecords(_ tag: UInt16) throws(StoreError) -> Bool {
        // An earlier step may have given the entity another tag, for which the file counts nothing.
        guard storedTags.contains(tag) else { return false }
        let key = Catalog.countKey(tag)
        let before: PageView = isChunked ? editor : try editor.before
        return try catalog.counter(key, of: editor) == live.counter(key, of: before)
    }

    // MARK: Passes

    /// Runs a pass as a unit: a kill repeats it.
    func perform(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        defer { passCount += 1 }
        guard isLeft() else { return }
        try body()
        try endChunkIfFull(passCount + 1, [])
    }

    /// Runs a long pass, if needed, in chunks of its own: a kill repeats neither the passes before
    /// it nor the pass once it is complete.
    func performLong(
        if isNeeded: () throws(StoreError) -> Bool, _ body: () throws(StoreError) -> Void
    ) throws(StoreError) {
        defer { passCount += 1 }
        guard isLeft(), try isNeeded() else { return }
        if isChunked { try endChunk(passCount, []) }
        try body()
        if isChunked { try endChunk(passCount + 1, []) }
    }

    /// Runs a pass, if needed, in batches, between which a chunk may end. The body receives the
    /// last key that is processed, and returns the last key of its batch, or nil at the end. The
    /// pass must not change whether it is needed.
    func performInParts(
        if isNeeded: () throws(StoreError) -> Bool = { () throws(StoreError) in true },
        _ body: (_ last: [UInt8]) throws(StoreError) -> [UInt8]?
    ) throws(StoreError) {
        defer { passCount += 1 }
        guard isLeft(), try isNeeded() else { return }
        var last = passCount == start.passCount ? start.position : []
        while let next = try body(last) {
            last = next
            try endChunkIfFull(passCount, last)
        }
        try endChunkIfFull(passCount + 1, [])
    }

    /// A pass that trims trees until they are nearly empty, so that their removal fits in a chunk.
    /// Does nothing in a migration in one transaction.
    func emptyTrees(_ names: () throws(StoreError) -> [String]) throws(StoreError) {
        try performInParts { _ throws(StoreError) in
            guard isChunked else { return nil }
            for name in try names() {
                guard let tree = try catalog.tree(name, of: editor),
                    !catalog.lentTrees.contains(tree)
                else { continue }
                let isEmpty = try editor.trimTree(tree, while: { !isChunkFull })
                // No position is needed: trimmed entries no longer exist.
                guard isEmpty else { return [] }
            }
            return nil
        }
    }

    /// Whether the pass that begins was not completed by an earlier run.
    private func isLeft() -> Bool {
        if passCount == start.passCount { progress.goOn(at: start.doneCount) }
        return passCount >= start.passCount
    }

    /// Counts a record that is read or written; throws if the program cancels the migration.
    func count() throws(StoreError) {
        chunkRowCount += 1
        try progress.pass()
    }

    // MARK: Chunks

    /// Whether the next batch belongs in another chunk.
    var isChunkFull: Bool {
        isChunked
            && (chunkRowCount >= chunkRowsMax || editor.changedBytes >= chunkBytesMax
                || editor.freedPageCount >= dropPagesMax)
    }

    /// Whether a batch should end here so that the chunk can. The size of the transaction is read
    /// at every 16th record only: each of its parts is a property that is checked for exclusivity.
    var endsBatch: Bool {
        isChunked
            && (chunkRowCount >= chunkRowsMax
                || chunkRowCount.isMultiple(of: 16) && isChunkFull)
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

    /// Calls the closure that finishes the last step. No commit may separate its changes from the
    /// switch, because they reach trees that both models share. The last commit must have all that
    /// the passes did, because it is the transaction's state before its changes.
    private func call(
        _ finishing: MigrationFinishing, _ control: MigrationControl?
    ) throws(StoreError) {
        try progress.report()
        let trees = try openTrees()
        let numbers = NumberReserve(schema, catalog)
        try numbers.reserve(in: editor)
        let transaction = try makeTransaction(trees, numbers)
        // Its changes and the switch are one commit.
        transaction.lentTrees = []
        let database = RecordDatabase(
            engine: engine, schema: schema, catalog: catalog, trees: trees,
            identities: ObjectIdentities(try catalog.movedObjects(editor)), numbers: numbers)
        do {
            try finishing(database, transaction)
        } catch let error as StoreError {
            throw error
        } catch {
            control?.fail(error)
            throw StoreError(
                .invalidArgument, "the closure that finishes the migration failed: \(error)")
        }
        try transaction.saveChanges()
        try numbers.release(in: editor)
    }

    /// Gives the file the later model and its history, in one durable commit.
    func finish(
        _ plan: MigrationPlan, from stored: Schema, _ control: MigrationControl?
    ) throws(StoreError) {
        current = nil
        guard passCount >= start.passCount else {
            throw .corrupt(
                live.root.root, "the migration has recorded more passes than its plan has")
        }
        if isChunked { try endChunk(passCount, []) }
        if let finishing = plan.finishing { try call(finishing, control) }
        // The last moment at which the program can cancel.
        try progress.report()
        try shadow?.replace(in: editor)
        try live.noteModels(
            plan.models, after: plan.followsStored ? stored.description : nil,
            earlier: plan.earlier, at: engine.now(), in: editor)
        try editor.commit()
    }

    /// Discards uncommitted changes.
    func rollBack() {
        current = nil
        editor.rollback()
    }
}
