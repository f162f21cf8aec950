import CTrellis

/// The address of an image in memory, to prefetch its lines. It retains nothing, because counting a
/// reference would wait for the very line that is prefetched: once the image is gone, other lines
/// are prefetched, and nothing is read.
///
/// Most lookups find their pages in memory, but few of their lines in the processor's cache: all
/// lines that will certainly be read are prefetched at once, not one after the other.
struct ImageAddress {
    /// The object that counts the references, the header and the slots of a leaf of 70 records.
    private static let headLineCount = 10
    /// The lines of a page's ``ColumnCache`` that a scan reads.
    private static let columnsLineCount = 4
    /// The count of references lies within so many bytes before the page's.
    private static let countOffset = -40

    private let bytes: UInt

    init(_ page: PageBuffer) {
        // Safety: the address is never read through.
        bytes = unsafe UInt(bitPattern: page.base)
    }

    fileprivate init(_ part: ByteView) {
        // Safety: the address is never read through.
        bytes = unsafe UInt(bitPattern: part.base)
    }

    /// Prefetches the first lines that a lookup reads of a node: the count, its header and first
    /// slots.
    @inline(__always)
    func prefetchNode() { prefetch(from: Self.countOffset, lineCount: 3) }

    /// Prefetches the lines in which an entry may lie.
    @inline(__always)
    func prefetch(_ prefetchHint: CellPrefetchHint) {
        prefetch(from: prefetchHint.slotOffset, lineCount: 1)
        prefetch(from: prefetchHint.cellOffset, lineCount: prefetchHint.cellLineCount)
    }

    /// Prefetches the lines that a scan reads first of a leaf: all but its cells.
    func prefetchLeaf(pageSizeInBytes: Int) {
        prefetch(from: Self.countOffset, lineCount: Self.headLineCount)
        prefetch(from: pageSizeInBytes, lineCount: Self.columnsLineCount)
    }

    /// Prefetches the lines that are read of most records: those of the first hundred bytes.
    @inline(__always)
    func prefetchStart(ofCell byteOffset: Int) {
        prefetch(from: byteOffset, lineCount: 3, step: 48)
    }

    /// Prefetches lines of the page, from the line of an offset on.
    @inline(__always)
    func prefetch(from byteOffset: Int, lineCount: Int, step: Int = 64) {
        for line in 0..<lineCount {
            let address = bytes &+ UInt(bitPattern: byteOffset &+ step &* line)
            // Safety: nothing is read here, so that any address does.
            unsafe trellis_prefetch(UnsafeRawPointer(bitPattern: address))
        }
    }
}

extension ByteView {
    /// Prefetches bytes that will be read soon, the first 384 at most.
    package func prefetch() {
        ImageAddress(self).prefetch(from: 0, lineCount: (min(count, 384) &+ 63) / 64)
    }
}
