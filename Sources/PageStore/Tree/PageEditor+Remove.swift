/// Removing entries and whole trees.
extension PageEditor {
    /// Removes a key. Returns whether the tree had it.
    @discardableResult
    package final func remove(
        _ key: Span<UInt8>, from tree: TreeID
    ) throws(StoreError) -> Bool {
        try key.withView { key throws(StoreError) -> Bool in
            guard let leaf = try editableLeaf(holding: key, in: tree) else { return false }
            let found = try take(key, from: leaf)
            if isTooEmpty(leaf) { try refill(key, level: 0, in: tree) }
            return found
        }
    }

    /// The leaf that has a key, as a private copy; nil when the tree has no such key: then every
    /// page stays as it is.
    final func editableLeaf(
        holding key: ByteView, in tree: TreeID
    ) throws(StoreError) -> NodeView? {
        guard key.count <= Limits.keySizeInBytesMax(pageSizeInBytes: pageSizeInBytes) else {
            return nil
        }
        let leaf = try leaf(for: key, in: tree)
        guard leaf.search(key).isEqual else { return nil }
        guard leaf.covers(key) else { throw NodeView.foreignKey(leaf.page.id) }
        try makeRoom()
        return NodeView(validated: try editablePage(leaf.page.id))
    }

    /// Removes a key from the leaf that covers it, and leaves the leaf however empty it gets.
    final func take(_ key: ByteView, from leaf: NodeView) throws(StoreError) -> Bool {
        let (index, isEqual) = leaf.search(key)
        guard isEqual else { return false }
        if leaf.isOverflowValue(index) { try deleteBlob(BlobID(leaf.storedValue(index))) }
        leaf.remove(at: index)
        return true
    }

    /// A quarter: a merged or divided pair stays far from both limits, so that neither is undone
    /// by the next few changes.
    final func isTooEmpty(_ node: NodeView) -> Bool {
        node.usedSize < pageSizeInBytes / 4
    }

    /// Merges the node that covers a key with a neighbour, or shares the entries of both evenly.
    final func refill(
        _ key: ByteView, level: Int, in tree: TreeID
    ) throws(StoreError) {
        let root = try rootNode(of: tree)
        guard root.level > level else { return }
        let parent = try editableNode(covering: key, level: level + 1, in: tree)
        guard parent.slotCount > 0 else {
            if parent.page.id == tree.root { return try pullUpChild(of: tree) }
            return try refill(key, level: level + 1, in: tree)
        }
        let pair = try siblings(below: parent, around: key)
        // The entries lie in the copies that the pair holds.
        defer { withExtendedLifetime(pair) {} }
        let upper = pair.right.upperFence
        let size = NodeView.builtSize(
            pair.entries[...], lower: pair.left.lowerFence, upper: upper)
        guard size <= pageSizeInBytes else { return try share(pair, below: parent) }
        let target = try editablePage(pair.left.page.id)
        NodeView.build(
            target, level: level, lower: pair.left.lowerFence, upper: upper,
            firstChild: level == 0 ? nil : pair.left.child(-1), pair.entries[...])
        parent.remove(at: pair.separatorIndex)
        try freePage(pair.right.page.id)
        if parent.page.id == tree.root {
            if parent.slotCount == 0 { try pullUpChild(of: tree) }
        } else if isTooEmpty(parent) {
            try refill(key, level: level + 1, in: tree)
        }
    }

    /// Two neighbours and their entries in one row. The nodes are copies: the pages may change.
    private struct Siblings {
        var left: NodeView
        var right: NodeView
        var separatorIndex: Int
        var entries: [NodeEntry]
    }

