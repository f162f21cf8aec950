/// Where a tree node keeps what: spec/04-tree.md.
///
/// One format serves leaves and branches. Behind the header stand the lower and the upper fence,
/// then, from the next multiple of 8 on, the slots in key order; the cells fill the page from its
/// end. Every byte between the last slot and the first cell, and every byte of a removed cell, is
/// zero.
package enum NodeLayout {
    package static let kind = 0
    /// 0 for a leaf; a branch is one above its children.
    package static let level = 1
    package static let slotCount = 2
    /// How many bytes every key of the node shares; they stand at the lower fence's start.
    package static let prefixSize = 4
    package static let lowerFenceSize = 6
    /// 0 when no key is too great for the node: no key lies below the empty one.
    package static let upperFenceSize = 8
    /// Bytes from the first cell to the end of the page.
    package static let heapSize = 10
    /// Bytes of the heap that belong to no cell.
    package static let garbageSize = 12
    package static let zero = 14
    /// The child for keys before the first slot's; 0 in a leaf.
    package static let firstChild = 16
    package static let fences = 24

    package static let slotSize = 8
    /// The four key bytes after the prefix as a big-endian number, padded with zeros.
    package static let slotHead = 0
    package static let slotCell = 4
    package static let slotKeySize = 6

    /// Size of the value, and a flag in the top bit: the value lies in pages of its own.
    package static let cellValueSize = 0
    package static let cellKey = 2
    package static let overflowFlag: UInt16 = 0x8000
    static func valueField(sizeInBytes: Int, isOverflow: Bool) -> UInt16 {
        UInt16(sizeInBytes) | (isOverflow ? overflowFlag : 0)
    }
    /// A value elsewhere: page id and size, 8 bytes each.
    package static let referenceSize = 16

    /// Slots begin on a multiple of 8, so that none crosses a line of the processor's cache.
    @inline(__always)
    static func slotsStart(fencesSize: Int) -> Int { (fences &+ fencesSize &+ 7) & ~7 }

    /// The size of an entry: its slot, and its cell without the prefix.
    @inline(__always)
    static func entrySize(keySize: Int, valueSize: Int) -> Int {
        slotSize + cellKey + keySize + valueSize
    }
}
