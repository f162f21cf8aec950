import CTrellis
import PageStore

/// The heap: values of variable length, after the slots, in the order in which they were set.
///
/// In a long block each added value is *led* by eight bytes with the offset of its slot and its
/// length, so that the space of replaced values can be found and reused: a value that grows a
/// thousand times takes no more than a few times its length.
extension RowBuffer {
    /// The capacity from which a block is long.
    static let longCapacity = 1 << 16
    /// The size of the head before a long block's content: it holds the end of values without
    /// leads.
    static let headSize = 16
    private static let leadSize = 8
    static let sizeMax = Int(Int32.max) - 64

    var isLong: Bool { capacity >= Self.longCapacity }

    /// In a long block: the end of the values without leads.
    var firstLed: Int {
        // Safety: a long block has a head of two words before its content.
        get { unsafe (base - Self.headSize).load(as: Int.self) }
        nonmutating set { unsafe (base - Self.headSize).storeBytes(of: newValue, as: Int.self) }
    }

    /// Whether a value was set that a record cannot hold. The property has kept its value, and the
    /// record must not be stored.
    package var isOverfull: Bool {
        view.load(UInt16.self, RowLayout.flags) & Self.overfullFlag != 0
    }
    /// Used only in memory.
    private static let overfullFlag: UInt16 = 1 << 15

    /// Copies a value into the heap, or marks the record as overfull.
    mutating func setHeap(
        _ bytes: UnsafeRawBufferPointer, isBlob: Bool, at byteOffset: Int
    ) {
        guard let start = room(for: bytes.count, at: byteOffset) else {
            let flags = view.load(UInt16.self, RowLayout.flags)
            return store(flags | Self.overfullFlag, RowLayout.flags)
        }
        setNull(false, at: byteOffset)
        if let source = bytes.baseAddress, bytes.count > 0 {
            // Safety: `start + count` is at most `size`, for which there is room.
            unsafe memmove(base + start, source, bytes.count)
        }
        store(UInt32(start), byteOffset)
        store(UInt32(bytes.count) | (isBlob ? RowLayout.blobBit : 0), byteOffset + 4)
    }

    /// Finds space for a value: that of the old one if it is long enough, or is the last and can
    /// grow; else at the end. Nil if the record cannot hold the value.
    private mutating func room(for count: Int, at byteOffset: Int) -> Int? {
        guard count < RowLayout.valueSizeMax else { return nil }
        let old = span(at: byteOffset)
        if old.start != 0 && old.count >= count { return old.start }
        if old.start != 0 && old.start + old.count == Int(size) {
            return grow(by: count - old.count, at: byteOffset)
        }
        guard reserve(count + Self.leadSize) else { return nil }
        if isLong {
            let lead = Int(size)
            size += Int32(Self.leadSize)
            store(UInt32(byteOffset), lead)
            store(UInt32(count), lead + 4)
        }
        defer { size += Int32(count) }
        return Int(size)
    }

    private func span(at byteOffset: Int) -> (start: Int, count: Int) {
        let start = Int(view.load(UInt32.self, byteOffset))
        return (start, Int(view.load(UInt32.self, byteOffset + 4) & ~RowLayout.blobBit))
    }

    /// Extends the last value in place. Returns its start.
    private mutating func grow(by additional: Int, at byteOffset: Int) -> Int? {
        guard reserve(additional) else { return nil }
        // `reserve` may have moved the value.
        let start = span(at: byteOffset).start
        size += Int32(additional)
        guard isLong else { return start }
        if start <= firstLed {
            firstLed = Int(size)
        } else {
            store(UInt32(Int(size) - start), start - 4)
        }
        return start
    }

    private mutating func reserve(_ additional: Int) -> Bool {
        if Int(size) + additional <= Int(capacity) { return true }
        if isLong && hasMuchUnused(for: additional) {
            putInOrder()
            if Int(size) + additional <= Int(capacity) { return true }
        }
        let needed = Int(size) + additional
        guard needed <= Self.sizeMax else { return false }
        let larger = min(max(needed + 32, Int(capacity) * 2), Self.sizeMax)
        let ledFrom = isLong ? firstLed : Int(size)
        let block = unsafe RowBuffer.block(larger)
        // Safety: the new block holds more than `size` bytes.
        unsafe memcpy(block, base, Int(size))
        deallocate()
        unsafe base = block
        capacity = Int32(larger)
        if isLong { firstLed = ledFrom }
        return true
    }

    /// Whether half of the led bytes belong to replaced values, or the row would exceed its maximum
    /// size.
    private func hasMuchUnused(for additional: Int) -> Bool {
        if Int(size) + additional > Self.sizeMax { return true }
        var used = 0
        forEachLed { start, count, isUsed in
            if isUsed { used += Self.leadSize + count }
        }
        return used * 2 <= Int(size) - firstLed
    }

    /// Removes led values that were replaced.
    private mutating func putInOrder() {
        var end = firstLed
        forEachLed { start, count, isUsed in
            guard isUsed else { return }
            let from = start - Self.leadSize
            if from != end {
                let slot = Int(view.load(UInt32.self, from))
                // Safety: both lie inside the block, the target before the source.
                unsafe memmove(base + end, base + from, Self.leadSize + count)
                store(UInt32(end + Self.leadSize), slot)
            }
            end += Self.leadSize + count
        }
        size = Int32(end)
    }

    /// Calls the body with the start and length of each led value, and whether its slot refers to
    /// it.
    private func forEachLed(_ body: (_ start: Int, _ count: Int, _ isUsed: Bool) -> Void) {
        var position = firstLed
        while position < Int(size) {
            let slot = Int(view.load(UInt32.self, position))
            let count = Int(view.load(UInt32.self, position + 4))
            let start = position + Self.leadSize
            body(start, count, Int(view.load(UInt32.self, slot)) == start)
            position = start + count
        }
    }
}
