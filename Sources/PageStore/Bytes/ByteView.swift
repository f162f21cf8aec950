import CTrellis

/// Borrowed bytes of a page, of a record or of a key.
///
/// A view does not own its bytes: it is valid until the cursor that lent it moves, or until the
/// page, transaction or closure that it came from ends. ``array()`` copies bytes that are needed
/// longer. Every access is checked against `count`, so that no number read from a damaged file can
/// lead outside.
@safe @frozen @usableFromInline
package struct ByteView {
    @usableFromInline package let base: UnsafeRawPointer
    @usableFromInline package let count: Int

    @inlinable @inline(__always)
    package init(unsafeBase base: UnsafeRawPointer, count: Int) {
        // Safety: the caller's: so many bytes are readable for as long as the view is used.
        unsafe self.base = base
        self.count = count
    }

    @inlinable package var isEmpty: Bool { count == 0 }

    /// Where these bytes begin in others, when they are a part of those.
    package func offset(in other: ByteView) -> Int? {
        // Safety: both addresses are only compared.
        let offset = unsafe base - other.base
        return offset >= 0 && offset <= other.count - count ? offset : nil
    }

    @inlinable @inline(__always)
    package subscript(index: Int) -> UInt8 {
        precondition(index >= 0 && index < count, "an index is outside its bytes")
        // Safety: the line above proves the index.
        return unsafe base.load(fromByteOffset: index, as: UInt8.self)
    }

    @inlinable @inline(__always)
    func load<Number: FixedWidthInteger & BitwiseCopyable>(
        _ type: Number.Type, at byteOffset: Int
    ) -> Number {
        precondition(
            byteOffset >= 0 && byteOffset <= count &- MemoryLayout<Number>.size,
            "a number runs past its bytes")
        // Safety: the line above proves that every byte of the number is inside.
        return unsafe base.loadUnaligned(fromByteOffset: byteOffset, as: Number.self)
    }

    @inlinable @inline(__always)
    package func uint16(at byteOffset: Int) -> UInt16 {
        UInt16(littleEndian: load(UInt16.self, at: byteOffset))
    }

    @inlinable @inline(__always)
    package func uint32(at byteOffset: Int) -> UInt32 {
        UInt32(littleEndian: load(UInt32.self, at: byteOffset))
    }

    @inlinable @inline(__always)
    package func uint64(at byteOffset: Int) -> UInt64 {
        UInt64(littleEndian: load(UInt64.self, at: byteOffset))
    }

    @inlinable @inline(__always)
    package func bigEndianUInt64(at byteOffset: Int) -> UInt64 {
        UInt64(bigEndian: load(UInt64.self, at: byteOffset))
    }

    @inlinable @inline(__always)
    package func double(at byteOffset: Int) -> Double {
        Double(bitPattern: uint64(at: byteOffset))
    }

    /// The bytes from an offset on; both numbers are checked.
    @inlinable @inline(__always)
    package func slice(from byteOffset: Int, count sliceCount: Int) -> ByteView {
        precondition(
            byteOffset >= 0 && sliceCount >= 0 && byteOffset <= count &- sliceCount,
            "a slice runs past its bytes")
        // Safety: the line above proves that the slice lies inside.
        return unsafe ByteView(unsafeBase: base + byteOffset, count: sliceCount)
    }

    @inlinable @inline(__always)
    package func dropFirst(_ byteCount: Int) -> ByteView {
        slice(from: byteCount, count: count &- byteCount)
    }

    /// A copy that its owner keeps.
    package func array() -> [UInt8] {
        // Safety: the view shows `count` bytes.
        unsafe [UInt8](UnsafeRawBufferPointer(start: base, count: count))
    }

    /// The bytes as text. Ill-formed UTF-8 is repaired, as `String(decoding:as:)` does.
    @inlinable
    package func string() -> String {
        // Safety: the view shows `count` bytes.
        unsafe String(
            decoding: UnsafeRawBufferPointer(start: base, count: count), as: UTF8.self)
    }

    @inlinable
    package func withSpan<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Safety: the view's owner keeps the bytes alive for the call, as for every other access.
        let span = unsafe Span<UInt8>(
            _unsafeStart: base.assumingMemoryBound(to: UInt8.self), count: count)
        return try body(span)
    }

    /// Orders as `memcmp` does; a prefix sorts before longer views. Negative, zero or positive.
    @inlinable
    package func compare(_ other: ByteView) -> Int {
        let shared = Swift.min(count, other.count)
        // Safety: both hold at least `shared` bytes.
        let order = shared == 0 ? 0 : unsafe memcmp(base, other.base, shared)
        return order != 0 ? Int(order) : count &- other.count
    }

    @inlinable
    package static func == (left: ByteView, right: ByteView) -> Bool {
        guard left.count == right.count else { return false }
        // Safety: both hold `count` bytes.
        return unsafe left.count == 0 || memcmp(left.base, right.base, left.count) == 0
    }

    @inlinable
    package func hasPrefix(_ prefix: ByteView) -> Bool {
        prefix.count <= count && slice(from: 0, count: prefix.count) == prefix
    }

    /// How many bytes both begin with.
    @inlinable
    package func sharedPrefixCount(with other: ByteView) -> Int {
        let limit = Swift.min(count, other.count)
        var shared = 0
        while shared &+ 8 <= limit {
            let difference = uint64(at: shared) ^ other.uint64(at: shared)
            if difference != 0 { return shared &+ difference.trailingZeroBitCount / 8 }
            shared &+= 8
        }
        while shared < limit && self[shared] == other[shared] { shared &+= 1 }
        return shared
    }

    /// Whether any byte is zero.
    package var containsZero: Bool {
        // Safety: the view shows `count` bytes.
        unsafe count > 0 && memchr(base, 0, count) != nil
    }

    /// Whether every byte is zero: the first one is, and each equals the one before.
    package var isZero: Bool {
        isEmpty || (self[0] == 0 && dropFirst(1) == slice(from: 0, count: count &- 1))
    }
}

