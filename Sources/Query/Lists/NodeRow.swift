/// The nodes of one height below a branch, while it is edited.
///
/// Edited neighbours are loose: they are packed anew together. Where they fit no node well, an
/// unedited neighbour joins them, which keeps nodes fuller than dividing alone would.
struct NodeRow {
    let height: Int
    var looseEntries = EntryBuffer()
    var looseNodes: [CountedNode] = []
    private var packed: [CountedNode] = []

    init(height: Int) { self.height = height }

    private var looseCount: Int { height == 0 ? looseEntries.count : looseNodes.count }
    private var nodeMax: Int { height == 0 ? KeyRun.entriesMax : CountedBranch.childrenMax }
    private var nodeMin: Int { nodeMax / 4 }

    /// Whether packing a neighbour with what is loose is better than packing it alone.
    private func shouldJoin(_ neighbour: CountedNode) -> Bool {
        let (own, other) = (looseCount, Self.size(neighbour))
        if own == 0 { return false }
        if own < nodeMin { return true }
        // One node more can be avoided.
        return own > nodeMax && own + other <= (own + nodeMax - 1) / nodeMax * nodeMax
    }

    /// The entries or nodes that a node holds itself.
    private static func size(_ node: CountedNode) -> Int {
        switch node {
        case .leaf(let leaf): leaf.count
        case .branch(let branch): branch.children.count
        }
    }

    mutating func append(_ node: CountedNode) {
        if looseCount > 0 && shouldJoin(node) {
            joinLoose(node, isBefore: false)
            flush()
            return
        }
        flush()
        packed.append(node)
    }

    private mutating func joinLoose(_ node: CountedNode, isBefore: Bool) {
        switch node {
        case .leaf(let leaf):
            if isBefore {
                var buffer = EntryBuffer()
                buffer.append(leaf, 0..<leaf.count)
                buffer.append(looseEntries)
                looseEntries = buffer
            } else {
                looseEntries.append(leaf, 0..<leaf.count)
            }
        case .branch(let branch):
            looseNodes = isBefore ? branch.children + looseNodes : looseNodes + branch.children
        }
    }

    private mutating func flush() {
        guard looseCount > 0 else { return }
        if let last = packed.last, shouldJoin(last) {
            packed.removeLast()
            joinLoose(last, isBefore: true)
        }
        if height == 0 {
            packed += looseEntries.leaves().map(CountedNode.leaf)
            looseEntries.removeAll()
        } else {
            packed += CountedBranch.branches(of: looseNodes, height: height)
            looseNodes.removeAll()
        }
    }

    mutating func finish() -> [CountedNode] {
        flush()
        return packed
    }
}

extension CountedBranch {
    /// Branches above nodes, evenly filled.
    static func branches(of nodes: [CountedNode], height: Int) -> [CountedNode] {
        EntryBuffer.shares(of: nodes.count, max: childrenMax).map { range in
            .branch(CountedBranch(height: height, children: Array(nodes[range])))
        }
    }
}
