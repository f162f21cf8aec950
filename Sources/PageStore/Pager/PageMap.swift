import Primitives

/// A node of the page map: a radix tree over page ids whose leaves say where each page's bytes
/// are. Nodes are shared between generations and never change once their generation is published;
/// children are read when they are first needed.
///
/// Children and cache hints change after that, and are reached under the pager's lock alone; level,
/// first id, address and entries do not, and need none.
final class MapNode: @unchecked Sendable {
    /// Zero for a leaf, whose entries are pages; above, entries are map nodes.
    let level: Int
    /// The first page id that the node covers.
    let firstID: UInt64
    var address: ExtentAddress
    let entries: UncheckedArray<ExtentAddress>
    /// Empty in a leaf.
    let children: UncheckedArray<MapNode?>
    /// In a leaf: for each page where the cache had it last.
    let cacheHints: UncheckedArray<CacheHint>

    init(level: Int, firstID: UInt64, fanout: Int) {
        self.level = level
        self.firstID = firstID
        address = .none
        entries = UncheckedArray(repeating: .none, count: fanout)
        children = UncheckedArray(repeating: nil, count: level == 0 ? 0 : fanout)
        cacheHints = UncheckedArray(repeating: .none, count: level == 0 ? fanout : 0)
    }

    init(copying other: MapNode) {
        level = other.level
        firstID = other.firstID
        address = .none
        entries = UncheckedArray(copying: other.entries)
        children = UncheckedArray(copying: other.children)
        cacheHints = UncheckedArray(copying: other.cacheHints)
    }

    /// The level and first ID under which the node's extent is stored.
    var storedID: UInt64 { MapNode.storedID(level: level, firstID: firstID) }

    static func storedID(level: Int, firstID: UInt64) -> UInt64 { UInt64(level) << 56 | firstID }

    /// In a leaf: what it says of a page that it covers.
    @inline(__always)
    func place(of id: PageID) -> MapPlace {
        let index = Int(id.rawValue &- firstID)
        return MapPlace(address: entries[index], hint: cacheHints[index])
    }

    var sizeInBytes: Int {
        entries.count * MemoryLayout<ExtentAddress>.stride
            + children.count * MemoryLayout<MapNode?>.stride
            + cacheHints.count * MemoryLayout<CacheHint>.stride
    }

    var isEmpty: Bool { entries.indices.allSatisfy { entries[$0].isNone } }
}

/// The map's entry for a page.
struct MapPlace {
    let address: ExtentAddress
    let hint: CacheHint
}

/// The map of one generation.
struct PageMap: Sendable {
    var root: MapNode
    let fanout: Int

    var depth: Int { root.level + 1 }

    init(pageSizeInBytes: Int) {
        fanout = pageSizeInBytes / ExtentAddress.size
        root = MapNode(level: 0, firstID: 0, fanout: fanout)
    }

    init(root: MapNode, fanout: Int) {
        self.root = root
        self.fanout = fanout
    }

    /// The entry of a page in a map of one or two levels, as most are. Nil for another depth, an
    /// unknown page, or a leaf that is not in memory. Retains nothing, so that readers and the
    /// writer do not contend for reference counts.
    @inline(__always)
    func knownPlace(of id: PageID) -> MapPlace? {
        if root.level == 0 {
            return id.rawValue < UInt64(fanout) ? root.place(of: id) : nil
        }
        // A power of two.
        let index = id.rawValue >> UInt64(truncatingIfNeeded: fanout.trailingZeroBitCount)
        guard root.level == 1, index < UInt64(fanout) else { return nil }
        return root.children.withObject(at: Int(index)) { $0.place(of: id) }
    }

    static func span(level: Int, fanout: Int) -> UInt64 {
        var span: UInt64 = 1
        for _ in 0..<level {
            let (product, overflow) = span.multipliedReportingOverflow(by: UInt64(fanout))
            if overflow { return .max }
            span = product
        }
        return span
    }

    /// Under the lock: drops the nodes below the root that the file has, which are read again when
    /// they are needed.
    func dropChildren() {
        for index in root.children.indices
        where root.children[index]?.address == root.entries[index] {
            root.children[index] = nil
        }
    }

    // MARK: Ways down

    /// How far a way down leads without a read.
    enum Descent {
        /// The leaf that covers the page, and which of its entries is the page's.
        case leaf(MapNode, Int)
        /// The next node on the way is not in memory.
        case unread(UnreadNode)
        /// The map has no such page.
        case absent
    }

