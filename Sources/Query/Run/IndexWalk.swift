import RecordStore

/// Reads the records of an index's entries.
///
/// Entries are sorted by their columns, so that their records are scattered. Many are read in
/// batches sorted by number: each leaf of records is then visited once per batch.
struct IndexWalk {
    enum Order {
        /// The fastest order.
        case any
        /// The order of the entries in the index.
        case ofEntries
    }

    private static let batchCount = 16_384
    /// Copies of fewer records of a page use less memory than the page.
    private static let keptPageCountMin = 4

    private let reader: RecordReader
    private let hierarchy: HierarchyID
    private let order: Order
    private let batches: Bool
    private var numbers: [ObjectNumber] = []
    // Created on first use: a lookup that finds one record needs neither.
    private var isFirst = true
    private var records: RecordCursor?
    private var stash: RowStash?
    /// The stash in which the body sets records aside, if it does.
    private let target: RowStash?

    /// - Parameter batches: false if the first few records may be enough.
    init(
        _ reader: RecordReader, _ hierarchy: HierarchyID, _ order: Order, batches: Bool,
        for target: RowStash?
    ) {
        self.target = target
        self.reader = reader
        self.hierarchy = hierarchy
        self.order = order
        self.batches = batches
    }

    /// Reads the records of a range; false if the body has returned false.
    mutating func go(
        along cursor: IndexCursor, _ body: (ObjectNumber, RowView) throws -> Bool
    ) throws -> Bool {
        guard batches else { return try readEach(cursor, body) }
        while try cursor.next() {
            numbers.append(cursor.number)
            if numbers.count == Self.batchCount {
                guard try finish(body) else { return false }
            }
        }
        return true
    }

    private mutating func readEach(
        _ cursor: IndexCursor, _ body: (ObjectNumber, RowView) throws -> Bool
    ) throws -> Bool {
        while try cursor.next() {
            let number = cursor.number
            if isFirst {
                isFirst = false
                guard try reader.lend(number, hierarchy, body) else { return false }
            } else if let row = try find(number) {
                guard try body(number, row) else { return false }
            }
        }
        return true
    }

    /// Reads the records of the current batch.
    mutating func finish(_ body: (ObjectNumber, RowView) throws -> Bool) throws -> Bool {
        defer { numbers.removeAll(keepingCapacity: true) }
        if numbers.count == 1 { return try reader.lend(numbers[0], hierarchy, body) }
        // For a few, descents are cheaper than sorting.
        guard numbers.count > 16 else { return try read(numbers, body) }
        guard order == .ofEntries else {
            numbers.sort()
            return try read(numbers, body)
        }
        return try readByNumber(body)
    }

    private mutating func read(
        _ numbers: [ObjectNumber], _ body: (ObjectNumber, RowView) throws -> Bool
    ) throws -> Bool {
        let cursor = recordCursor()
        defer { target?.take(from: nil) }
        var leafEnd = 0
        for (position, number) in numbers.enumerated() {
            if position == leafEnd {
                leafEnd = try cursor.prefetch(numbers, from: position)
                let isKept = leafEnd - position >= Self.keptPageCountMin
                target?.take(from: isKept ? cursor.publishedPage : nil)
            }
            guard try cursor.find(number) else { continue }
            guard try body(number, cursor.row()) else { return false }
        }
        return true
    }

    private mutating func recordCursor() -> RecordCursor {
        if let records { return records }
        // Whether about every leaf is visited: a leaf has some dozens of records.
        let isDense = numbers.count > 16 && (numbers.max()?.rawValue ?? 0) / 64 < numbers.count
        let cursor = reader.recordCursor(hierarchy, isScan: isDense)
        records = cursor
        return cursor
    }

    /// Nil for an entry whose record is gone, which is skipped.
    private mutating func find(_ number: ObjectNumber) throws -> RowView? {
        let cursor = recordCursor()
        return try cursor.find(number) ? cursor.row() : nil
    }

    /// Stashes the records in the order of their numbers, and passes them on in the entries' order.
    private mutating func readByNumber(
        _ body: (ObjectNumber, RowView) throws -> Bool
    ) throws -> Bool {
        let stash = self.stash ?? RowStash()
        self.stash = stash
        stash.removeAll()
        let order = numbers.indices.sorted { numbers[$0] < numbers[$1] }
        var places = [RowStash.Place?](repeating: nil, count: numbers.count)
        for position in order {
            guard let row = try find(numbers[position]) else { continue }
            places[position] = stash.append(row)
        }
        for (position, place) in places.enumerated() {
            guard let place else { continue }
            guard try body(numbers[position], stash.row(at: place)) else { return false }
        }
        return true
    }
}

extension RecordReader {
    /// False if the body returns false; a record that is gone is skipped.
    func lend(
        _ number: ObjectNumber, _ hierarchy: HierarchyID,
        _ body: (ObjectNumber, RowView) throws -> Bool
    ) throws -> Bool {
        var goesOn = true
        try lendRow(number, in: hierarchy) { row in goesOn = try body(number, row) }
        return goesOn
    }
}
