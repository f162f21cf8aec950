/// Creating trees and inserting into them.
///
/// An error out of any change leaves the transaction fit only for a rollback.
extension PageEditor {
    /// An empty tree. Its root page, and with it its name, never changes.
    package final func createTree() throws(StoreError) -> TreeID {
        let page = try allocatePage(.treeLeaf)
        _ = NodeView.clearRoot(page, level: 0, firstChild: nil)
        return TreeID(root: page.id)
    }

    /// Gives a key a value. Returns whether it replaced one. Throws `tooLarge` for a key past the
    /// limit of the page size.
    @discardableResult
    package final func insert(
        _ key: Span<UInt8>, _ value: Span<UInt8>, into tree: TreeID
    ) throws(StoreError) -> Bool {
        try key.withView { key throws(StoreError) -> Bool in
            try value.withView { value throws(StoreError) -> Bool in
                try checkKeySize(key)
                try makeRoom()
                let leaf = try editableLeaf(for: key, in: tree)
                let place = leaf.search(key)
                try put(key, value, into: leaf, at: place, of: tree)
                return place.isEqual
            }
        }
    }

    @inline(__always)
    final func checkKeySize(_ key: ByteView) throws(StoreError) {
        let limit = Limits.keySizeInBytesMax(pageSizeInBytes: pageSizeInBytes)
        guard key.count <= limit else {
            throw StoreError(
                .tooLarge, "a key has \(key.count) bytes; pages of this store take \(limit)")
        }
    }

    /// The leaf that covers a key, as a private copy.
    final func editableLeaf(
        for key: ByteView, in tree: TreeID
    ) throws(StoreError) -> NodeView {
        var node = try rootNode(of: tree)
        if node.isLeaf { return NodeView(validated: try editablePage(tree.root)) }
        while true {
            guard node.begins(key) else { throw NodeView.foreignKey(node.page.id) }
            let child = node.child(node.childIndex(key))
            if node.level == 1 {
                let leaf = try node.checkedNode(editablePage(child))
                guard leaf.covers(key) else { throw NodeView.foreignKey(child) }
                return leaf
            }
            node = try node.checkedNode(page(child))
        }
    }

    /// Puts an entry into the leaf that covers its key, where a search has found its place.
    final func put(
        _ key: ByteView, _ value: ByteView, into leaf: NodeView,
        at place: (index: Int, isEqual: Bool), of tree: TreeID
    ) throws(StoreError) {
        guard value.count > Limits.inlineValueSizeInBytesMax(pageSizeInBytes: pageSizeInBytes)
        else { return try put(key, value, isOverflow: false, into: leaf, at: place, of: tree) }
        let reference = try createBlob(value).encoded()
        try reference.withView { reference throws(StoreError) in
            try put(key, reference, isOverflow: true, into: leaf, at: place, of: tree)
        }
    }

    private final func put(
        _ key: ByteView, _ stored: ByteView, isOverflow: Bool, into leaf: NodeView,
        at place: (index: Int, isEqual: Bool), of tree: TreeID
    ) throws(StoreError) {
        let index = place.index
        if place.isEqual {
            if leaf.isOverflowValue(index) { try deleteBlob(BlobID(leaf.storedValue(index))) }
            if leaf.replaceInPlace(stored, isOverflow: isOverflow, at: index) { return }
            leaf.remove(at: index)
        }
        if leaf.hasRoom(keySize: key.count, valueSize: stored.count) {
            leaf.insert(key, stored, isOverflow: isOverflow, at: index)
        } else {
            let entry = NodeEntry(
                prefix: key.slice(from: 0, count: 0), suffix: key, value: stored,
                isOverflow: isOverflow)
            try split(leaf, adding: entry, in: tree)
        }
    }

    // MARK: Splitting

    /// Divides a node in two and adds an entry to one of them.
    private final func split(
        _ full: NodeView, adding entry: NodeEntry, in tree: TreeID
    ) throws(StoreError) {
        let node = full.page.id == tree.root ? try pushDownRoot(full) : full
        // The pages are rewritten from this image, which outlives every view into it.
        let image = PageBuffer(copying: node.page)
        defer { withExtendedLifetime(image) {} }
        let old = NodeView(validated: image)
        var entries = old.entries()
        let index = old.search(entry.suffix).index
        entries.insert(entry, at: index)
        let plan = SplitPlan(
            level: old.level, lower: old.lowerFence, upper: old.upperFence,
            pageSizeInBytes: pageSizeInBytes)
        // Behind all others: the new node takes the entry alone, so that loading in key order
        // fills pages. The last child of the last branch may be the empty one of a fence ahead.
        let isAppend =
            old.isLeaf
            ? index == old.slotCount : index + 1 >= old.slotCount && old.upperFence.isEmpty
        if isAppend, let fence = plan.fenceAhead(of: entry.suffix, entries) {
            return try setFence(fence, of: node, entries, plan, in: tree)
        }
        if let cut = plan.cut(entries, from: isAppend ? index : nil) {
            try divide(node, entries, at: cut, plan, firstChild: old.child(-1), in: tree)
            if isAppend, old.isLeaf { noteFilled(node.page.id) }
            return
        }
        // Two large neighbours and a long separator may leave no cut that takes the entry too.
        entries.remove(at: index)
        guard let cut = plan.cut(entries, from: nil) else {
            throw .corrupt(node.page.id, "the node holds entries past the limits of the format")
        }
        try divide(node, entries, at: cut, plan, firstChild: old.child(-1), in: tree)
        try insertEntry(entry, level: old.level, in: tree)
    }

