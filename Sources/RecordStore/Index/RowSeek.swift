import PageStore

/// Reads a few records of one hierarchy together: all are located before the first is read, so that
/// their cache misses overlap. The records must not change between the first seek and the last
/// read.
package struct RowSeek {
    /// The most records that can be sought together.
    package static let countMax = 8

    private let reader: RecordReader
    private let hierarchy: HierarchyID
    private var lookup: LeafFinger
    private var sought = InlineArray<8, Sought?>(repeating: nil)

    private struct Sought {
        var number: ObjectNumber
        var place: EntryPosition
    }

    fileprivate init(_ reader: RecordReader, _ hierarchy: HierarchyID, _ lookup: LeafFinger) {
        self.reader = reader
        self.hierarchy = hierarchy
        self.lookup = lookup
    }

    /// Finds the leaf that covers a record's key.
    package mutating func seek(_ number: ObjectNumber, at position: Int) throws(StoreError) {
        let key = RecordKey.inline(number)
        sought[position] = Sought(number: number, place: try lookup.place(for: key.span))
    }

    /// Finds the entries of all sought records in their leaves.
    package mutating func findAll() {
        for position in sought.indices { find(at: position) }
    }

    private mutating func find(at position: Int) {
        guard let number = sought[position]?.number else { return }
        let key = RecordKey.inline(number)
        sought[position]?.place.find(key.span)
    }

    /// Passes a record to the body, seeking it first if necessary; nil if there is none.
    package mutating func withRow<Result>(
        _ number: ObjectNumber, at position: Int,
        _ body: (RowView) throws(StoreError) -> Result
    ) throws(StoreError) -> Result? {
        if sought[position]?.number != number {
            try seek(number, at: position)
            find(at: position)
        }
        guard let found = sought[position] else { return nil }
        return try lookup.withValue(at: found.place) { bytes throws(StoreError) in
            try reader.withCheckedRow(bytes, number, hierarchy, body)
        }
    }
}

extension RecordReader {
    /// A seek for a few records that are read together.
    package final func rowSeek(_ hierarchy: HierarchyID) -> RowSeek {
        RowSeek(self, hierarchy, LeafFinger(view, tree: trees.records(hierarchy)))
    }
}
