import RecordStore

/// Finds objects in the contents of a list, on any thread: nothing of it changes.
package struct ListLookup: @unchecked Sendable {
    private let watches: [RequestWatch]
    private let hasKeys: Bool

    fileprivate init(_ watches: [RequestWatch], hasKeys: Bool) {
        self.watches = watches
        self.hasKeys = hasKeys
    }

    /// The index of an object; nil when it is not in the list. Takes O(log n) steps, and for a
    /// list that is fetched again at each change O(n).
    ///
    /// - Parameter readers: one for each store, of the commits that the content is of.
    package func index(
        of item: ListItem, in content: ListContent, _ readers: [RecordReader]
    ) throws -> Int? {
        guard hasKeys, readers.count == watches.count else {
            return content.items().firstIndex(of: item)
        }
        let evaluations = zip(watches, readers).map { $0.parts.evaluation(in: $1) }
        do {
            let probe = ListProbe(
                key: try LiveList.wholeKey(item, evaluations), item: item, isInList: false)
            let rank = try content.tree.rank(of: probe) { other in
                try LiveList.wholeKey(other, evaluations)
            }
            guard content.ranks.contains(rank), content.tree.item(at: rank) == item else {
                return nil
            }
            return rank - content.ranks.lowerBound
        } catch LiveListError.contradiction {
            return content.items().firstIndex(of: item)
        }
    }

    /// Whether an object has, at two commits, equal sort values and equal watched ones; false when
    /// that is not known.
    package func isSame(
        _ item: ListItem, _ before: [RecordReader], _ after: [RecordReader]
    ) throws -> Bool {
        guard hasKeys else { return false }
        return try values(item, before) == values(item, after)
    }

    private func values(_ item: ListItem, _ readers: [RecordReader]) throws -> [UInt8]? {
        let evaluation = watches[item.store].parts.evaluation(in: readers[item.store])
        let hierarchy = evaluation.parts.entity.hierarchy
        return try evaluation.reader.withRow(item.number, in: hierarchy) { row throws(StoreError) in
            var values = KeyEncoder(columnSizeMax: .max)
            try evaluation.appendKey(of: row, to: &values)
            return try values.bytes + evaluation.watched(of: row)
        }
    }
}

extension LiveList {
    package var lookup: ListLookup { ListLookup(watches, hasKeys: refusal == nil) }
}
