import PageStore

/// The records of one leaf, each checked against its layout. Valid as long as it is.
@usableFromInline
package struct LeafRows {
    @usableFromInline let entries: LeafEntries

    init(checked entries: LeafEntries) { self.entries = entries }

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
    /// The slots of the property and the bitmaps that say where there is no value, one for each
    /// record of the leaf.
    @usableFromInline var words: [UInt64] = []
    @usableFromInline var slotsStart = 0
    @usableFromInline var bitmapsStart = 0
    /// Whether a record of the leaf has no value.
    @usableFromInline package private(set) var hasNull = false

    package init(_ field: FieldLayout) {
        byteOffset = field.byteOffset
        let place = RowLayout.nullBit(byteOffset: byteOffset)
        bitmapOffset = place.wordOffset
        nullMask = 1 << place.bit
    }

    package mutating func read(_ leaf: LeafRows) {
        let lanes = leaf.entries.lanes(at: byteOffset, bitmapOffset)
        (words, slotsStart, bitmapsStart) = (lanes.words, lanes.first, lanes.second)
        var any: UInt64 = 0
        for index in 0..<leaf.count { any |= lanes.words[bitmapsStart &+ index] }
        hasNull = any & nullMask != 0
    }

    @inlinable @inline(__always)
    package subscript(index: Int) -> UInt64 { words[slotsStart &+ index] }

    @inlinable @inline(__always)
    package func isNull(_ index: Int) -> Bool {
        hasNull && words[bitmapsStart &+ index] & nullMask != 0
    }
}
