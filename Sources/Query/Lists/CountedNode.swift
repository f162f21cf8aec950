/// A number for each entry of a leaf, stored once if all are equal.
struct EntryMarks: Sendable {
    let first: UInt32
    /// Empty if every entry has `first`.
    private let values: [UInt32]

    init(_ values: ArraySlice<UInt32>) {
        first = values.first ?? 0
        let first = first
        self.values = values.allSatisfy { $0 == first } ? [] : Array(values)
    }

    /// - Parameter all: a number for each entry.
    private init(all: [UInt32]) {
        let first = all[0]
        self.first = first
        values = all.allSatisfy { $0 == first } ? [] : all
    }

    var isUniform: Bool { values.isEmpty }

    subscript(index: Int) -> UInt32 { values.isEmpty ? first : values[index] }

    var last: UInt32 { values.last ?? first }

    /// How many entries up to an index have another number than the entry before them.
    func changeCount(through index: Int) -> Int {
        if values.isEmpty { return 0 }
        var count = 0
        for position in 0..<index where values[position] != values[position + 1] { count += 1 }
        return count
    }

    /// The index at which a run of equal numbers begins. The first one has the number 0, and there
    /// must be as many.
    func start(ofRun run: Int) -> Int {
        var (index, rest) = (0, run)
        var last = first
        while rest > 0 {
            index += 1
            let value = values[index]
            if value != last { (last, rest) = (value, rest - 1) }
        }
        return index
    }

    /// The marks of `count` entries with one inserted at an index.
    func inserting(_ mark: UInt32, at index: Int, of count: Int) -> EntryMarks {
        if values.isEmpty && mark == first { return self }
        var all = values.isEmpty ? Array(repeating: first, count: count) : values
        all.insert(mark, at: index)
        return EntryMarks(all: all)
    }

    func removing(at index: Int) -> EntryMarks {
        if values.isEmpty { return self }
        var all = values
        all.remove(at: index)
        return EntryMarks(all[...])
    }

    func replacing(_ mark: UInt32, at index: Int, of count: Int) -> EntryMarks {
        if self[index] == mark { return self }
        var all = values.isEmpty ? Array(repeating: first, count: count) : values
        all[index] = mark
        return EntryMarks(all: all)
    }

    var sizeInBytes: Int { values.isEmpty ? 0 : 32 + 4 * values.count }
}

/// Up to 128 entries of a counted tree. Immutable, because versions of a list share leaves.
final class CountedLeaf: Sendable {
    let keys: KeyRun
    let stamps: EntryMarks
    let sections: EntryMarks
    /// How many entries after the first begin a section.
    let innerStartCount: Int

    init(keys: KeyRun, stamps: EntryMarks, sections: EntryMarks) {
        precondition(keys.count > 0, "a leaf holds an entry")
        self.keys = keys
        self.stamps = stamps
        self.sections = sections
        innerStartCount = sections.changeCount(through: keys.count - 1)
    }

    /// A leaf with other stamps.
    private init(_ leaf: CountedLeaf, stamps: EntryMarks) {
        (keys, sections) = (leaf.keys, leaf.sections)
        innerStartCount = leaf.innerStartCount
        self.stamps = stamps
    }

    var count: Int { keys.count }

    /// The leaf with one change, if its packed form can take it; nil if it must be repacked.
    func edited(_ change: TreeEdit.Change, at index: Int) -> CountedLeaf? {
        switch change {
        case .insert(let entry):
            guard count < KeyRun.entriesMax, let keys = keys.inserting(entry, at: index) else {
                return nil
            }
            return CountedLeaf(
                keys: keys, stamps: stamps.inserting(entry.stamp, at: index, of: count),
                sections: sections.inserting(entry.section, at: index, of: count))
        case .remove:
            guard count > KeyRun.entriesMax / 4 else { return nil }
            return CountedLeaf(
                keys: keys.removing(at: index), stamps: stamps.removing(at: index),
                sections: sections.removing(at: index))
        case .stamp(let step):
            return CountedLeaf(self, stamps: stamps.replacing(step, at: index, of: count))
        }
    }
}

/// Up to 32 nodes of a counted tree. Immutable, because versions of a list share branches.
final class CountedBranch: Sendable {
    static let childrenMax = 32

    /// The count of branches on the path to a leaf, including this one.
    let height: Int
    let children: [CountedNode]
    /// The first entry of each child.
    let firsts: KeyRun
    /// The count of entries up to and including each child.
    private let ends: [UInt32]
    /// The section of each child's first entry, counted from the branch's first; empty if all
    /// entries are in one.
    private let sectionOffsets: [UInt32]
    let innerStartCount: Int
    let firstSection: UInt32
    let lastSection: UInt32

    init(height: Int, children: [CountedNode]) {
        precondition((1...Self.childrenMax).contains(children.count), "a branch has 1 to 32 nodes")
        self.height = height
        self.children = children
        var ends: [UInt32] = []
        var offsets: [UInt32] = []
        ends.reserveCapacity(children.count)
        offsets.reserveCapacity(children.count)
        var (end, section) = (0, 0)
        for (index, child) in children.enumerated() {
            if index > 0 && children[index - 1].lastSection != child.firstSection { section += 1 }
            offsets.append(UInt32(section))
            section += child.innerStartCount
            end += child.count
            ends.append(UInt32(end))
        }
        var buffer = KeyBuffer()
        for child in children { buffer.append(child.firsts, 0..<1) }
        firsts = KeyRun(buffer, 0..<children.count)
        firstSection = children[0].firstSection
        lastSection = children[children.count - 1].lastSection
        self.ends = ends
        sectionOffsets = section == 0 ? [] : offsets
        innerStartCount = section
    }

