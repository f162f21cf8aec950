/// Inserts and removes in one tree, best in key order: it remembers the leaf of the last change,
/// and descends again only for a key outside that leaf's fences.
///
/// While a writer is in use nothing else changes its tree.
package final class TreeWriter {
    let editor: PageEditor
    let tree: TreeID
    private let isAscending: Bool
    var leaf: NodeView?
    private var editEpoch = 0

    /// - Parameter isAscending: whether no key will be less than one before it.
    package init(_ editor: PageEditor, tree: TreeID, isAscending: Bool = false) {
        self.editor = editor
        self.tree = tree
        self.isAscending = isAscending
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

    /// Removes a key that a view lends. Returns whether the tree had it.
    package func remove(_ key: ByteView) throws(StoreError) -> Bool {
        forgetDepartedLeaf()
        if let leaf, covers(key, leaf) { return try remove(key, from: leaf) }
        leaveLeaf()
        guard let found = try editor.editableLeaf(holding: key, in: tree) else { return false }
        return try remove(key, from: found)
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

    /// Inserts a key and a value that views lend.
    package func insert(_ key: ByteView, _ value: ByteView) throws(StoreError) -> Bool {
        let leaf = try editableLeaf(for: key)
        return try put(key, value, into: leaf, at: leaf.search(key))
    }

    /// Inserts an entry. Returns whether the tree has another key that begins with as many of its
    /// bytes.
    package func insert(
        _ key: ByteView, _ value: ByteView, sharing byteCount: Int
    ) throws(StoreError) -> Bool {
        let leaf = try editableLeaf(for: key)
        let place = leaf.search(key)
        let beginning = key.slice(from: 0, count: byteCount)
        let isShared = try hasNeighbour(key, beginning, in: leaf, at: place)
        _ = try put(key, value, into: leaf, at: place)
        return isShared
    }

    private func put(
        _ key: ByteView, _ value: ByteView, into leaf: NodeView,
        at place: (index: Int, isEqual: Bool)
    ) throws(StoreError) -> Bool {
        do throws(StoreError) {
            try editor.put(key, value, into: leaf, at: place, of: tree)
            // A split may have turned the root, which was the leaf, into a branch.
            if !NodeView.isLeaf(leaf.page) { self.leaf = nil }
            return place.isEqual
        } catch {
            self.leaf = nil
            throw error
        }
    }

    /// Whether another key shares a key's beginning, given its leaf. Keys with a common beginning
    /// are adjacent, so the neighbours suffice.
    private func hasNeighbour(
        _ key: ByteView, _ beginning: ByteView, in leaf: NodeView,
        at place: (index: Int, isEqual: Bool)
    ) throws(StoreError) -> Bool {
        let index = place.index
        let next = place.isEqual ? index + 1 : index
        if index > 0, leaf.hasPrefix(beginning, at: index - 1) { return true }
        if next < leaf.slotCount, leaf.hasPrefix(beginning, at: next) { return true }
        // The fences say whether the leaves beside this one may hold such keys.
        let mayBeBefore = index == 0 && leaf.lowerFence.compare(beginning) > 0
        let mayBeBehind = next == leaf.slotCount && leaf.upperFence.hasPrefix(beginning)
        guard mayBeBefore || mayBeBehind else { return false }
        return try hasKey(beginning: beginning, besides: key)
    }

    /// Whether the tree has another key with the same beginning, found by a descent.
    func hasKey(beginning: ByteView, besides key: ByteView) throws(StoreError) -> Bool {
        let cursor = Cursor(editor, tree: tree)
        _ = try cursor.seekNear(beginning)
        if cursor.isValid, cursor.key == key { _ = try cursor.next() }
        return cursor.isValid && cursor.key.hasPrefix(beginning)
    }

    /// Another tree's change may have written the leaf out, and another writer may have left it.
    private func forgetDepartedLeaf() {
        guard editor.editEpoch != editEpoch else { return }
        editEpoch = editor.editEpoch
        leaf = nil
    }

    /// The leaf that covers a key, as a private copy: that of the last change, or another.
    func editableLeaf(for key: ByteView) throws(StoreError) -> NodeView {
        forgetDepartedLeaf()
        if let leaf, covers(key, leaf) { return leaf }
        leaveLeaf()
        try editor.makeRoom()
        try editor.checkKeySize(key)
        let found = try editor.editableLeaf(for: key, in: tree)
        leaf = found
        return found
    }

    private func leaveLeaf() {
        guard let leaf else { return }
        editor.finishEditing(leaf.page)
        editEpoch = editor.editEpoch
        self.leaf = nil
    }

    func covers(_ key: ByteView, _ node: NodeView) -> Bool {
        key.count <= Limits.keySizeInBytesMax(pageSizeInBytes: editor.pageSizeInBytes)
            && (isAscending ? node.isBounded(key) : node.covers(key))
    }
}

extension NodeView {
    static func isLeaf(_ page: PageBuffer) -> Bool { page[0] == PageKind.treeLeaf.rawValue }

    /// Whether a slot's key begins with some bytes, of which another key of the node has as many
    /// as the prefix has, or all.
    func hasPrefix(_ bytes: ByteView, at index: Int) -> Bool {
        suffix(index).hasPrefix(bytes.dropFirst(min(prefixSize, bytes.count)))
    }
}
