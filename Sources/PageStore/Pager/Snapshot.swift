/// The store as of one commit. Later changes do not affect it, and no thread waits for it. Many
/// threads may read one snapshot.
package final class Snapshot: PageView, @unchecked Sendable {
    package let commitNumber: UInt64
    let pager: Pager
    let generation: Generation
    private let root: PageID?
    /// Every lookup of a key begins with the same few branches.
    private let branches = BranchCache()

    /// Takes the pin over.
    init(_ pager: Pager, _ pin: SnapshotPin) {
        self.pager = pager
        generation = pin.generation
        commitNumber = pin.commitNumber
        root = pin.catalogRoot
        super.init(pageSizeInBytes: pager.context.geometry.pageSizeInBytes)
    }

    deinit { pager.unpin(pin) }

    /// The pin that keeps the snapshot's pages.
    var pin: SnapshotPin {
        SnapshotPin(generation: generation, commitNumber: commitNumber, catalogRoot: root)
    }

    package override var catalogRoot: PageID? { root }
    override var keptBytes: ColumnCacheBudget? { pager.keptBytes }

    override func pageInMemory(_ id: PageID) -> PageBuffer? {
        pager.pageInMemory(id, generation: generation, commit: commitNumber)
    }

    override func prefetchLeaf(_ id: PageID) {
        pager.imageAddress(of: id, generation: generation, commit: commitNumber)?
            .prefetchLeaf(pageSizeInBytes: pageSizeInBytes)
    }

    package override func page(_ id: PageID) throws(StoreError) -> PageBuffer {
        try page(id, expecting: nil)
    }

    override func page(
        _ id: PageID, expecting prefetchHint: CellPrefetchHint?
    ) throws(StoreError) -> PageBuffer {
        // A branch gets no hint.
        if prefetchHint == nil, let branch = branches.page(id) { return branch }
        let page = try pager.page(
            id, generation: generation, commit: commitNumber, expecting: prefetchHint)
        if page[0] == PageKind.treeBranch.rawValue { branches.insert(page) }
        return page
    }

    override func cachedDescent(to key: ByteView, in tree: TreeID) -> TreeStep? {
        branches.descent(to: key, from: tree.root)
    }
}
