/// A page image as LZ4 has it, for images of a log that are too many to be kept as they are.
struct PackedImage: Equatable {
    private let bytes: [UInt8]

    var count: Int { bytes.count }

    /// Nil for an image that would hardly be smaller.
    ///
    /// - Parameter block: an LZ4 block that was decompressed to the image, to be kept as it is.
    init?(_ image: PageBuffer, compressed block: ByteView? = nil) {
        if let block, block.count <= image.count - image.count / 8 {
            bytes = block.array()
            return
        }
        let buffer = ByteBuffer(capacity: image.count)
        guard Compression.appendCompressed(image.view, to: buffer) else { return nil }
        bytes = buffer.view.array()
    }

    func unpacked(_ id: PageID, _ pageSizeInBytes: Int) throws(StoreError) -> PageBuffer {
        let image = PageBuffer(id: id, count: pageSizeInBytes) { image in
            bytes.withView { Compression.decompress($0, into: image) }
        }
        guard let image else { throw .corrupt(id, "an image of the log cannot be unpacked") }
        return image
    }
}
