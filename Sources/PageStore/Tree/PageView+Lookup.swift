/// Finding one entry, without a cursor.
extension PageView {
    /// Lends the value of a key, or returns nil when the tree has no such key.
    ///
    /// The view is valid inside `body` only. Costs one page lookup per level.
    @inlinable
    package final func withValue<Result>(
        for key: Span<UInt8>, in tree: TreeID,
        _ body: (ByteView) throws(StoreError) -> Result
    ) throws(StoreError) -> Result? {
        guard let found = try find(key, in: tree) else { return nil }
        defer { withExtendedLifetime(found.owner) {} }
        return try body(found.value)
    }

    /// The value of a key and the object that keeps its bytes alive.
    @usableFromInline
    final func find(
        _ key: Span<UInt8>, in tree: TreeID
    ) throws(StoreError) -> (value: ByteView, owner: AnyObject)? {
        try key.withView { key throws(StoreError) -> (value: ByteView, owner: AnyObject)? in
            let leaf = try leaf(for: key, in: tree)
            let (index, isEqual) = leaf.search(key)
            guard isEqual else { return nil }
            leaf.prefetchCell(index)
            guard leaf.isOverflowValue(index) else {
                return (leaf.storedValue(index), leaf.page.block)
            }
            let buffer = ByteBuffer()
            try readBlob(BlobID(leaf.storedValue(index)), into: buffer)
            return (buffer.view, buffer)
        }
    }

    /// Whether the tree has a key.
    package final func contains(
        _ key: Span<UInt8>, in tree: TreeID
    ) throws(StoreError) -> Bool {
        try key.withView { key throws(StoreError) -> Bool in try contains(key, in: tree) }
    }

    final func contains(_ key: ByteView, in tree: TreeID) throws(StoreError) -> Bool {
        try leaf(for: key, in: tree).search(key).isEqual
    }

    /// The suffixes of the keys that begin so. Costs what one lookup does; nil when the next leaf
    /// may have more of them, which a cursor finds.
    ///
    /// - Parameter shape: of the tree's keys, the same at each call.
    package final func suffixes(
        after beginning: Span<UInt8>, _ shape: KeyShape, in tree: TreeID
    ) throws(StoreError) -> SuffixRun? {
        try beginning.withView { beginning throws(StoreError) in
            try leaf(for: beginning, in: tree).suffixes(after: beginning, shape)
        }
    }

    /// Whether the tree has no entry.
    package final func isEmpty(_ tree: TreeID) throws(StoreError) -> Bool {
        let root = try rootNode(of: tree)
        return root.isLeaf && root.slotCount == 0
    }

    /// The leaf that covers a key.
    final func leaf(for key: ByteView, in tree: TreeID) throws(StoreError) -> NodeView {
        var node =
            if let step = cachedDescent(to: key, in: tree) {
                try step.checkedNode(page(step.id, expecting: step.prefetchHint))
            } else {
                try rootNode(of: tree)
            }
        while true {
            guard node.begins(key) else { throw NodeView.foreignKey(node.page.id) }
            if node.isLeaf { return node }
            let step = node.step(to: key)
            node = try step.checkedNode(page(step.id, expecting: step.prefetchHint))
        }
    }

    @inline(__always)
    final func rootNode(of tree: TreeID) throws(StoreError) -> NodeView {
        if tree.root.rawValue == 0 { return NodeView.emptyRoot }
        let page = try page(tree.root)
        guard NodeView.isNode(page) else { throw NodeView.notANode(page.id) }
        let root = NodeView(validated: page)
        guard root.isUnbounded else {
            throw .corrupt(
                page.id, "the page has fences, so it is not the root of a tree",
                byteOffset: UInt64(NodeLayout.lowerFenceSize))
        }
        return root
    }
}

extension NodeView {
    /// The root of ``TreeID/empty``.
    fileprivate static var emptyRoot: NodeView { NodeView(validated: emptyPage) }

    private static let emptyPage: PageBuffer = {
        let page = PageBuffer(id: TreeID.empty.root, count: Limits.pageSizeInBytesMin)
        return clearRoot(page, level: 0, firstChild: nil).page
    }()

    @inline(__always)
    static func isNode(_ page: PageBuffer) -> Bool {
        page[0] == PageKind.treeLeaf.rawValue || page[0] == PageKind.treeBranch.rawValue
    }

    /// Whether the node covers every key, as a root does.
    @inline(__always)
    var isUnbounded: Bool { lowerFence.isEmpty && upperFence.isEmpty }

    /// A page as this branch's child. Levels fall by one, so that no cycle can be followed.
    @inline(__always)
    func checkedNode(_ page: PageBuffer) throws(StoreError) -> NodeView {
        try NodeView.checked(page, level: level &- 1)
    }

    /// From a branch to the child that covers a key.
    @inline(__always)
    func step(to key: ByteView) -> TreeStep {
        let index = childIndex(key)
        return TreeStep(
            id: child(index), level: level &- 1,
            prefetchHint: prefetchHint(for: key, inChild: index))
    }

    @inline(__always)
    fileprivate static func checked(
        _ page: PageBuffer, level: Int
    ) throws(StoreError) -> NodeView {
        let node = NodeView(validated: page)
        guard isNode(page), node.level == level else {
            throw wrongLevel(page.id, expected: level)
        }
        return node
    }

    static func notANode(_ id: PageID) -> StoreError {
        .corrupt(id, "the page is not a tree node", byteOffset: UInt64(NodeLayout.kind))
    }

    static func wrongLevel(_ id: PageID, expected: Int) -> StoreError {
        .corrupt(
            id, "the page is not a tree node of level \(expected), as its parent says",
            byteOffset: UInt64(NodeLayout.level))
    }

    static func foreignKey(_ id: PageID) -> StoreError {
        .corrupt(
            id, "the node does not cover the keys that its parent sends to it",
            byteOffset: UInt64(NodeLayout.fences))
    }

    /// Throws unless the fences of a child are the bounds that this branch gives it. With this,
    /// two slots cannot share a child, and a walk from child to child always advances.
    func checkFences(of child: NodeView, at index: Int) throws(StoreError) {
        let lower = child.lowerFence
        let upper = child.upperFence
        let isLowerRight = index >= 0 ? hasKey(lower, at: index) : lower == lowerFence
        let isUpperRight =
            index + 1 < slotCount ? hasKey(upper, at: index + 1) : upper == upperFence
        guard isLowerRight && isUpperRight else {
            throw .corrupt(
                child.page.id, "the node's fences are not the bounds in its parent",
                byteOffset: UInt64(NodeLayout.fences))
        }
    }

    /// Whether a slot's whole key is this.
    func hasKey(_ key: ByteView, at index: Int) -> Bool {
        let rest = suffix(index)
        guard key.count == prefixSize + rest.count else { return false }
        return key.hasPrefix(prefix) && key.dropFirst(prefixSize) == rest
    }
}

/// A step of a descent: the next page, and what the branch above it tells of it.
struct TreeStep {
    let id: PageID
    let level: Int
    /// Of a leaf, where there is one.
    let prefetchHint: CellPrefetchHint?

    @inline(__always)
    fileprivate func checkedNode(_ page: PageBuffer) throws(StoreError) -> NodeView {
        try NodeView.checked(page, level: level)
    }
}
