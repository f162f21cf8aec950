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
    /// and returns true if it added any. Records change only between batches. A pass that changes
    /// records which the file's model has as well copies them.
    ///
    /// - Parameters:
    ///   - isNeeded: whether the pass reads anything at all, which it must not change.
    ///   - changesRecords: whether it changes or deletes records of the hierarchy.
    func visit(
        if isNeeded: () throws(StoreError) -> Bool = { () throws(StoreError) in true },
        batchCount: Int = Self.batchCount, changesRecords: Bool = true,
        _ body: (inout RecordBatch, ObjectNumber, RowView) throws(StoreError) -> Bool
    ) throws(StoreError) {
        if changesRecords { try run.copySharedTrees(of: hierarchy, if: isNeeded) }
        try pass(if: isNeeded, changesRecords: changesRecords) { first, copy throws(StoreError) in
            guard let copy else { return try visitBatch(at: first, batchCount, body) }
            var start = first
            while true {
                // Nothing is copied before the batch ends, so the chunk's limits do not see it yet.
                let end = try visitBatch(
                    at: start, batchCount, sizeInBytesMax: Self.batchSizeInBytesMax, body)
                try copy.copy(through: end.number)
                if end.isLast || run.isChunkFull { return end }
                start = try Self.next(RecordKey.bytes(end.number))
            }
        }
    }

    /// A pass that replaces each record for which the body returns a row, and frees that row. It
    /// maintains no index and no link, and neither makes nor deletes blobs: the body sees to what
    /// its rows lose.
    func replace(
        _ body: (EntityLayout, RowView) throws(StoreError) -> RowBuffer?
    ) throws(StoreError) {
        try pass { first, copy throws(StoreError) in
            let schema = try run.transaction.schema
            if let copy { return try copyReplaced(at: first, to: copy, schema, body) }
            return try visitBatch(at: first, Self.batchCount) {
                batch, number, row throws(StoreError) in
                let entity = schema.knownEntity(tag: row.entityTag)
                guard let changed = try body(entity, row) else { return false }
                batch.replace(entity, number, row: changed)
                changed.deallocate()
                return true
            }
        }
    }

    // MARK: Parts of a pass

    /// The last record of a part, and whether it is the hierarchy's.
    private typealias End = (number: ObjectNumber, isLast: Bool)

    /// A pass in parts, of which each begins at a number. A part gets a copy to write to where the
    /// file's model has the records as well and the pass changes some.
    private func pass(
        if isNeeded: () throws(StoreError) -> Bool = { () throws(StoreError) in true },
        changesRecords: Bool = true,
        _ visit: (ObjectNumber, RecordCopy?) throws(StoreError) -> End
    ) throws(StoreError) {
        try run.performInParts(if: isNeeded) { last throws(StoreError) in
            let first = try Self.next(last)
            let isCopied = changesRecords ? try run.sharesRecords(of: hierarchy) : false
            let copy = isCopied ? try run.beginCopy(of: hierarchy, at: first) : nil
            defer { if isCopied { run.forgetTrees() } }
            let end = try visit(first, copy)
            try copy?.finish()
            if isCopied, end.isLast { try run.endCopy(of: hierarchy) }
            return end.isLast ? nil : RecordKey.bytes(end.number)
        }
    }

    /// Visits the records of a batch.
    ///
    /// - Parameter sizeInBytesMax: limits the size of the records that are visited.
    private func visitBatch(
        at first: ObjectNumber, _ batchCount: Int, sizeInBytesMax: Int = .max,
        _ body: (inout RecordBatch, ObjectNumber, RowView) throws(StoreError) -> Bool
    ) throws(StoreError) -> End {
        var batch = RecordBatch()
        var (count, sizeInBytes) = (0, 0)
        let transaction = try run.transaction
        let cursor = transaction.recordCursor(hierarchy)
        var number = first
        var isValid = try cursor.seek(first)
        while isValid {
            number = cursor.number
            try run.count()
            let row = try cursor.row()
            sizeInBytes += row.bytes.count
            if try body(&batch, number, row) { count += 1 }
            isValid = try cursor.next()
            if count >= batchCount || batch.sizeInBytes >= Self.batchSizeInBytesMax
                || sizeInBytes >= sizeInBytesMax || run.endsBatch
            {
                break
            }
        }
        try transaction.apply(batch)
        return (number, !isValid)
    }

    /// Copies records and those that replace them, without a batch, until the chunk is full.
    private func copyReplaced(
        at first: ObjectNumber, to copy: RecordCopy, _ schema: Schema,
        _ body: (EntityLayout, RowView) throws(StoreError) -> RowBuffer?
    ) throws(StoreError) -> End {
        let stored = ByteBuffer(capacity: 1024)
        let cursor = try run.transaction.recordCursor(hierarchy)
        var number = first
        var isValid = try cursor.seek(first)
        while isValid {
            number = cursor.number
            try run.count()
            let row = try cursor.row()
            let entity = schema.knownEntity(tag: row.entityTag)
            if let changed = try body(entity, row) {
                defer { changed.deallocate() }
                guard !changed.isOverfull else {
                    throw StoreError(
                        .tooLarge, "a value of \(entity.name) \(number) is too long")
                }
                stored.removeAll()
                changed.compact(
                    into: stored, variableOffsets: entity.variableOffsets,
                    fixedSize: entity.fixedSize)
                try copy.replace(number, by: stored.view)
            } else {
                try copy.copy(through: number)
            }
            isValid = try cursor.next()
            if run.endsBatch { break }
        }
        return (number, !isValid)
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
        try visit(changesRecords: false) { _, _, row throws(StoreError) in
            try body(row)
            return false
        }
    }

    /// Replaces each record for which the body returns a row, and frees that row.
    ///
    /// - Parameter isNeeded: as for ``visit(if:batchCount:changesRecords:_:)``.
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
            run.progress.count()
            guard tags.contains(row.entityTag) else { return false }
            batch.delete(number, in: hierarchy)
            return true
        }
    }
}
