import RecordStore

/// A value that `@Field.Stored` may hold.
///
/// An enumeration of numbers or texts only needs the name of the protocol. Any other type of the
/// program's own declares its stored form:
///
/// ```swift
/// struct Money: FieldStorableType {
///     var cents: Int64
///
///     static var cs_rawAttributeType: NSAttributeType { .integer64AttributeType }
///     static func cs_fromFieldStoredNativeType(_ value: NSNumber) -> Money {
///         Money(cents: value.int64Value)
///     }
///     func cs_toFieldStoredNativeType() -> Any? { NSNumber(value: cents) }
/// }
/// ```
///
/// Conditions and orders use the stored form. A stored value that the type does not know, from a
/// newer version of the program or a damaged file, reads as nil where the property is optional, and
/// as the property's first value elsewhere; the first one of each property is logged as an error.
public protocol FieldStorableType: SendableMetatype {
    /// The type that the value is made from; see ``CoreDataNativeType``.
    associatedtype FieldStoredNativeType
    /// The type of the stored form.
    static var cs_rawAttributeType: NSAttributeType { get }
    /// Whether nil may be stored.
    static var cs_isOptional: Bool { get }
    /// Reads the value at an offset of an object's stored values.
    static func cs_load(_ row: FieldRow, _ offset: Int) -> Self
    /// Reads the value at an offset of an object's stored values; nil for a stored form that the
    /// type does not know.
    static func cs_known(_ row: FieldRow, _ offset: Int) -> Self?
    /// Writes the value at an offset of an object's stored values.
    func cs_store(_ row: inout FieldRow, _ offset: Int)
    /// The value of a stored form.
    static func cs_fromFieldStoredNativeType(_ value: FieldStoredNativeType) -> Self
    /// The stored form, nil for nil.
    func cs_toFieldStoredNativeType() -> Any?
}

extension FieldStorableType where FieldStoredNativeType == Self {
    /// The value itself: the type is its own stored form.
    public static func cs_fromFieldStoredNativeType(_ value: Self) -> Self { value }
}

extension FieldStorableType {
    /// False: only optionals may be nil.
    @inlinable public static var cs_isOptional: Bool { false }

    /// The value as `cs_load` reads it: the type knows every stored form.
    @inlinable @inline(__always)
    public static func cs_known(_ row: FieldRow, _ offset: Int) -> Self? { cs_load(row, offset) }
}

/// An optional; `@Field` treats it as a property that may be nil.
public protocol FieldOptionalType: ExpressibleByNilLiteral {
    /// The type of the value, if there is one.
    associatedtype Wrapped
    /// The value, if there is one.
    var cs_wrappedValue: Wrapped? { get }
    /// An optional with this value.
    init(_ value: Wrapped)
}

extension Optional: FieldOptionalType {
    public var cs_wrappedValue: Wrapped? { self }
}

extension Optional: FieldStorableType where Wrapped: FieldStorableType {
    public typealias FieldStoredNativeType = Wrapped.FieldStoredNativeType

    public static func cs_fromFieldStoredNativeType(
        _ value: Wrapped.FieldStoredNativeType
    ) -> Wrapped? {
        .some(Wrapped.cs_fromFieldStoredNativeType(value))
    }

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
