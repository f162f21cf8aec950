import PageStore

/// The remains of a finished or discarded migration below `old/`: trees that no model uses, and the
/// names of blobs. They are dropped in separate transactions, after which the file is as if the
/// migration had run in one.
enum ReplacedTrees {
    static let prefix = "old/"
    static let blobsKey = prefix + "blobs"
    private static let treePrefix = prefix + Catalog.treePrefix

    /// Drops all of it. A failure leaves the rest to the next opening.
    static func drop(_ catalog: Catalog, of engine: Engine) throws(StoreError) {
        var isDone = false
        while !isDone {
            let editor = try engine.beginWrite()
            do throws(StoreError) {
                isDone = try dropSome(
                    catalog, in: editor, freeing: engine.options.migrationDropPagesMax)
                try editor.commit()
            } catch {
                editor.rollback()
                throw error
            }
        }
    }

    private static func dropSome(
        _ catalog: Catalog, in editor: WriteTransaction, freeing pageCountMax: Int
    ) throws(StoreError) -> Bool {
        guard try catalog.migration(editor)?.phase == .dropping else { return true }
        for name in try catalog.keys(beginning: treePrefix, of: editor) {
            guard editor.freedPageCount < pageCountMax else { return false }
            guard let tree = try catalog.tree(ofKey: treePrefix + name, of: editor) else {
                continue
            }
            // A large tree is trimmed in several transactions.
            guard
                try editor.trimTree(tree, while: { editor.freedPageCount < pageCountMax })
            else { return false }
            try editor.deleteTree(tree)
            try catalog.setEntry(treePrefix + name, nil, in: editor)
        }
        if let blobs = try catalog.tree(ofKey: blobsKey, of: editor) {
            guard try BlobLedger.drop(blobs, in: editor, freeing: pageCountMax) else {
                return false
            }
            try editor.deleteTree(blobs)
            try catalog.setEntry(blobsKey, nil, in: editor)
        }
        try catalog.setMigration(nil, in: editor)
        return true
    }
}
