/// The difference of two contents, entry by entry: for contents of different lists, for refetches
/// with new section names, and if several sections of one list have the same name.
package enum LinearDifference {
    /// A content as arrays: each entry with its section, and each section's name.
    private struct Side {
        var items: [ListItem] = []
        var stamps: [UInt32] = []
        var sections: [Int] = []
        var names: [String] = []

        init(_ content: ListContent) {
            items.reserveCapacity(content.count)
            stamps.reserveCapacity(content.count)
            sections.reserveCapacity(content.count)
            guard let table = content.names else {
                names = [""]
                content.tree.forEach(in: content.ranks) { item, stamp, _ in
                    items.append(item)
                    stamps.append(stamp)
                    sections.append(0)
                }
                return
            }
            var last: UInt32?
            content.tree.forEach(in: content.ranks) { item, stamp, section in
                if section != last { names.append(table.name(of: section)) }
                last = section
                items.append(item)
                stamps.append(stamp)
                sections.append(names.count - 1)
            }
        }

        var paths: [ListPath] {
            var paths: [ListPath] = []
            paths.reserveCapacity(sections.count)
            var (section, item) = (0, 0)
            for next in sections {
                if next != section { (section, item) = (next, 0) }
                paths.append(ListPath(section: section, item: item))
                item += 1
            }
            return paths
        }
    }

    package static func between(_ before: ListContent, _ after: ListContent) -> ListDifference {
        let (old, new) = (Side(before), Side(after))
        var difference = ListDifference()
        let sections = pairedSections(old.names, new.names)
        difference.deletedSections = old.names.indices.filter { sections[$0] == nil }
        let paired = Set(sections.compactMap { $0 })
        difference.insertedSections = new.names.indices.filter { !paired.contains($0) }
        let (oldPaths, newPaths) = (old.paths, new.paths)
        var position: [ListItem: Int] = [:]
        position.reserveCapacity(new.items.count)
        for (index, item) in new.items.enumerated() { position[item] = index }
        var common: [(old: Int, new: Int)] = []
        for (index, item) in old.items.enumerated() {
            if let place = position.removeValue(forKey: item) {
                common.append((index, place))
            } else {
                difference.deletions.append(oldPaths[index])
            }
        }
        difference.insertions = position.values.sorted().map { newPaths[$0] }
        // Only entries whose section stays can stay; as many as possible do.
        let candidates = common.indices.filter {
            sections[old.sections[common[$0].old]] == new.sections[common[$0].new]
        }
        let run = AscendingRun.longest(in: candidates.map { common[$0].new })
        var isKept = [Bool](repeating: false, count: common.count)
        for index in run { isKept[candidates[index]] = true }
        for (index, pair) in common.enumerated() {
            let from = oldPaths[pair.old]
            if !isKept[index] {
                difference.moves.append(ListDifference.Move(from: from, to: newPaths[pair.new]))
            } else if before.lineage == after.lineage, old.stamps[pair.old] != new.stamps[pair.new]
            {
                difference.updates.append(from)
            }
        }
        return difference
    }

    /// The new section of each old one that stays: the first of a name is paired with the first,
    /// and so on, limited to a longest ascending run.
    package static func pairedSections(_ old: [String], _ new: [String]) -> [Int?] {
        var places: [String: [Int]] = [:]
        for (index, name) in new.enumerated().reversed() { places[name, default: []].append(index) }
        var pairs: [(old: Int, new: Int)] = []
        for (index, name) in old.enumerated() {
            if let place = places[name]?.popLast() { pairs.append((index, place)) }
        }
        var result = [Int?](repeating: nil, count: old.count)
        for index in AscendingRun.longest(in: pairs.map(\.new)) {
            result[pairs[index].old] = pairs[index].new
        }
        return result
    }
}
