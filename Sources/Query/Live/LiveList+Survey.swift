import RecordStore

/// Looking at the changed objects of a step.
extension LiveList {
    /// What a survey of one store reads.
    struct Survey {
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

    /// Finds out what becomes of the entries of the candidates.
    mutating func survey(
        _ survey: Survey, _ wholeKey: (ListItem) throws -> [UInt8], into plan: inout StepPlan
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

    /// Decides what becomes of the entries.
    private func place(
        _ part: [Candidate], _ survey: Survey, _ wholeKey: (ListItem) throws -> [UInt8],
        into plan: inout StepPlan
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
                StepPlan.Insertion(rank: target, entry: entry, origin: candidate.rank))
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
}
