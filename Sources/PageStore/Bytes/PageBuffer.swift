import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The image of one logical page in memory.
///
/// Once a commit has published it an image is immutable, so that any number of readers share it.
/// Only the write transaction that made a private copy stores into it.
@safe
package final class PageBuffer: @unchecked Sendable {
    package let id: PageID
    package let count: Int
    @usableFromInline let base: UnsafeMutableRawPointer
    /// What a room above has proved of this image, so that it is proved once: a number of its
    /// choice, zero at first. Only of images that are published, because those do not change.
    package let proof = Atomic<UInt64>(0)
    /// What scans have read of this image. Only of images that are published.
    let lanes = Guarded(KeptLanes())

    /// A page of zeros.
    package init(id: PageID, count: Int) {
        self.id = id
        self.count = count
        unsafe self.base = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 16)
        unsafe memset(base, 0, count)
    }

    /// A private copy of another image.
    package init(copying other: PageBuffer) {
        self.id = other.id
        self.count = other.count
        unsafe self.base = UnsafeMutableRawPointer.allocate(byteCount: other.count, alignment: 16)
        // Safety: both blocks hold `count` bytes and are distinct.
        unsafe memcpy(base, other.base, count)
    }

    deinit {
        unsafe base.deallocate()
    }

    /// The page's bytes; valid as long as this object is.
    @inlinable @inline(__always)
    package var view: ByteView { unsafe ByteView(unsafeBase: UnsafeRawPointer(base), count: count) }

    @inlinable @inline(__always)
    package subscript(index: Int) -> UInt8 {
        get { view[index] }
        set {
            precondition(index >= 0 && index < count, "an index is outside its page")
            // Safety: the line above proves the index.
            unsafe base.storeBytes(of: newValue, toByteOffset: index, as: UInt8.self)
        }
    }

    @inlinable @inline(__always)
    package func uint16(at byteOffset: Int) -> UInt16 { view.uint16(at: byteOffset) }
    @inlinable @inline(__always)
    package func uint32(at byteOffset: Int) -> UInt32 { view.uint32(at: byteOffset) }
    @inlinable @inline(__always)
    package func uint64(at byteOffset: Int) -> UInt64 { view.uint64(at: byteOffset) }

    @inlinable @inline(__always)
    func store<Number: FixedWidthInteger & BitwiseCopyable>(
        _ number: Number, at byteOffset: Int
    ) {
        precondition(
            byteOffset >= 0 && byteOffset <= count &- MemoryLayout<Number>.size,
            "a number runs past its page")
        // Safety: the line above proves that every byte of the number is inside.
        unsafe base.storeBytes(of: number, toByteOffset: byteOffset, as: Number.self)
    }

    @inlinable package func setUInt8(_ value: UInt8, at byteOffset: Int) {
        self[byteOffset] = value
    }
    @inlinable package func setUInt16(_ value: UInt16, at byteOffset: Int) {
        store(value.littleEndian, at: byteOffset)
    }
    @inlinable package func setUInt32(_ value: UInt32, at byteOffset: Int) {
        store(value.littleEndian, at: byteOffset)
    }
    @inlinable package func setUInt64(_ value: UInt64, at byteOffset: Int) {
        store(value.littleEndian, at: byteOffset)
    }

    /// Copies bytes that may come from this very page.
    @inlinable
    package func copy(_ source: ByteView, to byteOffset: Int) {
        precondition(
            byteOffset >= 0 && byteOffset <= count &- source.count, "bytes run past their page")
        guard source.count > 0 else { return }
        // Safety: the destination lies inside, and memmove allows an overlap.
        unsafe memmove(base + byteOffset, source.base, source.count)
    }

    /// Moves bytes inside the page; the ranges may overlap.
    @inlinable
    package func move(from: Int, to: Int, count byteCount: Int) {
        copy(view.slice(from: from, count: byteCount), to: to)
    }

    @inlinable
    package func fill(_ byte: UInt8, from byteOffset: Int, count byteCount: Int) {
        precondition(
            byteOffset >= 0 && byteCount >= 0 && byteOffset <= count &- byteCount,
            "a range runs past its page")
        // Safety: the line above proves the range.
        unsafe memset(base + byteOffset, Int32(byte), byteCount)
    }
}
