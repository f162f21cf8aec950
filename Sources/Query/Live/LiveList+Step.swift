import RecordStore

/// Incremental steps, which look only at changed objects.
extension LiveList {
    /// The edits of a step, in ranks of the previous version.
    private struct Plan {
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
        var plan = Plan()
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

    // MARK: Candidates

    /// What a survey of one store reads.
    private struct Survey {
        let store: Int
        let step: StoreStep
        let candidates: RequestWatch.Candidates
        let before: RecordEvaluation
        let after: RecordEvaluation
        /// Of the list's hierarchy; nil if any of its records may have changed.
        private let records: ChangeSet.Records?
        private let oldCursor: RecordCursor
        private let newCursor: RecordCursor

        init(
            _ store: Int, _ step: StoreStep, _ candidates: RequestWatch.Candidates,
            _ before: RecordEvaluation, _ after: RecordEvaluation, _ hierarchy: HierarchyID
        ) {
            (self.store, self.step, self.candidates) = (store, step, candidates)
            (self.before, self.after) = (before, after)
            records = step.changes.records(in: hierarchy)
            oldCursor = step.before.recordCursor(hierarchy)
            newCursor = step.after.recordCursor(hierarchy)
        }

        /// The record before the step, valid until the next call; nil if there is none.
        func oldRow(_ number: ObjectNumber) throws(StoreError) -> RowView? {
            guard records?.inserted.contains(number) != true, try oldCursor.find(number) else {
                return nil
            }
            return try oldCursor.row()
        }

        /// The record after the step, valid until the next call; nil if there is none.
        func newRow(_ number: ObjectNumber) throws(StoreError) -> RowView? {
            guard records?.deleted.contains(number) != true, try newCursor.find(number) else {
                return nil
            }
            return try newCursor.row()
        }
    }

    /// A changed object that the list has before or after the step.
    private struct Candidate {
        var item: ListItem
        /// The sort keys; nil where the list does not have the object.
        var old: [UInt8]?
        var new: [UInt8]?
        /// The section after the step.
        var section: UInt32 = 0
        /// Whether an object with equal keys has other values; nil where that was not asked yet.
        var isChanged: Bool?
        /// The old rank and section; nil also for an entry beyond the held ones.
        var rank: Int?
        var oldSection: UInt32?
    }

    /// How many candidates are looked up in the tree at once, in the order of their keys.
    private static let sortedCountMax = 8192

    private mutating func survey(
        _ survey: Survey, _ wholeKey: (ListItem) throws -> [UInt8], into plan: inout Plan
    ) throws {
        var rest = survey.candidates.numbers[...]
        while !rest.isEmpty {
            var part: [Candidate] = []
            part.reserveCapacity(min(rest.count, Self.sortedCountMax))
            for number in rest.prefix(Self.sortedCountMax) {
                if let candidate = try candidate(number, survey) { part.append(candidate) }
            }
            rest = rest.dropFirst(Self.sortedCountMax)
            try findOld(&part, wholeKey)
            try place(part, survey, wholeKey, into: &plan)
        }
    }

    /// An object before and after the step; nil if the list has it at neither.
    private mutating func candidate(
        _ number: ObjectNumber, _ survey: Survey
    ) throws -> Candidate? {
        guard let item = ListItem(number, store: survey.store) else {
            throw LiveListError.contradiction
        }
        var candidate = Candidate(item: item)
        let oldRow = try survey.oldRow(number)
        let newRow = try survey.newRow(number)
        candidate.old = try oldRow.flatMap { try key(of: $0, number, survey.before) }
        candidate.new = try newRow.flatMap { try key(of: $0, number, survey.after) }
        guard let newRow, candidate.new != nil else {
            return candidate.old == nil ? nil : candidate
        }
        candidate.section = try sections.number(of: newRow, number, survey.after)
        // A list that is cut off holds few of its objects, and others may have many links.
        if let oldRow, candidate.old == candidate.new, !isCutOff {
            candidate.isChanged = try isChanged(number, oldRow, newRow, survey)
        }
        return candidate
    }

