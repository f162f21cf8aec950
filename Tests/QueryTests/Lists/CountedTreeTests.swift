import RecordStore
import TestSupport
import Testing

@testable import Query

/// Trees and differences against plain arrays, through random edits.
@Suite struct CountedTreeTests {
    /// The shape of the keys.
    enum Shape: CaseIterable {
        case numbers, fewValues, longTexts, equalBeginnings, none

        func key(_ random: inout SeededRandom) -> [UInt8] {
            switch self {
            case .numbers: return [1] + random.bytes(8)
            case .fewValues: return [1, UInt8(random.below(12))]
            case .longTexts:
                let text = (0..<random.below(60)).map { _ in UInt8(97 + random.below(3)) }
                return [1] + text + [0, 0]
            case .equalBeginnings:
                let beginning = [UInt8](repeating: 120, count: [3, 40, 300][random.below(3)])
                return [1] + beginning + [UInt8(97 + random.below(2))]
                    + [UInt8](repeating: 121, count: 30) + [UInt8(random.below(250) + 1), 0, 0]
            case .none: return []
            }
        }

        /// Whether trees know all keys of this shape whole.
        var isKnown: Bool { self == .numbers || self == .fewValues || self == .none }
    }

    /// How entries get their sections.
    enum Sectioning: CaseIterable {
        case none
        /// By a monotone function of the key, so that no two runs have one section.
        case byKey
        /// By an owner whose key comes first, and which is renamed: sections change places.
        case byOwner
        case anywhere
    }

    struct Run {
        var random: SeededRandom
        let shape: Shape
        let sectioning: Sectioning
        let window: ListWindow
        let names: SectionNames?
        var model = ListModel()
        var tree = CountedTree()
        private var step: UInt32 = 0
        private var nextItem: UInt64 = 1
        private var ownerKeys = [UInt8](repeating: 1, count: 12)
        private(set) var editCount = 0
        /// Earlier versions with the content that they must keep.
        private var kept: [(tree: CountedTree, model: ListModel)] = []

        init(_ seed: UInt64, _ shape: Shape, _ sectioning: Sectioning) {
            random = SeededRandom(seed: seed)
            self.shape = shape
            self.sectioning = sectioning
            let limits = [nil, 0, 1, 20]
            window =
                random.below(2) == 0
                ? .all : ListWindow(offset: random.below(30), limit: limits[random.below(4)])
            names = sectioning == .none ? nil : SectionNames()
            for section in 0..<33 { _ = names?.number(of: "section \(section)") }
        }

        private func content(_ tree: CountedTree, _ model: ListModel) -> ListContent {
            ListContent(
                tree: tree, window: window, names: names,
                hasRepeatedSections: names != nil && model.hasRepeatedSections, lineage: 1)
        }

        private mutating func entry(_ item: UInt64, owner: UInt32? = nil) -> ListModel.Entry {
            var key = shape.key(&random)
            var section: UInt32 = 0
            switch sectioning {
            case .none: break
            case .byKey: section = UInt32(key.dropFirst().first ?? 0) / 8
            case .byOwner:
                section = owner ?? UInt32(random.below(ownerKeys.count))
                key = [ownerKeys[Int(section)], UInt8(section)] + key
            case .anywhere: section = UInt32(random.below(4))
            }
            return ListModel.Entry(item: item, key: key, section: section, stamp: step)
        }

        /// Fills a list at once, as a first fetch does.
        mutating func fill(_ count: Int) throws {
            step += 1
            model = ListModel(
                (1...count).map { _ in
                    nextItem += 1
                    return entry(nextItem)
                })
            tree = CountedTree(model.entries.map(\.listEntry))
            try compare(tree, model)
        }

