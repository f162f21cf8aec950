import PageStore

/// Tracks who owns the blobs of a file that holds two models: records of both may name one blob.
///
/// A blob that the later model drops is kept for the earlier one and recorded in `freed`; a blob
/// that the later model creates is recorded in `made`. Whichever model is discarded, one of the
/// trees lists the blobs to delete with it.
struct BlobLedger {
    /// The names of blobs that only the later model has.
    let made: TreeID
    /// The names of blobs that only the earlier model still has.
    let freed: TreeID

    func create(_ bytes: ByteView, in editor: PageEditor) throws(StoreError) -> BlobID {
        let blob = try editor.createBlob(bytes)
        try Self.note(blob, in: made, editor)
        return blob
    }

    func delete(_ blob: BlobID, in editor: PageEditor) throws(StoreError) {
        if try editor.remove(blob.encoded().span, from: made) {
            try editor.deleteBlob(blob)
        } else {
            try Self.note(blob, in: freed, editor)
        }
    }

    private static func note(
        _ blob: BlobID, in tree: TreeID, _ editor: PageEditor
    ) throws(StoreError) {
        let nothing: [UInt8] = []
        _ = try editor.insert(blob.encoded().span, nothing.span, into: tree)
    }

    /// Deletes the blobs that a tree lists, until `pageCountMax` pages are freed. Returns whether
    /// the tree is then empty.
    static func drop(
        _ tree: TreeID, in editor: WriteTransaction, freeing pageCountMax: Int
    ) throws(StoreError) -> Bool {
        while editor.freedPageCount < pageCountMax {
            let cursor = Cursor(editor, tree: tree)
            guard try cursor.seekFirst() else { return true }
            let key = cursor.key.array()
            guard key.count == 16 else {
                throw .corrupt(tree.root, "a name of a blob has \(key.count) bytes")
            }
            try editor.deleteBlob(key.withView { BlobID($0) })
            _ = try editor.remove(key.span, from: tree)
        }
        return false
    }
}
