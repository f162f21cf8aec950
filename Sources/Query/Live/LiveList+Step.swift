import RecordStore

/// Incremental steps, which look only at changed objects.
extension LiveList {
    /// The edits of a step, in ranks of the previous version.
    struct StepPlan {
        struct Insertion {
            var rank: Int
            var entry: ListEntry
            /// The old rank of an entry that was in the list.
            var origin: Int?
        }

        var removed: [Int] = []
        var stamped: [Int] = []
        var insertions: [Insertion] = []
        /// Entries that moved beyond the last held one, with their old ranks.
        var passed: [ListItem: Int] = [:]

        var isEmpty: Bool {
            removed.isEmpty && stamped.isEmpty && insertions.isEmpty
        }
    }

    /// The list after a step; nil if refetching is cheaper or the only way.
    mutating func kept(_ steps: [StoreStep]) throws -> Outcome? {
        let tree = content.tree
        if let names = content.names, names.count > 2 * tree.sectionCount + 4096 { return nil }
        var surveys: [(store: Int, candidates: RequestWatch.Candidates)] = []
        for (store, step) in steps.enumerated() where !step.changes.isEmpty {
            let countMax = try self.countMax(step, of: watches[store])
            guard let candidates = try watches[store].candidates(of: step, countMax: countMax)
            else { return nil }
            if !candidates.numbers.isEmpty { surveys.append((store, candidates)) }
        }
        if surveys.isEmpty { return unchanged }
        let evaluations = zip(watches, steps).map { watch, step in
            (
                before: watch.parts.evaluation(in: step.before),
                after: watch.parts.evaluation(in: step.after)
            )
        }
        let before = evaluations.map(\.before)
        func wholeKey(_ item: ListItem) throws -> [UInt8] { try Self.wholeKey(item, before) }
        var plan = StepPlan()
        do {
            for (store, candidates) in surveys {
                let survey = Survey(
                    store, steps[store], candidates, evaluations[store].before,
                    evaluations[store].after, watches[store].hierarchy)
                try self.survey(survey, wholeKey, into: &plan)
            }
            if plan.isEmpty { return unchanged }
            return try outcome(of: plan, before, evaluations.map(\.after))
        } catch LiveListError.contradiction {
            // The tree contradicts the records: refetching resolves that.
            return nil
        }
    }

    /// The sort key of an object of the list, at one commit.
    static func wholeKey(
        _ item: ListItem, _ evaluations: [RecordEvaluation]
    ) throws -> [UInt8] {
        let evaluation = evaluations[item.store]
        var key = KeyEncoder(columnSizeMax: .max)
        let hierarchy = evaluation.parts.entity.hierarchy
        let row: Void? = try evaluation.reader.withRow(item.number, in: hierarchy) {
            row throws(StoreError) in
            try evaluation.appendKey(of: row, item.number, to: &key)
        }
        guard row != nil else { throw LiveListError.contradiction }
        return key.bytes
    }

    private var unchanged: Outcome {
        Outcome(
            content: content, census: census, isCutOff: isCutOff, difference: ListDifference())
    }

    /// The most candidates for which a step is cheaper than fetching the list again. One takes
    /// about twice as long as an entry that is fetched again, and as long as dozens of records that
    /// a fetch only passes over.
    private func countMax(_ step: StoreStep, of watch: RequestWatch) throws -> Int {
        let records = max(try step.after.recordCount(of: watch.parts.entity), 1)
        let depth = Int.bitWidth - records.leadingZeroBitCount
        return max(content.tree.count / 2, records / 4 / depth, 64)
    }

    // MARK: The next version

    /// A version under construction.
    private struct NextVersion {
        var tree: CountedTree
        var census: SectionCensus
        var isCutOff: Bool
        var touched = TouchedEntries()
        /// Old ranks of entries that have no new rank so far.
        var gone: Set<Int>

        mutating func place(_ rank: Int, origin: Int?) {
            if let origin {
                touched.moved.append((origin, rank))
                gone.remove(origin)
            } else {
                touched.inserted.append(rank)
            }
        }
    }