        mutating func take(_ changeCount: Int, growth: Int) throws {
            step += 1
            var removed: [Int] = []
            var moving: [(rank: Int, entry: ListModel.Entry)] = []
            var stamping: [Int] = []
            var inserting: [ListModel.Entry] = []
            var used: Set<Int> = []
            // Several owners at once, so that sections without an untouched entry swap places.
            let renameCount = sectioning == .byOwner && random.below(3) == 0 ? 4 : 0
            for owner in Set((0..<renameCount).map { _ in random.below(ownerKeys.count) }).sorted()
            {
                ownerKeys[owner] = UInt8(random.below(4))
                for (rank, old) in model.entries.enumerated() where old.section == owner {
                    moving.append((rank, entry(old.item, owner: UInt32(owner))))
                    used.insert(rank)
                }
            }
            for _ in 0..<changeCount {
                let kind = random.below(10)
                if kind < growth || model.entries.isEmpty {
                    // Numbers jump, as they do between openings of a store.
                    nextItem += random.below(500) == 0 ? 1 << 32 : 1
                    inserting.append(entry(nextItem))
                    continue
                }
                let rank = random.below(model.entries.count)
                guard used.insert(rank).inserted else { continue }
                if kind < 7 {
                    removed.append(rank)
                } else if kind < 9 {
                    moving.append((rank, entry(model.entries[rank].item)))
                } else {
                    stamping.append(rank)
                }
            }
            editCount += removed.count + moving.count + stamping.count + inserting.count
            let next = model.changed(
                removing: removed, moving: moving, inserting: inserting, stamping: stamping,
                step: step, tree: tree)
            let edited = tree.edited(next.edits)
            try compare(edited, next.model)
            try compareRanks(edited, next.model)
            try compareDifferences(
                from: (tree, model), to: (edited, next.model), touched: next.touched)
            if random.below(8) == 0 { kept.append((edited, next.model)) }
            if kept.count > 6 { try compareKept() }
            (tree, model) = (edited, next.model)
        }

        private func compare(_ tree: CountedTree, _ model: ListModel) throws {
            try #require(tree.fault == nil)
            try #require(tree.count == model.entries.count)
            var index = 0
            var different: Int?
            tree.forEach(in: 0..<tree.count) { item, stamp, section in
                let entry = model.entries[index]
                if item.rawValue != entry.item || stamp != entry.stamp || section != entry.section {
                    different = different ?? index
                }
                index += 1
            }
            try #require(different == nil)
        }

        /// Probes that are searched together have the ranks that each has in the array.
        private mutating func compareRanks(_ tree: CountedTree, _ model: ListModel) throws {
            var entries: [(entry: ListModel.Entry, isInList: Bool)] = []
            let count = [0, 1, 3, 200][random.below(4)]
            for _ in 0..<count {
                if random.below(3) > 0, !model.entries.isEmpty {
                    entries.append((model.entries[random.below(model.entries.count)], true))
                } else {
                    entries.append((entry(nextItem + 1 + UInt64(random.below(9))), false))
                }
            }
            entries.sort { $0.entry < $1.entry }
            let probes = entries.map { entry, isInList in
                ListProbe(
                    key: entry.key, item: ListItem(rawValue: entry.item), isInList: isInList)
            }
            try #require(zip(probes, probes.dropFirst()).allSatisfy { !$1.precedes($0) })
            let places = tree.places(of: probes, model.wholeKey)
            let ranks = places.map(\.rank)
            let expected = entries.map { entry, _ in model.rank(of: entry) }
            try #require(ranks == expected)
            try #require(ranks == probes.map { tree.rank(of: $0, model.wholeKey) })
            for place in places {
                let there = place.rank < model.entries.count ? model.entries[place.rank] : nil
                let entry = tree.entry(at: place)
                try #require(entry?.item.rawValue == there?.item)
                try #require(entry?.section == there?.section)
            }
        }

        /// An older version stays as it was, and leads to any other by one difference.
        private mutating func compareKept() throws {
            for version in kept { try compare(version.tree, version.model) }
            let (first, last) = (kept[random.below(kept.count)], kept[random.below(kept.count)])
            try compareDifferences(
                from: (first.tree, first.model), to: (last.tree, last.model), touched: nil)
            kept.removeFirst(3)
        }

