import PageStore

/// Fills an empty index with the entries of the stored records, in memory that does not grow with
/// their number: see ``SortedRuns``.
struct IndexBuild {
    private let index: IndexLayout
    private let transaction: RecordTransaction
    private let isFinal: Bool

    /// - Parameter isFinal: whether the transaction will hardly change the index: see
    ///   ``TreeBuilder``.
    init(_ index: IndexLayout, in transaction: RecordTransaction, isFinal: Bool) {
        self.index = index
        self.transaction = transaction
        self.isFinal = isFinal
    }

    /// - Parameter isChecked: whether objects that violate a unique constraint are refused, with
    ///   `duplicateValues` and before any of the index's pages is written.
    func run(isChecked: Bool = false) throws(StoreError) {
        let isSearched = isChecked && index.isUnique
        var runs = SortedRuns(transaction.editor, isFinal: isFinal)
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
                if isSearched { return try searchAndRun(&runs) }
                try runs.endRun()
            }
            // Nil in any column conflicts with nothing.
            let isComparable =
                isSearched && !columns.contains { row.isNull(at: $0.byteOffset) }
            runs.insert(key.bytes, isComparable: isComparable)
        }
        // Not all are equal values: of a long text only a part is in its key.
        if isSearched, runs.hasEqualColumns() { return try searchAndRun(&runs) }
        try runs.write(to: transaction.trees.indexes[index.id])
    }

    /// Searches the records, without the memory of a run beside that of the search, and begins
    /// again.
    private func searchAndRun(_ runs: inout SortedRuns) throws(StoreError) {
        runs.removeRun()
        try DuplicateSearch(index, transaction).refusePairs()
        try run()
    }
}
