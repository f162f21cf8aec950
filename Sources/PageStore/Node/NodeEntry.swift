/// An entry on its way from one node to another: borrowed bytes of a copy of the old node.
struct NodeEntry {
    /// The old node's prefix; empty for an entry that comes from outside.
    var prefix: ByteView
    var suffix: ByteView
    var value: ByteView
    var isOverflow: Bool

    var keySize: Int { prefix.count + suffix.count }
    var size: Int { NodeLayout.entrySize(keySize: keySize, valueSize: value.count) }
    /// In a branch: the child for keys from this one on.
    var child: PageID { PageID(value.uint64(at: 0)) }

    func key() -> [UInt8] { prefix.array() + suffix.array() }
}

extension NodeView {
    /// The node's entries. They are valid as long as the page is and does not change.
    func entries() -> [NodeEntry] {
        let shared = prefix
        return (0..<slotCount).map { index in
            NodeEntry(
                prefix: shared, suffix: suffix(index), value: storedValue(index),
                isOverflow: isOverflowValue(index))
        }
    }

    /// Makes a page a node of these entries. No byte of the arguments may lie in the page.
    static func build(
        _ page: PageBuffer, level: Int, lower: ByteView, upper: ByteView, firstChild: PageID?,
        _ entries: ArraySlice<NodeEntry>
    ) {
        var builder = NodeBuilder(
            page, level: level, lower: lower, upper: upper, firstChild: firstChild)
        for entry in entries { builder.append(entry) }
        builder.finish()
    }

    /// The size of a page with these entries.
    static func builtSize(
        _ entries: ArraySlice<NodeEntry>, lower: ByteView, upper: ByteView
    ) -> Int {
        let prefix = lower.sharedPrefixCount(with: upper)
        let sizes = entries.reduce(0) { $0 + $1.size }
        return NodeLayout.slotsStart(fencesSize: lower.count + upper.count) + sizes
            - prefix * entries.count
    }
}
