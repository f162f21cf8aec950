import PageStore

/// Copies trees of the file's model into the shadow copy.
struct TreeCopy {
    /// The most entries of a part that is not the first.
    private static let partCount = 4096

    let run: MigrationRun
    /// The catalog of the file's model.
    let live: Catalog

    /// A pass that copies a tree whose name already leads to an empty one.
    func copy(_ name: String) throws(StoreError) {
        try run.performInParts { last throws(StoreError) in
            guard let source = try live.tree(name, of: run.editor),
                let target = try run.catalog.tree(name, of: run.editor)
            else { throw .corrupt(live.root.root, "the catalog does not name the tree \(name)") }
            return try copyPart(of: source, to: target, isRecords: TreeTable.isRecords(name), last)
        }
    }

    /// A pass that copies a tree that the file's model has as well, if it is needed and passes
    /// maintain the tree.
    func copyShared(
        _ name: String, if isNeeded: () throws(StoreError) -> Bool
    ) throws(StoreError) {
        try run.performInParts { () throws(StoreError) in
            guard try run.maintainsShared(name) else { return false }
            return try isNeeded()
        } _: { last throws(StoreError) in
            guard let source = try run.catalog.tree(name, of: run.editor) else {
                throw .corrupt(live.root.root, "the catalog does not name the tree \(name)")
            }
            let target = try run.targetOfCopy(isNew: last.isEmpty)
            let end = try copyPart(of: source, to: target, isRecords: false, last)
            if end == nil { try run.endCopy(of: name) }
            return end
        }
    }

    /// Returns the last key of the part, or nil at the end.
    private func copyPart(
        of source: TreeID, to target: TreeID, isRecords: Bool, _ last: [UInt8]
    ) throws(StoreError) -> [UInt8]? {
        let cursor = Cursor(try run.editor.before, tree: source, isScan: true)
        guard try seek(last, cursor) else { return nil }
        // The first part builds the tree bottom-up, which costs half as much; it ends with the
        // chunk.
        let isFirst = last.isEmpty
        var builder = isFirst ? try TreeBuilder(run.editor, tree: target, isFinal: false) : nil
        let writer = TreeWriter(run.editor, tree: target, isAscending: true)
        var (count, isAtEnd) = (0, false)
        while !isAtEnd {
            if isFirst {
                try builder?.append(cursor.key, cursor.value())
            } else {
                _ = try writer.insert(cursor.key, cursor.value())
            }
            if isRecords { run.progress.count() }
            try run.count()
            count += 1
            if run.endsBatch || !isFirst && count == Self.partCount { break }
            isAtEnd = try !cursor.next()
        }
        try builder?.finish()
        return isAtEnd ? nil : cursor.key.array()
    }

    /// Moves to the first entry after a key.
    private func seek(_ last: [UInt8], _ cursor: Cursor) throws(StoreError) -> Bool {
        guard !last.isEmpty else { return try cursor.seekFirst() }
        _ = try cursor.seek(last.span)
        guard cursor.isValid, cursor.key.array() == last else { return cursor.isValid }
        return try cursor.next()
    }
}
