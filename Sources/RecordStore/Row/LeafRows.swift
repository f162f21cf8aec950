import PageStore

/// The records of one leaf, each checked against its layout. Valid as long as it is.
@usableFromInline
package struct LeafRows: ~Copyable {
    @usableFromInline let entries: LeafEntries

    init(checked entries: consuming LeafEntries) { self.entries = entries }

    @inlinable @inline(__always)
    package var count: Int { entries.count }

    package func number(_ index: Int) -> ObjectNumber { ObjectNumber(entries.number(index)) }

    @inlinable @inline(__always)
    package func row(_ index: Int) -> RowView {
        let bytes = entries.value(index)
        // Safety: `RecordScan` has checked every record of the leaf.
        return unsafe RowView(unsafeBase: bytes.base, size: bytes.count)
    }
}

/// One property of all records of a leaf, side by side. One is used for all leaves of a scan.
///
/// Of a record that has no such property it holds what happens to lie there.
@usableFromInline
package struct LeafColumn {
    private let byteOffset: Int
    private let bitmapOffset: Int
    @usableFromInline let nullMask: UInt64
    /// The slots of the property.
    @usableFromInline var words: [UInt64] = []
    /// The bitmaps that say where there is no value, when a record of the leaf has a bit set.
    @usableFromInline var bitmaps: [UInt64] = []
    /// Whether a record of the leaf has no value.
    @usableFromInline package private(set) var hasNull = false

    package init(_ field: FieldLayout) {
        byteOffset = field.byteOffset
        let place = RowLayout.nullBit(byteOffset: byteOffset)
        bitmapOffset = place.wordOffset
        nullMask = 1 << place.bit
    }

    package mutating func read(_ leaf: borrowing LeafRows) {
        let lanes = leaf.entries.lanes(at: byteOffset, bitmapsAt: bitmapOffset)
        words = lanes.slots.words
        bitmaps = lanes.bitmaps.words
        hasNull = lanes.bitmaps.union & nullMask != 0
    }

    @inlinable @inline(__always)
    package subscript(index: Int) -> UInt64 { words[index] }

    @inlinable @inline(__always)
    package func isNull(_ index: Int) -> Bool { hasNull && bitmaps[index] & nullMask != 0 }
}
