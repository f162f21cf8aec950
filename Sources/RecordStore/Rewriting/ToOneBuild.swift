import PageStore

/// Builds the tree of a to-one relationship, which has its owners by their targets, from the
/// records.
///
/// Records are written in the order of the owners, which is any order of the targets: maintained
/// batch by batch, a tree that is larger than the cache would have a page written for each link.
struct ToOneBuild {
    private let relationship: RelationshipLayout
    private let run: MigrationRun

    init(_ relationship: RelationshipLayout, _ run: MigrationRun) {
        self.relationship = relationship
        self.run = run
    }

    var treeName: String { relationship.treeName }

    /// Whether no link is in the tree yet. False where a resumed run has no such tree any more.
    var isPossible: Bool {
        get throws(StoreError) {
            guard let tree = try run.catalog.tree(treeName, of: run.editor) else { return false }
            return try run.editor.isEmpty(tree)
        }
    }

    func perform() throws(StoreError) {
        guard let offset = relationship.field?.byteOffset else { return }
        let transaction = try run.transaction
        let owner = transaction.schema.knownEntity(tag: relationship.sourceTag)
        var pairs = SortedRuns(transaction.editor)
        let cursor = transaction.recordCursor(owner.hierarchy, isScan: true)
        while try cursor.next() {
            try run.count()
            let row = try cursor.row()
            guard owner.tags.contains(row.entityTag), let target = row.link(at: offset) else {
                continue
            }
            try pairs.insert(target, cursor.number)
        }
        try pairs.write(to: transaction.trees.links(relationship))
    }
}
