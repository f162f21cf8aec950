import PageStore

/// Records that are set aside, to be read in another order.
///
/// Records in an unchanging page are kept with their page, up to a limit of memory; other records
/// are copied. The page cache shares kept pages as long as it has room for them.
package final class RowStash {
    /// The position of a record that was set aside.
    package struct Place {
        /// The index of the page; -1 for the copies.
        fileprivate var page: Int32
        fileprivate var size: Int32
        fileprivate var byteOffset: Int
    }

    private static let pageBytesMax = 32 << 20

    private let copies = ByteBuffer(capacity: 4096)
    private var pages: [PageBuffer] = []
    private var pageBytes = 0
    /// The page that may contain the next records.
    private var source: PageBuffer?
    private var isSourceKept = false

    package init() {}

    package var sizeInBytes: Int { copies.count + pageBytes }

    /// Sets the unchanging page that may contain the next records.
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

    /// Prefetches a record that will be read soon.
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
