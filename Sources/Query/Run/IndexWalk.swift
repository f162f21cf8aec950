import RecordStore

/// Reads the records that an index's entries name.
///
/// Entries come in the order of their columns, so that their records lie anywhere. Many are read
/// in batches sorted by number: each leaf of records is then visited once a batch.
struct IndexWalk {
    enum Order {
        /// The quickest order.
        case any
        /// As the entries stand in the index.
        case ofEntries
    }

    private static let batchCount = 16_384
    /// Of fewer records in a page copies take less memory than the page that would be kept.
    private static let keptPageCountMin = 4

    private let reader: RecordReader
    private let hierarchy: HierarchyID
    private let order: Order
    private let batches: Bool
    private var numbers: [ObjectNumber] = []
    // Made when they are needed: a lookup that finds one record needs neither.
    private var isFirst = true
    private var records: RecordCursor?
    private var stash: RowStash?
    /// Where the records are set aside that the body gets, if they are.
    private let target: RowStash?

    /// - Parameter batches: false where the first few may be enough.
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

    /// Goes along a range; false when the body says to stop.
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

    /// Reads what is left.
    mutating func finish(_ body: (ObjectNumber, RowView) throws -> Bool) throws -> Bool {
        defer { numbers.removeAll(keepingCapacity: true) }
        if numbers.count == 1 { return try reader.lend(numbers[0], hierarchy, body) }
        // A descent for a few is cheaper than to sort them.
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
        // A leaf has some dozens of records.
        let isDense = numbers.count > 16 && (numbers.max()?.rawValue ?? 0) / 64 < numbers.count
        let cursor = reader.recordCursor(hierarchy, isScan: isDense)
        records = cursor
        return cursor
    }

    /// An entry whose record is gone is passed over.
    private mutating func find(_ number: ObjectNumber) throws -> RowView? {
        let cursor = recordCursor()
        return try cursor.find(number) ? cursor.row() : nil
    }

    /// Copies the records in the order of their numbers and lends them in the entries' order.
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
    /// False when the body says to stop; a record that is gone is passed over.
    func lend(
        _ number: ObjectNumber, _ hierarchy: HierarchyID,
        _ body: (ObjectNumber, RowView) throws -> Bool
    ) throws -> Bool {
        var goesOn = true
        try lendRow(number, in: hierarchy) { row in goesOn = try body(number, row) }
        return goesOn
    }
}
