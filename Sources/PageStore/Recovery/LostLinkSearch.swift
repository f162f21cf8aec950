/// Finding out that a LINK was lost: spec/03-wal.md, recovery, read part.
struct LostLinkSearch {
    /// How many blocks are looked at: a gigabyte of free space.
    private static let blockCountMax = 1 << 18

    private let context: StoreContext
    private let superblock: Superblock

    init(_ context: StoreContext, _ superblock: Superblock) {
        self.context = context
        self.superblock = superblock
    }

    /// Throws `corrupt` when a segment of this number holds a group. A LINK is durable before
    /// anything is written to the segment that it names, so the log did not end where the reader
    /// stopped: its LINK has been damaged.
    ///
    /// Looks only where the log may have gone on, in what the generation calls free; where the
    /// allocation state cannot be read there is nothing to look at.
    func run(number segmentNumber: UInt64) throws(StoreError) {
        guard let saved = try? AllocationReader(context).read(superblock),
            saved.pendingConflict == nil
        else { return }
        var free = saved.map
        let block = UInt64(Limits.blockSizeInBytes)
        let perBlock = max(1, block / UInt64(context.geometry.unitSizeInBytes))
        free.release(previous: .max, held: [])
        let end = try context.file.size() / block
        let buffer = ReadBuffer(count: FrameLayout.groupSize)
        var (number, data, count) = (UInt64(1), UInt64(0), 0)
        while count < Self.blockCountMax {
            number += 1
            // Nothing was ever written in a hole.
            if number >= data { data = context.file.nextData(from: number * block) / block }
            number = max(number, data)
            guard number < end else { return }
            guard !free.isUsed(number * perBlock) else { continue }
            count += 1
            let byteOffset = number * block
            guard try context.file.read(into: buffer, at: byteOffset) == buffer.count,
                isFirstGroup(buffer.view, ofSegment: segmentNumber)
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
        let frame = LogReader.frame(bytes, at: 0, chain: segment.chainStart(context.uuid))
        return frame?.type == .group
    }
}
