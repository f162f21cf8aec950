/// Dropping large trees in pieces: between two of them the tree is sound, and only smaller.
extension PageEditor {
    /// Frees pages from the beginning of a tree for as long as it may. Returns whether only one
    /// path from the root to a leaf is left, which ``deleteTree(_:)`` frees at once.
    ///
    /// A piece is the leaves of one branch, but about every 500th is the subtree of a branch of
    /// such branches.
    package final func trimTree(
        _ tree: TreeID, while isAllowed: () -> Bool
    ) throws(StoreError) -> Bool {
        while let fork = try lowestFork(of: tree) {
            guard isAllowed() else { return false }
            try makeRoom()
            try dropBeginning(of: fork)
        }
        return true
    }

    /// The lowest branch with more than one child on the way to the first leaf.
    private final func lowestFork(of tree: TreeID) throws(StoreError) -> PageID? {
        var node = try rootNode(of: tree)
        var fork: PageID?
        while !node.isLeaf {
            if node.slotCount > 0 { fork = node.page.id }
            node = try child(-1, of: node)
        }
        return fork
    }

    private final func child(_ index: Int, of node: NodeView) throws(StoreError) -> NodeView {
        let child = try node.checkedNode(page(node.child(index)))
        try node.checkFences(of: child, at: index)
        return child
    }

    /// Below a fork whose first child has one way down: that way goes, and the next child becomes
    /// one. Of leaves only the last stays. No fence of the fork changes, so its other entries fit.
    private final func dropBeginning(of fork: PageID) throws(StoreError) {
        let node = NodeView(validated: try editablePage(fork))
        let count = node.level == 1 ? node.slotCount : 1
        for index in -1..<count - 1 { try deleteNodes(child(index, of: node)) }
        let next = try child(count - 1, of: node)
        try collapse(next)
        node.page.setUInt64(next.page.id.rawValue, at: NodeLayout.firstChild)
        for index in (0..<count).reversed() { node.remove(at: index) }
    }

    /// Leaves one way down from a node, to an empty leaf. The node becomes the first of its level.
    private final func collapse(_ node: NodeView) throws(StoreError) {
        var last: PageID?
        if node.isLeaf {
            try deleteValues(of: node)
        } else {
            for index in -1..<node.slotCount - 1 { try deleteNodes(child(index, of: node)) }
            let child = try child(node.slotCount - 1, of: node)
            last = child.page.id
            try collapse(child)
        }
        let (level, upper) = (node.level, node.upperFence.array())
        let page = try editablePage(node.page.id)
        let lower: [UInt8] = []
        lower.withView { lower in
            upper.withView { upper in
                _ = NodeView.clear(
                    page, level: level, lower: lower, upper: upper, firstChild: last)
            }
        }
    }

    /// Frees a node with all below it. A page that is met twice has been freed, and reading it
    /// throws.
    private final func deleteNodes(_ node: NodeView) throws(StoreError) {
        if node.isLeaf {
            try deleteValues(of: node)
        } else {
            for index in -1..<node.slotCount { try deleteNodes(child(index, of: node)) }
        }
        try freePage(node.page.id)
    }
}