    private init(
        _ known: CountedBranch, children: [CountedNode], firsts: KeyRun, ends: [UInt32]
    ) {
        height = known.height
        self.children = children
        self.firsts = firsts
        self.ends = ends
        sectionOffsets = known.sectionOffsets
        innerStartCount = known.innerStartCount
        firstSection = known.firstSection
        lastSection = known.lastSection
    }

    /// A node for a child of a branch.
    struct Replacement {
        var child: Int
        var node: CountedNode
        /// Whether nothing but stamps differs from the child.
        var isStamped: Bool
    }

    /// The branch with some of its children replaced.
    func replacing(_ replacements: [Replacement]) -> CountedBranch {
        var children = children
        if replacements.allSatisfy(\.isStamped) {
            for replacement in replacements { children[replacement.child] = replacement.node }
            return CountedBranch(self, children: children, firsts: firsts, ends: ends)
        }
        var hasSameFirsts = true
        var hasSameSections = true
        for replacement in replacements {
            let (child, node) = (replacement.child, replacement.node)
            let old = children[child]
            children[child] = node
            if replacement.isStamped { continue }
            hasSameFirsts = hasSameFirsts && KeyRun.areSame(old.firsts, node.firsts)
            hasSameSections =
                hasSameSections && old.innerStartCount == node.innerStartCount
                && old.firstSection == node.firstSection && old.lastSection == node.lastSection
        }
        guard hasSameFirsts, hasSameSections else {
            return CountedBranch(height: height, children: children)
        }
        var ends = ends
        var next = 0
        var shift = 0
        for child in ends.indices {
            if next < replacements.count, replacements[next].child == child {
                shift += replacements[next].node.count - (self.end(of: child) - start(of: child))
                next += 1
            }
            ends[child] = UInt32(Int(ends[child]) + shift)
        }
        return CountedBranch(self, children: children, firsts: firsts, ends: ends)
    }

    var count: Int { Int(ends[ends.count - 1]) }

    func start(of child: Int) -> Int { child == 0 ? 0 : Int(ends[child - 1]) }

    func end(of child: Int) -> Int { Int(ends[child]) }

    func sectionOffset(of child: Int) -> Int {
        sectionOffsets.isEmpty ? 0 : Int(sectionOffsets[child])
    }

    /// The child that contains a rank.
    func child(holding rank: Int) -> Int {
        var (low, high) = (0, ends.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if Int(ends[middle]) <= rank { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The first child with an entry of a section, counted from the branch's first, or of a later
    /// one; one must exist.
    func child(reaching section: Int) -> Int {
        // Only one child is looked at; the others may be in no cache of the processor.
        var (low, high) = (0, children.count)
        while low < high {
            let middle = (low + high) / 2
            if sectionOffset(of: middle) < section { low = middle + 1 } else { high = middle }
        }
        // The one before begins with an earlier section, and may end with this one.
        guard low > 0 else { return 0 }
        let last = sectionOffset(of: low - 1) + children[low - 1].innerStartCount
        return last >= section || low == children.count ? low - 1 : low
    }

    /// The memory of the branch in bytes, without its children.
    var sizeInBytes: Int {
        16 + 8 + 8 * 5 + firsts.sizeInBytes + 32 + 8 * children.count + 32 + 4 * ends.count
            + (sectionOffsets.isEmpty ? 0 : 32 + 4 * sectionOffsets.count)
    }
}

enum CountedNode: Sendable {
    case leaf(CountedLeaf)
    case branch(CountedBranch)

    var count: Int {
        switch self {
        case .leaf(let leaf): leaf.count
        case .branch(let branch): branch.count
        }
    }

    var height: Int {
        switch self {
        case .leaf: 0
        case .branch(let branch): branch.height
        }
    }

    /// How many entries after the first begin a section.
    var innerStartCount: Int {
        switch self {
        case .leaf(let leaf): leaf.innerStartCount
        case .branch(let branch): branch.innerStartCount
        }
    }

    var firstSection: UInt32 {
        switch self {
        case .leaf(let leaf): leaf.sections.first
        case .branch(let branch): branch.firstSection
        }
    }

    var lastSection: UInt32 {
        switch self {
        case .leaf(let leaf): leaf.sections.last
        case .branch(let branch): branch.lastSection
        }
    }

    /// Identifies the node among all that exist.
    var identity: ObjectIdentifier {
        switch self {
        case .leaf(let leaf): ObjectIdentifier(leaf)
        case .branch(let branch): ObjectIdentifier(branch)
        }
    }

    /// The run whose first entry is the node's first.
    var firsts: KeyRun {
        switch self {
        case .leaf(let leaf): leaf.keys
        case .branch(let branch): branch.firsts
        }
    }
}
