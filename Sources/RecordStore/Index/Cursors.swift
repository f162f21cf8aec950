import PageStore

/// A range of index keys: from `lower` up to but not including `upper`.
package struct KeyRange: Hashable, Sendable {
    package var lower: [UInt8]
    /// The first key after the range; nil for the end of the index.
    package var upper: [UInt8]?

    package static let all = KeyRange(lower: [], upper: nil)

    package init(lower: [UInt8], upper: [UInt8]?) {
        self.lower = lower
        self.upper = upper
    }

    /// All keys that have a prefix.
    package init(prefix: [UInt8]) {
        lower = prefix
        upper = KeyEncoder.successor(of: prefix)
    }
}

/// Steps through the records of a hierarchy. One thread; a row is valid until the cursor moves.
package final class RecordCursor {
    private let reader: RecordReader
    private let cursor: Cursor
    private let hierarchy: HierarchyID
    private var hasStarted = false
    /// The current record in the newest layout, if it is stored in an older one.
    private var widened: ByteBuffer?
    package private(set) var number = ObjectNumber(0)

    init(_ reader: RecordReader, _ cursor: Cursor, _ hierarchy: HierarchyID) {
        self.reader = reader
        self.hierarchy = hierarchy
        self.cursor = cursor
    }

    /// Moves to the first record at or after a number.
    package func seek(_ number: ObjectNumber) throws(StoreError) -> Bool {
        hasStarted = true
        _ = try cursor.seek(RecordKey.bytes(number).span)
        return try readNumber()
    }

    /// Moves to the next record, or to the first if the cursor has not started. False at the end.
    package func next() throws(StoreError) -> Bool {
        if hasStarted {
            _ = try cursor.next()
        } else {
            hasStarted = true
            _ = try cursor.seekFirst()
        }
        return try readNumber()
    }

    /// Moves to a record, without a descent if it is near the last one. False if no record has the
    /// number. The records must not change between two calls.
    package func find(_ number: ObjectNumber) throws(StoreError) -> Bool {
        hasStarted = true
        self.number = number
        return try RecordKey.inline(number).span.withView { key throws(StoreError) in
            try cursor.seekNear(key)
        }
    }

    /// Prefetches the records of ascending numbers, from a position on, as long as they are in one
    /// leaf; returns the position after them.
    package func prefetch(
        _ numbers: [ObjectNumber], from start: Int
    ) throws(StoreError) -> Int {
        _ = try find(numbers[start])
        var position = start
        while position < numbers.count {
            let isHere = RecordKey.inline(numbers[position]).span.withView { key in
                cursor.prefetchNear(key)
            }
            guard isHere else { break }
            position += 1
        }
        return max(position, start + 1)
    }

    /// After a move that threw: moves to the first record after the unreadable part. False if there
    /// is none.
    package func skipDamage() throws(StoreError) -> Bool {
        _ = try cursor.skipDamage()
        return try readNumber()
    }

    /// The page of the current record; nil if it may change.
    package var publishedPage: PageBuffer? { cursor.publishedPage }

    private func readNumber() throws(StoreError) -> Bool {
        guard cursor.isValid else { return false }
        let key = cursor.key
        guard key.count == 8, key.bigEndianUInt64(at: 0) > 0 else {
            throw .corrupt(cursor.pageID, "a record's key is not an object number")
        }
        number = ObjectNumber(key.bigEndianUInt64(at: 0))
        return true
    }

    /// The current record.
    package func row() throws(StoreError) -> RowView {
        let bytes = try cursor.value()
        if reader.isNewest(bytes, in: hierarchy) { return RowView(checked: bytes) }
        let widened = try reader.widened(bytes, number, hierarchy)
        self.widened = widened
        return RowView(checked: widened.view)
    }
}

/// Steps through the entries of an index in a range, forwards or backwards.
package final class IndexCursor {
    private let cursor: Cursor
    private let range: KeyRange
    private let isReversed: Bool
    private var hasStarted = false
    /// The object of the current entry.
    package private(set) var number = ObjectNumber(0)

    init(_ cursor: Cursor, _ range: KeyRange, reversed: Bool) {
        self.cursor = cursor
        self.range = range
        self.isReversed = reversed
    }

    /// The columns of the current entry, without the object's number.
    package var columns: ByteView {
        let key = cursor.key
        return key.slice(from: 0, count: key.count - 8)
    }

    /// Moves to the next entry, or to the range's first if the cursor has not started. False at the
    /// end of the range.
    package func next() throws(StoreError) -> Bool {
        if hasStarted {
            _ = isReversed ? try cursor.previous() : try cursor.next()
        } else {
            hasStarted = true
            try start()
        }
        guard cursor.isValid else { return false }
        let key = cursor.key
        guard key.count >= 8 else {
            throw .corrupt(cursor.pageID, "an index entry names no object")
        }
        guard isInside(key) else { return false }
        number = ObjectNumber(key.bigEndianUInt64(at: key.count - 8))
        return true
    }

    private func start() throws(StoreError) {
        guard isReversed else {
            let lower = range.lower
            _ = try cursor.seek(lower.span)
            return
        }
        guard let upper = range.upper else {
            _ = try cursor.seekLast()
            return
        }
        _ = try cursor.seek(upper.span)
        if cursor.isValid {
            _ = try cursor.previous()
        } else {
            _ = try cursor.seekLast()
        }
    }

    private func isInside(_ key: ByteView) -> Bool {
        if isReversed { return range.lower.withView { key.compare($0) >= 0 } }
        guard let upper = range.upper else { return true }
        return upper.withView { key.compare($0) < 0 }
    }
}
