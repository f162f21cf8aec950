/// A section is a run of entries with equal section in list order. Runs are counted with the
/// entries, so that the edit that begins, ends, joins or divides a run also counts it.
extension CountedTree {
    /// How many runs there are.
    package var sectionCount: Int { root.map { $0.innerStartCount + 1 } ?? 0 }

    /// The interned section of the entry at a rank.
    package func sectionID(at rank: Int) -> UInt32 {
        let (leaf, index) = leaf(holding: rank)
        return leaf.sections[index]
    }

    /// The index of the run that contains a rank.
    package func section(holding rank: Int) -> Int {
        precondition(rank >= 0 && rank < count, "a rank is outside its list")
        guard var node = root else { preconditionFailure("an empty list has no ranks") }
        var (rest, section) = (rank, 0)
        while true {
            switch node {
            case .leaf(let leaf): return section + leaf.sections.changeCount(through: rest)
            case .branch(let branch):
                let child = branch.child(holding: rest)
                section += branch.sectionOffset(of: child)
                rest -= branch.start(of: child)
                node = branch.children[child]
            }
        }
    }

    /// The ranks of a run.
    package func ranks(ofSection section: Int) -> Range<Int> {
        precondition(section >= 0 && section < sectionCount, "a section is outside its list")
        return start(ofSection: section)..<start(ofSection: section + 1)
    }

    /// The first rank of a run; the list's count for the run after the last.
    func start(ofSection section: Int) -> Int {
        guard section > 0 else { return 0 }
        guard section < sectionCount, var node = root else { return count }
        var (rest, rank) = (section, 0)
        while true {
            switch node {
            case .leaf(let leaf):
                return rank + leaf.sections.start(ofRun: rest)
            case .branch(let branch):
                let child = branch.child(reaching: rest)
                rank += branch.start(of: child)
                // The run may begin with the child itself.
                if branch.sectionOffset(of: child) == rest { return rank }
                rest -= branch.sectionOffset(of: child)
                node = branch.children[child]
            }
        }
    }
}
