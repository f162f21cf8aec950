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

    private let run: MigrationRun
    private let hierarchy: HierarchyID

    init(_ run: MigrationRun, _ hierarchy: HierarchyID) {
        self.run = run
        self.hierarchy = hierarchy
    }

    /// A pass over every record in the order of their numbers: the body adds its changes to a
    /// batch, and returns true when it has some. Records change between two batches alone.
    func visit(
        batchCount: Int = Self.batchCount,
        _ body: (inout RecordBatch, ObjectNumber, RowView) throws(StoreError) -> Bool
    ) throws(StoreError) {
        try run.performInParts { last throws(StoreError) in
            var batch = RecordBatch()
            var count = 0
            let transaction = try run.transaction
            let cursor = transaction.recordCursor(hierarchy)
            var number = ObjectNumber(0)
            var isValid = try cursor.seek(Self.next(last))
            while isValid {
                number = cursor.number
                try run.count()
                if try body(&batch, number, cursor.row()) { count += 1 }
                isValid = try cursor.next()
                if count >= batchCount || batch.sizeInBytes >= Self.batchSizeInBytesMax
                    || run.isChunkFull
                {
                    break
                }
            }
            try transaction.apply(batch)
            return isValid ? RecordKey.bytes(number) : nil
        }
    }

    /// The object number to resume at: one more than the last one that was processed.
    private static func next(_ last: [UInt8]) throws(StoreError) -> ObjectNumber {
        if last.isEmpty { return ObjectNumber(0) }
        guard last.count == 8 else {
            throw .corrupt(nil, "the position of a migration is no record's key")
        }
        let (next, isLast) = last.withView { $0.bigEndianUInt64(at: 0) }
            .addingReportingOverflow(1)
        guard !isLast else { throw .corrupt(nil, "a record has the largest number") }
        return ObjectNumber(next)
    }

    /// A pass over every record that changes none.
    func read(_ body: (RowView) throws(StoreError) -> Void) throws(StoreError) {
        try visit { _, _, row throws(StoreError) in
            try body(row)
            return false
        }
    }

    /// Writes the records for which the body returns new ones, which are freed here.
    func update(
        _ body: (ObjectNumber, EntityLayout, RowView) throws(StoreError) -> RowBuffer?
    ) throws(StoreError) {
        try visit { batch, number, row throws(StoreError) in
            let entity = try run.transaction.schema.knownEntity(tag: row.entityTag)
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