    private mutating func outcome(
        of plan: StepPlan, _ before: [RecordEvaluation], _ after: [RecordEvaluation]
    ) throws -> Outcome {
        let insertions = plan.insertions.sorted { left, right in
            left.rank == right.rank
                ? Self.precedes(left.entry, right.entry) : left.rank < right.rank
        }
        let removed = plan.removed.sorted()
        let stamped = plan.stamped.sorted()
        var next = NextVersion(
            tree: content.tree.edited(edits(removed, stamped, insertions)), census: census,
            isCutOff: isCutOff, gone: Set(removed))
        next.touched.updated = stamped
        for (index, insertion) in insertions.enumerated() {
            let gone = AnchoredMoves.count(of: removed, before: insertion.rank)
            next.place(insertion.rank - gone + index, origin: insertion.origin)
        }
        if request.hasSections {
            for rank in removed { next.census.remove(content.tree.sectionID(at: rank)) }
            for insertion in insertions { next.census.add(insertion.entry.section) }
        }
        try refill(&next, plan, before, after)
        cutOff(&next)
        next.touched.removed = next.gone.sorted()
        next.touched.inserted.sort()
        next.touched.moved.sort { $0.old < $1.old }
        let content = content(next.tree, next.census)
        let isPlain = !content.hasRepeatedSections && !self.content.hasRepeatedSections
        return Outcome(
            content: content, census: next.census, isCutOff: next.isCutOff,
            difference: isPlain
                ? next.touched.difference(from: self.content, to: content)
                : LinearDifference.between(self.content, content))
    }

    /// Fetches further entries after the last held one, if the reserve is used up.
    private mutating func refill(
        _ next: inout NextVersion, _ plan: StepPlan, _ before: [RecordEvaluation],
        _ after: [RecordEvaluation]
    ) throws {
        guard let shownEnd = request.window.shownEnd, let keptMax = request.window.keptMax,
            next.isCutOff, next.tree.count < shownEnd, content.tree.count > 0
        else { return }
        let last = content.tree.item(at: content.tree.count - 1)
        let end = next.tree.count
        let bound = ListEntry(item: last, key: try Self.wholeKey(last, before))
        let least = before.count == 1 ? try least(last, before[0], after[0], next.tree) : nil
        let more = try matches(after: bound, count: keptMax - end, least, in: after)
        next.isCutOff = more.count == keptMax - end
        for (index, entry) in more.enumerated() {
            next.place(end + index, origin: plan.passed[entry.item])
            if request.hasSections { next.census.add(entry.section) }
        }
        next.tree = next.tree.edited(more.map { TreeEdit(rank: end, .insert($0)) })
    }

    /// The first sort value of the last held entry, and how many entries held now reach it.
    private func least(
        _ last: ListItem, _ before: RecordEvaluation, _ after: RecordEvaluation, _ tree: CountedTree
    ) throws -> (value: Value, heldCount: Int)? {
        guard let value = try before.firstSortValue(of: last.number) else { return nil }
        var key = KeyEncoder(columnSizeMax: .max)
        _ = try before.reader.withRow(last.number, in: before.parts.entity.hierarchy) {
            row throws(StoreError) in
            try before.appendFirstKey(of: row, to: &key)
        }
        let probe = ListProbe(key: key.bytes, item: ListItem(rawValue: 0), isInList: false)
        let first = try tree.rank(of: probe) { try Self.wholeKey($0, [after]) }
        return (value, tree.count - first)
    }

    /// Drops entries beyond the window and its reserve.
    private func cutOff(_ next: inout NextVersion) {
        guard let keptMax = request.window.keptMax, next.tree.count > keptMax else { return }
        let surplus = keptMax..<next.tree.count
        if request.hasSections {
            next.tree.forEach(in: surplus) { _, _, section in next.census.remove(section) }
        }
        next.tree = next.tree.edited(surplus.map { TreeEdit(rank: $0, .remove) })
        next.isCutOff = true
    }

    private func edits(
        _ removed: [Int], _ stamped: [Int], _ insertions: [StepPlan.Insertion]
    ) -> [TreeEdit] {
        var edits: [TreeEdit] = []
        edits.reserveCapacity(removed.count + stamped.count + insertions.count)
        var (gone, kept) = (removed[...], stamped[...])
        func takeOthers(below rank: Int) {
            while true {
                let (first, second) = (gone.first ?? .max, kept.first ?? .max)
                guard min(first, second) < rank else { return }
                if first < second {
                    edits.append(TreeEdit(rank: gone.removeFirst(), .remove))
                } else {
                    edits.append(TreeEdit(rank: kept.removeFirst(), .stamp(step)))
                }
            }
        }
        for insertion in insertions {
            takeOthers(below: insertion.rank)
            edits.append(TreeEdit(rank: insertion.rank, .insert(insertion.entry)))
        }
        takeOthers(below: .max)
        return edits
    }
}

/// Why a step cannot be incremental.
enum LiveListError: Error {
    /// The tree and the records contradict each other.
    case contradiction
}
