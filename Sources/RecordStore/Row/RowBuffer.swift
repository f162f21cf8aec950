import CTrellis
import PageStore

/// A record that its owner may change: one block of memory, in the format of the file.
///
/// The owner frees it with ``deallocate()``; copies of this struct share the block. Numbers are
/// stored in place; a text that is longer than the one before goes to the end of the block: see
/// `RowBuffer+Heap.swift`.
@safe @frozen @usableFromInline
package struct RowBuffer {
    @usableFromInline var base: UnsafeMutableRawPointer
    @usableFromInline var size: Int32
    @usableFromInline var capacity: Int32

    package init(copying bytes: ByteView, spare: Int = 0) {
        size = Int32(bytes.count)
        capacity = Int32(bytes.count + spare)
        unsafe base = RowBuffer.block(Int(capacity))
        // Safety: the block holds at least `count` bytes.
        unsafe memcpy(base, bytes.base, bytes.count)
        if isLong { firstLed = bytes.count }
        // Flags have no meaning in a file.
        if bytes.count >= RowLayout.headerSize { store(UInt16(0), RowLayout.flags) }
    }

    /// A copy of a record that is not stored, or of one that is only read: see `init(copying:of:)`.
    package init(copying row: RowView, spare: Int = 0) {
        self.init(copying: row.bytes, spare: spare)
    }

    /// A block without content, for an object that has not loaded anything.
    package init() {
        // Safety: no byte is read or freed through the address of a block without content.
        unsafe base = UnsafeMutableRawPointer(bitPattern: 8)!
        size = 0
        capacity = 0
    }

    @inlinable @inline(__always)
    package var isEmpty: Bool { size == 0 }

    /// The memory of the block, including the allocator's overhead.
    package var sizeInMemory: Int { capacity > 0 || size > 0 ? max(Int(capacity), 16) + 16 : 0 }

    /// A size for the block of the next row of this kind: a little less each time, and much less
    /// after a row that used less than half, so that one long row enlarges few others.
    package var sizeOfNext: Int {
        let (size, capacity) = (Int(size), Int(capacity))
        let isSpare = capacity / 2 > size
        return min(isSpare ? (size + capacity) / 2 : max(size, capacity - capacity / 64), 4096)
    }

    package func deallocate() {
        // Safety: the block is `malloc`'s, and by the rule above its owner frees it once. A long
        // one begins that many bytes before its content.
        if capacity > 0 || size > 0 { unsafe free(isLong ? base - Self.headSize : base) }
    }

    /// Uses `malloc`, because Swift's allocation of bytes passes an alignment, which is slower for
    /// the same result.
    static func block(_ byteCount: Int) -> UnsafeMutableRawPointer {
        let head = byteCount >= longCapacity ? headSize : 0
        // Safety: the address is only compared with nil; the caller uses at most `byteCount` bytes,
        // which begin after the head of a long block.
        guard let block = unsafe malloc(max(byteCount, 16) + head) else {
            preconditionFailure("the system has no memory left")
        }
        return unsafe block + head
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

    /// Sets a property to nil and its slot to zero, so that equal records have equal bytes.
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
}
