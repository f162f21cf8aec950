/// Where an entry may lie in a leaf that no lookup has read yet.
///
/// Keys of eight bytes that have few gaps and come in order: the distance between two separators
/// says how many entries the leaf has between them, which of them is sought, and about where its
/// cell is, for cells are stacked from the page's end. Memory is asked for all that at once, where
/// the header, the slot and the cell would be waited for one after the other. A hint that is
/// wrong costs some lines that are not read.
struct CellPrefetchHint {
    /// More entries than a leaf has: the keys have gaps, or are no numbers.
    private static let entryCountMax = 1 << 11
    /// The most that is prefetched of a record, as in ``NodeView/prefetchCell(_:)``.
    private static let cellSizeMax = 320

    let slotOffset: Int
    let cellOffset: Int
    let cellLineCount: Int

    /// - Parameters:
    ///   - distance: how far the key is above the leaf's lower fence.
    ///   - count: how far the upper fence is.
    ///   - sharedSize: how many bytes both fences begin with.
    fileprivate init?(
        distance: UInt64, count: UInt64, fencesSize: Int, sharedSize: Int, pageSizeInBytes: Int
    ) {
        guard count <= CellPrefetchHint.entryCountMax, distance < count else { return nil }
        let count = Int(count)
        let position = Int(distance)
        let slotsStart = NodeLayout.slotsStart(fencesSize: fencesSize)
        // A leaf is filled before it has an upper fence: its keys share bytes only then.
        let entryRest = NodeLayout.slotSize &+ sharedSize
        let room = pageSizeInBytes &- slotsStart &- count &* entryRest
        guard room > 0 else { return nil }
        let size = room / count
        slotOffset = slotsStart &+ position &* NodeLayout.slotSize
        // Half an entry more had no room, on the average.
        let behind = (position &+ 1) &* (room &- size / 2) / count
        // Entries differ in size: two lines before and two after.
        cellOffset = pageSizeInBytes &- behind &- 128
        cellLineCount = (min(size, CellPrefetchHint.cellSizeMax) &+ 63) / 64 &+ 4
    }
}

extension NodeView {
    /// Where a key of eight bytes may lie in the child of a branch that covers it.
    @inline(__always)
    func prefetchHint(for key: ByteView, inChild index: Int) -> CellPrefetchHint? {
        guard key.count == 8, level == 1 else { return nil }
        let lower = index >= 0 ? suffix(index) : lowerFence.dropFirst(prefixSize)
        let upper =
            index &+ 1 < slotCount ? suffix(index &+ 1) : upperFence.dropFirst(prefixSize)
        guard lower.count > 0, upper.count > 0 else { return nil }
        let number = key.dropFirst(prefixSize).leadingNumber
        let first = lower.leadingNumber
        let shift = UInt64(8 &* prefixSize)
        let end = upper.leadingNumber
        return CellPrefetchHint(
            distance: (number &- first) >> shift, count: (end &- first) >> shift,
            fencesSize: 2 &* prefixSize &+ lower.count &+ upper.count,
            sharedSize: prefixSize &+ (first ^ end).leadingZeroBitCount / 8,
            pageSizeInBytes: page.count)
    }
}

extension ByteView {
    /// The first eight bytes as a big-endian number; zeros where there are fewer.
    @inline(__always)
    var leadingNumber: UInt64 {
        if count >= 8 { return bigEndianUInt64(at: 0) }
        if count >= 4 {
            // The second word overlaps the first: the bytes of both are shifted out.
            let high = UInt64(uint32(at: 0).byteSwapped) << 32
            if count == 4 { return high }
            let last = UInt64(uint32(at: count &- 4).byteSwapped)
            return high | (last << UInt64(8 &* (8 &- count))) & 0xFFFF_FFFF
        }
        var number: UInt64 = 0
        for index in 0..<count { number |= UInt64(self[index]) << UInt64(56 &- 8 &* index) }
        return number
    }
}
