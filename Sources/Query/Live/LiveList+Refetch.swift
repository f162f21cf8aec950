import RecordStore

/// Fetching the whole list.
extension LiveList {
    struct Fetched {
        var tree: CountedTree
        var census: SectionCensus
        var isCutOff: Bool
    }

    /// Whether sort keys are stored. A list that is always refetched looks up nothing by them, but
    /// one over several stores is merged by them.
    private var keepsKeys: Bool {
        refusal == nil || (watches.count > 1 && !watches[0].parts.isSortedByCollection)
    }

    // MARK: Fetching

    /// - Parameter stamp: returns the stamp of an entry, given its item, its whole key (if keys are
    ///   stored) and its section.
    mutating func fetch(
        in readers: [RecordReader],
        _ stamp: (_ item: ListItem, _ key: [UInt8], _ section: UInt32) throws -> UInt32
    ) throws -> Fetched {
        var census = SectionCensus()
        var builder = CountedTreeBuilder()
        var count = 0
        let keptMax = request.window.keptMax
        let hasSections = request.hasSections
        func append(_ entry: ListEntry) throws {
            var entry = entry
            entry.stamp = try stamp(entry.item, entry.key, entry.section)
            builder.append(entry)
            if hasSections { census.add(entry.section) }
            count += 1
        }
        // A request without an order returns objects in any order; a list sorts them by number.
        if readers.count == 1, !watches[0].parts.order.isEmpty {
            let evaluation = watches[0].parts.evaluation(in: readers[0])
            try forEachEntry(evaluation, store: 0, isOrdered: true, limit: keptMax, append)
        } else if keepsKeys || watches[0].parts.order.isEmpty {
            // Without sort keys all keys are equal.
            var entries: [ListEntry] = []
            for (store, reader) in readers.enumerated() {
                let evaluation = watches[store].parts.evaluation(in: reader)
                try forEachEntry(evaluation, store: store, isOrdered: false, limit: nil) {
                    entries.append($0)
                }
            }
            entries.sort(by: Self.precedes)
            for entry in entries.prefix(keptMax ?? .max) { try append(entry) }
        } else {
            throw QueryError(
                "a list over several stores cannot be sorted by a to-many relationship")
        }
        return Fetched(
            tree: builder.finish(), census: census, isCutOff: keptMax.map { count >= $0 } ?? false)
    }

    static func precedes(_ left: ListEntry, _ right: ListEntry) -> Bool {
        left.key == right.key
            ? left.item < right.item : left.key.lexicographicallyPrecedes(right.key)
    }

    private mutating func forEachEntry(
        _ evaluation: RecordEvaluation, store: Int, isOrdered: Bool, limit: Int?,
        least: Value? = nil, _ body: (ListEntry) throws -> Void
    ) throws {
        var key = KeyEncoder(columnSizeMax: .max)
        let keepsKeys = keepsKeys
        var interning = sections
        try evaluation.parts.forEachMatch(
            in: evaluation.reader, isOrdered: isOrdered, limit: limit, least: least
        ) { number, row in
            key.removeAll()
            if keepsKeys { try evaluation.appendKey(of: row, number, to: &key) }
            guard let item = ListItem(number, store: store) else {
                throw QueryError("the number of an object is too large for a list")
            }
            let section = try interning.number(of: row, number, evaluation)
            var entry = ListEntry(item: item, key: key.bytes, section: section)
            entry.isKeyWhole = keepsKeys
            try body(entry)
            return true
        }
        sections = interning
    }

    /// The first matches after the entry at which the list is cut off.
    ///
    /// - Parameter least: a lower bound of their first sort value, with the count of held entries
    ///   that reach it. With it, an index on the order ends the search early.
    mutating func matches(
        after bound: ListEntry, count: Int, _ least: (value: Value, heldCount: Int)?,
        in evaluations: [RecordEvaluation]
    ) throws -> [ListEntry] {
        var found: [ListEntry] = []
        if let least {
            try forEachEntry(
                evaluations[0], store: 0, isOrdered: true, limit: count + least.heldCount,
                least: least.value
            ) { entry in
                if Self.precedes(bound, entry) { found.append(entry) }
            }
        } else {
            for (store, evaluation) in evaluations.enumerated() {
                try forEachEntry(evaluation, store: store, isOrdered: false, limit: nil) { entry in
                    guard Self.precedes(bound, entry) else { return }
                    found.append(entry)
                    // Sorted now and then, so that only about twice the needed entries are held.
                    if found.count > 2 * count + 64 {
                        found.sort(by: Self.precedes)
                        found.removeLast(found.count - count)
                    }
                }
            }
            found.sort(by: Self.precedes)
        }
        let step = step
        return found.prefix(count).map { entry in
            var entry = entry
            entry.stamp = step
            return entry
        }
    }

    // MARK: Comparing

