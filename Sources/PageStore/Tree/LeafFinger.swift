/// Looks up keys of one tree one after the other. A key that the leaf of the last one covers costs
/// no descent, so that keys which come in order cost little. Nothing may change the tree between
/// two calls.
package struct LeafFinger {
    private let view: PageView
    private let tree: TreeID
    private var leaf: NodeView?

    package init(_ view: PageView, tree: TreeID) {
        self.view = view
        self.tree = tree
    }

    /// Lends the value of a key, or returns nil when the tree has no such key.
    package mutating func withValue<Result>(
        for key: Span<UInt8>, _ body: (ByteView) throws(StoreError) -> Result
    ) throws(StoreError) -> Result? {
        let (leaf, index) = try key.withView { key throws(StoreError) in try find(key) }
        guard let index else { return nil }
        leaf.prefetchCell(index)
        return try withValue(leaf, index, body)
    }

    /// The leaf that covers a key, in which it has not been sought yet.
    package mutating func place(for key: Span<UInt8>) throws(StoreError) -> EntryPosition {
        EntryPosition(leaf: try key.withView { key throws(StoreError) in try nearLeaf(key) })
    }

    /// Lends the value at a place; nil when no key was found there.
    package func withValue<Result>(
        at place: EntryPosition, _ body: (ByteView) throws(StoreError) -> Result
    ) throws(StoreError) -> Result? {
        guard let index = place.index else { return nil }
        return try withValue(place.leaf, index, body)
    }

    private func withValue<Result>(
        _ leaf: NodeView, _ index: Int, _ body: (ByteView) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        guard leaf.isOverflowValue(index) else { return try body(leaf.storedValue(index)) }
        let buffer = ByteBuffer()
        try view.readBlob(BlobID(leaf.storedValue(index)), into: buffer)
        return try body(buffer.view)
    }

    /// ``PageView/suffixes(after:_:in:)``, without a descent when the last leaf has the keys.
    package mutating func suffixes(
        after beginning: ByteView, _ shape: KeyShape
    ) throws(StoreError) -> SuffixRun? {
        try nearLeaf(beginning).suffixes(after: beginning, shape)
    }

    private mutating func find(_ key: ByteView) throws(StoreError) -> (NodeView, Int?) {
        let near = try nearLeaf(key)
        let (index, isEqual) = near.search(key)
        return (near, isEqual ? index : nil)
    }

    private mutating func nearLeaf(_ key: ByteView) throws(StoreError) -> NodeView {
        if let leaf, leaf.covers(key) { return leaf }
        let found = try view.leaf(for: key, in: tree)
        leaf = found
        return found
    }
}

/// Where a key belongs, or where it was found. Several are sought one after the other and their
/// values read only then, so that memory brings them all while one is waited for. Valid for as long
/// as nothing changes the tree.
package struct EntryPosition {
    fileprivate let leaf: NodeView
    fileprivate var index: Int?

    fileprivate init(leaf: NodeView) { self.leaf = leaf }

    /// Seeks a key that the leaf covers, and prefetches its value.
    package mutating func find(_ key: Span<UInt8>) {
        let (found, isEqual) = key.withView { leaf.search($0) }
        guard isEqual else { return }
        leaf.prefetchCell(found)
        index = found
    }
}
