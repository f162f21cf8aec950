import PageStore

extension Engine.Options {
    /// Small pages, units and log segments, so that few commits fill many of each; checkpoints run
    /// when the test asks for them.
    package static var small: Self {
        var options = Self()
        options.pageSizeInBytes = 1024
        options.unitSizeInBytes = 64
        options.logSegmentSizeInBytes = 16_384
        options.checkpointsInBackground = false
        return options
    }
}

extension Engine {
    /// The entries of the tree that the newest commit has as its catalog.
    package func catalogEntries() throws(StoreError) -> [[UInt8]: [UInt8]] {
        let snapshot = try snapshot()
        var found: [[UInt8]: [UInt8]] = [:]
        guard let root = snapshot.catalogRoot else { return found }
        let cursor = Cursor(snapshot, tree: TreeID(root: root))
        var isMore = try cursor.seekFirst()
        while isMore {
            found[cursor.key.array()] = try cursor.value().array()
            isMore = try cursor.next()
        }
        return found
    }
}

extension FileSystem {
    /// The content of a file.
    package func bytes(of path: String) throws(StoreError) -> [UInt8] {
        let file = try open(path, .readOnly)
        defer { file.close() }
        let buffer = ReadBuffer(count: Int(try file.size()))
        _ = try file.read(into: buffer, at: 0)
        return buffer.view.array()
    }
}
