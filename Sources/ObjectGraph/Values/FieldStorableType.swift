import RecordStore

/// A value that `@Field.Stored` may hold.
public protocol FieldStorableType {
    /// How the value is kept.
    static var cs_rawAttributeType: NSAttributeType { get }
    /// Whether nil may be stored.
    static var cs_isOptional: Bool { get }
    /// Reads the value at an offset of an object's stored values.
    static func cs_load(_ row: FieldRow, _ offset: Int) -> Self
    /// Reads the value as an optional does: nil for one that the type does not know.
    static func cs_known(_ row: FieldRow, _ offset: Int) -> Self?
    /// Writes the value at an offset of an object's stored values.
    func cs_store(_ row: inout FieldRow, _ offset: Int)
    /// The stored form, nil for nil.
    func cs_toFieldStoredNativeType() -> Any?
}

extension FieldStorableType {
    @inlinable public static var cs_isOptional: Bool { false }

    @inlinable @inline(__always)
    public static func cs_known(_ row: FieldRow, _ offset: Int) -> Self? { cs_load(row, offset) }
}

/// An optional; `@Field` treats it as a property that may be nil.
public protocol FieldOptionalType: ExpressibleByNilLiteral {
    associatedtype Wrapped
    /// The value, if there is one.
    var cs_wrappedValue: Wrapped? { get }
    /// An optional that has this value.
    init(_ value: Wrapped)
}

extension Optional: FieldOptionalType {
    public var cs_wrappedValue: Wrapped? { self }
}

extension Optional: FieldStorableType where Wrapped: FieldStorableType {
    public static var cs_rawAttributeType: NSAttributeType { Wrapped.cs_rawAttributeType }
    @inlinable public static var cs_isOptional: Bool { true }

    @inlinable @inline(__always)
    public static func cs_load(_ row: FieldRow, _ offset: Int) -> Wrapped? {
        row.isNull(offset) ? nil : Wrapped.cs_known(row, offset)
    }

    @inlinable @inline(__always)
    public func cs_store(_ row: inout FieldRow, _ offset: Int) {
        if let self {
            self.cs_store(&row, offset)
        } else {
            row.clear(offset)
        }
    }

    public func cs_toFieldStoredNativeType() -> Any? { self?.cs_toFieldStoredNativeType() }
}
