import RecordStore
import TestSupport
import Testing

@testable import Query

/// Single cases of differences, and of the checker that judges them.
@Suite struct ListDifferenceTests {
    /// A list of entries that are written as `b3`: section b, item 3; in the order given.
    private func content(
        _ text: String, _ names: SectionNames, changed: Set<UInt64> = [],
        window: ListWindow = .all
    ) -> ListContent {
        var runs: [Character] = []
        let entries = text.split(separator: " ").enumerated().map { rank, word in
            let item = UInt64(word.dropFirst()) ?? 0
            let section = word[word.startIndex]
            if runs.last != section { runs.append(section) }
            return ListEntry(
                item: ListItem(rawValue: item), key: [UInt8(rank)],
                section: names.number(of: String(section)),
                stamp: changed.contains(item) ? 2 : 1)
        }
        return ListContent(
            tree: CountedTree(entries), window: window, names: names,
            hasRepeatedSections: Set(runs).count != runs.count, lineage: 1)
    }

    private func difference(
        _ before: String, _ after: String, changed: Set<UInt64> = [], window: ListWindow = .all
    ) -> ListDifference {
        let names = SectionNames()
        let old = content(before, names, window: window)
        let new = content(after, names, changed: changed, window: window)
        let difference = TreeDifference.between(old, new)
        #expect(
            BatchUpdateChecker.fault(
                from: old.listed, to: new.listed, BatchUpdate(difference)) == nil)
        return difference
    }

    private func path(_ section: Int, _ item: Int) -> ListPath {
        ListPath(section: section, item: item)
    }

    @Test func `the changed entry moves, not the unchanged ones that it passes`() {
        let found = difference("a1 a2 a3 a4", "a2 a3 a4 a1", changed: [1])
        #expect(found.moves == [.init(from: path(0, 0), to: path(0, 3))])
        #expect(found.updates.isEmpty && found.deletions.isEmpty)
    }

    @Test func `an entry that leaves a deleted section for an inserted one is one move`() {
        let found = difference("a1 b2", "b2 c1", changed: [1])
        #expect(found.deletedSections == [0])
        #expect(found.insertedSections == [1])
        #expect(found.moves == [.init(from: path(0, 0), to: path(1, 0))])
        #expect(found.updates.isEmpty)
    }

    @Test func `of two changed entries that swap, one is a move and the other an update`() {
        let found = difference("a1 a2 a3", "a3 a2", changed: [2, 3])
        #expect(found.deletions == [path(0, 0)])
        #expect(found.moves.count == 1)
        #expect(found.updates.count == 1)
    }

    @Test func `a section inserted inside another splits it in two`() {
        let found = difference("a1 a2 a3", "a1 b9 a2 a3")
        #expect(found.insertedSections == [1, 2])
        #expect(found.insertions == [path(1, 0)])
        #expect(
            found.moves == [
                .init(from: path(0, 1), to: path(2, 0)), .init(from: path(0, 2), to: path(2, 1)),
            ])
    }

    @Test func `entries that shift past the edges of a window are inserted and deleted`() {
        let window = ListWindow(offset: 1, limit: 2)
        let found = difference("a1 a2 a3 a4", "a9 a1 a2 a3 a4", window: window)
        #expect(found.insertions == [path(0, 0)])
        #expect(found.deletions == [path(0, 1)])
        #expect(found.moves.isEmpty)
    }

    @Test func `a list without a section rule has one section even when it is empty`() {
        let empty = ListContent(tree: CountedTree(), lineage: 1)
        let tree = CountedTree([ListEntry(item: ListItem(rawValue: 1))])
        let found = TreeDifference.between(empty, ListContent(tree: tree, lineage: 1))
        #expect(empty.sectionCount == 1)
        #expect(found.insertedSections.isEmpty)
        #expect(found.insertions == [path(0, 0)])
    }

    @Test func `contents of two lists are compared by section name, not by section number`() {
        let (first, second) = (SectionNames(), SectionNames())
        _ = second.number(of: "z")
        let old = content("a1 b2", first)
        let new = content("b2 a1", second)
        let found = TreeDifference.between(old, new)
        let fault = BatchUpdateChecker.fault(
            from: old.listed, to: new.listed, BatchUpdate(found))
        #expect(fault == nil)
        #expect(found.deletedSections.count == 1 && found.moves.count == 1)
    }

    /// The published stress test of Core Data's fetched results controller: numbers up to 99 in
    /// sections by first digit, without those over 49, changed at random.
    @Test func `differences of numbers sectioned by first digit are valid updates`() throws {
        var random = SeededRandom(for: "ListDifferenceTests digits")
        let names = SectionNames()
        let sections = (0..<10).map { names.number(of: "\($0)") }
        func content(_ values: [(number: Int, stamp: UInt32)]) -> ListContent {
            let shown = values.enumerated().filter { $1.number <= 49 }
                .sorted { ($0.1.number, $0.0) < ($1.1.number, $1.0) }
            let entries = shown.map { index, value in
                ListEntry(
                    item: ListItem(rawValue: UInt64(index + 1)), key: [UInt8(value.number)],
                    section: sections[value.number / 10], stamp: value.stamp)
            }
            return ListContent(tree: CountedTree(entries), names: names, lineage: 1)
        }
        for _ in FuzzRounds(60) {
            var values = (0..<random.below(40)).map { _ in (random.below(100), UInt32(0)) }
            var before = content(values)
            for step in 1...50 {
                for _ in 0...random.below(6) {
                    if values.isEmpty || random.below(4) == 0 {
                        values.append((random.below(100), UInt32(step)))
                    } else {
                        let index = random.below(values.count)
                        values[index] = (random.below(100), UInt32(step))
                    }
                }
                let after = content(values)
                for difference in [
                    TreeDifference.between(before, after), LinearDifference.between(before, after),
                ] {
                    let fault = BatchUpdateChecker.fault(
                        from: before.listed, to: after.listed, BatchUpdate(difference))
                    try #require(fault == nil)
                }
                before = after
            }
        }
    }

    // MARK: The checker

    private func fault(_ change: (inout BatchUpdate) -> Void) -> String? {
        let names = SectionNames()
        let old = content("a1 a2 a3 b4", names)
        let new = content("a2 a1 a5 c6", names, changed: [1])
        var update = BatchUpdate(TreeDifference.between(old, new))
        change(&update)
        return BatchUpdateChecker.fault(from: old.listed, to: new.listed, update)
    }

    @Test func `the checker refuses what a list view would refuse`() {
        #expect(fault { _ in } == nil)
        #expect(fault { $0.deletedSections = [] } != nil)
        #expect(fault { $0.insertedSections = [0] } != nil)
        #expect(fault { $0.deletions.removeLast() } != nil)
        #expect(fault { $0.insertions.removeFirst() } != nil)
        #expect(fault { $0.insertions.reverse() } != nil)
        #expect(fault { $0.moves.removeAll() } != nil)
        #expect(fault { $0.moves[0].to = .init(0, 0) } != nil)
        #expect(fault { $0.updates.append(.init(0, 1)) } != nil)
        #expect(fault { $0.updates.append(.init(0, 0)) } != nil)
        #expect(fault { $0.deletions.append(.init(7, 0)) } != nil)
    }

    @Test func `the checker refuses an update that is missing`() {
        let names = SectionNames()
        let old = content("a1 a2", names)
        let new = content("a1 a2", names, changed: [2])
        var update = BatchUpdate(TreeDifference.between(old, new))
        #expect(update.updates == [.init(0, 1)])
        update.updates = []
        #expect(BatchUpdateChecker.fault(from: old.listed, to: new.listed, update) != nil)
    }
}
