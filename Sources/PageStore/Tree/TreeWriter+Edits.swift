/// Many keys at once.
extension TreeWriter {
    /// Fewer are cheaper one by one.
    private static var mergedCountMin: Int { 8 }
    /// A leaf is written anew for at least one edit among so many of its entries.
    private static var entriesPerEditMax: Int { 16 }

    /// Applies edits in the order of their keys, those of a leaf together; of one key the last
    /// counts.
    ///
    /// - Parameter shape: of the keys; nil when keys that differ in their suffix alone do not
    ///   matter.
    /// - Returns: the positions of the edits that add a key of which another one of the tree
    ///   differs in the suffix alone: of each group those that came, or all of these but one. The
    ///   other key may be one that a later edit removes.
    package func apply(
        _ edits: [KeyEdit], conflictsBy shape: KeyShape? = nil
    ) throws(StoreError) -> [Int] {
        var candidates: [Int] = []
        var position = 0
        while position < edits.count {
            let run = try run(of: edits, from: position)
            if try !merge(edits[run], shape, &candidates) {
                for position in run {
                    if try apply(edits[position], shape) { candidates.append(position) }
                }
            }
            position = run.upperBound
        }
        return candidates
    }

    /// One edit. Returns whether it adds a key of which another one differs in the suffix alone.
    private func apply(_ edit: KeyEdit, _ shape: KeyShape?) throws(StoreError) -> Bool {
        let key = edit.key
        if edit.isRemoval {
            _ = try remove(key)
            return false
        }
        let nothing = key.slice(from: 0, count: 0)
        if let shape {
            return try insert(key, nothing, sharing: shape.beginning(of: key).count)
        }
        _ = try insert(key, nothing)
        return false
    }

    /// The edits from one on that fall into its leaf. Into the last leaf each goes alone: it has
    /// no prefix to cut off, and fills in the order of its keys.
    private func run(of edits: [KeyEdit], from start: Int) throws(StoreError) -> Range<Int> {
        let leaf = try editableLeaf(for: edits[start].key)
        var end = start + 1
        guard !leaf.upperFence.isEmpty else { return start..<end }
        while end < edits.count, covers(edits[end].key, leaf) { end += 1 }
        return start..<end
    }

    /// Writes the leaf anew with all edits of a run. False, and nothing is done, when they are too
    /// few or do not fit.
    private func merge(
        _ edits: ArraySlice<KeyEdit>, _ shape: KeyShape?, _ candidates: inout [Int]
    ) throws(StoreError) -> Bool {
        guard let leaf, let first = edits.first, edits.count >= Self.mergedCountMin,
            edits.count * Self.entriesPerEditMax >= leaf.slotCount
        else { return false }
        // The page is rewritten from this image, which outlives every view into it.
        let image = PageBuffer(copying: leaf.page)
        defer { withExtendedLifetime(image) {} }
        guard let merge = LeafMerge(NodeView(validated: image), edits, shape),
            let cuts = merge.cuts(pageSizeInBytes: editor.pageSizeInBytes)
        else { return false }
        candidates += merge.conflictCandidates
        if let shape {
            for position in merge.undecided {
                let key = edits[position].key
                if try hasKey(beginning: shape.beginning(of: key), besides: key) {
                    candidates.append(position)
                }
            }
        }
        self.leaf = nil
        let added = try merge.write(to: leaf.page, cuts, editor)
        for (cut, page) in zip(cuts, added) {
            try editor.insertSeparator(cut.separator, child: page.id, level: 1, in: tree)
        }
        if editor.isTooEmpty(leaf) {
            // This may free the leaf's page.
            try editor.refill(first.key, level: 0, in: tree)
        } else {
            self.leaf = leaf
        }
        return true
    }
}
