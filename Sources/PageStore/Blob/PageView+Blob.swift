/// Reading blobs.
extension PageView {
    /// All bytes of a blob.
    package final func readBlob(_ blob: BlobID) throws(StoreError) -> [UInt8] {
        let buffer = ByteBuffer()
        try readBlob(blob, into: buffer)
        return buffer.view.array()
    }

    /// The bytes of a range, which must lie inside the blob. Reads only the pages that hold them
    /// and those of the list, or of the run, before them.
    package final func readBlob(
        _ blob: BlobID, _ range: Range<UInt64>
    ) throws(StoreError) -> [UInt8] {
        precondition(range.upperBound <= blob.sizeInBytes, "a range ends behind its blob")
        let buffer = ByteBuffer()
        try readBlob(blob, range, into: buffer)
        return buffer.view.array()
    }

    final func readBlob(_ blob: BlobID, into buffer: ByteBuffer) throws(StoreError) {
        try readBlob(blob, 0..<blob.sizeInBytes, into: buffer)
    }

    private final func readBlob(
        _ blob: BlobID, _ range: Range<UInt64>, into buffer: ByteBuffer
    ) throws(StoreError) {
        try visitBlob(blob, range) { buffer.append($0) }
    }

    /// Lends the bytes of a blob a page at a time: a small file can hold a large one, whose bytes
    /// compress well.
    package final func forEachPiece(
        of blob: BlobID, _ body: (ByteView) throws(StoreError) -> Void
    ) throws(StoreError) {
        try visitBlob(blob, 0..<blob.sizeInBytes, body)
    }

    private final func visitBlob(
        _ blob: BlobID, _ range: Range<UInt64>, _ body: (ByteView) throws(StoreError) -> Void
    ) throws(StoreError) {
        var pages = BlobPages(blob, in: self)
        let shape = pages.shape
        var position: UInt64 = 0
        var chunkNumber: UInt64 = 0
        func take(_ payload: ByteView) throws(StoreError) {
            let end = position + UInt64(payload.count)
            let from = max(range.lowerBound, position)
            let to = min(range.upperBound, end)
            if from < to {
                try body(payload.slice(from: Int(from - position), count: Int(to - from)))
            }
            position = end
        }
        while position < range.upperBound, let page = try pages.next() {
            guard shape.isChunked else {
                try take(BlobPages.payload(of: page))
                continue
            }
            for chunk in try pages.nextChunks(of: page) where position < range.upperBound {
                let size = shape.chunkPayloadSize(chunkNumber)
                chunkNumber += 1
                if position + UInt64(size) <= range.lowerBound {
                    position += UInt64(size)
                } else {
                    let image = try BlobPages.checkedChunk(
                        page: self.page(chunk), payloadSize: size)
                    try take(BlobPages.payload(of: image))
                }
            }
        }
    }
}

/// The linked pages of a blob, first to last, each checked against the blob's size. No page may
/// occur twice: a small file could claim a blob larger than any memory otherwise.
struct BlobPages {
    let shape: BlobShape
    private let view: PageView
    private var nextID: PageID
    private var number: UInt64 = 0
    private var seen: Set<PageID> = []

    init(_ blob: BlobID, in view: PageView) {
        self.view = view
        self.shape = BlobShape(
            sizeInBytes: blob.sizeInBytes, pageSizeInBytes: view.pageSizeInBytes)
        self.nextID = blob.page
    }

    mutating func next() throws(StoreError) -> PageBuffer? {
        guard number < shape.linkedPageCount else { return nil }
        try see(nextID)
        let page = try view.page(nextID)
        let kind = shape.isChunked ? PageKind.blobList : .overflow
        guard page[BlobLayout.kind] == kind.rawValue else {
            throw .corrupt(nextID, "the page does not belong to a blob of this size")
        }
        let isFirst = page[BlobLayout.flags] & BlobLayout.flagFirst != 0
        guard isFirst == (number == 0) else {
            throw .corrupt(
                nextID, "the page stands at another place of its blob",
                byteOffset: UInt64(BlobLayout.flags))
        }
        guard Int(page.uint32(at: BlobLayout.payloadSize)) == shape.linkedPayloadSize(number)
        else {
            throw .corrupt(
                nextID, "the page holds more or less of its blob than the blob's size says",
                byteOffset: UInt64(BlobLayout.payloadSize))
        }
        let following = page.uint64(at: BlobLayout.next)
        number += 1
        guard (following == 0) == (number == shape.linkedPageCount) else {
            throw .corrupt(
                nextID, "the blob has more or fewer pages than its size says",
                byteOffset: UInt64(BlobLayout.next))
        }
        nextID = PageID(following)
        return page
    }

    static func payload(of page: PageBuffer) -> ByteView {
        page.view.slice(
            from: BlobLayout.payload, count: Int(page.uint32(at: BlobLayout.payloadSize)))
    }

    private mutating func see(_ id: PageID) throws(StoreError) {
        guard seen.insert(id).inserted else {
            throw .corrupt(id, "the page occurs twice in its blob")
        }
    }

    /// The chunks that a list page names.
    mutating func nextChunks(of list: PageBuffer) throws(StoreError) -> [PageID] {
        let chunks = Self.chunks(of: list)
        for chunk in chunks { try see(chunk) }
        return chunks
    }

    static func chunks(of list: PageBuffer) -> [PageID] {
        let payload = payload(of: list)
        return (0..<payload.count / BlobLayout.listEntrySize).map {
            PageID(payload.uint64(at: $0 * BlobLayout.listEntrySize))
        }
    }

    static func checkedChunk(
        page: PageBuffer, payloadSize: Int
    ) throws(StoreError) -> PageBuffer {
        guard page[BlobLayout.kind] == PageKind.blobChunk.rawValue,
            Int(page.uint32(at: BlobLayout.payloadSize)) == payloadSize
        else { throw .corrupt(page.id, "the page is not the chunk that its blob's list says") }
        return page
    }
}