    private final func divide(
        _ node: NodeView, _ entries: [NodeEntry], at cut: SplitPlan.Cut, _ plan: SplitPlan,
        firstChild: PageID, in tree: TreeID
    ) throws(StoreError) {
        let right = try allocatePage(plan.level == 0 ? .treeLeaf : .treeBranch)
        cut.separator.withView { separator in
            NodeView.build(
                right, level: plan.level, lower: separator, upper: plan.upper,
                firstChild: plan.level == 0 ? nil : entries[cut.index].child,
                plan.rightEntries(entries, at: cut.index))
            NodeView.build(
                node.page, level: plan.level, lower: plan.lower, upper: separator,
                firstChild: plan.level == 0 ? nil : firstChild, entries[..<cut.index])
        }
        try insertSeparator(cut.separator, child: right.id, level: plan.level + 1, in: tree)
    }

    /// Bounds the last leaf, and adds an empty one after it.
    private final func setFence(
        _ fence: [UInt8], of leaf: NodeView, _ entries: [NodeEntry], _ plan: SplitPlan,
        in tree: TreeID
    ) throws(StoreError) {
        let behind = try allocatePage(.treeLeaf)
        fence.withView { fence in
            _ = NodeView.clear(behind, level: 0, lower: fence, upper: plan.upper, firstChild: nil)
            NodeView.build(
                leaf.page, level: 0, lower: plan.lower, upper: fence, firstChild: nil,
                entries[...])
        }
        try insertSeparator(fence, child: behind.id, level: 1, in: tree)
    }

    final func insertSeparator(
        _ separator: [UInt8], child: PageID, level: Int, in tree: TreeID
    ) throws(StoreError) {
        let childBytes = child.encoded()
        try separator.withView { separator throws(StoreError) in
            try childBytes.withView { childBytes throws(StoreError) in
                let entry = NodeEntry(
                    prefix: separator.slice(from: 0, count: 0), suffix: separator,
                    value: childBytes, isOverflow: false)
                try insertEntry(entry, level: level, in: tree)
            }
        }
    }

    /// Inserts an entry that the tree does not have into the node of a level that covers it.
    private final func insertEntry(
        _ entry: NodeEntry, level: Int, in tree: TreeID
    ) throws(StoreError) {
        let node = try editableNode(covering: entry.suffix, level: level, in: tree)
        let (index, isEqual) = node.search(entry.suffix)
        guard !isEqual else {
            throw .corrupt(node.page.id, "the node has a separator already that a split gives it")
        }
        if node.hasRoom(keySize: entry.suffix.count, valueSize: entry.value.count) {
            node.insert(entry.suffix, entry.value, isOverflow: entry.isOverflow, at: index)
        } else {
            try split(node, adding: entry, in: tree)
        }
    }

    /// The node of a level that covers a key, as a private copy; its fences have been compared
    /// with its parent's bounds, all the way down.
    final func editableNode(
        covering key: ByteView, level: Int, in tree: TreeID
    ) throws(StoreError) -> NodeView {
        var node = try rootNode(of: tree)
        while true {
            guard node.level >= level, node.begins(key) else {
                throw NodeView.foreignKey(node.page.id)
            }
            if node.level == level {
                return NodeView(validated: try editablePage(node.page.id))
            }
            let index = node.childIndex(key)
            let child = try node.checkedNode(page(node.child(index)))
            try node.checkFences(of: child, at: index)
            node = child
        }
    }

    /// Moves the root's content into a new child, so that the root can stay where it is.
    private final func pushDownRoot(_ root: NodeView) throws(StoreError) -> NodeView {
        guard root.level + 1 < Limits.treeDepthMax else {
            throw StoreError(
                .tooLarge, "a tree has more than \(Limits.treeDepthMax) levels",
                page: root.page.id.rawValue)
        }
        let child = try allocatePage(root.isLeaf ? .treeLeaf : .treeBranch)
        child.copy(root.page.view, to: 0)
        let node = NodeView(validated: child)
        _ = NodeView.clearRoot(root.page, level: node.level + 1, firstChild: child.id)
        return node
    }
}

extension NodeView {
    /// Whether a key lies between the fences.
    func covers(_ key: ByteView) -> Bool {
        begins(key) && lowerFence.compareInSteps(key) <= 0 && isBounded(key)
    }

    /// Whether a key is below the upper fence, given that it is not below the lower one.
    func isBounded(_ key: ByteView) -> Bool {
        upperFence.isEmpty || key.compareInSteps(upperFence) < 0
    }
}
