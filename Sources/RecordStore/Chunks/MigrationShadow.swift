import PageStore

/// The shadow copy: the later model while it is built beside the file's own, as a catalog below
/// `next/` with separate trees for everything that the migration may change.
///
/// Invariants:
/// - No page of a tree that the file's catalog names changes before the transaction that calls
///   ``replace(in:)``.
/// - No blob that records of the file's model name is deleted before that.
struct MigrationShadow {
    static let prefix = "next/"
    /// The keys of the later model that lead to no tree.
    static let entryKeys = [Catalog.schemaKey, Catalog.layoutKey, Catalog.movedKey]
    private static let madeKey = prefix + "blobs/made"
    private static let freedKey = prefix + "blobs/freed"

    /// The catalog of the file's model.
    private let live: Catalog
    /// The catalog of the later model, which the migration changes.
    let catalog: Catalog
    let ledger: BlobLedger

    /// Starts as the file's model: shares its trees, except that each name in `copied` gets an
    /// empty tree.
    static func create(
        beside live: Catalog, copying copied: Set<String>, in editor: WriteTransaction
    ) throws(StoreError) -> MigrationShadow {
        for key in entryKeys {
            try live.setEntry(prefix + key, live.entry(key, of: editor), in: editor)
        }
        let counters = try editor.createTree()
        try live.setTree(prefix + Catalog.countersKey, counters, in: editor)
        try copyEntries(of: live.counters, to: counters, in: editor)
        for name in try live.treeNames(editor) {
            guard let tree = try live.tree(name, of: editor) else { continue }
            let own = copied.contains(name) ? try editor.createTree() : tree
            try live.setTree(prefix + Catalog.treePrefix + name, own, in: editor)
        }
        for key in [madeKey, freedKey] {
            try live.setTree(key, editor.createTree(), in: editor)
        }
        return try open(beside: live, in: editor)
    }

    /// Opens the copy that an earlier run has begun.
    static func open(
        beside live: Catalog, in view: PageView
    ) throws(StoreError) -> MigrationShadow {
        func tree(_ key: String) throws(StoreError) -> TreeID {
            guard let tree = try live.tree(ofKey: key, of: view) else {
                throw .corrupt(live.root.root, "the catalog does not name the tree \(key)")
            }
            return tree
        }
        var lent: [TreeID] = []
        for name in try live.treeNames(view) {
            if let tree = try live.tree(name, of: view) { lent.append(tree) }
        }
        return MigrationShadow(
            live: live,
            catalog: Catalog(
                root: live.root, counters: try tree(prefix + Catalog.countersKey), prefix: prefix,
                lentTrees: lent),
            ledger: BlobLedger(made: try tree(madeKey), freed: try tree(freedKey)))
    }

    /// Makes the later model the file's. Moves trees that only the earlier model has below `old/`.
    func replace(in editor: WriteTransaction) throws(StoreError) {
        var kept: [TreeID] = []
        for name in try catalog.treeNames(editor) {
            if let tree = try catalog.tree(name, of: editor) { kept.append(tree) }
        }
        try retire(live, keeping: kept, in: editor)
        for key in Self.entryKeys {
            let content = try live.entry(Self.prefix + key, of: editor)
            try live.setEntry(key, content, in: editor)
        }
        for name in try catalog.treeNames(editor) {
            guard let tree = try catalog.tree(name, of: editor) else { continue }
            try live.setTree(Catalog.treePrefix + name, tree, in: editor)
        }
        try Self.removeEntries(of: live.counters, in: editor)
        try Self.copyEntries(of: catalog.counters, to: live.counters, in: editor)
        try end(dropping: ledger.freed, keeping: ledger.made, in: editor)
    }

    /// Discards the copy. Moves trees that only the copy has below `old/`.
    func discard(in editor: WriteTransaction) throws(StoreError) {
        try retire(catalog, keeping: catalog.lentTrees, in: editor)
        try end(dropping: ledger.made, keeping: ledger.freed, in: editor)
    }

    /// Moves the trees of a model below `old/`, except those that the other model keeps.
    private func retire(
        _ catalog: Catalog, keeping kept: [TreeID], in editor: WriteTransaction
    ) throws(StoreError) {
        for name in try catalog.treeNames(editor) {
            guard let tree = try catalog.tree(name, of: editor) else { continue }
            let key = Catalog.treePrefix + name
            try live.setEntry(catalog.prefix + key, nil, in: editor)
            guard !kept.contains(tree) else { continue }
            try live.setTree(ReplacedTrees.prefix + key, tree, in: editor)
        }
    }

    private func end(
        dropping blobs: TreeID, keeping others: TreeID, in editor: WriteTransaction
    ) throws(StoreError) {
        try editor.deleteTree(catalog.counters)
        try editor.deleteTree(others)
        try live.setTree(ReplacedTrees.blobsKey, blobs, in: editor)
        for key in try live.keys(beginning: Self.prefix, of: editor) {
            try live.setEntry(Self.prefix + key, nil, in: editor)
        }
        try live.setMigration(MigrationState(.dropping), in: editor)
    }

    // MARK: Small trees

    private static func copyEntries(
        of source: TreeID, to target: TreeID, in editor: PageEditor
    ) throws(StoreError) {
        let cursor = Cursor(editor, tree: source)
        var isValid = try cursor.seekFirst()
        while isValid {
            let (key, value) = (cursor.key.array(), try cursor.value().array())
            _ = try editor.insert(key.span, value.span, into: target)
            isValid = try cursor.next()
        }
    }

    private static func removeEntries(
        of tree: TreeID, in editor: PageEditor
    ) throws(StoreError) {
        while true {
            let cursor = Cursor(editor, tree: tree)
            guard try cursor.seekFirst() else { return }
            let key = cursor.key.array()
            _ = try editor.remove(key.span, from: tree)
        }
    }
}
