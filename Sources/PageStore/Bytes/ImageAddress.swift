import CPrefetch

/// Where an image lies in memory, to ask for its lines before somebody needs them. It keeps nothing
/// alive and counts no reference, which would wait for the very line that is asked for: once the
/// image is gone, the lines of something else are asked for, and nothing is read.
struct ImageAddress {
    /// The object that counts the references, the header and the slots of a leaf of 70 records.
    private static let headLineCount = 10
    /// What a scan reads of a page's ``KeptLanes``.
    private static let lanesLineCount = 4

    private let object: UInt
    private let bytes: UInt

    init(_ page: PageBuffer) {
        object = UInt(bitPattern: ObjectIdentifier(page.block))
        bytes = unsafe UInt(bitPattern: page.base)
    }

    /// Asks memory for what a scan reads first of a leaf: all but its cells.
    func prefetchLeaf(pageSizeInBytes: Int) {
        prefetch(object, lineCount: Self.headLineCount)
        prefetch(from: pageSizeInBytes, lineCount: Self.lanesLineCount)
    }

    /// Asks memory for lines of the page, the first of them that of an offset.
    @inline(__always)
    func prefetch(from byteOffset: Int, lineCount: Int) {
        prefetch(bytes &+ UInt(bitPattern: byteOffset), lineCount: lineCount)
    }

    @inline(__always)
    private func prefetch(_ address: UInt, lineCount: Int) {
        for line in 0..<UInt(bitPattern: lineCount) {
            // Safety: nothing is read here, so that any address does.
            unsafe trellis_prefetch(UnsafeRawPointer(bitPattern: address &+ line &* 64))
        }
    }
}
