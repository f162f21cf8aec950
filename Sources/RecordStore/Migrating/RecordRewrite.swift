import PageStore

/// Changes records of a hierarchy inside a migration, in batches, so that memory is bounded however
/// many there are.
struct RecordRewrite {
    private static let batchCount = 512
    /// A deletion keeps a number and its entries of indexes. Each batch of them reads all links of
    /// relationships without inverses that lead to the hierarchy.
    private static let deletionCount = 32_768
    /// Of the records that wait in a batch: some may have large values.
    private static let batchSizeInBytesMax = 8 << 20

    private let transaction: RecordTransaction
    private let hierarchy: HierarchyID

    init(_ transaction: RecordTransaction, _ hierarchy: HierarchyID) {
        self.transaction = transaction
        self.hierarchy = hierarchy
    }

    /// Calls back with every record in the order of their numbers, to add its changes to a batch;
    /// true when it has some. Records change between two batches alone.
    func visit(
        batchCount: Int = Self.batchCount,
        _ body: (inout RecordBatch, ObjectNumber, RowView) throws(StoreError) -> Bool
    ) throws(StoreError) {
        var next = ObjectNumber(0)
        while true {
            var batch = RecordBatch()
            var count = 0
            let cursor = transaction.recordCursor(hierarchy)
            var isValid = try cursor.seek(next)
            while isValid, count < batchCount,
                batch.sizeInBytes < Self.batchSizeInBytesMax
            {
                if try body(&batch, cursor.number, cursor.row()) { count += 1 }
                let (number, isLast) = cursor.number.rawValue.addingReportingOverflow(1)
                guard !isLast else { throw .corrupt(nil, "a record has the largest number") }
                next = ObjectNumber(number)
                isValid = try cursor.next()
            }
            try transaction.apply(batch)
            if !isValid { return }
        }
    }

    /// Writes the records for which the body returns new ones, which are freed here.
    func update(
        _ body: (ObjectNumber, EntityLayout, RowView) throws(StoreError) -> RowBuffer?
    ) throws(StoreError) {
        try visit { batch, number, row throws(StoreError) in
            let entity = transaction.schema.knownEntity(tag: row.entityTag)
            guard let changed = try body(number, entity, row) else { return false }
            batch.update(entity, number, row: changed)
            changed.deallocate()
            return true
        }
    }

    /// Deletes all records of some entities, with their links.
    func delete(_ tags: Set<UInt16>) throws(StoreError) {
        try visit(batchCount: Self.deletionCount) { batch, number, row in
            guard tags.contains(row.entityTag) else { return false }
            batch.delete(number, in: hierarchy)
            return true
        }
    }
}
