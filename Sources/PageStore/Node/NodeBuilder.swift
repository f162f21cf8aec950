/// Writes nodes: the only type that knows the form of an entry's slot and cell.
///
/// A builder begins an empty node and takes entries in the order of their keys; the header counts
/// them after ``finish()``. No byte that it is given may lie in its page.
struct NodeBuilder {
    private typealias Layout = NodeLayout

    /// The node; it seems empty until the end.
    let node: NodeView
    private var slot: Int
    private var cell: Int

    init(
        _ page: PageBuffer, level: Int, lower: ByteView, upper: ByteView, firstChild: PageID?
    ) {
        node = NodeView.clear(
            page, level: level, lower: lower, upper: upper, firstChild: firstChild)
        slot = node.slotsStart
        cell = page.count
    }

    /// Adds an entry whose key has the node's prefix.
    mutating func append(_ key: ByteView, _ value: ByteView, isOverflow: Bool) {
        append(
            key.slice(from: 0, count: 0), key.dropFirst(node.prefixSize), value,
            Layout.valueField(sizeInBytes: value.count, isOverflow: isOverflow))
    }

    /// Adds an entry on its way from another node, whose prefix may be longer or shorter.
    mutating func append(_ entry: NodeEntry) {
        let size = node.prefixSize
        let taken = min(size, entry.prefix.count)
        append(
            entry.prefix.dropFirst(taken), entry.suffix.dropFirst(size - taken), entry.value,
            Layout.valueField(sizeInBytes: entry.value.count, isOverflow: entry.isOverflow))
    }

    /// Adds an entry of another node.
    ///
    /// - Parameter skipped: how many bytes longer this node's prefix is.
    mutating func append(_ index: Int, of other: NodeView, skipping skipped: Int) {
        let (value, suffix) = (other.storedValue(index), other.suffix(index))
        append(
            suffix.slice(from: 0, count: 0), suffix.dropFirst(skipped), value,
            Layout.valueField(
                sizeInBytes: value.count, isOverflow: other.isOverflowValue(index)))
    }

    private mutating func append(
        _ start: ByteView, _ rest: ByteView, _ value: ByteView, _ field: UInt16
    ) {
        let size = Layout.cellKey + start.count + rest.count + value.count
        precondition(slot + Layout.slotSize + size <= cell, "an entry is put where it has room")
        cell -= size
        NodeBuilder.writeEntry(start, rest, value, field, to: node.page, slot: slot, cell: cell)
        slot += Layout.slotSize
    }

    func finish() {
        let count = (slot - node.slotsStart) / Layout.slotSize
        node.page.setUInt16(UInt16(count), at: Layout.slotCount)
        node.page.setUInt16(UInt16(node.page.count - cell), at: Layout.heapSize)
    }

    /// Writes the cell and the slot of an entry whose key after the node's prefix is given in two
    /// parts, the first of them mostly empty.
    @inline(__always)
    static func writeEntry(
        _ start: ByteView, _ rest: ByteView, _ value: ByteView, _ field: UInt16,
        to page: PageBuffer, slot: Int, cell: Int
    ) {
        let key = cell + Layout.cellKey
        let keySize = start.count + rest.count
        page.setUInt16(field, at: cell + Layout.cellValueSize)
        if !start.isEmpty { page.copy(start, to: key) }
        page.copy(rest, to: key + start.count)
        page.copy(value, to: key + keySize)
        let head = NodeView.head(
            of: start.isEmpty ? rest : page.view.slice(from: key, count: keySize))
        page.setUInt64(UInt64(head) | UInt64(cell) << 32 | UInt64(keySize) << 48, at: slot)
    }
}
