/// The name of a blob: its first page and its size. Its owner keeps both.
package struct BlobID: Hashable, Sendable {
    package let page: PageID
    package let sizeInBytes: UInt64

    package init(page: PageID, sizeInBytes: UInt64) {
        self.page = page
        self.sizeInBytes = sizeInBytes
    }

    /// Reads the 16 bytes that `encoded()` made.
    package init(_ bytes: ByteView) {
        page = PageID(bytes.uint64(at: 0))
        sizeInBytes = bytes.uint64(at: 8)
    }

    /// Page id and size, 8 bytes each, little-endian.
    package func encoded() -> [UInt8] {
        page.encoded() + PageID(sizeInBytes).encoded()
    }
}

/// Where overflow pages, blob lists and chunks keep what: spec/04-tree.md.
package enum BlobLayout {
    package static let kind = 0
    /// 1 in the first page of a blob, else 0.
    package static let flags = 1
    package static let zero = 2
    package static let payloadSize = 4
    /// The next overflow or list page, 0 in the last one and in a chunk.
    package static let next = 8
    package static let payload = 16

    package static let flagFirst: UInt8 = 1
    /// A blob up to this size is a run of overflow pages; above, a list names its chunks.
    package static let overflowSizeMax: UInt64 = 65_536
    package static let chunkPayloadSize = Limits.chunkSizeInBytesMax - payload
    package static let listEntrySize = 8

    /// How many chunks one list page names.
    package static func listCapacity(pageSizeInBytes: Int) -> Int {
        (pageSizeInBytes - payload) / listEntrySize
    }
}

/// The shape that a blob of one size has.
struct BlobShape {
    let sizeInBytes: UInt64
    let pageSizeInBytes: Int

    var isChunked: Bool { sizeInBytes > BlobLayout.overflowSizeMax }

    var chunkCount: UInt64 {
        let payload = UInt64(BlobLayout.chunkPayloadSize)
        return sizeInBytes / payload + (sizeInBytes % payload == 0 ? 0 : 1)
    }

    /// Overflow or list pages that follow one another. A blob of no bytes has one.
    var linkedPageCount: UInt64 {
        let capacity = UInt64(linkedCapacity)
        let units = isChunked ? chunkCount : sizeInBytes
        return max(1, units / capacity + (units % capacity == 0 ? 0 : 1))
    }

    /// The capacity of a linked page: bytes of the blob, or names of its chunks.
    var linkedCapacity: Int {
        isChunked
            ? BlobLayout.listCapacity(pageSizeInBytes: pageSizeInBytes)
            : pageSizeInBytes - BlobLayout.payload
    }

    /// How many payload bytes the linked page of a number has.
    func linkedPayloadSize(_ number: UInt64) -> Int {
        let units = isChunked ? chunkCount : sizeInBytes
        let before = number * UInt64(linkedCapacity)
        let count = Int(min(UInt64(linkedCapacity), units - before))
        return isChunked ? count * BlobLayout.listEntrySize : count
    }

    func chunkPayloadSize(_ number: UInt64) -> Int {
        let before = number * UInt64(BlobLayout.chunkPayloadSize)
        return Int(min(UInt64(BlobLayout.chunkPayloadSize), sizeInBytes - before))
    }
}
