import PageStore

/// The catalog of a snapshot, for tools. Each part is read separately, so that damage to one leaves
/// the others readable.
package struct CatalogView {
    package struct NamedTree: Hashable, Sendable {
        package var name: String
        package var tree: TreeID
    }

    private let view: PageView
    private let root: TreeID

    /// Nil for a store without commits.
    package init?(_ view: PageView) throws(StoreError) {
        guard let page = try Catalog.rootPage(of: view) else { return nil }
        self.view = view
        root = TreeID(root: page)
    }

    /// All trees by name; the catalog's own two first, as `catalog` and `counters`. Trees of an
    /// unfinished migration come last, below `next/` and `old/`.
    package func trees() throws(StoreError) -> [NamedTree] {
        var trees = [NamedTree(name: "catalog", tree: root)]
        guard let catalog = try Catalog.open(view) else { return trees }
        trees.append(NamedTree(name: "counters", tree: catalog.counters))
        for name in try catalog.treeNames(view) {
            guard let tree = try catalog.tree(name, of: view) else { continue }
            trees.append(NamedTree(name: name, tree: tree))
        }
        return trees + (try migrated(catalog, besides: Set(trees.map(\.tree))))
    }

    private func migrated(
        _ catalog: Catalog, besides known: Set<TreeID>
    ) throws(StoreError) -> [NamedTree] {
        var trees: [NamedTree] = []
        for prefix in [MigrationShadow.prefix, ReplacedTrees.prefix] {
            for key in try catalog.keys(beginning: prefix, of: view)
            where !MigrationShadow.entryKeys.contains(key) {
                guard let tree = try catalog.tree(ofKey: prefix + key, of: view),
                    // The later model may share trees with the earlier one.
                    prefix == ReplacedTrees.prefix || !known.contains(tree)
                else { continue }
                let name = key.withoutBytePrefix(Catalog.treePrefix) ?? key
                trees.append(NamedTree(name: prefix + name, tree: tree))
            }
        }
        return trees
    }

    /// The schema that the file was written with.
    package func schema() throws(StoreError) -> SchemaDescription? {
        try Catalog.open(view)?.schema(view)
    }

    /// The models that the file has had, its current one last; nil if unknown.
    package func history() throws(StoreError) -> ModelHistory? {
        try Catalog.open(view)?.history(view)
    }

    /// How migrations have changed the identities of objects.
    package func movedObjects() throws(StoreError) -> MovedObjects {
        try Catalog.open(view)?.movedObjects(view) ?? MovedObjects()
    }

    /// The saved form of the layout: see ``StoredLayout``.
    func layout() throws(StoreError) -> [UInt8]? { try Catalog.open(view)?.layout(view) }
}
