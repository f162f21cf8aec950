import PageStore

/// The records of a hierarchy in the order of their numbers, a leaf at a time. One thread; what it
/// lends is valid until it goes on.
package final class RecordScan {
    private let reader: RecordReader
    private let cursor: Cursor
    private let hierarchy: HierarchyID
    private var hasStarted = false
    @usableFromInline let entries = LeafEntries()
    /// What a page's image is marked with once its records were checked against the layouts.
    private let proof: UInt64

    init(_ reader: RecordReader, _ cursor: Cursor, _ hierarchy: HierarchyID) {
        self.reader = reader
        self.cursor = cursor
        self.hierarchy = hierarchy
        proof = reader.schema.serial << 16 | UInt64(hierarchy.rootTag)
    }

    /// How many records the leaf lends.
    @inlinable @inline(__always)
    package var count: Int { entries.count }

    @inlinable @inline(__always)
    package func number(_ index: Int) -> ObjectNumber { ObjectNumber(entries.number(index)) }

    @inlinable @inline(__always)
    package func row(_ index: Int) -> RowView {
        let bytes = entries.value(index)
        // Safety: `next` has checked every record that it lends.
        return unsafe RowView(unsafeBase: bytes.base, size: bytes.count)
    }

    /// Goes to the next leaf that has records, the first time to the first. False at the end.
    package func next() throws(StoreError) -> Bool {
        if hasStarted {
            _ = try cursor.next()
        } else {
            hasStarted = true
            _ = try cursor.seekFirst()
        }
        guard cursor.isValid else { return false }
        guard try cursor.takeLeaf(into: entries) else {
            throw .corrupt(nil, "a record's key is not a number")
        }
        try checkRows()
        return true
    }

    private func checkRows() throws(StoreError) {
        // Pages of a transaction change, so that nothing stays proved of them.
        let page = reader.view is PageEditor || entries.hasLargeValues ? nil : entries.page
        if let page, page.proof.load(ordering: .relaxed) == proof { return }
        for index in 0..<entries.count {
            _ = try reader.checkedRow(
                entries.value(index), ObjectNumber(entries.number(index)), hierarchy)
        }
        page?.proof.store(proof, ordering: .relaxed)
    }
}
