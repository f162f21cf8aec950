/// Where a record keeps what: spec/05-records.md.
///
/// A record is eight-byte words: the header, then groups of a null-bitmap word and up to 64 slots,
/// then the heap.
package enum RowLayout {
    package static let entityTag = 0
    package static let layoutVersion = 2
    package static let slotCount = 4
    package static let flags = 6
    package static let headerSize = 8

    package static let wordSize = 8
    package static let slotsPerGroup = 64
    package static let wordsPerGroup = 65
    /// In a heap slot's length: the bytes are the name of a blob.
    package static let blobBit: UInt32 = 1 << 31
    package static let blobNameSize = 16
    /// A value of variable length is shorter.
    package static let valueSizeMax = 1 << 30
    /// Slots that one record can have; the offset of the last fits two bytes.
    package static let slotCountMax = 4000

    /// The byte of a slot.
    package static func byteOffset(slot: Int) -> Int {
        (2 + slot + slot / slotsPerGroup) * wordSize
    }

    /// Where it says whether the property at a slot's byte is nil: the bitmap's byte, and the bit.
    static func nullBit(byteOffset: Int) -> (wordOffset: Int, bit: UInt64) {
        let place = byteOffset / wordSize - 1
        let group = place / wordsPerGroup
        return ((1 + group * wordsPerGroup) * wordSize, UInt64(place % wordsPerGroup - 1))
    }

    /// The bytes of header, bitmaps and slots.
    package static func fixedSize(slotCount: Int) -> Int {
        let groups = (slotCount + slotsPerGroup - 1) / slotsPerGroup
        return (1 + groups + slotCount) * wordSize
    }
}
