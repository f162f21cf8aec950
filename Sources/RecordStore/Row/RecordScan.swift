import PageStore

/// Scans the records of a hierarchy in the order of their numbers, a leaf at a time. One thread.
package final class RecordScan {
    private let reader: RecordReader
    private let cursor: Cursor
    private let hierarchy: HierarchyID
    private var hasStarted = false
    /// Marks page images whose records were checked against the layouts; nil in a transaction,
    /// whose pages change.
    private let proof: UInt64?
    /// Added to the proof if some records of the page have older layouts.
    private static let olderMark = Cursor.noteOfProof

    init(_ reader: RecordReader, _ cursor: Cursor, _ hierarchy: HierarchyID) {
        self.reader = reader
        self.cursor = cursor
        self.hierarchy = hierarchy
        proof =
            reader.view is PageEditor
            ? nil : reader.schema.serial << 16 | UInt64(hierarchy.rootTag)
    }

    /// Moves to the next leaf that has records, or to the first if the scan has not started. Nil at
    /// the end.
    package func next() throws(StoreError) -> LeafRows? {
        if hasStarted {
            _ = try cursor.next()
        } else {
            hasStarted = true
            _ = try cursor.seekFirst()
        }
        guard cursor.isValid else { return nil }
        guard let entries = try cursor.takeLeaf(provedBy: proof) else {
            throw .corrupt(cursor.pageID, "a record's key is not an object number")
        }
        if let proof, entries.page.proof == proof {
            return LeafRows(checked: entries, widened: nil)
        }
        let hasOlder: Bool
        if let proof, entries.page.proof == proof | Self.olderMark {
            hasOlder = true
        } else {
            hasOlder = try check(entries)
            // The scan enters each leaf at its first entry, so the proof covers the whole page.
            if let proof, !entries.hasLargeValues {
                entries.page.proof = hasOlder ? proof | Self.olderMark : proof
            }
        }
        let widened =
            hasOlder ? WidenedRows(reader.schema, leastFixedSize: leastFixedSize) : nil
        return LeafRows(checked: entries, widened: widened)
    }

    /// The size of the shortest layout of the hierarchy, without heap.
    private lazy var leastFixedSize =
        reader.schema.entities.filter {
            $0.hierarchy == hierarchy
        }.map { $0.widening?.leastFixedSize ?? $0.fixedSize }.min() ?? 0

    /// Whether records have older layouts; throws `corrupt` for bytes that are not a record.
    private func check(_ entries: borrowing LeafEntries) throws(StoreError) -> Bool {
        // Numbers ascend, so that only the first can be 0.
        guard entries.count == 0 || entries.number(0) > 0 else {
            throw .corrupt(entries.page.id, "a record has the number 0")
        }
        var hasOlder = false
        var entity: EntityLayout?
        var older: (tag: UInt16, layout: RecordWidening.Older)?
        for index in 0..<entries.count {
            entries.prefetchInNext(index)
            let bytes = entries.value(index)
            // Neighbours are mostly of one entity, so that its lookup is reused.
            if let entity, bytes.count >= RowLayout.headerSize,
                bytes.uint16(at: RowLayout.entityTag) == entity.tag, entity.check(bytes)
            {
                continue
            }
            if let older, bytes.count >= RowLayout.headerSize,
                bytes.uint16(at: RowLayout.entityTag) == older.tag, older.layout.check(bytes)
            {
                continue
            }
            if reader.isNewest(bytes, in: hierarchy) {
                entity = reader.schema.entity(tag: bytes.uint16(at: RowLayout.entityTag))
            } else {
                let layout = try reader.olderLayout(
                    of: bytes, ObjectNumber(entries.number(index)), hierarchy)
                older = layout.map { (bytes.uint16(at: RowLayout.entityTag), $0) }
                hasOlder = true
            }
        }
        return hasOlder
    }
}
