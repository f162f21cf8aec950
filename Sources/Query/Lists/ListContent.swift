/// A list as of one commit: an immutable value that needs no store.
package struct ListContent: Sendable {
    package let tree: CountedTree
    package let window: ListWindow
    /// The names of the sections; nil for a list without named sections, which has a single one,
    /// even if it is empty.
    package let names: SectionNames?
    /// Whether several runs of the tree have the same name.
    package let hasRepeatedSections: Bool
    /// Only contents of equal lineage, which come from one list, have comparable stamps and keys.
    package let lineage: UInt64

    /// Whether both are one version of one list.
    package func isSameVersion(as other: ListContent) -> Bool {
        lineage == other.lineage && window == other.window && names === other.names
            && tree.isSameVersion(as: other.tree)
    }

    package init(
        tree: CountedTree, window: ListWindow = .all, names: SectionNames? = nil,
        hasRepeatedSections: Bool = false, lineage: UInt64
    ) {
        self.tree = tree
        self.window = window
        self.names = names
        self.hasRepeatedSections = hasRepeatedSections
        self.lineage = lineage
        ranks = window.ranks(of: tree.count)
        firstSection =
            names == nil || ranks.isEmpty ? 0 : tree.section(holding: ranks.lowerBound)
    }

    /// The ranks of the tree that the window shows.
    let ranks: Range<Int>
    /// The run of the first entry that the window shows.
    private let firstSection: Int

    package var count: Int { ranks.count }

    package func item(at index: Int) -> ListItem {
        precondition(index >= 0 && index < count, "an index is outside its list")
        return tree.item(at: ranks.lowerBound + index)
    }

    package func items() -> [ListItem] { tree.items(in: ranks) }

    /// The index of an item, by looking at each: for a list whose records are not at hand.
    package func firstIndex(of item: ListItem) -> Int? { items().firstIndex(of: item) }

    package var sectionCount: Int {
        guard names != nil else { return 1 }
        return ranks.isEmpty ? 0 : tree.section(holding: ranks.upperBound - 1) - firstSection + 1
    }

    /// The indices of a section's entries.
    package func indices(ofSection section: Int) -> Range<Int> {
        guard names != nil else { return 0..<count }
        let run = tree.ranks(ofSection: firstSection + section).clamped(to: ranks)
        return run.lowerBound - ranks.lowerBound..<run.upperBound - ranks.lowerBound
    }

    package func sectionName(_ section: Int) -> String {
        guard let names else { return "" }
        let first = tree.ranks(ofSection: firstSection + section).lowerBound
        return names.name(of: tree.sectionID(at: first))
    }

    package func path(of index: Int) -> ListPath {
        guard names != nil else { return ListPath(section: 0, item: index) }
        let section = section(holding: index)
        return ListPath(section: section, item: index - start(ofSection: section))
    }

    /// The paths of ascending indices.
    func paths(of indices: [Int]) -> [ListPath] {
        guard names != nil else { return indices.map(path) }
        var (last, start) = (-1, 0)
        return indices.map { index in
            let section = section(holding: index)
            if section != last { (last, start) = (section, self.start(ofSection: section)) }
            return ListPath(section: section, item: index - start)
        }
    }

    /// The index of a section's first entry.
    private func start(ofSection section: Int) -> Int {
        max(tree.start(ofSection: firstSection + section), ranks.lowerBound) - ranks.lowerBound
    }

    func section(holding index: Int) -> Int {
        guard names != nil else { return 0 }
        return tree.section(holding: ranks.lowerBound + index) - firstSection
    }

    func sectionID(holding index: Int) -> UInt32 {
        names == nil ? 0 : tree.sectionID(at: ranks.lowerBound + index)
    }
}
