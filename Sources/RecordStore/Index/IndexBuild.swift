import PageStore

/// Fills an empty index with the entries of the stored records, in memory that does not grow with
/// their number: see ``SortedRuns``.
struct IndexBuild {
    private let index: IndexLayout
    private let transaction: RecordTransaction

    init(_ index: IndexLayout, in transaction: RecordTransaction) {
        self.index = index
        self.transaction = transaction
    }

    /// - Parameter isChecked: whether objects that violate a unique constraint are refused, with
    ///   `duplicateValues` and before anything is written.
    func run(isChecked: Bool = false) throws(StoreError) {
        var search = isChecked && index.isUnique ? DuplicateSearch(index, transaction) : nil
        var runs = SortedRuns(transaction.editor)
        let entity = transaction.schema.knownEntity(tag: index.entityTag)
        let columns = index.columns.map { KeyColumn($0) }
        let cursor = transaction.recordCursor(entity.hierarchy, isScan: true)
        var key = transaction.keyEncoder(columnCount: columns.count)
        while try cursor.next() {
            let row = try cursor.row()
            guard entity.tags.contains(row.entityTag) else { continue }
            key.removeAll()
            for column in columns { try transaction.append(column, of: row, to: &key) }
            key.append(cursor.number)
            if runs.isRunFull {
                try search?.refusePairs()
                search = nil
                try runs.endRun()
            }
            runs.insert(key.bytes)
        }
        // Equal columns need not be equal values: of a long text only a part is in its key.
        if let search, runs.hasEqualColumns() { try search.refusePairs() }
        try runs.write(to: transaction.trees.indexes[index.id])
    }
}
