import PageStore

/// Copies of records, one behind the other, for as long as whoever made it likes.
package final class RowStash {
    private let bytes = ByteBuffer(capacity: 4096)

    package init() {}

    package var sizeInBytes: Int { bytes.count }

    /// Copies a record; returns its place.
    package func append(_ row: RowView) -> Int {
        let place = bytes.count
        bytes.appendUInt64(UInt64(row.bytes.count))
        bytes.append(row.bytes)
        return place
    }

    /// A copy, valid until the next append.
    package func row(at place: Int) -> RowView {
        let all = bytes.view
        return RowView(
            checked: all.slice(from: place + 8, count: Int(all.uint64(at: place))))
    }

    package func removeAll() { bytes.removeAll() }
}