        /// Whether the sections of both contents are in the same order. Those that are not are
        /// deleted and inserted, because no section can move, and all that stays in them moves.
        private func areInOneOrder(_ old: [ListedSection], _ new: [ListedSection]) -> Bool {
            let (oldNames, newNames) = (old.map(\.name), new.map(\.name))
            return oldNames.filter(newNames.contains) == newNames.filter(oldNames.contains)
        }

        private func compareDifferences(
            from before: (tree: CountedTree, model: ListModel),
            to after: (tree: CountedTree, model: ListModel), touched: TouchedEntries?
        ) throws {
            let old = content(before.tree, before.model)
            let new = content(after.tree, after.model)
            let oldListed = before.model.listed(window, names)
            let newListed = after.model.listed(window, names)
            try #require(new.listed == newListed)
            let isPlain = !old.hasRepeatedSections && !new.hasRepeatedSections
            let byTree = TreeDifference.between(old, new)
            var differences = [byTree, LinearDifference.between(old, new)]
            if let touched, isPlain {
                differences.append(touched.difference(from: old, to: new))
            }
            for difference in differences {
                let fault = BatchUpdateChecker.fault(
                    from: oldListed, to: newListed, BatchUpdate(difference))
                try #require(fault == nil)
            }
            guard isPlain, sectioning != .byOwner, areInOneOrder(oldListed, newListed) else {
                return
            }
            let fixed = before.model.unmoved(in: after.model)
            func least(fixed: Set<UInt64>) -> Int {
                BatchUpdateChecker.moveCountMin(from: oldListed, to: newListed, fixed: fixed)
            }
            if let touched {
                // A moved entry that was given its old key may stay or move for others to stay.
                let movable = touched.moved.map { before.model.entries[$0.old].item }
                let least = least(fixed: fixed.subtracting(movable))
                try #require(differences[2].moves.count == least)
            }
            let least = least(fixed: fixed)
            // An entry whose key is only partly known may move although it was only updated.
            try #require(shape.isKnown ? byTree.moves.count == least : byTree.moves.count <= least)
        }
    }

    @Test(arguments: Shape.allCases, Sectioning.allCases)
    func `a tree equals a sorted array, and each difference leads to the next version`(
        shape: Shape, sectioning: Sectioning
    ) throws {
        var random = SeededRandom(for: "CountedTreeTests \(shape) \(sectioning)")
        for _ in FuzzRounds(Sweep.isWhole ? 2 : 1) {
            var run = Run(random.next(), shape, sectioning)
            for step in stride(from: 0, to: 60, by: Sweep.isWhole ? 1 : 2) {
                let size = [1, 1, 1, 2, 5, 20, 60][run.random.below(7)]
                try run.take(size, growth: step < 40 ? 6 : 3)
            }
        }
    }

    @Test(arguments: [Shape.numbers, .longTexts])
    func `a tree that gains and loses levels equals a sorted array`(shape: Shape) throws {
        var random = SeededRandom(for: "CountedTreeTests of several heights \(shape)")
        for _ in FuzzRounds(1) {
            var run = Run(random.next(), shape, .byKey)
            try run.fill(9_000 + run.random.below(3_000))
            for _ in 0..<6 { try run.take([1, 30, 900][run.random.below(3)], growth: 5) }
            // Down to a few entries, so that branches join and heights go.
            while run.model.entries.count > 50 {
                try run.take(run.model.entries.count / 2 + 20, growth: 1)
            }
        }
    }

    @Test func `a tree built at once equals one built entry by entry`() {
        let entries = (1...700).map { number in
            ListEntry(item: ListItem(rawValue: UInt64(number * 7)), key: [1, UInt8(number / 7)])
        }
        let whole = CountedTree(entries)
        var edited = CountedTree()
        for (rank, entry) in entries.enumerated() {
            edited = edited.edited([TreeEdit(rank: rank, .insert(entry))])
        }
        #expect(edited.items(in: 0..<700) == whole.items(in: 0..<700))
        #expect(edited.items(in: 130..<131) == [ListItem(rawValue: 131 * 7)])
        #expect(edited.fault == nil)
    }
}
