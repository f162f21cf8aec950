/// A place in a tree, with the path that leads to it.
///
/// Bytes that it lends are valid until it moves. After a change to the tree it must seek again;
/// a cursor that was moved off either end, or that threw, is not valid until it seeks again.
package final class Cursor {
    private struct Step {
        var page: PageBuffer?
        var index: Int
    }

    private let view: PageView
    private let tree: TreeID
    private let isScan: Bool
    /// The branches above the leaf, root first. Levels fall by one from step to step, which
    /// bounds the depth.
    private var steps = InlineArray<24, Step>(repeating: Step(page: nil, index: 0))
    private var depth = 0
    private var leaf: NodeView?
    private var index = 0
    /// In a scan the next leaf, when it is in memory.
    private var nextPage: PageBuffer?
    /// Where the key is put together: the page keeps prefix and rest apart.
    private lazy var keyBytes = PageBuffer(
        id: PageID(0),
        count: Limits.keySizeInBytesMax(pageSizeInBytes: view.pageSizeInBytes) + 8)
    private lazy var valueBytes = ByteBuffer(capacity: 64)

    /// - Parameter isScan: whether it will be moved from leaf to leaf, which are asked for before
    ///   it comes there.
    package init(_ view: PageView, tree: TreeID, isScan: Bool = false) {
        self.view = view
        self.tree = tree
        self.isScan = isScan
    }

    /// Whether the cursor is at an entry.
    package var isValid: Bool {
        guard let leaf else { return false }
        return index < leaf.slotCount
    }

    /// The leaf here, which errors of its entries name.
    package var pageID: PageID? { leaf?.page.id }

    /// The leaf here, unless it may change.
    package var publishedPage: PageBuffer? { view is PageEditor ? nil : leaf?.page }

    /// The entry's key, valid until the cursor moves.
    package var key: ByteView {
        guard let size = leaf?.copyKey(index, into: keyBytes) else {
            preconditionFailure("a cursor that is at no entry has no key")
        }
        return keyBytes.view.slice(from: 0, count: size)
    }

    /// The entry's value, valid until the cursor moves. Reads further pages when it is large.
    package func value() throws(StoreError) -> ByteView {
        precondition(isValid, "a cursor that is at no entry has no value")
        if let leaf, !leaf.isOverflowValue(index) { return leaf.storedValue(index) }
        return try largeValue()
    }

    private func largeValue() throws(StoreError) -> ByteView {
        guard let leaf else { preconditionFailure("a cursor that is at no entry has no value") }
        valueBytes.removeAll()
        try view.readBlob(BlobID(leaf.storedValue(index)), into: valueBytes)
        return valueBytes.view
    }

    /// A bit that the room above may add to a page's proof, to say more of the page.
    package static let noteOfProof: UInt64 = 1 << 63

    /// Takes over the entries from here to the end of the leaf, and moves to the last of them.
    /// Nil when a key is not a number of eight bytes.
    ///
    /// A page is marked with `proof` by who found that all its keys are, and that none of its
    /// values lies elsewhere; nil for pages that change. The mark may have `noteOfProof` too.
    package func takeLeaf(provedBy proof: UInt64?) throws(StoreError) -> LeafEntries? {
        guard let leaf, isValid else {
            preconditionFailure("a cursor that is at no entry has no leaf")
        }
        let isProved = proof.map { leaf.page.proof & ~Self.noteOfProof == $0 } ?? false
        guard
            let entries = try LeafEntries(
                leaf, from: index, of: view, isProved: isProved, isPublished: proof != nil,
                before: nextPage)
        else { return nil }
        index = leaf.slotCount - 1
        return entries
    }

    // MARK: Moving

    /// Moves to the first entry whose key is not less than `key`; true when it is equal.
    /// `isValid` says whether there is such an entry.
    package func seek(_ key: Span<UInt8>) throws(StoreError) -> Bool {
        try key.withView { key throws(StoreError) -> Bool in
            try restart()
            while try descend({ node in node.childIndex(key) }, to: key) {}
            guard let leaf else { return false }
            let (found, isEqual) = leaf.search(key)
            index = found
            if found == leaf.slotCount { _ = try nextLeaf() }
            return isEqual
        }
    }

    /// Moves to the first entry whose key is not less than `key`; true when it is equal. Without a
    /// descent when the leaf covers it: the tree must not have changed since the cursor last
    /// sought.
    package func seekNear(_ key: ByteView) throws(StoreError) -> Bool {
        if let leaf, leaf.isLeaf, leaf.covers(key) {
            let (found, isEqual) = leaf.search(key)
            index = found
            if index == leaf.slotCount { _ = try nextLeaf() }
            return isEqual
        }
        return try key.withSpan { key throws(StoreError) -> Bool in try seek(key) }
    }

    /// Prefetches the value of a key; false when it is not in the current leaf.
    package func prefetchNear(_ key: ByteView) -> Bool {
        guard let leaf, leaf.isLeaf, leaf.covers(key) else { return false }
        let (found, isEqual) = leaf.search(key)
        if isEqual { leaf.prefetchCell(found) }
        return true
    }

    /// Moves to the first entry; false when the tree is empty.
    package func seekFirst() throws(StoreError) -> Bool {
        try restart()
        while try descend({ _ in -1 }, to: nil) {}
        index = 0
        return try isValid ? true : nextLeaf()
    }

    /// Moves to the last entry; false when the tree is empty.
    package func seekLast() throws(StoreError) -> Bool {
        try restart()
        while try descend({ node in node.slotCount - 1 }, to: nil) {}
        index = (leaf?.slotCount ?? 0) - 1
        return try index >= 0 ? true : previousLeaf()
    }

    /// Moves to the next entry; false when there is none.
    package func next() throws(StoreError) -> Bool {
        guard let leaf else { return false }
        index &+= 1
        return try index < leaf.slotCount ? true : nextLeaf()
    }

    /// After a move that threw: moves to the first entry after the unreadable node; false when
    /// there is none. For tools, which show the remaining entries.
    package func skipDamage() throws(StoreError) -> Bool {
        if isValid { return try next() }
        return try nextLeaf()
    }

    /// Moves to the entry before; false when there is none.
    package func previous() throws(StoreError) -> Bool {
        guard let leaf else { return false }
        index &-= 1
        return try index >= 0 && index < leaf.slotCount ? true : previousLeaf()
    }

    private func nextLeaf() throws(StoreError) -> Bool {
        while try sidestep(by: 1) {
            while try descend({ _ in -1 }, to: nil) {}
            index = 0
            if isValid { return true }
        }
        return false
    }

    private func previousLeaf() throws(StoreError) -> Bool {
        while try sidestep(by: -1) {
            while try descend({ node in node.slotCount - 1 }, to: nil) {}
            index = (leaf?.slotCount ?? 0) - 1
            if index >= 0 { return true }
        }
        return false
    }

    // MARK: The path

    private func restart() throws(StoreError) {
        leaf = nil
        depth = 0
        leaf = try view.rootNode(of: tree)
    }

    /// Goes one level down from the node in `leaf`. False when it is a leaf indeed.
    @inline(__always)
    private func descend(
        _ choose: (NodeView) -> Int, to key: ByteView?
    ) throws(StoreError) -> Bool {
        guard let node = leaf else { return false }
        if let key, !node.begins(key) {
            leaf = nil
            throw NodeView.foreignKey(node.page.id)
        }
        if node.isLeaf { return false }
        try enterChild(of: node, at: choose(node))
        return true
    }

    private func enterChild(of node: NodeView, at childIndex: Int) throws(StoreError) {
        // Whatever throws below leaves the cursor invalid, its path leading to the node at fault.
        leaf = nil
        steps[depth] = Step(page: node.page, index: childIndex)
        depth += 1
        let id = node.child(childIndex)
        let page = if let nextPage, nextPage.id == id { nextPage } else { try view.page(id) }
        nextPage = nil
        let child = try node.checkedNode(page)
        try node.checkFences(of: child, at: childIndex)
        if isScan, node.level == 1 { askAhead(node, childIndex) }
        leaf = child
    }

    /// Prefetches the head of the leaf after the next one, and retains the next one, whose head was
    /// prefetched when the cursor came to the leaf before.
    private func askAhead(_ node: NodeView, _ childIndex: Int) {
        if childIndex &+ 2 < node.slotCount { view.prefetchLeaf(node.child(childIndex &+ 2)) }
        guard childIndex &+ 1 < node.slotCount else { return }
        nextPage = view.pageInMemory(node.child(childIndex &+ 1))
    }

    /// Leaves the leaf for the nearest node beside the path. False at the tree's end.
    private func sidestep(by offset: Int) throws(StoreError) -> Bool {
        leaf = nil
        while depth > 0 {
            depth -= 1
            guard let page = steps[depth].page else { return false }
            let node = NodeView(validated: page)
            let childIndex = steps[depth].index + offset
            if childIndex >= -1 && childIndex < node.slotCount && !node.isLeaf {
                try enterChild(of: node, at: childIndex)
                return true
            }
        }
        return false
    }
}
