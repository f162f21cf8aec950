/// An ordered list of objects as a persistent tree: one immutable version of it.
///
/// - A version is its root. Editing copies the nodes on the paths to the edits and shares all
///   others, so that versions are cheap to keep and to compare.
/// - Branches count entries and sections, so that rank, entry, section and key are converted to
///   each other in O(log n).
/// - Each entry has its item, the part of its sort key that ``KeyRun`` stores, the step that
///   inserted or last updated it (its stamp), and its interned section.
package struct CountedTree: Sendable {
    let root: CountedNode?

    package init() { root = nil }

    init(root: CountedNode?) { self.root = root }

    package var count: Int { root?.count ?? 0 }

    /// Whether both have the same root.
    func isSameVersion(as other: CountedTree) -> Bool {
        switch (root, other.root) {
        case (nil, nil): true
        case (.leaf(let left)?, .leaf(let right)?): left === right
        case (.branch(let left)?, .branch(let right)?): left === right
        default: false
        }
    }

    package var isEmpty: Bool { root == nil }

    // MARK: By rank

    /// The leaf that contains a rank, and the entry's index in it.
    func leaf(holding rank: Int) -> (leaf: CountedLeaf, index: Int) {
        precondition(rank >= 0 && rank < count, "a rank is outside its list")
        guard var node = root else { preconditionFailure("an empty list has no ranks") }
        var rest = rank
        while true {
            switch node {
            case .leaf(let leaf): return (leaf, rest)
            case .branch(let branch):
                let child = branch.child(holding: rest)
                rest -= branch.start(of: child)
                node = branch.children[child]
            }
        }
    }

    package func item(at rank: Int) -> ListItem {
        let (leaf, index) = leaf(holding: rank)
        return ListItem(rawValue: leaf.keys.item(index))
    }

    /// The step that inserted or last updated the entry at a rank.
    package func stamp(at rank: Int) -> UInt32 {
        let (leaf, index) = leaf(holding: rank)
        return leaf.stamps[index]
    }

    package func items(in range: Range<Int>) -> [ListItem] {
        var items: [ListItem] = []
        items.reserveCapacity(range.count)
        forEach(in: range) { item, _, _ in items.append(item) }
        return items
    }

    /// Passes item, stamp and section of the entries of a range to the body, in order.
    package func forEach(
        in range: Range<Int>, _ body: (_ item: ListItem, _ stamp: UInt32, _ section: UInt32) -> Void
    ) {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "a range is outside")
        forEachLeaf(in: range) { leaf, indices in
            for index in indices {
                body(
                    ListItem(rawValue: leaf.keys.item(index)), leaf.stamps[index],
                    leaf.sections[index])
            }
        }
    }

    private func forEachLeaf(
        in range: Range<Int>, _ body: (CountedLeaf, Range<Int>) -> Void
    ) {
        func visit(_ node: CountedNode, _ range: Range<Int>) {
            switch node {
            case .leaf(let leaf): body(leaf, range)
            case .branch(let branch):
                var child = branch.child(holding: range.lowerBound)
                while child < branch.children.count, branch.start(of: child) < range.upperBound {
                    let start = branch.start(of: child)
                    let inside = range.clamped(to: start..<branch.end(of: child))
                    visit(
                        branch.children[child],
                        inside.lowerBound - start..<inside.upperBound - start)
                    child += 1
                }
            }
        }
        if let root, !range.isEmpty { visit(root, range) }
    }

    // MARK: By key

    /// The rank of the first entry that does not precede a probe.
    ///
    /// - Parameter wholeKey: reads the key of an entry of this version, if its stored part does not
    ///   decide. Called O(log n) times at most.
    package func rank<Failure: Error>(
        of probe: ListProbe, _ wholeKey: (ListItem) throws(Failure) -> [UInt8]
    ) throws(Failure) -> Int {
        guard var node = root else { return 0 }
        var rank = 0
        while true {
            switch node {
            case .leaf(let leaf): return rank + (try leaf.keys.lowerBound(probe, wholeKey))
            case .branch(let branch):
                let child = max(try branch.firsts.lowerBound(probe, wholeKey) - 1, 0)
                rank += branch.start(of: child)
                node = branch.children[child]
            }
        }
    }

    /// Where a search has led.
    package struct FoundPlace {
        package var rank: Int
        /// The entry at the rank; nil if there is none in the leaf that was searched.
        package var entry: (item: ListItem, section: UInt32)?
    }

    /// The ranks of several probes, each as ``rank(of:_:)`` finds it, in one pass over the nodes
    /// that they lead to.
    ///
    /// - Parameter probes: ascending by key and item.
    package func places<Failure: Error>(
        of probes: [ListProbe], _ wholeKey: (ListItem) throws(Failure) -> [UInt8]
    ) throws(Failure) -> [FoundPlace] {
        guard let root else { return probes.map { _ in FoundPlace(rank: 0) } }
        var places: [FoundPlace] = []
        places.reserveCapacity(probes.count)
        func search(_ node: CountedNode, _ range: Range<Int>, at base: Int) throws(Failure) {
            switch node {
            case .leaf(let leaf):
                let (keys, sections) = (leaf.keys, leaf.sections)
                var index = 0
                for probe in range {
                    index = try keys.lowerBound(probes[probe], from: index, wholeKey)
                    var place = FoundPlace(rank: base + index)
                    if index < keys.count {
                        place.entry = (ListItem(rawValue: keys.item(index)), sections[index])
                    }
                    places.append(place)
                }
            case .branch(let branch):
                let firsts = branch.firsts
                var (child, rest) = (0, range)
                while let first = rest.first {
                    let bound = try firsts.lowerBound(probes[first], from: child, wholeKey)
                    child = max(bound - 1, child)
                    var end = child + 1 == firsts.count ? rest.upperBound : first + 1
                    while end < rest.upperBound,
                        try !firsts.isEntry(child + 1, before: probes[end], wholeKey)
                    { end += 1 }
                    let start = base + branch.start(of: child)
                    try search(branch.children[child], first..<end, at: start)
                    rest = end..<rest.upperBound
                }
            }
        }
        try search(root, 0..<probes.count, at: 0)
        return places
    }

    /// The entry at a place; nil at the end of the list.
    package func entry(at place: FoundPlace) -> (item: ListItem, section: UInt32)? {
        if let entry = place.entry { return entry }
        guard place.rank < count else { return nil }
        let (leaf, index) = leaf(holding: place.rank)
        return (ListItem(rawValue: leaf.keys.item(index)), leaf.sections[index])
    }

    // MARK: Measures

    /// The memory of the tree in bytes, including nodes that it shares with other versions.
    package var sizeInBytes: Int {
        func size(_ node: CountedNode) -> Int {
            switch node {
            case .leaf(let leaf):
                return 16 + 8 + leaf.keys.sizeInBytes + 2 * MemoryLayout<EntryMarks>.size
                    + leaf.stamps.sizeInBytes + leaf.sections.sizeInBytes
            case .branch(let branch):
                return branch.children.reduce(branch.sizeInBytes) { $0 + size($1) }
            }
        }
        return root.map(size) ?? 0
    }
}
