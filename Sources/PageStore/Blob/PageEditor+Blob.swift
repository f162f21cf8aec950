/// Writing blobs: values too large for a record.
extension PageEditor {
    /// Stores bytes as a blob. Up to 64 KiB they become a run of overflow pages, more become
    /// chunks of up to 1 MiB that are written straight to free space.
    package final func createBlob(_ bytes: ByteView) throws(StoreError) -> BlobID {
        let shape = BlobShape(
            sizeInBytes: UInt64(bytes.count), pageSizeInBytes: pageSizeInBytes)
        guard shape.isChunked else {
            return try link(bytes, kind: .overflow, sizeInBytes: shape.sizeInBytes)
        }
        let list = ByteBuffer(capacity: Int(shape.chunkCount) * BlobLayout.listEntrySize)
        var rest = bytes
        for number in 0..<shape.chunkCount {
            let size = shape.chunkPayloadSize(number)
            list.appendUInt64(try writeChunk(rest.slice(from: 0, count: size)).rawValue)
            rest = rest.dropFirst(size)
        }
        return try link(list.view, kind: .blobList, sizeInBytes: shape.sizeInBytes)
    }

    /// Stores bytes as a blob.
    package final func createBlob(_ bytes: Span<UInt8>) throws(StoreError) -> BlobID {
        try bytes.withView { bytes throws(StoreError) -> BlobID in try createBlob(bytes) }
    }

    /// Stores another store's blob, a chunk at a time. Nil where it cannot be read; nothing is
    /// allocated then.
    package final func copyBlob(_ blob: BlobID, of pages: PageView) throws(StoreError) -> BlobID? {
        let shape = BlobShape(sizeInBytes: blob.sizeInBytes, pageSizeInBytes: pageSizeInBytes)
        guard shape.isChunked else {
            guard let bytes = try? pages.readBlob(blob) else { return nil }
            return try createBlob(bytes.span)
        }
        // Grows with what is read: the size is only what the blob's name says.
        let list = ByteBuffer()
        var failure: StoreError?
        do throws(StoreError) {
            try pages.forEachPiece(of: blob) { piece throws(StoreError) in
                do throws(StoreError) {
                    list.appendUInt64(try writeChunk(piece).rawValue)
                } catch {
                    failure = error
                    throw error
                }
            }
        } catch {
            if let failure { throw failure }
            for offset in stride(from: 0, to: list.count, by: BlobLayout.listEntrySize) {
                try freePage(PageID(list.view.uint64(at: offset)))
            }
            return nil
        }
        return try link(list.view, kind: .blobList, sizeInBytes: shape.sizeInBytes)
    }

    private final func writeChunk(_ payload: ByteView) throws(StoreError) -> PageID {
        let image = ByteBuffer(capacity: BlobLayout.payload + payload.count)
        image.appendUInt8(PageKind.blobChunk.rawValue)
        image.appendZeros(BlobLayout.payloadSize - 1)
        image.appendUInt32(UInt32(payload.count))
        image.appendUInt64(0)
        image.append(payload)
        return try allocateChunk(image.view)
    }

    /// Fills pages with a payload, each naming the next.
    private final func link(
        _ payload: ByteView, kind: PageKind, sizeInBytes: UInt64
    ) throws(StoreError) -> BlobID {
        var rest = payload
        let first = try allocatePage(kind)
        first.setUInt8(BlobLayout.flagFirst, at: BlobLayout.flags)
        var page = first
        let entrySize = kind == .blobList ? BlobLayout.listEntrySize : 1
        let capacity = (pageSizeInBytes - BlobLayout.payload) / entrySize * entrySize
        while true {
            let size = min(rest.count, capacity)
            page.setUInt32(UInt32(size), at: BlobLayout.payloadSize)
            page.copy(rest.slice(from: 0, count: size), to: BlobLayout.payload)
            rest = rest.dropFirst(size)
            guard !rest.isEmpty else { return BlobID(page: first.id, sizeInBytes: sizeInBytes) }
            let next = try allocatePage(kind)
            page.setUInt64(next.id.rawValue, at: BlobLayout.next)
            page = next
        }
    }

    /// Frees every page of a blob.
    package final func deleteBlob(_ blob: BlobID) throws(StoreError) {
        // A page that is named twice has been freed by then, and reading it throws.
        var pages = BlobPages(blob, in: self)
        while let page = try pages.next() {
            if pages.shape.isChunked {
                for chunk in try pages.nextChunks(of: page) { try freePage(chunk) }
            }
            try freePage(page.id)
        }
    }
}
