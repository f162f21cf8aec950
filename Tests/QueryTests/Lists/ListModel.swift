import RecordStore
import TestSupport
import Testing

@testable import Query

/// A list as a plain sorted array, which trees and differences are compared with.
struct ListModel {
    struct Entry: Equatable {
        var item: UInt64
        var key: [UInt8]
        var section: UInt32
        var stamp: UInt32

        static func < (left: Entry, right: Entry) -> Bool {
            left.key == right.key
                ? left.item < right.item : left.key.lexicographicallyPrecedes(right.key)
        }

        var listEntry: ListEntry {
            ListEntry(
                item: ListItem(rawValue: item), key: key, section: section, stamp: stamp)
        }
    }

    private(set) var entries: [Entry] = []
    private var keys: [UInt64: [UInt8]] = [:]

    init() {}

    init(_ entries: [Entry]) {
        self.entries = entries.sorted { $0 < $1 }
        for entry in entries { keys[entry.item] = entry.key }
    }

    /// - Parameter sorted: entries in their order, with `others` to be merged in.
    private init(sorted: [Entry], _ others: [Entry]) {
        var rest = others.sorted { $0 < $1 }[...]
        entries.reserveCapacity(sorted.count + others.count)
        for entry in sorted {
            while let other = rest.first, other < entry { entries.append(rest.removeFirst()) }
            entries.append(entry)
        }
        entries += rest
        for entry in entries { keys[entry.item] = entry.key }
    }

    func wholeKey(_ item: ListItem) -> [UInt8] { keys[item.rawValue] ?? [] }

    /// How many entries come before one, which may be in the model or not.
    func rank(of entry: Entry) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle] < entry { low = middle + 1 } else { high = middle }
        }
        return low
    }

    func contains(_ item: UInt64) -> Bool { keys[item] != nil }

    /// The model after a step, and the step as edits of this version's tree.
    func changed(
        removing removed: [Int], moving: [(rank: Int, entry: Entry)], inserting: [Entry],
        stamping: [Int], step: UInt32, tree: CountedTree
    ) -> (model: ListModel, edits: [TreeEdit], touched: TouchedEntries) {
        let gone = Set(removed + moving.map(\.rank))
        var kept = entries
        for rank in stamping { kept[rank].stamp = step }
        let stayed = kept.indices.filter { !gone.contains($0) }.map { kept[$0] }
        let model = ListModel(sorted: stayed, moving.map(\.entry) + inserting)
        var edits: [(edit: TreeEdit, entry: Entry?)] = []
        for rank in gone { edits.append((TreeEdit(rank: rank, .remove), nil)) }
        for rank in stamping { edits.append((TreeEdit(rank: rank, .stamp(step)), nil)) }
        for entry in moving.map(\.entry) + inserting {
            let probe = ListProbe(
                key: entry.key, item: ListItem(rawValue: entry.item), isInList: false)
            let rank = tree.rank(of: probe, wholeKey)
            edits.append((TreeEdit(rank: rank, .insert(entry.listEntry)), entry))
        }
        edits.sort { left, right in
            if left.edit.rank != right.edit.rank { return left.edit.rank < right.edit.rank }
            guard let first = left.entry else { return false }
            guard let second = right.entry else { return true }
            return first < second
        }
        var ranks: [UInt64: Int] = [:]
        for (rank, entry) in model.entries.enumerated() { ranks[entry.item] = rank }
        var touched = TouchedEntries()
        touched.removed = removed.sorted()
        touched.inserted = inserting.map { ranks[$0.item] ?? -1 }.sorted()
        touched.moved = moving.map { ($0.rank, ranks[$0.entry.item] ?? -1) }
            .sorted { $0.0 < $1.0 }
        touched.updated = stamping.sorted()
        return (model, edits.map(\.edit), touched)
    }

    /// The sections of a window; nil for sections that are not shown.
    func listed(_ window: ListWindow, _ names: SectionNames?) -> [ListedSection] {
        var sections: [ListedSection] =
            names == nil ? [ListedSection(name: "", entries: [])] : []
        var last: UInt32?
        for entry in entries[window.ranks(of: entries.count)] {
            if let names, entry.section != last {
                sections.append(ListedSection(name: names.name(of: entry.section), entries: []))
                last = entry.section
            }
            sections[sections.count - 1].entries.append(
                ListedSection.Entry(item: entry.item, version: UInt64(entry.stamp)))
        }
        return sections
    }

    /// Items that have the same key and section in another version.
    func unmoved(in other: ListModel) -> Set<UInt64> {
        let sections = Dictionary(uniqueKeysWithValues: other.entries.map { ($0.item, $0.section) })
        let same = entries.filter {
            sections[$0.item] == $0.section && other.keys[$0.item] == $0.key
        }
        return Set(same.map(\.item))
    }

    var hasRepeatedSections: Bool {
        var runs: [UInt32] = []
        for entry in entries where entry.section != runs.last { runs.append(entry.section) }
        return Set(runs).count != runs.count
    }
}

extension BatchUpdate {
    init(_ difference: ListDifference) {
        func path(_ path: ListPath) -> Path { Path(path.section, path.item) }
        self.init(
            deletedSections: difference.deletedSections,
            insertedSections: difference.insertedSections,
            deletions: difference.deletions.map(path),
            insertions: difference.insertions.map(path),
            moves: difference.moves.map { (path($0.from), path($0.to)) },
            updates: difference.updates.map(path))
    }
}

extension ListContent {
    /// The content read entry by entry and section by section.
    var listed: [ListedSection] {
        (0..<sectionCount).map { section in
            ListedSection(
                name: sectionName(section),
                entries: indices(ofSection: section).map { index in
                    ListedSection.Entry(
                        item: item(at: index).rawValue,
                        version: UInt64(tree.stamp(at: ranks.lowerBound + index)))
                })
        }
    }
}

extension CountedTree {
    /// The first invariant that the nodes break.
    var fault: String? {
        guard let root else { return nil }
        return Self.fault(root, isRoot: true)
    }

    private static func fault(_ node: CountedNode, isRoot: Bool) -> String? {
        switch node {
        case .leaf(let leaf):
            return (1...KeyRun.entriesMax).contains(leaf.count) ? nil : "a leaf of \(leaf.count)"
        case .branch(let branch):
            if isRoot && branch.children.count < 2 { return "a root with one child" }
            if branch.firsts.count != branch.children.count { return "a child without first" }
            var (end, section) = (0, 0)
            for (index, child) in branch.children.enumerated() {
                if child.height != branch.height - 1 { return "a child of another height" }
                if index > 0, branch.children[index - 1].lastSection != child.firstSection {
                    section += 1
                }
                if branch.start(of: index) != end { return "a wrong count" }
                if branch.sectionOffset(of: index) != section { return "a wrong section" }
                section += child.innerStartCount
                end += child.count
                if branch.end(of: index) != end { return "a wrong count" }
                if let fault = fault(child, isRoot: false) { return fault }
            }
            return section == branch.innerStartCount ? nil : "a wrong count of sections"
        }
    }
}