    private final func siblings(
        below parent: NodeView, around key: ByteView
    ) throws(StoreError) -> Siblings {
        let leftIndex = max(parent.childIndex(key) - 1, -1)
        var copies: [NodeView] = []
        for index in [leftIndex, leftIndex + 1] {
            let child = try parent.checkedNode(page(parent.child(index)))
            try parent.checkFences(of: child, at: index)
            copies.append(NodeView(validated: PageBuffer(copying: child.page)))
        }
        let (left, right) = (copies[0], copies[1])
        var entries = left.entries()
        if !left.isLeaf {
            // The separator moves down, with the right node's first child after it.
            let image = right.page
            entries.append(
                NodeEntry(
                    prefix: image.view.slice(from: 0, count: 0), suffix: right.lowerFence,
                    value: image.view.slice(from: NodeLayout.firstChild, count: 8),
                    isOverflow: false))
        }
        entries += right.entries()
        return Siblings(
            left: left, right: right, separatorIndex: leftIndex + 1, entries: entries)
    }

    private final func share(_ pair: Siblings, below parent: NodeView) throws(StoreError) {
        let plan = SplitPlan(
            level: pair.left.level, lower: pair.left.lowerFence, upper: pair.right.upperFence,
            pageSizeInBytes: pageSizeInBytes)
        guard let cut = plan.cut(pair.entries, from: nil) else { return }
        let oldSize = NodeLayout.slotSize + parent.cellSize(pair.separatorIndex)
        let newSize = NodeLayout.entrySize(
            keySize: cut.separator.count - parent.prefixSize, valueSize: 8)
        // A longer separator that the parent has no room for: the pair stays as it is.
        guard newSize <= parent.freeSize + oldSize else { return }
        let left = try editablePage(pair.left.page.id)
        let right = try editablePage(pair.right.page.id)
        let rightID = right.id.encoded()
        let isLeaf = plan.level == 0
        cut.separator.withView { separator in
            NodeView.build(
                left, level: plan.level, lower: plan.lower, upper: separator,
                firstChild: isLeaf ? nil : pair.left.child(-1), pair.entries[..<cut.index])
            NodeView.build(
                right, level: plan.level, lower: separator, upper: plan.upper,
                firstChild: isLeaf ? nil : pair.entries[cut.index].child,
                plan.rightEntries(pair.entries, at: cut.index))
            parent.remove(at: pair.separatorIndex)
            rightID.withView { rightID in
                parent.insert(separator, rightID, isOverflow: false, at: pair.separatorIndex)
            }
        }
    }

    /// The root of a tree whose only child is a node takes over that child's content.
    private final func pullUpChild(of tree: TreeID) throws(StoreError) {
        while true {
            let root = try rootNode(of: tree)
            guard !root.isLeaf, root.slotCount == 0 else { return }
            let child = try root.checkedNode(page(root.child(-1)))
            try root.checkFences(of: child, at: -1)
            try editablePage(tree.root).copy(child.page.view, to: 0)
            try freePage(child.page.id)
        }
    }

    /// Frees every page of a tree, values elsewhere included. The tree's name ends.
    package final func deleteTree(_ tree: TreeID) throws(StoreError) {
        // Children of a page are freed before it. A page that is met twice has been freed, and
        // reading it throws, so a tree that shares pages cannot make this loop go on for ever.
        var open: [(node: NodeView, next: Int)] = [(try rootNode(of: tree), -1)]
        while let (node, next) = open.last {
            if node.isLeaf || next >= node.slotCount {
                if node.isLeaf { try deleteValues(of: node) }
                try freePage(node.page.id)
                open.removeLast()
            } else {
                open[open.count - 1].next = next + 1
                let child = try node.checkedNode(page(node.child(next)))
                // A node with other fences belongs to another parent.
                try node.checkFences(of: child, at: next)
                open.append((child, -1))
            }
        }
    }

    /// Frees the values of a leaf that lie in pages of their own.
    final func deleteValues(of leaf: NodeView) throws(StoreError) {
        for index in 0..<leaf.slotCount where leaf.isOverflowValue(index) {
            try deleteBlob(BlobID(leaf.storedValue(index)))
        }
    }
}
