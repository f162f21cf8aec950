import PageStore

/// The surviving leaves of one tree, and the ranges of keys in which each is valid.
struct SalvagedTree {
    struct Leaf {
        var page: PageID
        var lower: [UInt8]
        /// Empty if there is no bound.
        var upper: [UInt8]
        var commit: UInt64
        /// Whether it is certainly the newest version of its page. Two such leaves share no key.
        var isNewest: Bool

        func isOlder(than other: Leaf) -> Bool {
            guard isNewest == other.isNewest else { return other.isNewest }
            return (commit, page) < (other.commit, other.page)
        }
    }

    /// A range of keys and the leaf that covers it; nil if that leaf is lost.
    struct Part {
        var lower: [UInt8]
        var upper: [UInt8]
        var page: PageID?
    }

    private(set) var leaves: [Leaf] = []
    /// Whether every node below the root was read, and none is known to be stale.
    private(set) var isWhole = true
    private(set) var failures: [StoreError] = []

    /// The node that a branch expects as its child. A stale branch may name a page that has
    /// belonged to another tree since.
    private struct Expectation {
        var page: PageID
        /// Nil for a root, which may have any level and has no bounds.
        var level: UInt64?
        var lower: [UInt8] = []
        var upper: [UInt8] = []

        func accepts(_ node: PageSummary) -> Bool {
            guard let found = node.level else { return false }
            return (level ?? found) == found && node.lowerFence == lower && node.upperFence == upper
        }
    }

    /// Walks down from a root, skipping unreadable nodes. Adds every page that it enters to
    /// `visited`.
    init(root: PageID?, _ pages: SalvagedPages, visited: inout Set<PageID>) {
        guard let root else {
            isWhole = false
            return
        }
        var open = [Expectation(page: root)]
        while let expected = open.popLast() {
            let id = expected.page
            do throws(StoreError) {
                let node = PageSummary(try pages.page(id))
                guard expected.accepts(node), visited.insert(id).inserted else {
                    throw .corrupt(id, "the page is not the node that its parent names")
                }
                if pages.stalePages.contains(id) { isWhole = false }
                if node.kind == .treeLeaf {
                    add(node, id, pages)
                } else {
                    open += Self.children(of: node).reversed()
                }
            } catch {
                isWhole = false
                failures.append(error)
            }
        }
    }

    private static func children(of branch: PageSummary) -> [Expectation] {
        guard let level = branch.level, level > 0 else { return [] }
        var bounds = branch.entries.map(\.key) + [branch.upperFence]
        // A branch's first child has no key of its own.
        bounds[0] = branch.lowerFence
        return branch.entries.enumerated().compactMap { index, entry in
            guard case .child(let child) = entry.content else { return nil }
            return Expectation(
                page: child, level: level - 1, lower: bounds[index], upper: bounds[index + 1])
        }
    }

    mutating func add(_ node: PageSummary, _ id: PageID, _ pages: SalvagedPages) {
        leaves.append(
            Leaf(
                page: id, lower: node.lowerFence, upper: node.upperFence,
                commit: pages.commit(of: id), isNewest: pages.isNewest(id)))
    }

    /// The key space in order, each part with the newest leaf that covers it: an older leaf was
    /// freed or split since. A part without a leaf is lost.
    func parts() -> [Part] {
        var bounds = Set(leaves.map(\.lower))
        bounds.formUnion(leaves.map(\.upper))
        bounds.insert([])
        let starts = bounds.sorted { $0.lexicographicallyPrecedes($1) }
        let ordered = leaves.sorted { $0.lower.lexicographicallyPrecedes($1.lower) }
        var next = 0
        var active: [Leaf] = []
        var parts: [Part] = []
        for (index, start) in starts.enumerated() {
            while next < ordered.count, !start.lexicographicallyPrecedes(ordered[next].lower) {
                active.append(ordered[next])
                next += 1
            }
            active.removeAll { !$0.upper.isEmpty && !start.lexicographicallyPrecedes($0.upper) }
            let page = active.max { $0.isOlder(than: $1) }?.page
            let end = index + 1 < starts.count ? starts[index + 1] : []
            if let last = parts.last, last.page == page {
                parts[parts.count - 1].upper = end
            } else {
                parts.append(Part(lower: start, upper: end, page: page))
            }
        }
        return parts
    }
}

extension PageSummary {
    /// The level of a tree node; nil for other pages.
    var level: UInt64? {
        guard kind == .treeLeaf || kind == .treeBranch else { return nil }
        return fields.first { $0.name == "level" }?.value
    }

    /// The entries from `lower` up to but not including `upper`; an empty key is no bound.
    func entries(from lower: [UInt8], to upper: [UInt8]) -> [Entry] {
        entries.filter { entry in
            !entry.key.lexicographicallyPrecedes(lower)
                && (upper.isEmpty || entry.key.lexicographicallyPrecedes(upper))
        }
    }
}