extension Span where Element == UInt8 {
    /// Lends the span's bytes as a view for the length of the call.
    @inlinable @inline(__always)
    package func withView<Result, Failure: Error>(
        _ body: (ByteView) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var outcome: Swift.Result<Result, Failure>?
        unsafe self.withUnsafeBufferPointer { buffer in
            // An empty span may have no address: any address serves for no bytes.
            guard
                let base = unsafe buffer.baseAddress.map({ unsafe UnsafeRawPointer($0) })
                    ?? UnsafeRawPointer(bitPattern: 1)
            else { return }
            // Safety: the pointer is valid for this closure, and the body ends inside it.
            let view = unsafe ByteView(unsafeBase: base, count: buffer.count)
            do throws(Failure) {
                outcome = .success(try body(view))
            } catch {
                outcome = .failure(error)
            }
        }
        guard let outcome else { preconditionFailure("a span lends its bytes") }
        return try outcome.get()
    }
}

extension [UInt8] {
    /// Appends the bytes of a view.
    package mutating func append(_ view: ByteView) {
        // Safety: the view's owner keeps the bytes alive for the call.
        unsafe append(contentsOf: UnsafeRawBufferPointer(start: view.base, count: view.count))
    }

    /// Appends a number so that the order of the bytes is the order of the numbers.
    package mutating func append(bigEndian number: UInt64) {
        // Safety: the buffer lives for the closure.
        unsafe Swift.withUnsafeBytes(of: number.bigEndian) { unsafe append(contentsOf: $0) }
    }

    /// Lends the array's bytes as a view for the length of the call.
    @inlinable @inline(__always)
    package func withView<Result, Failure: Error>(
        _ body: (ByteView) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try self.span.withView(body)
    }
}
