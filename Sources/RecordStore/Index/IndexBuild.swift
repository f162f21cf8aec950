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

    func run() throws(StoreError) {
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
            try runs.insert(key.bytes)
        }
        try runs.write(to: transaction.trees.indexes[index.id])
    }
}
