/// About how many bytes of the file a tree takes, without reading most of it: branches are counted,
/// and of the leaves a few are looked at.
struct TreeEstimate {
    /// Leaves that are looked at, at least; twice as many at most.
    private static let sampleCount = 64

    private let snapshot: Snapshot
    private var branchCount: UInt64 = 0
    private var leafCount: UInt64 = 0
    /// Every so many leaves one is noted.
    private var stride: UInt64 = 1
    private var sample: [PageID] = []

    init(_ tree: TreeID, in snapshot: Snapshot) throws(StoreError) {
        self.snapshot = snapshot
        var open = [try snapshot.rootNode(of: tree)]
        while let node = open.popLast() {
            guard !node.isLeaf else {
                note(node.page.id)
                continue
            }
            branchCount += 1
            // Levels fall by one from node to child, so that no walk goes round in a circle.
            for index in -1..<node.slotCount {
                if node.level == 1 {
                    note(node.child(index))
                } else {
                    let child = try node.checkedNode(snapshot.page(node.child(index)))
                    try node.checkFences(of: child, at: index)
                    open.append(child)
                }
            }
        }
    }

    private mutating func note(_ leaf: PageID) {
        if leafCount.isMultiple(of: stride) { sample.append(leaf) }
        leafCount += 1
        guard sample.count == 2 * Self.sampleCount else { return }
        stride *= 2
        sample = sample.indices.filter { $0.isMultiple(of: 2) }.map { sample[$0] }
    }

    /// With values that lie in pages of their own.
    func sizeInBytes() throws(StoreError) -> UInt64 {
        var sampled: UInt64 = 0
        for id in sample {
            sampled += UInt64(
                try snapshot.pager.storedSize(
                    of: id, generation: snapshot.generation, commit: snapshot.commitNumber))
            let page = try snapshot.page(id)
            let leaf = NodeView(validated: page)
            guard NodeView.isNode(page), leaf.isLeaf else {
                throw .corrupt(id, "the page is no leaf")
            }
            for index in 0..<leaf.slotCount where leaf.isOverflowValue(index) {
                // A size that lies is no reason to refuse anything.
                sampled += min(BlobID(leaf.storedValue(index)).sizeInBytes, 1 << 40)
            }
        }
        let (product, isTooLarge) = sampled.multipliedReportingOverflow(by: leafCount)
        let leaves = isTooLarge ? .max : product / UInt64(max(1, sample.count))
        let branches = branchCount * UInt64(snapshot.pageSizeInBytes)
        let (sum, hasOverflow) = leaves.addingReportingOverflow(branches)
        return hasOverflow ? .max : sum
    }
}

extension Snapshot {
    /// About how many bytes of the file a tree takes, its values included. Reads its branches, and
    /// 128 leaves at most.
    package func estimatedSize(of tree: TreeID) throws(StoreError) -> UInt64 {
        try TreeEstimate(tree, in: self).sizeInBytes()
    }
}
