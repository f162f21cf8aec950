/// The nodes of one height below a branch that is edited.
///
/// Edited neighbours are loose: they are repacked together. If they fill nodes badly, an unedited
/// neighbour is repacked with them, which keeps nodes fuller than splitting alone.
struct NodeRow {
    let height: Int
    var looseEntries = EntryBuffer()
    var looseNodes: [CountedNode] = []
    private var packed: [CountedNode] = []

    init(height: Int) { self.height = height }

    private var looseCount: Int { height == 0 ? looseEntries.count : looseNodes.count }
    private var nodeMax: Int { height == 0 ? KeyRun.entriesMax : CountedBranch.childrenMax }
    private var nodeMin: Int { nodeMax / 4 }

    /// Whether a neighbour should be repacked with the loose entries or nodes.
    private func shouldJoin(_ neighbour: CountedNode) -> Bool {
        let (own, other) = (looseCount, Self.size(neighbour))
        if own == 0 { return false }
        if own < nodeMin { return true }
        // Joining saves one node.
        return own > nodeMax && own + other <= (own + nodeMax - 1) / nodeMax * nodeMax
    }

    /// The count of entries or nodes that a node holds itself.
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
    /// Evenly filled branches above nodes.
    static func branches(of nodes: [CountedNode], height: Int) -> [CountedNode] {
        EntryBuffer.shares(of: nodes.count, max: childrenMax).map { range in
            .branch(CountedBranch(height: height, children: Array(nodes[range])))
        }
    }
}
