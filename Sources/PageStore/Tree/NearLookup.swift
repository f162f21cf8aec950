/// Looks up keys of one tree one after the other. A key that the leaf of the last one covers costs
/// no descent, so that keys which come in order cost little. Nothing may change the tree between
/// two calls.
package struct NearLookup {
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
        guard leaf.isValueElsewhere(index) else { return try body(leaf.storedValue(index)) }
        let buffer = ByteBuffer()
        try view.readBlob(BlobID(leaf.storedValue(index)), into: buffer)
        return try body(buffer.view)
    }

    /// The same as ``PageView/numbers(behind:in:)``.
    package mutating func numbers(behind prefix: ByteView) throws(StoreError) -> NumberRun? {
        try nearLeaf(prefix).numbers(behind: prefix)
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
