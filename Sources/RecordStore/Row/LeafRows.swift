import PageStore

/// The records of one leaf, each checked against its layout.
@usableFromInline
package struct LeafRows: ~Copyable {
    @usableFromInline let entries: LeafEntries
    /// Nil if all records have the newest layout of their entity.
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

    /// The record for reading one property, which costs no conversion if all layouts have it.
    @inlinable @inline(__always)
    package func row(_ index: Int, for byteOffset: Int) -> RowView {
        let bytes = entries.value(index)
        if let widened, byteOffset >= widened.leastFixedSize {
            return widened.row(index, bytes)
        }
        // Safety: `RecordScan` has checked every record of the leaf, against its own layout.
        return unsafe RowView(unsafeBase: bytes.base, size: bytes.count)
    }

    package func entityTag(_ index: Int) -> UInt16 {
        entries.value(index).uint16(at: RowLayout.entityTag)
    }
}

/// One property of all records of a leaf, as a column. A scan reuses it for all leaves.
///
/// The content is undefined for a record without the property.
@usableFromInline
package struct LeafColumn {
    /// The offsets of the property's slot and of its bitmap word.
    private let columns: ColumnPair
    private let slot: Int
    @usableFromInline let nullMask: UInt64
    /// The slots of the property.
    @usableFromInline var words: [UInt64] = []
    /// The bitmap words with the property's null bit; valid if a record of the leaf has it set.
    @usableFromInline var bitmaps: [UInt64] = []
    /// Whether the property is nil in any record of the leaf.
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
        if let widened = leaf.widened, columns.dense >= widened.leastFixedSize {
            complete(leaf, widened)
        }
    }

    /// Older records without the property have its initial value, and other bytes at its offset.
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
