import PageStore

/// Whose the blobs are while two models stand side by side in a file: records of both may name one.
///
/// A blob that the later model drops stays for the earlier one, and is noted in `freed`; one that
/// it makes is noted in `made`. Whichever model goes, one of the trees says what goes with it.
struct BlobLedger {
    /// The names of blobs that the earlier model does not have.
    let made: TreeID
    /// The names of blobs that the later model does not have any more.
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

    /// Deletes the blobs that a tree names, until as many pages were freed. Returns whether the
    /// tree is empty then.
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
