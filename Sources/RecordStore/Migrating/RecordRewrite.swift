import PageStore

/// Changes records of a hierarchy within a migration, in batches that bound memory.
struct RecordRewrite {
    private static let batchCount = 512
    /// Batches of deletions are larger: a deletion holds only a number and index keys, and each
    /// batch scans all links of relationships without inverses that point to the hierarchy.
    private static let deletionCount = 32_768
    /// Limits the size of the records that a batch holds: some may have large values.
    private static let batchSizeInBytesMax = 8 << 20

    private let run: MigrationRun
    private let hierarchy: HierarchyID

    init(_ run: MigrationRun, _ hierarchy: HierarchyID) {
        self.run = run
        self.hierarchy = hierarchy
    }

    /// A pass over all records in ascending number order. The body adds its changes to the batch
    /// and returns true if it added any. Records change only between batches.
    ///
    /// - Parameter isNeeded: whether the pass reads anything at all, which it must not change.
    func visit(
        if isNeeded: () throws(StoreError) -> Bool = { () throws(StoreError) in true },
        batchCount: Int = Self.batchCount,
        _ body: (inout RecordBatch, ObjectNumber, RowView) throws(StoreError) -> Bool
    ) throws(StoreError) {
        try run.performInParts(if: isNeeded) { last throws(StoreError) in
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
                    || run.endsBatch
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
            throw .corrupt(nil, "the position of a migration is not the key of a record")
        }
        let (next, isLast) = last.withView { $0.bigEndianUInt64(at: 0) }
            .addingReportingOverflow(1)
        guard !isLast else { throw .corrupt(nil, "a record has the largest number") }
        return ObjectNumber(next)
    }

    /// A pass over all records that changes none.
    func read(_ body: (RowView) throws(StoreError) -> Void) throws(StoreError) {
        try visit { _, _, row throws(StoreError) in
            try body(row)
            return false
        }
    }

    /// Replaces each record for which the body returns a row, and frees that row.
    ///
    /// - Parameter isNeeded: as for ``visit(if:batchCount:_:)``.
    func update(
        if isNeeded: () throws(StoreError) -> Bool = { () throws(StoreError) in true },
        _ body: (ObjectNumber, EntityLayout, RowView) throws(StoreError) -> RowBuffer?
    ) throws(StoreError) {
        try visit(if: isNeeded) { batch, number, row throws(StoreError) in
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
