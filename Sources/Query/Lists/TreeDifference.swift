/// The difference of two contents of one list; its cost is that of the nodes that they do not
/// share.
package enum TreeDifference {
    /// - Note: Contents of different lists are compared entry by entry; updates of their common
    ///   entries cannot be detected, and are not reported.
    package static func between(_ before: ListContent, _ after: ListContent) -> ListDifference {
        guard before.lineage == after.lineage, !before.hasRepeatedSections,
            !after.hasRepeatedSections, before.names === after.names
        else { return LinearDifference.between(before, after) }
        return touched(before.tree, after.tree).difference(from: before, to: after)
    }

    /// Entries of the leaves that the other tree lacks.
    private struct Unshared {
        var items: [UInt64] = []
        var stamps: [UInt32] = []
        private var leaves: [(rank: Int, leaf: CountedLeaf, start: Int)]

        init(_ row: [(rank: Int, leaf: CountedLeaf)]) {
            leaves = []
            for (rank, leaf) in row {
                leaves.append((rank, leaf, items.count))
                for index in 0..<leaf.count {
                    items.append(leaf.keys.item(index))
                    stamps.append(leaf.stamps[index])
                }
            }
        }

        private func place(_ position: Int) -> Int {
            var (low, high) = (0, leaves.count)
            while high - low > 1 {
                let middle = (low + high) / 2
                if leaves[middle].start <= position { low = middle } else { high = middle }
            }
            return low
        }

        func rank(_ position: Int) -> Int {
            let place = leaves[place(position)]
            return place.rank + position - place.start
        }

        func entry(_ position: Int) -> (leaf: CountedLeaf, index: Int) {
            let place = leaves[place(position)]
            return (place.leaf, position - place.start)
        }
    }

    private static func touched(_ before: CountedTree, _ after: CountedTree) -> TouchedEntries {
        let leaves = unsharedLeaves(before, after)
        let (old, new) = (Unshared(leaves.old), Unshared(leaves.new))
        let unmatched = unmatched(old, new)
        var positions: [UInt64: Int] = [:]
        for position in unmatched.old { positions[old.items[position]] = position }
        var touched = TouchedEntries()
        for position in unmatched.new {
            guard let other = positions.removeValue(forKey: new.items[position]) else {
                touched.inserted.append(new.rank(position))
                continue
            }
            if old.stamps[other] == new.stamps[position] { continue }
            let (from, to) = (old.entry(other), new.entry(position))
            if from.leaf.sections[from.index] == to.leaf.sections[to.index],
                KeyRun.haveSameKey(from.leaf.keys, from.index, to.leaf.keys, to.index)
            {
                touched.updated.append(old.rank(other))
            } else {
                touched.moved.append((old.rank(other), new.rank(position)))
            }
        }
        touched.removed = positions.values.map(old.rank).sorted()
        touched.moved.sort { $0.old < $1.old }
        touched.updated.sort()
        return touched
    }

    /// The positions of entries that a merge does not match with equal neighbours, ascending.
    private static func unmatched(_ old: Unshared, _ new: Unshared) -> (old: [Int], new: [Int]) {
        func isEqual(_ left: Int, _ right: Int) -> Bool {
            left < old.items.count && right < new.items.count
                && old.items[left] == new.items[right] && old.stamps[left] == new.stamps[right]
        }
        var result: (old: [Int], new: [Int]) = ([], [])
        var (left, right) = (0, 0)
        while left < old.items.count || right < new.items.count {
            if isEqual(left, right) {
                left += 1
                right += 1
            } else if right >= new.items.count || isEqual(left + 1, right) {
                result.old.append(left)
                left += 1
            } else if left >= old.items.count || isEqual(left, right + 1) {
                result.new.append(right)
                right += 1
            } else {
                result.old.append(left)
                result.new.append(right)
                left += 1
                right += 1
            }
        }
        return result
    }

    // MARK: Nodes

    private typealias Row = [(rank: Int, node: CountedNode)]

    /// The leaves that only one of two trees has, with their first ranks.
    ///
    /// Descends height by height: nodes in both rows are removed, the others replaced by their
    /// children. A shared node without shared ancestors appears in both rows of its height.
    private static func unsharedLeaves(
        _ before: CountedTree, _ after: CountedTree
    ) -> (old: [(rank: Int, leaf: CountedLeaf)], new: [(rank: Int, leaf: CountedLeaf)]) {
        var old: Row = before.root.map { [(0, $0)] } ?? []
        var new: Row = after.root.map { [(0, $0)] } ?? []
        var height = max(before.root?.height ?? 0, after.root?.height ?? 0)
        while true {
            removeShared(&old, &new)
            if height == 0 { return (leaves(old), leaves(new)) }
            old = expanded(old, height)
            new = expanded(new, height)
            height -= 1
        }
    }

    private static func removeShared(_ old: inout Row, _ new: inout Row) {
        let shorter = min(old.count, new.count)
        var first = 0
        while first < shorter, old[first].node.identity == new[first].node.identity { first += 1 }
        var last = 0
        while last < shorter - first,
            old[old.count - 1 - last].node.identity == new[new.count - 1 - last].node.identity
        {
            last += 1
        }
        old = Array(old[first..<old.count - last])
        new = Array(new[first..<new.count - last])
        let oldNodes = Set(old.map(\.node.identity))
        let shared = Set(new.map(\.node.identity)).intersection(oldNodes)
        if shared.isEmpty { return }
        old.removeAll { shared.contains($0.node.identity) }
        new.removeAll { shared.contains($0.node.identity) }
    }

    /// The row with the nodes of a height replaced by their children; lower ones stay.
    private static func expanded(_ row: Row, _ height: Int) -> Row {
        row.flatMap { rank, node -> Row in
            guard case .branch(let branch) = node, branch.height == height else {
                return [(rank, node)]
            }
            return branch.children.enumerated().map { (rank + branch.start(of: $0), $1) }
        }
    }

    private static func leaves(_ row: Row) -> [(rank: Int, leaf: CountedLeaf)] {
        row.compactMap { rank, node in
            guard case .leaf(let leaf) = node else { return nil }
            return (rank, leaf)
        }
    }
}
