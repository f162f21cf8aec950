import PageStore

/// What the catalog of a snapshot says, for tools: each part alone, so that damage to one leaves
/// the others readable.
package struct CatalogView {
    package struct NamedTree: Hashable, Sendable {
        package var name: String
        package var tree: TreeID
    }

    private let view: PageView
    private let root: TreeID

    /// Nil for a store that was never used.
    package init?(_ view: PageView) {
        guard let page = view.catalogRoot else { return nil }
        self.view = view
        root = TreeID(root: page)
    }

    /// All trees by name; the catalog's own two first, as `catalog` and `counters`.
    package func trees() throws(StoreError) -> [NamedTree] {
        var trees = [NamedTree(name: "catalog", tree: root)]
        guard let catalog = try Catalog.open(view) else { return trees }
        trees.append(NamedTree(name: "counters", tree: catalog.counters))
        for name in try catalog.treeNames(view) {
            guard let tree = try catalog.tree(name, of: view) else { continue }
            trees.append(NamedTree(name: name, tree: tree))
        }
        return trees
    }

    /// The schema that the file was written with.
    package func schema() throws(StoreError) -> SchemaDescription? {
        try Catalog.open(view)?.schema(view)
    }

    /// Where the file has what, in its saved form: see ``StoredLayout``.
    func layout() throws(StoreError) -> [UInt8]? { try Catalog.open(view)?.layout(view) }
}
