/// A section as a list view would show it.
public struct ListedSection: Equatable {
    public struct Entry: Equatable {
        public var item: UInt64
        /// Differs if the shown content of the entry differs.
        public var version: UInt64

        public init(item: UInt64, version: UInt64) {
            self.item = item
            self.version = version
        }
    }

    public var name: String
    public var entries: [Entry]

    public init(name: String, entries: [Entry]) {
        self.name = name
        self.entries = entries
    }
}

/// A batch update in the form for list views: deletions and updates by old paths, insertions by new
/// ones.
public struct BatchUpdate {
    public struct Path: Hashable, Comparable {
        public var section: Int
        public var item: Int

        public init(_ section: Int, _ item: Int) {
            self.section = section
            self.item = item
        }

        public static func < (left: Path, right: Path) -> Bool {
            (left.section, left.item) < (right.section, right.item)
        }
    }

    public var deletedSections: [Int]
    public var insertedSections: [Int]
    public var deletions: [Path]
    public var insertions: [Path]
    public var moves: [(from: Path, to: Path)]
    public var updates: [Path]

    public init(
        deletedSections: [Int], insertedSections: [Int], deletions: [Path], insertions: [Path],
        moves: [(from: Path, to: Path)], updates: [Path]
    ) {
        self.deletedSections = deletedSections
        self.insertedSections = insertedSections
        self.deletions = deletions
        self.insertions = insertions
        self.moves = moves
        self.updates = updates
    }
}

/// Checks batch updates as strictly as the strictest list view does.
public struct BatchUpdateChecker {
    private let before: [ListedSection]
    private let after: [ListedSection]
    private let update: BatchUpdate

    /// The first rule that an update of one content to another breaks; nil if it breaks none.
    public static func fault(
        from before: [ListedSection], to after: [ListedSection], _ update: BatchUpdate
    ) -> String? {
        let checker = BatchUpdateChecker(before: before, after: after, update: update)
        return checker.faultOfPaths() ?? checker.faultOfSections() ?? checker.faultOfEntries()
            ?? checker.faultOfResult()
    }

    private func entry(_ path: BatchUpdate.Path, _ list: [ListedSection]) -> ListedSection.Entry? {
        guard list.indices.contains(path.section),
            list[path.section].entries.indices.contains(path.item)
        else { return nil }
        return list[path.section].entries[path.item]
    }

    private func faultOfPaths() -> String? {
        let origins = update.moves.map(\.from)
        let targets = update.moves.map(\.to)
        let old = update.deletions + origins + update.updates
        let new = update.insertions + targets
        if Set(old).count != old.count { return "an old place is named twice" }
        if Set(new).count != new.count { return "a new place is named twice" }
        for path in old where entry(path, before) == nil { return "\(path) is no old place" }
        for path in new where entry(path, after) == nil { return "\(path) is no new place" }
        for list in [update.deletions, update.insertions, origins, update.updates]
        where list != list.sorted() {
            return "places do not ascend"
        }
        return nil
    }

    private func faultOfSections() -> String? {
        for (indices, list) in [
            (update.deletedSections, before), (update.insertedSections, after),
        ] {
            if indices != Set(indices).sorted() { return "sections repeat or do not ascend" }
            if let bad = indices.first(where: { !list.indices.contains($0) }) {
                return "there is no section \(bad)"
            }
        }
        let kept = before.indices.filter { !update.deletedSections.contains($0) }
        let stayed = after.indices.filter { !update.insertedSections.contains($0) }
        if kept.map({ before[$0].name }) != stayed.map({ after[$0].name }) {
            return "the sections that stay are not the same before and after"
        }
        return nil
    }

    private func faultOfEntries() -> String? {
        let oldItems = Set(before.flatMap(\.entries).map(\.item))
        let newItems = Set(after.flatMap(\.entries).map(\.item))
        for path in update.deletions {
            if let entry = entry(path, before), newItems.contains(entry.item) {
                return "\(path) is deleted and still there"
            }
        }
        for path in update.insertions {
            if let entry = entry(path, after), oldItems.contains(entry.item) {
                return "\(path) is inserted and was there"
            }
        }
        for move in update.moves
        where entry(move.from, before)?.item != entry(move.to, after)?.item {
            return "another entry arrives at \(move.to) than left \(move.from)"
        }
        return nil
    }

    /// Applies the update to the old items and compares.
    private func faultOfResult() -> String? {
        let gone = Set(update.deletions + update.moves.map(\.from))
        let come = Set(update.insertions + update.moves.map(\.to))
        let updated = Set(update.updates)
        let kept = before.indices.filter { !update.deletedSections.contains($0) }
        let stayed = after.indices.filter { !update.insertedSections.contains($0) }
        for section in update.deletedSections {
            for item in before[section].entries.indices
            where !gone.contains(BatchUpdate.Path(section, item)) {
                return "section \(section) is deleted with an entry in it"
            }
        }
        for section in update.insertedSections {
            for item in after[section].entries.indices
            where !come.contains(BatchUpdate.Path(section, item)) {
                return "section \(section) is inserted with an entry in it"
            }
        }
        for (old, new) in zip(kept, stayed) {
            let left = before[old].entries.indices.filter { !gone.contains(.init(old, $0)) }
            let right = after[new].entries.indices.filter { !come.contains(.init(new, $0)) }
            if left.count != right.count { return "section \(new) has another count" }
            for (from, to) in zip(left, right) {
                let (first, second) = (before[old].entries[from], after[new].entries[to])
                if first.item != second.item { return "another entry stays at \(new).\(to)" }
                if (first.version != second.version) != updated.contains(.init(old, from)) {
                    return "the update of \(old).\(from) is missing or none"
                }
            }
        }
        return nil
    }

    /// The least number of moves when some entries stay where they are, which ascend in both
    /// contents. The names of the contents' sections must be unique and in the same order.
    public static func moveCountMin(
        from before: [ListedSection], to after: [ListedSection], fixed: Set<UInt64>
    ) -> Int {
        var places: [UInt64: (place: Int, name: String)] = [:]
        var place = 0
        for section in after {
            for entry in section.entries {
                places[entry.item] = (place, section.name)
                place += 1
            }
        }
        var common = 0
        // The longest chain that ends with each entry that may stay, and the last fixed one.
        var chains: [(place: Int, length: Int)] = []
        var lastFixed: (place: Int, length: Int) = (-1, 0)
        for section in before {
            for entry in section.entries {
                guard let other = places[entry.item] else { continue }
                common += 1
                let isFixed = fixed.contains(entry.item)
                guard other.name == section.name else { continue }
                guard other.place > lastFixed.place else { continue }
                var length = lastFixed.length
                for chain in chains where chain.place < other.place {
                    length = max(length, chain.length)
                }
                if isFixed {
                    lastFixed = (other.place, length + 1)
                    chains.removeAll()
                } else {
                    chains.append((other.place, length + 1))
                }
            }
        }
        return common - chains.map(\.length).reduce(lastFixed.length, max)
    }
}
