/// The store as one commit left it. Nothing that happens later changes what it shows, and nothing
/// waits for it. Many threads may read one snapshot.
package final class Snapshot: PageView, @unchecked Sendable {
    package let commitNumber: UInt64
    let engine: Engine
    let generation: Generation
    private let root: PageID?
    /// Every lookup of a key begins with the same few branches.
    private let branches = BranchTable()

    /// The generation is pinned already.
    init(engine: Engine, generation: Generation, commitNumber: UInt64, catalogRoot: PageID?) {
        self.engine = engine
        self.generation = generation
        self.commitNumber = commitNumber
        self.root = catalogRoot
        super.init(pageSizeInBytes: engine.options.pageSizeInBytes)
    }

    deinit { engine.unpin(generation, commitNumber) }

    package override var catalogRoot: PageID? { root }
    override var keptBytes: KeptBytes? { engine.keptBytes }

    override func pageInMemory(_ id: PageID) -> PageBuffer? {
        engine.pageInMemory(id, generation: generation, commit: commitNumber)
    }

    override func prefetchLeaf(_ id: PageID) {
        engine.imageAddress(of: id, generation: generation, commit: commitNumber)?
            .prefetchLeaf(pageSizeInBytes: pageSizeInBytes)
    }

    package override func page(_ id: PageID) throws(StoreError) -> PageBuffer {
        try page(id, expecting: nil)
    }

    override func page(
        _ id: PageID, expecting forecast: EntryForecast?
    ) throws(StoreError) -> PageBuffer {
        // Nothing is forecast of a branch.
        if forecast == nil, let branch = branches.page(id) { return branch }
        let page = try engine.page(
            id, generation: generation, commit: commitNumber, expecting: forecast)
        if page[0] == PageKind.treeBranch.rawValue { branches.insert(page) }
        return page
    }

    override func knownWay(to key: ByteView, in tree: TreeID) -> TreeStep? {
        branches.way(to: key, from: tree.root)
    }
}
