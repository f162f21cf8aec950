/// How the keys of a tree end that are sought by how they begin: the room above says so, for it
/// alone knows what keys mean.
package struct KeyShape: Sendable {
    /// How many bytes at its end tell a key from others that begin alike.
    package let suffixSizeInBytes: Int

    package init(suffixSizeInBytes: Int) { self.suffixSizeInBytes = suffixSizeInBytes }

    /// A key without its suffix.
    func beginning(of key: ByteView) -> ByteView {
        key.slice(from: 0, count: key.count - suffixSizeInBytes)
    }
}

/// The suffixes of keys that begin alike, in one leaf and in the order of the keys.
package struct SuffixRun {
    private let leaf: NodeView
    private let first: Int
    /// How many of a key's bytes after the node's prefix come before its suffix.
    private let restSize: Int
    private let suffixSize: Int
    package let count: Int

    init(_ leaf: NodeView, first: Int, restSize: Int, _ shape: KeyShape, count: Int) {
        self.leaf = leaf
        self.first = first
        self.restSize = restSize
        suffixSize = shape.suffixSizeInBytes
        self.count = count
    }

    /// Valid as long as the run is.
    package subscript(index: Int) -> ByteView {
        precondition(index >= 0 && index < count, "a suffix is outside its run")
        return leaf.suffix(first + index).slice(from: restSize, count: suffixSize)
    }
}

extension NodeView {
    /// The suffixes of the keys that begin so, in the leaf that covers the beginning; nil when the
    /// next leaf may have more of them.
    func suffixes(
        after beginning: ByteView, _ shape: KeyShape
    ) throws(StoreError) -> SuffixRun? {
        let rest = beginning.dropFirst(prefixSize)
        let first = search(beginning).index
        var end = first
        while end < slotCount {
            guard isSuffix(end, behind: rest) else { break }
            guard suffix(end).count == rest.count + shape.suffixSizeInBytes else {
                throw .corrupt(page.id, "a key has not the suffix of its tree's keys")
            }
            end += 1
        }
        // No key of the next leaf is before the upper fence.
        guard end < slotCount || !upperFence.hasPrefix(beginning) else { return nil }
        return SuffixRun(self, first: first, restSize: rest.count, shape, count: end - first)
    }
}
