/// Decides where a node is cut in two; touches no page.
struct SplitPlan {
    struct Cut {
        /// The first entry of the right node. A branch sends that entry's key up and keeps its
        /// child as the right node's first.
        var index: Int
        /// The parent's new separator: the left node's upper and the right node's lower fence.
        var separator: [UInt8]
    }

    let level: Int
    let lower: ByteView
    let upper: ByteView
    let pageSizeInBytes: Int

    /// The cut nearest to a preferred one that leaves both parts room for their fences; nil when
    /// there is none. Without a preference the cut is at half of the bytes, not half of the
    /// entries: one large record must not leave its neighbours on a page that is almost empty.
    func cut(_ entries: [NodeEntry], from preferred: Int?) -> Cut? {
        let first = level == 0 ? 1 : 0
        let last = entries.count - 1
        guard first <= last else { return nil }
        let start = min(max(preferred ?? middle(entries), first), last)
        for distance in 0...(last - first) {
            for index in distance == 0 ? [start] : [start - distance, start + distance]
            where index >= first && index <= last {
                let separator = self.separator(entries, at: index)
                if fits(entries, at: index, separator) {
                    return Cut(index: index, separator: separator)
                }
            }
        }
        return nil
    }

    /// An upper fence for the last leaf, above all keys that are to be expected soon; nil when it
    /// would not help.
    ///
    /// The last leaf has no upper fence, hence no prefix to cut off, and fills up with bytes that
    /// all its keys share. With a fence a little ahead it takes more, and so does each leaf that
    /// is split from it, until the keys have passed the fence.
    func fenceAhead(of key: ByteView, _ entries: [NodeEntry]) -> [UInt8]? {
        guard level == 0, upper.isEmpty else { return nil }
        // The byte before the one in which the leaf's keys differ: its successor is 256 leaves'
        // worth of keys away if keys are dense, and the prefix is a byte shorter.
        var position = lower.sharedPrefixCount(with: key) - 1
        while position > 0 && key[position] == 0xFF { position -= 1 }
        guard position > 0 else { return nil }
        var fence = key.slice(from: 0, count: position + 1).array()
        fence[position] += 1
        let size = fence.withView { NodeView.builtSize(entries[...], lower: lower, upper: $0) }
        return size <= pageSizeInBytes / 8 * 7 ? fence : nil
    }

    // MARK: The rule of division

    /// How much of a page is filled in one go: a change that comes later must not split it at once.
    static func fillMax(pageSizeInBytes: Int) -> Int { pageSizeInBytes / 16 * 15 }

    /// Whether the middle of an entry lies past a share of all bytes: the part after that share
    /// begins with the first such entry.
    static func isPast(share: Int, of count: Int, before: Int, size: Int, total: Int) -> Bool {
        count * (2 * before + size) > 2 * share * total
    }

    func rightEntries(_ entries: [NodeEntry], at index: Int) -> ArraySlice<NodeEntry> {
        level == 0 ? entries[index...] : entries[(index + 1)...]
    }

    private func middle(_ entries: [NodeEntry]) -> Int {
        let total = entries.reduce(0) { $0 + $1.size }
        var before = 0
        for (index, entry) in entries.enumerated() {
            if Self.isPast(share: 1, of: 2, before: before, size: entry.size, total: total) {
                return index
            }
            before += entry.size
        }
        return entries.count / 2
    }

    /// A branch's separator is a key it has. A leaf's is the shortest that divides its neighbours:
    /// what the right key shares with the left one, and one byte more.
    private func separator(_ entries: [NodeEntry], at index: Int) -> [UInt8] {
        let right = entries[index].key()
        guard level == 0 else { return right }
        let left = entries[index - 1].key()
        return left.withView { left in
            right.withView { Self.shortestSeparator(between: left, and: $0) }
        }
    }

    static func shortestSeparator(between left: ByteView, and right: ByteView) -> [UInt8] {
        let shared = left.sharedPrefixCount(with: right)
        return right.slice(from: 0, count: min(shared + 1, right.count)).array()
    }

    private func fits(_ entries: [NodeEntry], at index: Int, _ separator: [UInt8]) -> Bool {
        separator.withView { separator in
            NodeView.builtSize(entries[..<index], lower: lower, upper: separator)
                <= pageSizeInBytes
                && NodeView.builtSize(
                    rightEntries(entries, at: index), lower: separator, upper: upper)
                    <= pageSizeInBytes
        }
    }
}
