/// Finding out that a LINK was lost: spec/03-wal.md, recovery, read part.
extension Engine {
    /// How many places are looked at: a gigabyte of free space.
    private static var placesMax: Int { 1 << 18 }

    /// Throws `corrupt` when a segment of this number holds a group. A LINK is durable before
    /// anything is written to the segment that it names, so the log did not end where the reader
    /// stopped: its LINK has been damaged.
    ///
    /// Looks only where the log may have gone on, in what the generation calls free; where the
    /// allocation state cannot be read there is nothing to look at.
    func searchUnlinkedSegment(number: UInt64) throws(StoreError) {
        guard let saved = try? savedSpace(superblock.allocationRoot),
            saved.pendingConflict == nil
        else { return }
        var free = saved.map
        let block = UInt64(Limits.blockSizeInBytes)
        let perBlock = max(1, block / UInt64(options.unitSizeInBytes))
        free.release(previous: .max, held: [])
        let places = (2..<max(2, try file.size() / block)).lazy
            .filter { !free.isUsed($0 * perBlock) }.prefix(Self.placesMax)
        let buffer = ReadBuffer(count: FrameLayout.groupSize)
        for place in places {
            let byteOffset = place * block
            guard try file.read(into: buffer, at: byteOffset) == buffer.count,
                isFirstGroup(buffer.view, ofSegment: number)
            else { continue }
            throw .corrupt(
                nil, "the log goes on in a segment that no LINK leads to: a LINK is damaged",
                byteOffset: byteOffset)
        }
    }

    /// Whether these bytes are the first group of the segment, as the hash chain says.
    private func isFirstGroup(_ bytes: ByteView, ofSegment number: UInt64) -> Bool {
        let salt = StoreUUID(
            low: bytes.uint64(at: FrameLayout.groupSalt),
            high: bytes.uint64(at: FrameLayout.groupSalt + 8))
        let segment = LogSegment(byteOffset: 0, sizeInBytes: 0, number: number, salt: salt)
        let frame = LogReader.frame(bytes, at: 0, chain: segment.chainStart(uuid))
        return frame?.type == .group
    }
}
