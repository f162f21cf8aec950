import PageStore

/// Lookups by the whole key of an index, without a cursor.
extension RecordReader {
    /// Calls the body with each object whose index columns equal a key, in the order of their
    /// numbers, until it returns false.
    package final func forEachNumber(
        in index: IndexLayout, equalTo key: KeyEncoder,
        _ body: (ObjectNumber) throws -> Bool
    ) throws {
        let tree = trees.indexes[index.id]
        if let run = try view.suffixes(after: key.bytes.span, .numbered, in: tree) {
            for position in 0..<run.count {
                guard try body(run.number(position)) else { return }
            }
            return
        }
        let cursor = indexCursor(index, KeyRange(prefix: key.bytes))
        while try cursor.next(), try body(cursor.number) {}
    }

    /// An object found by one of several values.
    package struct Match {
        /// The position of the value.
        package var position: Int
        package var number: ObjectNumber
    }

    /// The result of a search for several values.
    package struct Matches {
        /// Sorted by number; equal values count as the first of them.
        package fileprivate(set) var found: [Match] = []
        /// Values that equal an earlier one.
        package fileprivate(set) var repeats: [(position: Int, first: Int)] = []
    }

    /// The objects whose column, the index's only one, equals one of these values. They are looked
    /// up in the order of the index, so that neighbours share their descents. Nil if a key cannot
    /// represent a whole value.
    package final func matches(
        in index: IndexLayout, equalTo values: [Value]
    ) throws(StoreError) -> Matches? {
        let keys = ByteBuffer(capacity: values.count * 32)
        var starts: [Int] = []
        starts.reserveCapacity(values.count + 1)
        var key = keyEncoder(columnCount: 1)
        for value in values {
            key.removeAll()
            guard key.appendWhole(value, index.columns[0].content) else { return nil }
            starts.append(keys.count)
            key.bytes.withView { keys.append($0) }
        }
        starts.append(keys.count)
        var order = KeyOrder()
        order.reserveCapacity(values.count)
        for position in values.indices {
            let start = starts[position]
            order.append(
                start: start, count: starts[position + 1] - start, index: position, in: keys.view)
        }
        order.sort(in: keys.view)
        return try matches(in: index, keys, order.entries)
    }

    private func matches(
        in index: IndexLayout, _ keys: ByteBuffer, _ entries: [KeyOrder.Entry]
    ) throws(StoreError) -> Matches {
        var matches = Matches()
        var lookup = LeafFinger(view, tree: trees.indexes[index.id])
        var place = 0
        while place < entries.count {
            let key = keys.view.slice(from: entries[place].start, count: Int(entries[place].count))
            let start = place
            place += 1
            while place < entries.count, entries[place].count == entries[start].count,
                keys.view.slice(from: entries[place].start, count: Int(entries[place].count))
                    .compare(key) == 0
            { place += 1 }
            var position = Int(entries[start].index)
            if place > start + 1 {
                let equal = entries[start..<place].map { Int($0.index) }
                position = equal.min() ?? position
                for other in equal where other != position {
                    matches.repeats.append((other, position))
                }
            }
            if let run = try lookup.suffixes(after: key, .numbered) {
                for index in 0..<run.count {
                    matches.found.append(Match(position: position, number: run.number(index)))
                }
                continue
            }
            let cursor = indexCursor(index, KeyRange(prefix: key.array()))
            while try cursor.next() {
                matches.found.append(Match(position: position, number: cursor.number))
            }
        }
        matches.found.sort { $0.number < $1.number }
        return matches
    }
}

extension KeyEncoder {
    /// Appends a value that its key represents completely and uniquely. False for any other.
    package mutating func appendWhole(_ value: Value, _ content: FieldLayout.Content) -> Bool {
        guard case .attribute(let type) = content else { return false }
        switch value {
        case .string: guard type == .string else { return false }
        case .uuid: guard type == .uuid else { return false }
        case .int: guard type.isSigned else { return false }
        default: return false
        }
        return append(value, as: content) && !isTruncated
    }
}

/// Reads records of one hierarchy one by one: a record near the last one costs no descent. The
/// records must not change between two calls.
package final class RowLookup {
    private let reader: RecordReader
    private let hierarchy: HierarchyID
    private var lookup: LeafFinger

    fileprivate init(_ reader: RecordReader, _ hierarchy: HierarchyID, _ lookup: LeafFinger) {
        self.reader = reader
        self.hierarchy = hierarchy
        self.lookup = lookup
    }

    /// Passes a record to the body; nil if there is none.
    package func withRow<Result>(
        _ number: ObjectNumber, _ body: (RowView) throws(StoreError) -> Result
    ) throws(StoreError) -> Result? {
        let key = RecordKey.inline(number)
        return try lookup.withValue(for: key.span) { bytes throws(StoreError) in
            try reader.withCheckedRow(bytes, number, hierarchy, body)
        }
    }
}

extension RecordReader {
    /// A lookup for many records that are read one by one.
    package final func rowLookup(_ hierarchy: HierarchyID) -> RowLookup {
        RowLookup(self, hierarchy, LeafFinger(view, tree: trees.records(hierarchy)))
    }
}