    /// Whether an object's values or links differ.
    private func isChanged(
        _ number: ObjectNumber, _ oldRow: RowView, _ newRow: RowView, _ survey: Survey
    ) throws -> Bool {
        // The path to a watched value may change while the value stays equal.
        try survey.candidates.withWatchedChange.contains(number)
            && survey.before.watched(of: oldRow) != survey.after.watched(of: newRow)
            || !survey.step.after.hasSameValues(newRow, as: oldRow, of: survey.step.before)
            || watches[survey.store].hasOtherLinks(number, in: survey.step)
    }

    private func isChanged(_ candidate: Candidate, _ survey: Survey) throws -> Bool {
        if let known = candidate.isChanged { return known }
        let number = candidate.item.number
        guard let oldRow = try survey.oldRow(number), let newRow = try survey.newRow(number) else {
            throw LiveListError.contradiction
        }
        return try isChanged(number, oldRow, newRow, survey)
    }

    /// The sort key of an object that the list has at one commit; nil if it does not.
    private func key(
        of row: RowView, _ number: ObjectNumber, _ evaluation: RecordEvaluation
    ) throws -> [UInt8]? {
        guard try evaluation.accepts(row, number) else { return nil }
        var key = KeyEncoder(columnSizeMax: .max)
        try evaluation.appendKey(of: row, number, to: &key)
        return key.bytes
    }

    /// Looks up the entries of candidates that the list had.
    private func findOld(
        _ part: inout [Candidate], _ wholeKey: (ListItem) throws -> [UInt8]
    ) throws {
        let probes = Self.probes(part.indices, of: part, isInList: true, \.old)
        let places = try content.tree.places(of: probes.map(\.probe), wholeKey)
        for ((index, probe), place) in zip(probes, places) {
            if place.rank == content.tree.count && isCutOff { continue }
            guard let entry = content.tree.entry(at: place), entry.item == probe.item else {
                throw LiveListError.contradiction
            }
            part[index].rank = place.rank
            part[index].oldSection = entry.section
        }
    }

    /// Finds out what becomes of the entries.
    private func place(
        _ part: [Candidate], _ survey: Survey, _ wholeKey: (ListItem) throws -> [UInt8],
        into plan: inout Plan
    ) throws {
        var entering: [Int] = []
        for (index, candidate) in part.enumerated() {
            if let rank = candidate.rank {
                // A computed name may have become another one before this change of the object.
                if candidate.old == candidate.new, candidate.section == candidate.oldSection {
                    if try isChanged(candidate, survey) { plan.stamped.append(rank) }
                    continue
                }
                plan.removed.append(rank)
            }
            if candidate.new != nil { entering.append(index) }
        }
        let probes = Self.probes(entering, of: part, isInList: false, \.new)
        let places = try content.tree.places(of: probes.map(\.probe), wholeKey)
        for ((index, probe), place) in zip(probes, places) {
            let (candidate, target) = (part[index], place.rank)
            // The list may have other entries between the last held one and this one.
            if isCutOff && target == content.tree.count {
                if let rank = candidate.rank { plan.passed[candidate.item] = rank }
                continue
            }
            let entry = ListEntry(
                item: candidate.item, key: probe.key, section: candidate.section, stamp: step)
            plan.insertions.append(
                Plan.Insertion(rank: target, entry: entry, origin: candidate.rank))
        }
    }

    /// The probes of candidates that have a key, in the order of the list.
    private static func probes(
        _ indices: some Sequence<Int>, of part: [Candidate], isInList: Bool,
        _ key: (Candidate) -> [UInt8]?
    ) -> [(index: Int, probe: ListProbe)] {
        indices.compactMap { index in
            key(part[index]).map {
                (index, ListProbe(key: $0, item: part[index].item, isInList: isInList))
            }
        }
        .sorted { $0.probe.precedes($1.probe) }
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
        of plan: Plan, _ before: [RecordEvaluation], _ after: [RecordEvaluation]
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
        _ next: inout NextVersion, _ plan: Plan, _ before: [RecordEvaluation],
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
        _ removed: [Int], _ stamped: [Int], _ insertions: [Plan.Insertion]
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
