import PageStore

/// A reader that can also change records; its reads see the changes.
package class RecordEditor: RecordReader {
    final let editor: PageEditor
    private final var countChanges: [UInt16: Int] = [:]
    /// The saved change of each entity's record count since the beginning, by tag.
    private(set) final var savedChanges: [UInt16: Int] = [:]
    private final var conflictCandidates: [HierarchyID: Set<ObjectNumber>] = [:]
    /// Owners whose lists deletions have shortened, by relationship.
    private final var shortenedLists: [Int: Set<ObjectNumber>] = [:]
    /// The plans of the last batch, for the next one.
    private final var plans: EntityPlans?
    /// Nil if changes are not recorded.
    final let notes: ChangeNotes?
    /// The ledger of a migration's shadow copy, which keeps the blobs of the file's model.
    final var blobLedger: BlobLedger?
    /// Indexes and trees of to-one links that a migration is about to drop or to build: changes of
    /// records do not maintain them.
    final var unmaintainedTrees: Set<TreeID> = []
    /// The records that are copied while a migration changes them.
    final var recordCopy: RecordCopy?
    /// Trees that a migration must not change, because the file's model has them as well.
    final var lentTrees: Set<TreeID> = []
    /// Blobs copied from another store, which no record names yet.
    private final var copiedBlobs: Set<PageID> = []

    init(
        schema: Schema, editor: PageEditor, catalog: Catalog, trees: TreeTable,
        notes: ChangeNotes?
    ) {
        self.editor = editor
        self.notes = notes
        super.init(schema: schema, view: editor, catalog: catalog, trees: trees)
    }

    /// A reader of the records as they were before any change.
    package var before: RecordReader {
        get throws(StoreError) {
            throw StoreError(.closed, "the records have no state before their changes")
        }
    }

    /// Marks all numbers up to `last` as used.
    package func useNumbers(upTo last: ObjectNumber, in hierarchy: HierarchyID) {}

    /// Frees the memory kept for the next batch.
    final func forgetBatches() { (plans, conflictCandidates, shortenedLists) = (nil, [:], [:]) }

    /// Applies changes to records, indexes, links and counters.
    package final func apply(_ batch: borrowing RecordBatch) throws(StoreError) {
        guard !batch.isEmpty else { return }
        // Plans are not reused after an error, which leaves edits in them.
        let plans = plans.take() ?? EntityPlans(schema)
        var applier = BatchApplier(self, plans)
        do throws(StoreError) {
            try applier.apply(batch)
        } catch {
            notes?.forget()
            throw error
        }
        self.plans = plans
        for (tag, change) in plans.takeCountChanges() { countChanges[tag, default: 0] += change }
        for (hierarchy, last) in plans.takeInsertedMax() {
            useNumbers(upTo: ObjectNumber(last), in: hierarchy)
        }
        for (hierarchy, numbers) in applier.conflictCandidates {
            conflictCandidates[hierarchy, default: []].formUnion(numbers)
        }
        try saveCounts()
    }

    final func createBlob(_ bytes: ByteView) throws(StoreError) -> BlobID {
        guard let blobLedger else { return try editor.createBlob(bytes) }
        return try blobLedger.create(bytes, in: editor)
    }

    /// A copy of another store's blob, for one record to be inserted; nil if it cannot be read.
    final func copyBlob(_ blob: BlobID, of pages: PageView) throws(StoreError) -> BlobID? {
        guard let copy = try editor.copyBlob(blob, of: pages) else { return nil }
        copiedBlobs.insert(copy.page)
        return copy
    }

    /// Whether a blob is a copy that no record has taken; it is taken now.
    final func takeCopy(_ blob: BlobID) -> Bool {
        !copiedBlobs.isEmpty && copiedBlobs.remove(blob.page) != nil
    }

    final func deleteBlob(_ blob: BlobID) throws(StoreError) {
        guard let blobLedger else { return try editor.deleteBlob(blob) }
        try blobLedger.delete(blob, in: editor)
    }

    /// Refuses to change a tree that a migration must not change.
    final func checkOwn(_ tree: TreeID) throws(StoreError) {
        guard lentTrees.isEmpty || !lentTrees.contains(tree) else {
            throw .corrupt(tree.root, "a migration changes a tree of the file's model")
        }
    }

    private final func saveCounts() throws(StoreError) {
        for (tag, change) in countChanges where change != 0 {
            let key = Catalog.countKey(tag)
            let stored = Int(clamping: try catalog.counter(key, of: view))
            let (count, isTooLarge) = stored.addingReportingOverflow(change)
            guard !isTooLarge, count >= 0 else {
                throw .corrupt(
                    catalog.root.root, "the counter of an entity does not fit its records")
            }
            try catalog.setCounter(key, UInt64(count), in: editor)
            savedChanges[tag, default: 0] += change
        }
        countChanges = [:]
    }

    /// The objects applied since the last call that may violate a unique constraint, by hierarchy
    /// and in order. Some do not; of objects with equal columns one may be missing.
    package final func takeConflictCandidates() -> [(
        hierarchy: HierarchyID, numbers: [ObjectNumber]
    )] {
        defer { conflictCandidates = [:] }
        return conflictCandidates.sorted { $0.key.rootTag < $1.key.rootTag }
            .map { ($0.key, $0.value.sorted()) }
    }

    /// Notes that a list without an inverse has lost an object that was deleted.
    final func noteShorter(_ relationship: RelationshipLayout, of owner: ObjectNumber) {
        guard relationship.minCount > 0 else { return }
        shortenedLists[relationship.id, default: []].insert(owner)
    }

    /// The owners of lists with a least count, but without an inverse, that deletions have
    /// shortened since the last call, by relationship and in order.
    package final func takeShortenedLists() -> [(relationshipID: Int, owners: [ObjectNumber])] {
        defer { shortenedLists = [:] }
        return shortenedLists.sorted { $0.key < $1.key }.map { ($0.key, $0.value.sorted()) }
    }

    /// Another object with the same values in the columns of a unique constraint; nil if there is
    /// none. Nil in any column conflicts with nothing.
    package final func otherNumber(
        matching constraint: IndexLayout, row: RowView, besides number: ObjectNumber
    ) throws(StoreError) -> ObjectNumber? {
        var found: ObjectNumber?
        try forEachNumber(matching: constraint, row: row) { other in
            if other != number { found = other }
            return found == nil
        }
        return found
    }

    /// Passes the objects with the same values in the columns of a unique constraint to the body,
    /// in order, until it returns false.
    package final func forEachNumber(
        matching constraint: IndexLayout, row: RowView, _ body: (ObjectNumber) -> Bool
    ) throws(StoreError) {
        var key = keyEncoder(columnCount: constraint.columns.count)
        for column in constraint.columns {
            if row.isNull(at: column.byteOffset) { return }
        }
        try append(constraint.columns, of: row, to: &key)
        let cursor = indexCursor(constraint, KeyRange(prefix: key.bytes))
        let entity = schema.knownEntity(tag: constraint.entityTag)
        while try cursor.next() {
            guard key.isTruncated else {
                guard body(cursor.number) else { return }
                continue
            }
            let isEqual = try withRow(cursor.number, in: entity.hierarchy) {
                other throws(StoreError) in
                guard entity.tags.contains(other.entityTag) else { return false }
                for column in constraint.columns
                where try value(column, of: other) != value(column, of: row) { return false }
                return true
            }
            if isEqual == true, !body(cursor.number) { return }
        }
    }
}
