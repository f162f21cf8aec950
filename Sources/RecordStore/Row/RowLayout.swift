/// The layout of a record: spec/05-records.md.
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
    /// Set in a heap slot's length if the bytes are the name of a blob.
    package static let blobBit: UInt32 = 1 << 31
    package static let blobNameSize = 16
    /// Values of variable length must be shorter.
    package static let valueSizeMax = 1 << 30
    /// The most slots of a record; the offset of the last fits two bytes.
    package static let slotCountMax = 4000

    /// The byte offset of a slot.
    package static func byteOffset(slot: Int) -> Int {
        (2 + slot + slot / slotsPerGroup) * wordSize
    }

    /// The null bit of the slot at a byte offset: the offset of its bitmap word, and the bit.
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