    /// Under the lock: goes down to the leaf that covers a page.
    func descent(to id: PageID) -> Descent {
        if Self.span(level: depth, fanout: fanout) <= id.rawValue { return .absent }
        var node = root
        // Most ways end at once, and need no division.
        while node.level > 0 {
            let span = Self.span(level: node.level, fanout: fanout)
            let index = Int((id.rawValue - node.firstID) / span)
            guard let child = node.children[index] else {
                return UnreadNode(below: node, at: index).map { .unread($0) } ?? .absent
            }
            node = child
        }
        return .leaf(node, Int(id.rawValue - node.firstID))
    }

    // MARK: Changes

    /// A map with some entries replaced, which shares every node that has none of them. The
    /// changes come in order of page id. Nodes that are replaced are reported, old addresses
    /// first.
    ///
    /// - Parameters:
    ///   - child: a child of a node, read when it is not in memory; nil when there is none.
    ///   - copy: a copy of a node, which nothing else has.
    func replacing(
        _ changes: [(id: PageID, address: ExtentAddress)],
        child: (MapNode, Int) throws(StoreError) -> MapNode?, copy: (MapNode) -> MapNode,
        dropped: inout [ExtentAddress]
    ) throws(StoreError) -> PageMap {
        guard let last = changes.last else { return self }
        var top = root
        while Self.span(level: top.level + 1, fanout: fanout) <= last.id.rawValue {
            let above = MapNode(level: top.level + 1, firstID: 0, fanout: fanout)
            above.children[0] = top
            above.entries[0] = top.address
            top = above
        }
        let replaced = try replace(
            in: top, changes[...], child: child, copy: copy, dropped: &dropped)
        return PageMap(root: replaced, fanout: fanout)
    }

    private func replace(
        in node: MapNode, _ changes: ArraySlice<(id: PageID, address: ExtentAddress)>,
        child: (MapNode, Int) throws(StoreError) -> MapNode?, copy: (MapNode) -> MapNode,
        dropped: inout [ExtentAddress]
    ) throws(StoreError) -> MapNode {
        let changed = copy(node)
        if !node.address.isNone { dropped.append(node.address) }
        if node.level == 0 {
            for change in changes {
                let index = Int(change.id.rawValue - node.firstID)
                let old = changed.entries[index]
                if !old.isNone && old != change.address { dropped.append(old) }
                changed.entries[index] = change.address
            }
            return changed
        }
        let span = Self.span(level: node.level, fanout: fanout)
        var rest = changes
        while let first = rest.first {
            let index = Int((first.id.rawValue - node.firstID) / span)
            let firstID = node.firstID + UInt64(index) * span
            let end = rest.firstIndex { $0.id.rawValue - firstID >= span } ?? rest.endIndex
            let below =
                try child(node, index)
                ?? MapNode(level: node.level - 1, firstID: firstID, fanout: fanout)
            changed.children[index] = try replace(
                in: below, rest[..<end], child: child, copy: copy, dropped: &dropped)
            changed.entries[index] = .none
            rest = rest[end...]
        }
        return changed
    }

    /// The nodes that have no address yet, children before parents.
    func unwritten() -> [MapNode] {
        var found: [MapNode] = []
        func visit(_ node: MapNode) {
            guard node.address.isNone else { return }
            for index in node.children.indices {
                if let child = node.children[index] { visit(child) }
            }
            found.append(node)
        }
        visit(root)
        return found
    }
}

/// A node of the map that is in the file and not in memory.
struct UnreadNode {
    let parent: MapNode
    let index: Int

    /// Nil where there is no node.
    init?(below parent: MapNode, at index: Int) {
        guard !parent.entries[index].isNone else { return nil }
        self.parent = parent
        self.index = index
    }

    var address: ExtentAddress { parent.entries[index] }
    var level: Int { parent.level - 1 }
    /// Empty where a map with more levels than ids says that there is a node.
    var ids: Range<UInt64> {
        let span = PageMap.span(level: parent.level, fanout: parent.entries.count)
        let (offset, isTooFar) = UInt64(index).multipliedReportingOverflow(by: span)
        let end = Limits.pageCountMax
        guard !isTooFar, parent.firstID < end, offset < end - parent.firstID else {
            return end..<end
        }
        let first = parent.firstID + offset
        return first..<(first + min(span, end - first))
    }
}
