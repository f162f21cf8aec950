/// The structural validation of a page, when it is read from the file or from the log.
///
/// A valid page can be searched, changed and split without further checks inside the page, even
/// when wrong bytes have a right hash. Fences and levels, which relate pages to each other, are
/// compared on the way from one to the next.
package enum PageCheck {
    /// Throws `corrupt`, with the byte of the page, when the bytes cannot be what their kind says.
    /// Children must be below `pageCount`.
    package static func validate(
        _ page: PageBuffer, pageCount: UInt64 = Limits.pageCountMax
    ) throws(StoreError) {
        guard page.count > 0, let kind = PageKind(rawValue: page[0]) else {
            throw .corrupt(
                page.id, "the page's kind is not in format version 1", byteOffset: 0)
        }
        switch kind {
        case .treeLeaf, .treeBranch:
            try NodeCheck(page: page, isLeaf: kind == .treeLeaf, pageCount: pageCount).run()
        case .overflow, .blobList, .blobChunk:
            try validateBlobPage(page, kind, pageCount: pageCount)
        }
    }

    private static func validateBlobPage(
        _ page: PageBuffer, _ kind: PageKind, pageCount: UInt64
    ) throws(StoreError) {
        func require(
            _ condition: Bool, _ message: String, _ byteOffset: Int
        ) throws(StoreError) {
            if !condition {
                throw .corrupt(page.id, message, byteOffset: UInt64(byteOffset))
            }
        }
        try require(page.count >= BlobLayout.payload, "the page is too short for its header", 0)
        let flags = page[BlobLayout.flags]
        try require(
            flags == 0 || (flags == BlobLayout.flagFirst && kind != .blobChunk),
            "the page has an unknown flag", BlobLayout.flags)
        try require(
            page.uint16(at: BlobLayout.zero) == 0, "a field that must be zero is not",
            BlobLayout.zero)
        let size = Int(page.uint32(at: BlobLayout.payloadSize))
        let room = page.count - BlobLayout.payload
        try require(
            kind == .blobChunk ? size == room : size <= room,
            "the payload is longer than the page", BlobLayout.payloadSize)
        let next = page.uint64(at: BlobLayout.next)
        try require(
            next < pageCount && next != page.id.rawValue && (kind != .blobChunk || next == 0),
            "the next page is impossible", BlobLayout.next)
        guard kind == .blobList else { return }
        try require(
            size % BlobLayout.listEntrySize == 0, "the list ends inside an entry",
            BlobLayout.payloadSize)
        for offset in stride(
            from: BlobLayout.payload, to: BlobLayout.payload + size,
            by: BlobLayout.listEntrySize)
        {
            let chunk = page.uint64(at: offset)
            try require(
                chunk > 0 && chunk < pageCount && chunk != page.id.rawValue,
                "the list names an impossible chunk", offset)
        }
    }
}
