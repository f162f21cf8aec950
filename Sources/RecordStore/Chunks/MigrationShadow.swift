import PageStore

/// The later model while it is made beside the file's own: a catalog below `next/`, with trees of
/// its own for all that the migration may change.
///
/// Invariants:
/// - No page of a tree that the file's catalog names changes before ``replace(in:)``.
/// - A blob that records of the file's model name is not deleted before.
struct MigrationShadow {
    static let prefix = "next/"
    private static let madeKey = prefix + "blobs/made"
    private static let freedKey = prefix + "blobs/freed"

    /// The file's.
    private let live: Catalog
    /// The one that the migration changes.
    let catalog: Catalog
    let ledger: BlobLedger

    /// Begins with the file's model: its trees themselves, but for the empty ones of those names
    /// that are copied.
    static func create(
        beside live: Catalog, copying copied: Set<String>, in editor: WriteTransaction
    ) throws(StoreError) -> MigrationShadow {
        for key in [Catalog.schemaKey, Catalog.layoutKey] {
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

    /// The one that an earlier run has begun.
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

    /// Makes the later model the file's. Its own trees are below `old/` then.
    func replace(in editor: WriteTransaction) throws(StoreError) {
        var kept: [TreeID] = []
        for name in try catalog.treeNames(editor) {
            if let tree = try catalog.tree(name, of: editor) { kept.append(tree) }
        }
        try retire(live, keeping: kept, in: editor)
        for key in [Catalog.schemaKey, Catalog.layoutKey] {
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

    /// Gives the copy up: what is its own is below `old/` then.
    func discard(in editor: WriteTransaction) throws(StoreError) {
        try retire(catalog, keeping: catalog.lentTrees, in: editor)
        try end(dropping: ledger.made, keeping: ledger.freed, in: editor)
    }

    /// Moves the trees of a model below `old/`, and forgets those that the other one has.
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
