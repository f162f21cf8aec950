import CTrellis
import PageStore

/// Borrowed bytes of a record, checked once against its layout: reading a property is then one
/// load at a fixed offset.
///
/// Valid until the cursor that returned it moves or the buffer that it shows changes.
@safe @frozen @usableFromInline
package struct RowView {
    @usableFromInline let base: UnsafeRawPointer
    @usableFromInline let size: Int

    /// The caller has checked the record: see `EntityLayout.check`.
    @inlinable @inline(__always)
    package init(unsafeBase base: UnsafeRawPointer, size: Int) {
        // Safety: the caller guarantees that `size` bytes are readable while the view is used.
        unsafe self.base = base
        self.size = size
    }

    /// A view of bytes that the layout has checked.
    package init(checked bytes: ByteView) {
        // Safety: the bytes are as many as the view says.
        unsafe self.init(unsafeBase: bytes.base, size: bytes.count)
    }

    package var bytes: ByteView {
        // Safety: the record has `size` bytes.
        unsafe ByteView(unsafeBase: base, count: size)
    }

    @inlinable @inline(__always)
    func load<Number: FixedWidthInteger & BitwiseCopyable>(
        _ type: Number.Type, _ byteOffset: Int
    ) -> Number {
        precondition(
            byteOffset >= 0 && byteOffset <= size &- MemoryLayout<Number>.size,
            "a property lies outside its record")
        // Safety: the line above proves that every byte is inside.
        return unsafe Number(
            littleEndian: base.loadUnaligned(fromByteOffset: byteOffset, as: Number.self))
    }

    package var entityTag: UInt16 { load(UInt16.self, RowLayout.entityTag) }
    package var layoutVersion: UInt16 { load(UInt16.self, RowLayout.layoutVersion) }
    package var slotCount: Int { Int(load(UInt16.self, RowLayout.slotCount)) }

    /// Whether the property of the slot at a byte offset is nil.
    @inlinable @inline(__always)
    package func isNull(at byteOffset: Int) -> Bool {
        let word = byteOffset &>> 3
        // The first group holds nearly every property of nearly every class.
        if word < 66 { return load(UInt64.self, 8) &>> UInt64(word &- 2) & 1 != 0 }
        let group = (word &- 1) / 65
        let bit = (word &- 1) % 65 &- 1
        return load(UInt64.self, (1 &+ group &* 65) &* 8) &>> UInt64(bit) & 1 != 0
    }

    @inlinable @inline(__always)
    package func int(at byteOffset: Int) -> Int64 { load(Int64.self, byteOffset) }
    @inlinable @inline(__always)
    package func uint(at byteOffset: Int) -> UInt64 { load(UInt64.self, byteOffset) }
    @inlinable @inline(__always)
    package func bool(at byteOffset: Int) -> Bool { load(UInt64.self, byteOffset) != 0 }
    @inlinable @inline(__always)
    package func float(at byteOffset: Int) -> Float {
        Float(bitPattern: load(UInt32.self, byteOffset))
    }
    @inlinable @inline(__always)
    package func double(at byteOffset: Int) -> Double {
        Double(bitPattern: load(UInt64.self, byteOffset))
    }

    /// Whether a heap slot holds the name of a blob instead of the bytes.
    @inlinable @inline(__always)
    package func isBlob(at byteOffset: Int) -> Bool {
        load(UInt32.self, byteOffset &+ 4) & (1 << 31) != 0
    }

    /// The range of a heap slot's bytes, or of a blob's sixteen-byte name. Empty for nil.
    @inlinable @inline(__always)
    func heap(at byteOffset: Int) -> (start: Int, count: Int) {
        let start = Int(load(UInt32.self, byteOffset))
        let count = Int(load(UInt32.self, byteOffset &+ 4) & 0x7FFF_FFFF)
        precondition(
            start <= size && count <= size &- start, "a property's bytes lie outside its record")
        return (start, count)
    }

    package func heapBytes(at byteOffset: Int) -> ByteView {
        let (start, count) = heap(at: byteOffset)
        return bytes.slice(from: start, count: count)
    }

    /// The text of a heap slot.
    @inlinable @inline(__always)
    package func string(at byteOffset: Int) -> String {
        let (start, count) = heap(at: byteOffset)
        // Safety: `heap` proved the range.
        return unsafe String(
            decoding: UnsafeRawBufferPointer(start: base + start, count: count), as: UTF8.self)
    }

    @inlinable
    package func byteArray(at byteOffset: Int) -> [UInt8] {
        let (start, count) = heap(at: byteOffset)
        // Safety: `heap` proved the range.
        return unsafe [UInt8](UnsafeRawBufferPointer(start: base + start, count: count))
    }
}

extension RowView {
    /// Passes the bytes of a heap slot to the body.
    package func withHeap<Result>(
        at byteOffset: Int, _ body: (Span<UInt8>) -> Result
    ) -> Result {
        heapBytes(at: byteOffset).withSpan(body)
    }
}
