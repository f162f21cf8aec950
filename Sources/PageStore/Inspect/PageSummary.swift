/// The decoded content of a page, for tools that show it. Made of a page that a view returned.
package struct PageSummary: Sendable {
    package enum Content: Hashable, Sendable {
        case value([UInt8])
        case child(PageID)
        /// A value that lies in pages of its own.
        case blob(BlobID)
    }

    package struct Entry: Hashable, Sendable {
        /// The whole key, prefix included; empty for a branch's first child.
        package var key: [UInt8]
        package var content: Content
    }

    package var kind: PageKind?
    /// The header's fields as chapter 4 of the specification names them.
    package var fields: [(name: String, value: UInt64)] = []
    package var lowerFence: [UInt8] = []
    /// Empty when there is none.
    package var upperFence: [UInt8] = []
    package var entries: [Entry] = []

    package init(_ page: PageBuffer) {
        kind = page.count > 0 ? PageKind(rawValue: page[0]) : nil
        // A tool shows damaged pages too: only valid ones are decoded.
        guard (try? PageCheck.validate(page)) != nil, let kind else { return }
        switch kind {
        case .treeLeaf, .treeBranch: describe(NodeView(validated: page))
        case .overflow, .blobList, .blobChunk: describeBlobPage(page, kind)
        }
    }

    private mutating func describe(_ node: NodeView) {
        fields = [
            ("level", node.level), ("slotCount", node.slotCount),
            ("prefixSize", node.prefixSize), ("heapSize", node.heapSize),
            ("garbageSize", node.garbageSize), ("freeSize", node.freeSize),
        ].map { (name: $0.0, value: UInt64($0.1)) }
        lowerFence = node.lowerFence.array()
        upperFence = node.upperFence.array()
        if !node.isLeaf { entries.append(Entry(key: [], content: .child(node.child(-1)))) }
        let prefix = node.prefix.array()
        for index in 0..<node.slotCount {
            let stored = node.storedValue(index)
            let content: Content =
                if !node.isLeaf {
                    .child(node.child(index))
                } else if node.isOverflowValue(index) {
                    .blob(BlobID(stored))
                } else {
                    .value(stored.array())
                }
            entries.append(Entry(key: prefix + node.suffix(index).array(), content: content))
        }
    }

    private mutating func describeBlobPage(_ page: PageBuffer, _ kind: PageKind) {
        fields = [
            (name: "flags", value: UInt64(page[BlobLayout.flags])),
            (name: "payloadSize", value: UInt64(page.uint32(at: BlobLayout.payloadSize))),
            (name: "next", value: page.uint64(at: BlobLayout.next)),
        ]
        guard kind == .blobList else { return }
        entries = BlobPages.chunks(of: page).map { Entry(key: [], content: .child($0)) }
    }
}
