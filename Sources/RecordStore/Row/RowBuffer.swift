import CTrellis
import PageStore

/// A record that its owner may change: one block of memory, in the format of the file.
///
/// The owner frees it with ``deallocate()``; copies of this struct share the block. Numbers are
/// stored in place; new text goes to the end of the block, which is put in order when half of its
/// heap is unused.
@safe @frozen @usableFromInline
package struct RowBuffer {
    @usableFromInline var base: UnsafeMutableRawPointer
    @usableFromInline var size: Int32
    @usableFromInline var capacity: Int32

    package init(copying bytes: ByteView, spare: Int = 0) {
        size = Int32(bytes.count)
        capacity = Int32(bytes.count + spare)
        unsafe base = RowBuffer.block(max(Int(capacity), 16))
        // Safety: the block holds at least `count` bytes.
        unsafe memcpy(base, bytes.base, bytes.count)
    }

    package init(copying row: RowView, spare: Int = 0) {
        self.init(copying: row.bytes, spare: spare)
    }

    /// A block without content, for an object that has loaded nothing yet.
    package init() {
        // Safety: no byte is read or freed through the address of a block without content.
        unsafe base = UnsafeMutableRawPointer(bitPattern: 8)!
        size = 0
        capacity = 0
    }

    @inlinable @inline(__always)
    package var isEmpty: Bool { size == 0 }

    /// What the block takes, the system's part included.
    package var sizeInMemory: Int { capacity > 0 || size > 0 ? max(Int(capacity), 16) + 16 : 0 }

    /// A good size for the block of the next row of its kind: a little less each time, and much
    /// less after a row that took less than half, so that one long row makes few others long.
    package var sizeOfNext: Int {
        let (size, capacity) = (Int(size), Int(capacity))
        let isSpare = capacity / 2 > size
        return min(isSpare ? (size + capacity) / 2 : max(size, capacity - capacity / 64), 4096)
    }

    package func deallocate() {
        // Safety: the block is `malloc`'s, and by the rule above its owner frees it once.
        if capacity > 0 || size > 0 { unsafe free(base) }
    }

    /// From the system itself: Swift's allocation for bytes asks it for an alignment, which takes
    /// longer and gives the same.
    private static func block(_ byteCount: Int) -> UnsafeMutableRawPointer {
        // Safety: the address is only compared with none; who asked uses no more than the count.
        guard let block = unsafe malloc(byteCount) else {
            preconditionFailure("the system has no memory left")
        }
        return unsafe block
    }

    @inlinable @inline(__always)
    package var view: RowView {
        // Safety: the block holds `size` bytes of a record that this type keeps in order.
        unsafe RowView(unsafeBase: UnsafeRawPointer(base), size: Int(size))
    }

    @inlinable @inline(__always)
    func store<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number, _ byteOffset: Int) {
        precondition(
            byteOffset >= 0 && byteOffset <= Int(size) &- MemoryLayout<Number>.size,
            "a property lies outside its record")
        // Safety: the line above proves that every byte is inside.
        unsafe base.storeBytes(
            of: number.littleEndian, toByteOffset: byteOffset, as: Number.self)
    }

    @inlinable @inline(__always)
    package func setNull(_ isNull: Bool, at byteOffset: Int) {
        let word = byteOffset &>> 3
        // The first group holds nearly every property of nearly every class.
        let isFirst = word < 66
        let bit = isFirst ? word &- 2 : (word &- 1) % 65 &- 1
        let place = isFirst ? 8 : (1 &+ (word &- 1) / 65 &* 65) &* 8
        let bits = view.load(UInt64.self, place)
        let mask: UInt64 = 1 &<< UInt64(bit)
        store(isNull ? bits | mask : bits & ~mask, place)
    }

    /// Sets a property to nil; its slot is zero then, so that equal records have equal bytes.
    @inlinable
    package func clear(at byteOffset: Int) {
        setNull(true, at: byteOffset)
        store(UInt64(0), byteOffset)
    }

    @inlinable @inline(__always)
    package func set(_ value: Int64, at byteOffset: Int) {
        setNull(false, at: byteOffset)
        store(value, byteOffset)
    }

    @inlinable @inline(__always)
    package func set(_ value: UInt64, at byteOffset: Int) {
        setNull(false, at: byteOffset)
        store(value, byteOffset)
    }

    @inlinable @inline(__always)
    package func set(_ value: Bool, at byteOffset: Int) {
        set(value ? UInt64(1) : 0, at: byteOffset)
    }

    @inlinable @inline(__always)
    package func set(_ value: Float, at byteOffset: Int) {
        set(UInt64(value.bitPattern), at: byteOffset)
    }

    @inlinable @inline(__always)
    package func set(_ value: Double, at byteOffset: Int) {
        set(value.bitPattern, at: byteOffset)
    }

    @usableFromInline
    package mutating func set(_ text: String, at byteOffset: Int) {
        var text = text
        text.withUTF8 { utf8 in
            // Safety: the buffer lives for the closure; an empty one may have no address.
            unsafe setHeap(UnsafeRawBufferPointer(utf8), isBlob: false, at: byteOffset)
        }
    }

    @usableFromInline
    package mutating func set(_ bytes: [UInt8], at byteOffset: Int) {
        // Safety: the bytes are copied inside the closure.
        unsafe bytes.withUnsafeBytes { unsafe setHeap($0, isBlob: false, at: byteOffset) }
    }

    package mutating func set(_ bytes: ByteView, isBlob: Bool, at byteOffset: Int) {
        // Safety: the view shows `count` bytes, which are copied.
        unsafe setHeap(
            UnsafeRawBufferPointer(start: bytes.base, count: bytes.count), isBlob: isBlob,
            at: byteOffset)
    }

    private mutating func setHeap(
        _ bytes: UnsafeRawBufferPointer, isBlob: Bool, at byteOffset: Int
    ) {
        precondition(bytes.count < 1 << 30, "a property holds less than a gigabyte")
        setNull(false, at: byteOffset)
        // In place when the old bytes leave room, at the end otherwise.
        var start = Int(view.load(UInt32.self, byteOffset))
        let oldCount = Int(view.load(UInt32.self, byteOffset + 4) & 0x7FFF_FFFF)
        if start == 0 || oldCount < bytes.count {
            reserve(bytes.count)
            start = Int(size)
            size += Int32(bytes.count)
        }
        if let source = bytes.baseAddress, bytes.count > 0 {
            // Safety: `start + count` is at most `size`, which `reserve` made room for.
            unsafe memmove(base + start, source, bytes.count)
        }
        store(UInt32(start), byteOffset)
        store(UInt32(bytes.count) | (isBlob ? RowLayout.blobBit : 0), byteOffset + 4)
    }

    private mutating func reserve(_ additional: Int) {
        let needed = Int(size) + additional
        guard needed > Int(capacity) else { return }
        let larger = max(needed + 32, Int(capacity) * 2)
        let block = unsafe RowBuffer.block(larger)
        // Safety: the new block holds more than `size` bytes.
        unsafe memcpy(block, base, Int(size))
        deallocate()
        unsafe base = block
        capacity = Int32(larger)
    }
}