    /// The list after a step, fetched and compared with the previous content.
    mutating func refetched(_ steps: [StoreStep], _ missed: [ChangeSet?]) throws -> Outcome {
        let old = content
        if let names = old.names, names.count > 2 * old.tree.sectionCount + 4096 {
            sections.renew()
        }
        let comparison = try EntryComparison(
            self, steps, missed, keepsKeys: keepsKeys, names: sections.names)
        let step = step
        var fetched = try fetch(in: steps.map(\.after)) { item, key, section in
            try comparison.unchangedStamp(item, key, section) ?? step
        }
        fetched.tree = stampMoves(in: fetched.tree, from: old.tree, comparison.ranks)
        let content = content(fetched.tree, fetched.census)
        return Outcome(
            content: content, census: fetched.census, isCutOff: fetched.isCutOff,
            difference: TreeDifference.between(old, content))
    }

    /// Entries that are unchanged themselves but changed their order count as updated, so that all
    /// others ascend in both versions.
    private func stampMoves(
        in new: CountedTree, from old: CountedTree, _ ranks: [ListItem: Int]
    ) -> CountedTree {
        var pairs: [(old: Int, new: Int)] = []
        var next = 0
        new.forEach(in: 0..<new.count) { item, stamp, _ in
            if stamp != step, let rank = ranks[item] { pairs.append((rank, next)) }
            next += 1
        }
        let kept = AscendingRun.longest(in: pairs.map(\.old))
        if kept.count == pairs.count { return new }
        var isKept = [Bool](repeating: false, count: pairs.count)
        for index in kept { isKept[index] = true }
        let moved = zip(pairs, isKept).filter { !$0.1 }
        return new.edited(moved.map { TreeEdit(rank: $0.0.new, .stamp(step)) })
    }
}

/// Decides whether fetched entries are unchanged.
private struct EntryComparison {
    let ranks: [ListItem: Int]
    private let old: ListContent
    private let watches: [RequestWatch]
    private let steps: [StoreStep]
    /// For each store, the objects that failed steps may have updated; nil if unknown. The records
    /// before those steps are not available.
    private let missed: [Set<ObjectNumber>?]
    /// For each store, the objects whose watched values may differ; nil if unknown.
    private let watching: [Set<ObjectNumber>?]
    private let before: [RecordEvaluation]
    private let after: [RecordEvaluation]
    private let keepsKeys: Bool
    private let names: SectionNames?

    init(
        _ list: LiveList, _ steps: [StoreStep], _ missed: [ChangeSet?], keepsKeys: Bool,
        names: SectionNames?
    ) throws {
        old = list.content
        watches = list.watches
        self.steps = steps
        self.missed = try list.watches.indices.map { index in
            guard let changes = missed[index] else { return Set() }
            return try list.watches[index].possibleUpdates(by: changes, before: steps[index])
        }
        self.keepsKeys = keepsKeys
        self.names = names
        var ranks: [ListItem: Int] = [:]
        ranks.reserveCapacity(old.tree.count)
        var next = 0
        old.tree.forEach(in: 0..<old.tree.count) { item, _, _ in
            ranks[item] = next
            next += 1
        }
        self.ranks = ranks
        watching = try zip(watches, steps).map { watch, step in
            guard watch.watchesRelated else { return Set() }
            return try watch.watchedChanges(of: step)
        }
        before = zip(watches, steps).map { $0.parts.evaluation(in: $1.before) }
        after = zip(watches, steps).map { $0.parts.evaluation(in: $1.after) }
    }

    /// The stamp of an unchanged entry; nil for any other.
    func unchangedStamp(
        _ item: ListItem, _ key: [UInt8], _ section: UInt32
    ) throws -> UInt32? {
        guard let rank = ranks[item], try !isChanged(item) else { return nil }
        let (leaf, index) = old.tree.leaf(holding: rank)
        if leaf.keys.isCertainlyOther(index, than: key) { return nil }
        if keepsKeys, leaf.keys.isCut(index), try !hadKey(key, item) { return nil }
        if let names, let oldNames = old.names {
            let known = leaf.sections[index]
            let isSame =
                names === oldNames
                ? known == section : oldNames.name(of: known) == names.name(of: section)
            if !isSame { return nil }
        }
        return leaf.stamps[index]
    }

    private func isChanged(_ item: ListItem) throws -> Bool {
        let (store, number) = (item.store, item.number)
        if missed[store]?.contains(number) ?? true { return true }
        if watching[store]?.contains(number) ?? true,
            try watchedValues(number, before[store]) != watchedValues(number, after[store])
        {
            return true
        }
        return try watches[store].isChanged(number, of: steps[store])
    }

    private func watchedValues(
        _ number: ObjectNumber, _ evaluation: RecordEvaluation
    ) throws(StoreError) -> [UInt8]? {
        let hierarchy = evaluation.parts.entity.hierarchy
        return try evaluation.reader.withRow(number, in: hierarchy) { row throws(StoreError) in
            try evaluation.watched(of: row)
        }
    }

    private func hadKey(_ key: [UInt8], _ item: ListItem) throws -> Bool {
        do {
            return try LiveList.wholeKey(item, before) == key
        } catch LiveListError.contradiction {
            // After a failed step, the records before this one are newer than the content.
            return false
        }
    }
}
