import PageStore

/// Records that are set aside, to be lent in another order.
///
/// Of records in a page that does not change it keeps the page, as long as those take no more than
/// a share of memory; of others it has copies. Pages that are kept are the cache's too as long as
/// it has room for them.
package final class RowStash {
    /// Where a record is.
    package struct Place {
        /// Which page; -1 for the copies.
        fileprivate var page: Int32
        fileprivate var size: Int32
        fileprivate var byteOffset: Int
    }

    private static let pageBytesMax = 32 << 20

    private let copies = ByteBuffer(capacity: 4096)
    private var pages: [PageBuffer] = []
    private var pageBytes = 0
    /// The page in which the records that come now may lie.
    private var source: PageBuffer?
    private var isSourceKept = false

    package init() {}

    package var sizeInBytes: Int { copies.count + pageBytes }

    /// Says that the records which come from here on may lie in a page, which does not change.
    package func take(from page: PageBuffer?) {
        source = page
        isSourceKept = false
    }

    /// Sets a record aside; returns its place.
    package func append(_ row: RowView) -> Place {
        if let source, let offset = row.bytes.offset(in: source.view), keepSource(source) {
            return Place(
                page: Int32(pages.count - 1), size: Int32(row.bytes.count), byteOffset: offset)
        }
        let start = copies.count
        copies.append(row.bytes)
        return Place(page: -1, size: Int32(row.bytes.count), byteOffset: start)
    }

    private func keepSource(_ source: PageBuffer) -> Bool {
        if isSourceKept { return true }
        guard pageBytes + source.count <= Self.pageBytesMax else { return false }
        pages.append(source)
        pageBytes += source.count
        isSourceKept = true
        return true
    }

    /// A record, valid until the next append.
    package func row(at place: Place) -> RowView { RowView(checked: bytes(at: place)) }

    /// Prefetches a record that will be lent soon.
    package func prefetch(_ place: Place) { bytes(at: place).prefetch() }

    private func bytes(at place: Place) -> ByteView {
        let all = place.page < 0 ? copies.view : pages[Int(place.page)].view
        return all.slice(from: place.byteOffset, count: Int(place.size))
    }

    package func removeAll() {
        copies.removeAll()
        pages = []
        pageBytes = 0
        take(from: nil)
    }
}
