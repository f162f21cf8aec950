/// Builds a tree from entries that are appended in order.
package struct CountedTreeBuilder {
    /// A leaf keeps room, so that the first entries that come to it do not split it.
    private static let leafMax = KeyRun.entriesMax / 8 * 7

    private var buffer = EntryBuffer()
    private var leaves: [CountedNode] = []

    package init() {}

    package mutating func append(_ entry: ListEntry) {
        if buffer.count == Self.leafMax { flush() }
        buffer.append(entry)
    }

    private mutating func flush() {
        leaves.append(.leaf(buffer.leaf(0..<buffer.count)))
        buffer.removeAll()
    }

    package mutating func finish() -> CountedTree {
        // The last two leaves share their entries evenly.
        if buffer.count < Self.leafMax, case .leaf(let last)? = leaves.last {
            leaves.removeLast()
            var both = EntryBuffer()
            both.append(last, 0..<last.count)
            both.append(buffer)
            buffer = both
        }
        leaves += buffer.leaves(max: Self.leafMax).map(CountedNode.leaf)
        defer { self = CountedTreeBuilder() }
        return CountedTree(nodes: leaves, height: 1)
    }
}
