/// Writes pages of a transaction straight to their extents, before its commit names them.
struct OutOfLineWriter {
    private let parts: StoreParts
    private let commit: UInt64

    init(_ parts: StoreParts, commit: UInt64) {
        self.parts = parts
        self.commit = commit
    }

    /// Writes a chunk.
    func write(_ bytes: ByteView, id: PageID) throws(StoreError) -> ExtentAddress {
        var output = ExtentWriter(parts.context, parts.space, isRecent: true)
        do throws(StoreError) {
            let address = try output.append(
                bytes, id: id.rawValue, kind: .page, generation: parts.pager.generationNumber,
                commit: commit)
            try output.flush()
            return address
        } catch {
            output.abandon()
            if error.isForLackOfSpace { parts.checkpointer.noteLackOfSpace() }
            throw parts.context.failedBeforeCommit(error)
        }
    }

    /// Writes pages that memory has no room for; the cache keeps those that the transaction may
    /// read again soon.
    func write(
        _ images: [PageBuffer], isKept: Bool = true
    ) throws(StoreError) -> [(PageID, ExtentAddress)] {
        var output = ExtentWriter(parts.context, parts.space, isRecent: true)
        do throws(StoreError) {
            let written = try output.append(
                images, generation: parts.pager.generationNumber, commit: commit)
            try output.flush()
            if isKept { parts.pager.cache(written) }
            return written.map { ($0.image.id, $0.address) }
        } catch {
            output.abandon()
            if error.isForLackOfSpace { parts.checkpointer.noteLackOfSpace() }
            throw parts.context.failedBeforeCommit(error)
        }
    }
}

extension ExtentWriter {
    /// Queues the images of pages.
    mutating func append(
        _ images: [PageBuffer], generation: UInt64, commit: UInt64
    ) throws(StoreError) -> [(image: PageBuffer, address: ExtentAddress)] {
        var written: [(image: PageBuffer, address: ExtentAddress)] = []
        for image in images {
            let address = try append(
                image.view, id: image.id.rawValue, kind: .page, generation: generation,
                commit: commit)
            written.append((image: image, address: address))
        }
        return written
    }
}
