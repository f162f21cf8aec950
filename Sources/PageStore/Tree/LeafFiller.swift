/// Fills an empty leaf with entries in the order of their keys; its header knows them at the end.
struct LeafFiller {
    private typealias Layout = NodeLayout

    private let leaf: NodeView
    private var slot: Int
    private var cell: Int

    /// - Parameter leaf: an empty one, in a private copy.
    init(_ leaf: NodeView) {
        self.leaf = leaf
        slot = leaf.slotsStart
        cell = leaf.page.count
    }

    /// Adds an entry of another leaf, which shares no byte with this one.
    ///
    /// - Parameter skipped: how many bytes longer this leaf's prefix is.
    mutating func append(_ index: Int, of other: NodeView, skipping skipped: Int) {
        let value = other.storedValue(index)
        let field = other.isValueElsewhere(index) ? Layout.valueFlag : 0
        append(other.suffix(index).dropFirst(skipped), value, UInt16(value.count) | field)
    }

    /// Adds a key without a value, which has the leaf's prefix.
    mutating func append(_ key: ByteView) {
        append(key.dropFirst(leaf.prefixSize), key.slice(from: 0, count: 0), 0)
    }

    private mutating func append(_ suffix: ByteView, _ value: ByteView, _ field: UInt16) {
        let size = Layout.cellKey + suffix.count + value.count
        precondition(slot + Layout.slotSize + size <= cell, "an entry is put where it has room")
        cell -= size
        leaf.page.setUInt16(field, at: cell)
        leaf.page.copy(suffix, to: cell + Layout.cellKey)
        leaf.page.copy(value, to: cell + Layout.cellKey + suffix.count)
        leaf.page.setUInt64(
            UInt64(NodeView.head(of: suffix)) | UInt64(cell) << 32 | UInt64(suffix.count) << 48,
            at: slot)
        slot += Layout.slotSize
    }

    func finish() {
        let count = (slot - leaf.slotsStart) / Layout.slotSize
        leaf.page.setUInt16(UInt16(count), at: Layout.slotCount)
        leaf.page.setUInt16(UInt16(leaf.page.count - cell), at: Layout.heapSize)
    }
}
