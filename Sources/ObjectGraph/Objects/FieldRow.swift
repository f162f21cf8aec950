import RecordStore

/// The stored values of one object, as property types read and write them: one load or store at an
/// offset from the class's plan.
///
/// Programs do not use it; a ``FieldStorableType`` of the program's own names a stored form
/// instead.
@frozen
public struct FieldRow {
    @usableFromInline var buffer: RowBuffer

    @inlinable
    init(_ buffer: RowBuffer) { self.buffer = buffer }

    @inlinable @inline(__always)
    func isNull(_ offset: Int) -> Bool { buffer.view.isNull(at: offset) }
    @inlinable @inline(__always)
    func int(_ offset: Int) -> Int64 { buffer.view.int(at: offset) }
    @inlinable @inline(__always)
    func uint(_ offset: Int) -> UInt64 { buffer.view.uint(at: offset) }
    @inlinable @inline(__always)
    func bool(_ offset: Int) -> Bool { buffer.view.bool(at: offset) }
    @inlinable @inline(__always)
    func float(_ offset: Int) -> Float { buffer.view.float(at: offset) }
    @inlinable @inline(__always)
    func double(_ offset: Int) -> Double { buffer.view.double(at: offset) }
    @inlinable @inline(__always)
    func string(_ offset: Int) -> String { buffer.view.string(at: offset) }
    @inlinable
    func bytes(_ offset: Int) -> [UInt8] { buffer.view.byteArray(at: offset) }

    @inlinable
    mutating func clear(_ offset: Int) { buffer.clear(at: offset) }
    @inlinable @inline(__always)
    mutating func set(_ value: Int64, _ offset: Int) { buffer.set(value, at: offset) }
    @inlinable @inline(__always)
    mutating func set(_ value: UInt64, _ offset: Int) { buffer.set(value, at: offset) }
    @inlinable @inline(__always)
    mutating func set(_ value: Bool, _ offset: Int) { buffer.set(value, at: offset) }
    @inlinable @inline(__always)
    mutating func set(_ value: Float, _ offset: Int) { buffer.set(value, at: offset) }
    @inlinable @inline(__always)
    mutating func set(_ value: Double, _ offset: Int) { buffer.set(value, at: offset) }
    @inlinable
    mutating func set(_ value: String, _ offset: Int) { buffer.set(value, at: offset) }
    @inlinable
    mutating func set(_ value: [UInt8], _ offset: Int) { buffer.set(value, at: offset) }
}

extension FieldRow {
    @usableFromInline
    func decimal(_ offset: Int) -> Decimal? {
        DecimalForm.read(buffer.view.heapBytes(at: offset))?.number
    }

    @usableFromInline
    func uuid(_ offset: Int) -> UUID? { UUIDBytes.uuid(buffer.view.heapBytes(at: offset)) }

    @usableFromInline
    mutating func set(_ value: Decimal, _ offset: Int) { buffer.set(value, at: offset) }

    @usableFromInline
    mutating func set(_ value: UUID, _ offset: Int) {
        buffer.set(UUIDBytes.array(value), at: offset)
    }
}
