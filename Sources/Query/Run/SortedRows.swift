import RecordStore

/// Sort keys that are columns of the records themselves, and are compared as bytes.
struct RowOrder {
    private var columns: [(field: FieldLayout, isAscending: Bool)] = []

    /// Nil if a key is anything else.
    init?(_ keys: [ResolvedSortKey]) {
        for key in keys {
            guard let field = key.path.ownField else { return nil }
            columns.append((field, key.isAscending))
        }
    }

    func append(
        _ row: RowView, _ reader: RecordReader, to key: inout KeyEncoder
    ) throws {
        for (field, isAscending) in columns {
            let start = key.bytes.count
            try reader.append(field, of: row, to: &key)
            if !isAscending { key.invert(from: start) }
        }
    }
}

/// Collects records and sorts them by key, then by number, so that the order never depends on a
/// plan.
struct SortedRows {
    private struct Entry {
        /// The first eight bytes of the key.
        var head: UInt64
        /// The range of the other bytes in `rests`.
        var rest: Range<Int>
        var number: ObjectNumber
        /// The record's place in the stash, if it is there.
        var place: RowStash.Place?
    }

    private static let stashBytesMax = 64 << 20

    private var entries: [Entry] = []
    private var rests: [UInt8] = []
    private var key = KeyEncoder(columnSizeMax: .max)
    let stash = RowStash()
    private let keepsRows: Bool

    init(keepsRows: Bool) { self.keepsRows = keepsRows }

    var count: Int { entries.count }

    func number(_ position: Int) -> ObjectNumber { entries[position].number }

    /// The record; nil if it must be read again.
    func row(_ position: Int) -> RowView? {
        entries[position].place.map { stash.row(at: $0) }
    }

    /// Prefetches the record at a position that will be read soon, if there is one.
    func prefetch(_ position: Int) {
        if position < entries.count, let place = entries[position].place { stash.prefetch(place) }
    }

    mutating func append(
        _ number: ObjectNumber, _ row: RowView, _ order: RowOrder, _ reader: RecordReader
    ) throws {
        key.removeAll()
        try order.append(row, reader, to: &key)
        var head: UInt64 = 0
        for index in 0..<8 {
            head = head << 8 | UInt64(index < key.bytes.count ? key.bytes[index] : 0)
        }
        let start = rests.count
        if key.bytes.count > 8 { rests.append(contentsOf: key.bytes[8...]) }
        let isKept = keepsRows && stash.sizeInBytes < Self.stashBytesMax
        entries.append(
            Entry(
                head: head, rest: start..<rests.count, number: number,
                place: isKept ? stash.append(row) : nil))
    }

    mutating func sort() {
        let rests = rests
        entries.sort { left, right in
            if left.head != right.head { return left.head < right.head }
            let order = Self.order(rests.span, left.rest, right.rest)
            return order != 0 ? order < 0 : left.number < right.number
        }
    }

    private static func order(
        _ bytes: Span<UInt8>, _ left: Range<Int>, _ right: Range<Int>
    ) -> Int {
        let shared = min(left.count, right.count)
        for offset in 0..<shared {
            let (a, b) = (bytes[left.lowerBound + offset], bytes[right.lowerBound + offset])
            if a != b { return Int(a) - Int(b) }
        }
        return left.count - right.count
    }
}
