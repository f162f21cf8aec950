/// One change of a tree, at a rank of the previous version.
package struct TreeEdit: Sendable {
    package enum Change: Sendable {
        /// Inserts before the entry at the rank; insertions at one rank keep their order.
        case insert(ListEntry)
        case remove
        /// Marks the entry as updated by a step.
        case stamp(UInt32)
    }

    package var rank: Int
    package var change: Change

    package init(rank: Int, _ change: Change) {
        self.rank = rank
        self.change = change
    }

    fileprivate var isInsertion: Bool {
        if case .insert = change { true } else { false }
    }

    fileprivate var isStamp: Bool {
        if case .stamp = change { true } else { false }
    }
}

extension CountedTree {
    /// The version with these edits, made in one pass over the nodes that they touch.
    ///
    /// - Parameter edits: ascending by rank; at one rank insertions first, then at most one removal
    ///   or stamp.
    package func edited(_ edits: [TreeEdit]) -> CountedTree {
        guard let first = edits.first, let last = edits.last else { return self }
        precondition(
            first.rank >= 0 && last.rank <= count - (last.isInsertion ? 0 : 1),
            "an edit is outside its list")
        guard let root else {
            var buffer = EntryBuffer()
            for edit in edits { buffer.apply(edit) }
            return CountedTree(leaves: buffer.leaves())
        }
        let editor = TreeEditor(edits: edits)
        switch root {
        case .leaf(let leaf):
            var buffer = EntryBuffer()
            if let edited = editor.edited(leaf, 0..<edits.count, at: 0) {
                return CountedTree(root: .leaf(edited))
            }
            editor.apply(0..<edits.count, to: leaf, at: 0, into: &buffer)
            return CountedTree(leaves: buffer.leaves())
        case .branch(let branch):
            if let edited = editor.editedInPlace(branch, 0..<edits.count, at: 0) {
                return CountedTree(root: .branch(edited))
            }
            let children = editor.children(of: branch, 0..<edits.count, at: 0)
            return CountedTree(nodes: children, height: branch.height)
        }
    }

    init(leaves: [CountedLeaf]) {
        self.init(nodes: leaves.map(CountedNode.leaf), height: 1)
    }

    /// - Parameter height: the height of the branches directly above the nodes.
    init(nodes: [CountedNode], height: Int) {
        var (nodes, height) = (nodes, height)
        while nodes.count > 1 {
            nodes = CountedBranch.branches(of: nodes, height: height)
            height += 1
        }
        // A root with a single child is replaced by it.
        while nodes.count == 1, case .branch(let branch) = nodes[0], branch.children.count == 1 {
            nodes = branch.children
        }
        root = nodes.first
    }

    /// A tree of entries, which are in order.
    package init(_ entries: some Sequence<ListEntry>) {
        var builder = CountedTreeBuilder()
        for entry in entries { builder.append(entry) }
        self = builder.finish()
    }
}

/// Applies ascending edits.
private struct TreeEditor {
    let edits: [TreeEdit]

    /// The edits of a range for a child with ranks below `end`; the last child gets all of them.
    private func share(_ range: Range<Int>, below end: Int, isLast: Bool) -> Range<Int> {
        if isLast { return range }
        var (low, high) = (range.lowerBound, range.upperBound)
        while low < high {
            let middle = (low + high) / 2
            if edits[middle].rank < end { low = middle + 1 } else { high = middle }
        }
        return range.lowerBound..<low
    }

    /// The children of a branch after some edits: any number of nodes of the same height.
    func children(of branch: CountedBranch, _ range: Range<Int>, at base: Int) -> [CountedNode] {
        var row = NodeRow(height: branch.height - 1)
        var rest = range
        for (index, child) in branch.children.enumerated() {
            let isLast = index == branch.children.count - 1
            let own = share(rest, below: base + branch.end(of: index), isLast: isLast)
            rest = own.upperBound..<range.upperBound
            if own.isEmpty {
                row.append(child)
                continue
            }
            let start = base + branch.start(of: index)
            switch child {
            case .leaf(let leaf):
                if let edited = edited(leaf, own, at: start) {
                    row.append(.leaf(edited))
                } else {
                    apply(own, to: leaf, at: start, into: &row.looseEntries)
                }
            case .branch(let inner):
                if let edited = editedInPlace(inner, own, at: start) {
                    row.append(.branch(edited))
                } else {
                    row.looseNodes += children(of: inner, own, at: start)
                }
            }
        }
        return row.finish()
    }

    /// The branch after a few edits, if the packed form of the leaves can take them; nil if nodes
    /// must be repacked.
    func editedInPlace(
        _ branch: CountedBranch, _ range: Range<Int>, at base: Int
    ) -> CountedBranch? {
        guard range.count <= Self.branchChangesInPlaceMax else { return nil }
        var replacements: [CountedBranch.Replacement] = []
        var rest = range
        while let first = rest.first {
            let last = branch.children.count - 1
            let rank = edits[first].rank - base
            let child = rank < branch.count ? branch.child(holding: rank) : last
            let own = share(rest, below: base + branch.end(of: child), isLast: child == last)
            let start = base + branch.start(of: child)
            let node: CountedNode
            switch branch.children[child] {
            case .leaf(let leaf):
                guard let edited = edited(leaf, own, at: start) else { return nil }
                node = .leaf(edited)
            case .branch(let inner):
                guard let edited = editedInPlace(inner, own, at: start) else { return nil }
                node = .branch(edited)
            }
            replacements.append(
                CountedBranch.Replacement(
                    child: child, node: node, isStamped: edits[own].allSatisfy(\.isStamp)))
            rest = own.upperBound..<range.upperBound
        }
        return branch.replacing(replacements)
    }

    /// More edits of one branch are applied in one pass over its children.
    private static let branchChangesInPlaceMax = 16

    /// More changes of one leaf are applied by repacking it.
    private static let changesInPlaceMax = 4

    /// The leaf after some edits, if its packed form can take them; nil if it must be repacked.
    func edited(_ leaf: CountedLeaf, _ range: Range<Int>, at base: Int) -> CountedLeaf? {
        guard range.count <= Self.changesInPlaceMax else { return nil }
        var result = leaf
        var shift = -base
        for edit in edits[range] {
            guard let next = result.edited(edit.change, at: edit.rank + shift) else { return nil }
            result = next
            switch edit.change {
            case .insert: shift += 1
            case .remove: shift -= 1
            case .stamp: break
            }
        }
        return result
    }

    func apply(
        _ range: Range<Int>, to leaf: CountedLeaf, at base: Int, into buffer: inout EntryBuffer
    ) {
        var next = 0
        for index in range {
            let edit = edits[index]
            let position = edit.rank - base
            precondition(position >= next, "edits are in the order of their ranks")
            buffer.append(leaf, next..<position)
            next = position
            switch edit.change {
            case .insert(let entry): buffer.append(entry)
            case .remove: next += 1
            case .stamp(let step):
                buffer.append(leaf, position..<position + 1, stamp: step)
                next += 1
            }
        }
        buffer.append(leaf, next..<leaf.count)
    }
}
