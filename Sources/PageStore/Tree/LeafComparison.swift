/// The pages of a commit that an earlier one does not have alike, and perhaps some more.
package struct ChangedPages {
    private let ids: Set<PageID>

    fileprivate init(_ ids: Set<PageID>) { self.ids = ids }

    package var count: Int { ids.count }

    package func contains(_ id: PageID) -> Bool { ids.contains(id) }
}

extension Snapshot {
    /// The pages that were written after an earlier commit of the same store. Looks at the pages
    /// that the log has, and at those parts of the map that the two commits do not share.
    package func changedPages(since earlier: Snapshot) throws(StoreError) -> ChangedPages {
        ChangedPages(try pagesChanged(since: earlier))
    }

    /// Lends the entries of a tree that this snapshot and an earlier one do not have alike, in the
    /// order of their keys: those with another value, and those that one of the two lacks. Also
    /// lends entries that are equal, of the leaves that were written.
    ///
    /// Leaves tile the keys of their tree by their fences, and a leaf that was not written since
    /// covered the same keys with the same entries then. So every difference lies between the
    /// fences of a leaf that was written. Costs a look at the number of each leaf, and reading
    /// those that were written, in both snapshots.
    ///
    /// - Parameter body: returns whether to go on.
    package func forEachEntry(
        written changed: ChangedPages, in tree: TreeID, since earlier: Snapshot,
        _ body:
            (_ key: ByteView, _ before: ByteView?, _ after: ByteView?) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let (old, new) = (Cursor(earlier, tree: tree), Cursor(self, tree: tree))
        let root = try rootNode(of: tree)
        if root.isLeaf {
            guard changed.contains(root.page.id) else { return }
            _ = try compare(old, new, with: root, body)
            return
        }
        _ = try visitLeaves(below: root, changed) { leaf throws(StoreError) in
            try compare(old, new, with: leaf, body)
        }
    }

    /// False when the body asks to stop.
    private func visitLeaves(
        below branch: NodeView, _ changed: ChangedPages,
        _ body: (NodeView) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        for index in -1..<branch.slotCount {
            let id = branch.child(index)
            // Of leaves that were not written the numbers are enough.
            if branch.level == 1, !changed.contains(id) { continue }
            let child = try branch.checkedNode(try page(id))
            try branch.checkFences(of: child, at: index)
            let goesOn =
                branch.level == 1 ? try body(child) : try visitLeaves(below: child, changed, body)
            if !goesOn { return false }
        }
        return true
    }

    /// Merges the entries of both trees between the fences of a leaf. False when the body asks to
    /// stop.
    private func compare(
        _ old: Cursor, _ new: Cursor, with leaf: NodeView,
        _ body: (ByteView, ByteView?, ByteView?) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        // It owns the bytes of the fences.
        defer { withExtendedLifetime(leaf) {} }
        let upper = leaf.upperFence
        func isInside(_ cursor: Cursor) -> Bool {
            cursor.isValid && (upper.isEmpty || cursor.key.compare(upper) < 0)
        }
        try leaf.lowerFence.withSpan { lower throws(StoreError) in
            _ = try old.seek(lower)
            _ = try new.seek(lower)
        }
        while true {
            let (isOld, isNew) = (isInside(old), isInside(new))
            guard isOld || isNew else { return true }
            let order = isOld && isNew ? old.key.compare(new.key) : isOld ? -1 : 1
            let goesOn =
                if order < 0 {
                    try body(old.key, try old.value(), nil)
                } else if order > 0 {
                    try body(new.key, nil, try new.value())
                } else {
                    try body(new.key, try old.value(), try new.value())
                }
            guard goesOn else { return false }
            if order <= 0 { _ = try old.next() }
            if order >= 0 { _ = try new.next() }
        }
    }
}
