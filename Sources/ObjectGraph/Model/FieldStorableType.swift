import RecordStore

/// How a value is kept in the store.
public enum NSAttributeType: String, Hashable, Sendable {
    case undefinedAttributeType
    case integer8AttributeType
    case integer16AttributeType
    case integer32AttributeType
    case integer64AttributeType
    case unsigned8AttributeType
    case unsigned16AttributeType
    case unsigned32AttributeType
    case unsigned64AttributeType
    case decimalAttributeType
    case doubleAttributeType
    case floatAttributeType
    case stringAttributeType
    case booleanAttributeType
    case dateAttributeType
    case binaryDataAttributeType
    case UUIDAttributeType
    case URIAttributeType
    case objectIDAttributeType

    var attributeType: AttributeType? {
        switch self {
        case .integer8AttributeType: .int8
        case .integer16AttributeType: .int16
        case .integer32AttributeType: .int32
        case .integer64AttributeType: .int64
        case .unsigned8AttributeType: .uint8
        case .unsigned16AttributeType: .uint16
        case .unsigned32AttributeType: .uint32
        case .unsigned64AttributeType: .uint64
        case .decimalAttributeType: .decimal
        case .doubleAttributeType: .double
        case .floatAttributeType: .float
        case .stringAttributeType: .string
        case .booleanAttributeType: .bool
        case .dateAttributeType: .date
        case .binaryDataAttributeType: .data
        case .UUIDAttributeType: .uuid
        case .URIAttributeType: .url
        case .undefinedAttributeType, .objectIDAttributeType: nil
        }
    }
}

/// What `Select` may give back: the value types, and `NSDictionary` for several columns.
public protocol SelectResultType {}

/// Several columns at once.
public protocol SelectAttributesResultType: SelectResultType {}

extension NSDictionary: SelectAttributesResultType {}

/// A value that a query may return and a condition may compare with.
public protocol QueryableAttributeType: Hashable, SelectResultType {
    /// How the value is kept.
    static var cs_rawAttributeType: NSAttributeType { get }

    /// The value that a stored one becomes; nil when it cannot be this type. Numbers convert into
    /// each other, a fraction being cut off.
    static func cs_fromQueryableNativeType(_ value: Any) -> Self?

    /// The stored form: a Bool, Int64, UInt64, Float, Double, Decimal, String, Data, Date, UUID,
    /// URL or object ID.
    func cs_toQueryableNativeType() -> Any
}

/// A value that an import may identify objects by.
public protocol ImportableAttributeType: QueryableAttributeType {}

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
