import CTrellis

/// Bytes that grow at their end: where frames, extents and superblocks are put together.
@safe
package final class ByteBuffer {
    // Every access would pay a dynamic check of exclusivity, several for a few bytes appended.
    @exclusivity(unchecked) private var storedCount = 0
    @exclusivity(unchecked) private var storedCapacity: Int
    @exclusivity(unchecked) fileprivate var base: UnsafeMutableRawPointer

    package private(set) var count: Int {
        // Safety: one word, read and written at once.
        get { unsafe storedCount }
        set { unsafe storedCount = newValue }
    }

    private var capacity: Int {
        // Safety: one word, read and written at once.
        get { unsafe storedCapacity }
        set { unsafe storedCapacity = newValue }
    }

    package init(capacity: Int = 4096) {
        let capacity = max(capacity, 64)
        // Safety: no other reference to the object exists yet.
        unsafe storedCapacity = capacity
        unsafe base = Self.block(malloc(capacity))
    }

    deinit {
        // Safety: the block is `malloc`'s, and views end with the buffer.
        unsafe free(base)
    }

    /// A block of the allocator; without memory a process ends, as it does in Swift's own.
    private static func block(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer {
        // Safety: the pointer is only compared with none.
        guard let pointer = unsafe pointer else { preconditionFailure("there is no memory left") }
        return unsafe pointer
    }

    /// The bytes that were written; valid until the next append.
    package var view: ByteView {
        // Safety: the block holds `count` bytes that were stored.
        unsafe ByteView(unsafeBase: UnsafeRawPointer(base), count: count)
    }

    package func removeAll() { count = 0 }

    /// Removes the bytes after an offset.
    package func truncate(to newCount: Int) {
        precondition(newCount >= 0 && newCount <= count, "a buffer only shrinks")
        count = newCount
    }

    private func reserve(_ additional: Int) {
        let needed = count + additional
        guard needed > capacity else { return }
        let larger = max(needed, capacity * 2)
        // Safety: the block is `malloc`'s, and its old address is used no more: a view is valid
        // until the next append. Large blocks move by their page table, without a copy.
        unsafe base = Self.block(realloc(base, larger))
        capacity = larger
    }

    package func append(_ source: ByteView) {
        guard source.count > 0 else { return }
        reserve(source.count)
        // Safety: `reserve` made room; a source inside this buffer is not allowed by callers.
        unsafe memcpy(base + count, source.base, source.count)
        count += source.count
    }

    package func appendZeros(_ byteCount: Int) { append(0, count: byteCount) }

    /// Appends a byte many times.
    package func append(_ byte: UInt8, count byteCount: Int) {
        guard byteCount > 0 else { return }
        reserve(byteCount)
        // Safety: `reserve` made room.
        unsafe memset(base + count, Int32(byte), byteCount)
        count += byteCount
    }

    package func appendUInt8(_ value: UInt8) {
        reserve(1)
        // Safety: `reserve` made room.
        unsafe base.storeBytes(of: value, toByteOffset: count, as: UInt8.self)
        count += 1
    }

    package func appendUInt16(_ value: UInt16) { appendNumber(value) }
    package func appendUInt32(_ value: UInt32) { appendNumber(value) }
    package func appendUInt64(_ value: UInt64) { appendNumber(value) }

    private func appendNumber<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number) {
        reserve(MemoryLayout<Number>.size)
        // Safety: `reserve` made room.
        unsafe base.storeBytes(of: number.littleEndian, toByteOffset: count, as: Number.self)
        count += MemoryLayout<Number>.size
    }

    package func setUInt32(_ value: UInt32, at byteOffset: Int) { set(value, at: byteOffset) }
    package func setUInt64(_ value: UInt64, at byteOffset: Int) { set(value, at: byteOffset) }

    private func set<Number: FixedWidthInteger & BitwiseCopyable>(
        _ number: Number, at byteOffset: Int
    ) {
        precondition(
            byteOffset >= 0 && byteOffset <= count - MemoryLayout<Number>.size,
            "a number runs past its buffer")
        // Safety: the line above proves the range.
        unsafe base.storeBytes(of: number.littleEndian, toByteOffset: byteOffset, as: Number.self)
    }

    /// Lends the body writable space after the last byte; it returns how many bytes it used.
    func appendUpTo(_ byteCount: Int, _ body: (UnsafeMutableRawPointer) -> Int) {
        reserve(byteCount)
        // Safety: `reserve` made room for as many bytes as the body may store.
        let used = unsafe body(base + count)
        precondition(used >= 0 && used <= byteCount, "a writer used more room than it asked for")
        count += used
    }
}

/// Bytes of a fixed count that a read fills.
@safe
package final class ReadBuffer: @unchecked Sendable {
    package let count: Int
    let base: UnsafeMutableRawPointer

    package init(count: Int) {
        self.count = count
        // Safety: the block is freed with the buffer.
        unsafe self.base = UnsafeMutableRawPointer.allocate(
            byteCount: max(count, 1), alignment: 16)
    }

    deinit {
        // Safety: `init` allocated the block, and views end with the buffer.
        unsafe base.deallocate()
    }

    package var view: ByteView {
        // Safety: the block holds `count` bytes.
        unsafe ByteView(unsafeBase: UnsafeRawPointer(base), count: count)
    }

    /// Where a call of the system stores; valid as long as the buffer is.
    var mutableBytes: UnsafeMutableRawBufferPointer {
        // Safety: `init` made so many bytes, or one where the count is zero.
        unsafe UnsafeMutableRawBufferPointer(start: base, count: count)
    }

    /// Overwrites a part, for file systems that live in memory.
    package func copy(_ source: ByteView, to byteOffset: Int) {
        precondition(
            byteOffset >= 0 && byteOffset <= count - source.count, "bytes run past their buffer")
        guard source.count > 0 else { return }
        // Safety: the line above proves the range.
        unsafe memcpy(base + byteOffset, source.base, source.count)
    }
}
