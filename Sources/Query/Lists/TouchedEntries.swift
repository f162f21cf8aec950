/// The changed entries between two versions of a list's tree, as ascending ranks. All other entries
/// are untouched: both versions have them with the same key and section.
struct TouchedEntries {
    /// Old ranks of removed entries.
    var removed: [Int] = []
    /// New ranks of inserted entries.
    var inserted: [Int] = []
    /// Entries that may have moved, ascending by old rank; those that have not count as updated.
    var moved: [(old: Int, new: Int)] = []
    /// Old ranks of entries that were updated and kept key and section.
    var updated: [Int] = []

    /// The difference of two contents, neither of which may have two sections of one name.
    func difference(from before: ListContent, to after: ListContent) -> ListDifference {
        let (shown, anchors) = shown(from: before, to: after)
        var difference = ListDifference()
        let sections = SectionChanges(shown, anchors, before, after)
        difference.deletedSections = sections.deleted
        difference.insertedSections = sections.inserted
        difference.deletions = before.paths(of: shown.removed)
        difference.insertions = after.paths(of: shown.inserted)
        difference.updates = before.paths(of: shown.updated)
        let stays = shown.moved.map { pair in
            before.sectionID(holding: pair.old) == after.sectionID(holding: pair.new)
                && !sections.replacedIDs.contains(before.sectionID(holding: pair.old))
        }
        let candidates = zip(shown.moved, stays).filter { $0.1 }.map { $0.0 }
        var isKept = anchors.keptPlaces(of: candidates)[...]
        for (pair, stays) in zip(shown.moved, stays) {
            if stays, isKept.removeFirst() {
                difference.updates.append(before.path(of: pair.old))
            } else {
                difference.moves.append(
                    ListDifference.Move(
                        from: before.path(of: pair.old), to: after.path(of: pair.new)))
            }
        }
        difference.updates.sort()
        return difference
    }

    /// Converts ranks to indices of the shown windows. Entries that left or entered the window
    /// count as removed or inserted.
    private func shown(
        from before: ListContent, to after: ListContent
    ) -> (TouchedEntries, AnchoredMoves) {
        let whole = AnchoredMoves(
            old: (removed + moved.map(\.old)).sorted(),
            new: (inserted + moved.map(\.new)).sorted())
        let (old, new) = (before.ranks, after.ranks)
        var shown = TouchedEntries()
        shown.removed = removed.filter(old.contains)
        shown.inserted = inserted.filter(new.contains)
        for pair in moved {
            switch (old.contains(pair.old), new.contains(pair.new)) {
            case (true, true): shown.moved.append(pair)
            case (true, false): shown.removed.append(pair.old)
            case (false, true): shown.inserted.append(pair.new)
            case (false, false): break
            }
        }
        let held =
            whole.anchors(beforeOld: old.lowerBound)..<whole.anchors(beforeOld: old.upperBound)
        let reached =
            whole.anchors(beforeNew: new.lowerBound)..<whole.anchors(beforeNew: new.upperBound)
        for anchor in Self.subtract(reached, from: held) {
            shown.removed.append(whole.oldPosition(ofAnchor: anchor))
        }
        for anchor in Self.subtract(held, from: reached) {
            shown.inserted.append(whole.newPosition(ofAnchor: anchor))
        }
        shown.updated = updated.filter {
            old.contains($0) && reached.contains(whole.anchors(beforeOld: $0))
        }
        return shown.counted(from: old.lowerBound, new.lowerBound)
    }

    private static func subtract(_ taken: Range<Int>, from range: Range<Int>) -> [Int] {
        let before =
            range.lowerBound..<max(range.lowerBound, min(range.upperBound, taken.lowerBound))
        let after =
            min(range.upperBound, max(range.lowerBound, taken.upperBound))..<range.upperBound
        // With nothing to subtract, both parts would be the whole range.
        return taken.isEmpty ? Array(range) : Array(before) + Array(after)
    }

    /// Converts ranks to window indices; the anchors are the untouched entries in both windows.
    private func counted(from old: Int, _ new: Int) -> (TouchedEntries, AnchoredMoves) {
        var result = TouchedEntries()
        result.removed = removed.map { $0 - old }.sorted()
        result.inserted = inserted.map { $0 - new }.sorted()
        result.moved = moved.map { ($0.old - old, $0.new - new) }
        result.updated = updated.map { $0 - old }
        let anchors = AnchoredMoves(
            old: (result.removed + result.moved.map(\.old)).sorted(),
            new: (result.inserted + result.moved.map(\.new)).sorted())
        return (result, anchors)
    }
}

/// The sections that were deleted, inserted or reordered between two contents.
private struct SectionChanges {
    private(set) var deleted: [Int] = []
    private(set) var inserted: [Int] = []
    /// Sections of both contents that are deleted and inserted again, because no section can move.
    private(set) var replacedIDs: Set<UInt32> = []

    init(
        _ touched: TouchedEntries, _ anchors: AnchoredMoves, _ before: ListContent,
        _ after: ListContent
    ) {
        guard before.names != nil else { return }
        // A section with an untouched entry is in both contents, and such sections keep their
        // order, as their entries do.
        let emptied = Self.fullyTouched(anchors.old, before)
        let filled = Self.fullyTouched(anchors.new, after)
        let position = Dictionary(uniqueKeysWithValues: filled.map { ($0.id, $0.section) })
        var pairs: [(old: Int, new: Int)] = []
        var pairedIDs: [UInt32] = []
        for (section, id) in emptied {
            if let new = position[id] {
                pairs.append((section, new))
                pairedIDs.append(id)
            } else {
                deleted.append(section)
            }
        }
        let order = AnchoredMoves(old: emptied.map(\.section), new: filled.map(\.section))
        for (index, isKept) in order.keptPlaces(of: pairs).enumerated() where !isKept {
            replacedIDs.insert(pairedIDs[index])
            deleted.append(pairs[index].old)
            inserted.append(pairs[index].new)
        }
        let paired = Set(pairedIDs)
        inserted += filled.filter { !paired.contains($0.id) }.map(\.section)
        deleted.sort()
        inserted.sort()
    }

    /// The sections whose entries are all touched.
    private static func fullyTouched(
        _ touched: [Int], _ content: ListContent
    ) -> [(section: Int, id: UInt32)] {
        var result: [(section: Int, id: UInt32)] = []
        var next = 0
        while next < touched.count {
            let section = content.section(holding: touched[next])
            let indices = content.indices(ofSection: section)
            let end = AnchoredMoves.count(of: touched, before: indices.upperBound)
            if end - next == indices.count {
                result.append((section, content.sectionID(holding: touched[next])))
            }
            next = end
        }
        return result
    }
}
