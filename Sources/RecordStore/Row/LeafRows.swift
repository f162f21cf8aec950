import PageStore

/// The records of one leaf, each checked against its layout. Valid as long as it is.
@usableFromInline
package struct LeafRows: ~Copyable {
    @usableFromInline let entries: LeafEntries
    /// Nil where all records have the newest layout of their entity.
    @usableFromInline let widened: WidenedRows?

    init(checked entries: consuming LeafEntries, widened: WidenedRows?) {
        self.entries = entries
        self.widened = widened
    }

    @inlinable @inline(__always)
    package var count: Int { entries.count }

    package func number(_ index: Int) -> ObjectNumber { ObjectNumber(entries.number(index)) }

    @inlinable @inline(__always)
    package func row(_ index: Int) -> RowView {
        let bytes = entries.value(index)
        if let widened { return widened.row(index, bytes) }
        // Safety: `RecordScan` has checked every record of the leaf.
        return unsafe RowView(unsafeBase: bytes.base, size: bytes.count)
    }
}

/// One property of all records of a leaf, side by side. One is used for all leaves of a scan.
///
/// For a record without the property the content is undefined.
@usableFromInline
package struct LeafColumn {
    /// The property's slots, and the bitmaps that say where it is nil.
    private let columns: ColumnPair
    private let slot: Int
    @usableFromInline let nullMask: UInt64
    /// The slots of the property.
    @usableFromInline var words: [UInt64] = []
    /// The bitmaps that say where there is no value, when a record of the leaf has a bit set.
    @usableFromInline var bitmaps: [UInt64] = []
    /// Whether a record of the leaf has no value.
    @usableFromInline package private(set) var hasNull = false

    package init(_ field: FieldLayout) {
        let null = RowLayout.nullBit(byteOffset: field.byteOffset)
        columns = ColumnPair(dense: field.byteOffset, sparse: null.wordOffset)
        slot = field.slot
        nullMask = 1 << null.bit
    }

    package mutating func read(_ leaf: borrowing LeafRows) {
        let vectors = leaf.entries.vectors(of: columns)
        words = vectors.dense.words
        bitmaps = vectors.sparse.words
        hasNull = vectors.sparse.union & nullMask != 0
        if let widened = leaf.widened { complete(leaf, widened) }
    }

    /// Older records that lack the property have its initial value, and in its place other bytes.
    private mutating func complete(_ leaf: borrowing LeafRows, _ widened: WidenedRows) {
        var nulls: [UInt64] = []
        for index in 0..<leaf.count {
            let bytes = leaf.entries.value(index)
            let isThere = Int(bytes.uint16(at: RowLayout.slotCount)) > slot
            var isNull = isThere && bytes.uint64(at: columns.sparse) & nullMask != 0
            if !isThere {
                let initial = widened.initialWord(slot: slot, of: bytes)
                words[index] = initial ?? 0
                isNull = initial == nil
            }
            nulls.append(isNull ? nullMask : 0)
            hasNull = index == 0 ? isNull : hasNull || isNull
        }
        bitmaps = nulls
    }

    @inlinable @inline(__always)
    package subscript(index: Int) -> UInt64 { words[index] }

    @inlinable @inline(__always)
    package func isNull(_ index: Int) -> Bool { hasNull && bitmaps[index] & nullMask != 0 }
}
