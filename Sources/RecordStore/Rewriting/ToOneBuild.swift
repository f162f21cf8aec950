import PageStore

/// Builds the trees of to-one relationships of a hierarchy, which have the owners by their targets,
/// in one pass over its records.
///
/// Records are written in the order of the owners, which is any order of the targets: maintained
/// batch by batch, a tree that is larger than the cache would have a page written for each link.
struct ToOneBuild {
    let hierarchy: HierarchyID
    private let relationships: [RelationshipLayout]
    private let run: MigrationRun

    init(
        _ hierarchy: HierarchyID, _ relationships: [RelationshipLayout], _ run: MigrationRun
    ) {
        self.hierarchy = hierarchy
        self.relationships = relationships
        self.run = run
    }

    /// The names of the trees without a link that the file's model does not have. A resumed run may
    /// have dropped them since.
    func emptyTrees() throws(StoreError) -> Set<String> {
        var names: Set<String> = []
        for relationship in relationships {
            let name = relationship.treeName
            if let tree = try run.catalog.tree(name, of: run.editor),
                !run.lentTrees.contains(tree), try run.editor.isEmpty(tree)
            {
                names.insert(name)
            }
        }
        return names
    }

    /// A pass that builds those of the trees that are named; it counts as one also where it builds
    /// none.
    func perform(_ names: Set<String>) throws(StoreError) {
        let due = relationships.filter { names.contains($0.treeName) }
        try run.performLong { () throws(StoreError) in
            !due.isEmpty
        } _: { () throws(StoreError) in
            try build(due)
        }
    }

    private func build(_ relationships: [RelationshipLayout]) throws(StoreError) {
        let transaction = try run.transaction
        var parts: [(tags: Set<UInt16>, byteOffset: Int, tree: TreeID)] = []
        for relationship in relationships {
            let owner = transaction.schema.knownEntity(tag: relationship.sourceTag)
            guard let field = relationship.field, try transaction.recordCount(of: owner) > 0
            else { continue }
            let tree = transaction.trees.links(relationship)
            parts.append((Set(owner.tags), field.byteOffset, tree))
        }
        guard !parts.isEmpty else { return }
        var pairs = parts.map { _ in
            SortedPairs(transaction.editor, shareCount: parts.count, isFinal: run.isChunked)
        }
        let cursor = transaction.recordCursor(hierarchy, isScan: true)
        while try cursor.next() {
            try run.count()
            let row = try cursor.row()
            var isOwner = false
            for (index, part) in parts.enumerated() where part.tags.contains(row.entityTag) {
                isOwner = true
                guard let target = row.link(at: part.byteOffset) else { continue }
                try pairs[index].insert(target, cursor.number)
            }
            if isOwner { run.progress.count() }
        }
        for (index, part) in parts.enumerated() { try pairs[index].write(to: part.tree) }
    }
}
