/// Inserts and removes in one tree, best in key order: it remembers the leaf of the last change,
/// and descends again only for a key outside that leaf's fences.
///
/// While a writer is in use nothing else changes its tree.
package final class TreeWriter {
    private let editor: PageEditor
    private let tree: TreeID
    private var leaf: NodeView?
    private var spillCount = 0

    package init(_ editor: PageEditor, tree: TreeID) {
        self.editor = editor
        self.tree = tree
    }

    /// Gives a key a value. Returns whether it replaced one.
    @discardableResult
    package func insert(
        _ key: Span<UInt8>, _ value: Span<UInt8>
    ) throws(StoreError) -> Bool {
        try key.withView { key throws(StoreError) -> Bool in
            try value.withView { value throws(StoreError) -> Bool in
                try insert(key, value)
            }
        }
    }

    /// Removes a key. Returns whether the tree had it.
    @discardableResult
    package func remove(_ key: Span<UInt8>) throws(StoreError) -> Bool {
        try key.withView { key throws(StoreError) -> Bool in try remove(key) }
    }

    /// The same with a key that a view lends.
    package func remove(_ key: ByteView) throws(StoreError) -> Bool {
        forgetSpilledLeaf()
        if let leaf, covers(key, leaf) { return try remove(key, from: leaf) }
        leaf = nil
        // A key that is not there leaves every page as it is.
        guard key.count <= Limits.keySizeInBytesMax(pageSizeInBytes: editor.pageSizeInBytes),
            try editor.contains(key, in: tree)
        else { return false }
        try editor.makeRoom()
        return try remove(key, from: try editor.editableLeaf(for: key, in: tree))
    }

    private func remove(_ key: ByteView, from leaf: NodeView) throws(StoreError) -> Bool {
        self.leaf = nil
        let found = try editor.take(key, from: leaf)
        if editor.isTooEmpty(leaf) {
            // This may free the leaf's page.
            try editor.refill(key, level: 0, in: tree)
        } else {
            self.leaf = leaf
        }
        return found
    }

    /// The same with a key and a value that views lend.
    package func insert(_ key: ByteView, _ value: ByteView) throws(StoreError) -> Bool {
        forgetSpilledLeaf()
        guard let leaf, covers(key, leaf) else { return try insertElsewhere(key, value) }
        do throws(StoreError) {
            let isReplaced = try editor.put(key, value, into: leaf, of: tree)
            // A split may have turned the root, which was the leaf, into a branch.
            if !NodeView.isLeaf(leaf.page) { self.leaf = nil }
            return isReplaced
        } catch {
            self.leaf = nil
            throw error
        }
    }

    /// Another tree's change may have written the leaf out.
    private func forgetSpilledLeaf() {
        guard editor.spillCount != spillCount else { return }
        spillCount = editor.spillCount
        leaf = nil
    }

    /// Descends to the leaf that covers a key.
    private func insertElsewhere(
        _ key: ByteView, _ value: ByteView
    ) throws(StoreError) -> Bool {
        leaf = nil
        try editor.makeRoom()
        try editor.checkKeySize(key)
        let node = try editor.editableLeaf(for: key, in: tree)
        let isReplaced = try editor.put(key, value, into: node, of: tree)
        if NodeView.isLeaf(node.page) { leaf = node }
        return isReplaced
    }

    private func covers(_ key: ByteView, _ node: NodeView) -> Bool {
        key.count <= Limits.keySizeInBytesMax(pageSizeInBytes: editor.pageSizeInBytes)
            && node.covers(key)
    }
}

extension NodeView {
    static func isLeaf(_ page: PageBuffer) -> Bool { page[0] == PageKind.treeLeaf.rawValue }
}
