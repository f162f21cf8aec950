import RecordStore

/// Finds objects in the contents of a list. Immutable, so that any thread may use it.
package struct ListLookup: @unchecked Sendable {
    private let watches: [RequestWatch]
    private let hasKeys: Bool

    fileprivate init(_ watches: [RequestWatch], hasKeys: Bool) {
        self.watches = watches
        self.hasKeys = hasKeys
    }

    /// The index of an object; nil if the list does not contain it. Takes O(log n), but O(n) for a
    /// list that is refetched at each change.
    ///
    /// - Parameter readers: one for each store, of the content's commits.
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

    /// Whether an object has the same sort values and watched values at two commits; false if
    /// unknown.
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
            try evaluation.appendKey(of: row, item.number, to: &values)
            return try values.bytes + evaluation.watched(of: row)
        }
    }
}

extension LiveList {
    package var lookup: ListLookup { ListLookup(watches, hasKeys: refusal == nil) }
}
