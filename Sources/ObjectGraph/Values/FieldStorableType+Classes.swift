import RecordStore

// Foundation's classes for values, for code that was written with them. Each is kept as the value
// type that it stands for.

/// A Foundation class that corresponds to a value type.
public protocol ValueClass: NSObject, ImportableAttributeType, FieldStorableType
where FieldStoredNativeType == ValueType, QueryableNativeType == Any {
    /// The value type.
    associatedtype ValueType: ImportableAttributeType & FieldStorableType
    /// The object for a value.
    static func cs_object(_ value: ValueType) -> NSObject
    /// The value of the object.
    var cs_value: ValueType { get }
}

extension ValueClass {
    public static var cs_rawAttributeType: NSAttributeType { ValueType.cs_rawAttributeType }

    public static func cs_load(_ row: FieldRow, _ offset: Int) -> Self {
        guard let object = cs_object(ValueType.cs_load(row, offset)) as? Self else {
            Log.abort("a property cannot be a \(Self.self): declare it as \(ValueType.self)")
        }
        return object
    }

    /// The object for a value, as the class that asks.
    static func object(of value: ValueType) -> Self {
        guard let object = cs_object(value) as? Self else {
            Log.abort("a property cannot be a \(Self.self): declare it as \(ValueType.self)")
        }
        return object
    }

    static func object(ofNative value: Any) -> Self? {
        ValueType.cs_value(of: value).flatMap { cs_object($0) as? Self }
    }

    public func cs_store(_ row: inout FieldRow, _ offset: Int) { cs_value.cs_store(&row, offset) }
    public func cs_toFieldStoredNativeType() -> Any? { cs_value.cs_toFieldStoredNativeType() }
    public func cs_toQueryableNativeType() -> Any { cs_value.cs_toQueryableNativeType() as Any }
}

extension NSString: ValueClass {
    public static func cs_fromFieldStoredNativeType(_ value: String) -> Self { object(of: value) }
    public static func cs_fromQueryableNativeType(_ value: Any) -> Self? {
        object(ofNative: value)
    }
    public static func cs_object(_ value: String) -> NSObject { NSString(string: value) }
    public var cs_value: String { substring(from: 0) }
}

extension NSData: ValueClass {
    public static func cs_fromFieldStoredNativeType(_ value: Data) -> Self { object(of: value) }
    public static func cs_fromQueryableNativeType(_ value: Any) -> Self? {
        object(ofNative: value)
    }
    public static func cs_object(_ value: Data) -> NSObject { NSData(data: value) }
    public var cs_value: Data { Data(referencing: self) }
}

extension NSDate: ValueClass {
    public static func cs_fromFieldStoredNativeType(_ value: Date) -> Self { object(of: value) }
    public static func cs_fromQueryableNativeType(_ value: Any) -> Self? {
        object(ofNative: value)
    }
    public static func cs_object(_ value: Date) -> NSObject {
        NSDate(timeIntervalSinceReferenceDate: value.timeIntervalSinceReferenceDate)
    }
    public var cs_value: Date {
        Date(timeIntervalSinceReferenceDate: timeIntervalSinceReferenceDate)
    }
}

extension NSUUID: ValueClass {
    public static func cs_fromFieldStoredNativeType(_ value: UUID) -> Self { object(of: value) }
    public static func cs_fromQueryableNativeType(_ value: Any) -> Self? {
        object(ofNative: value)
    }
    public static func cs_object(_ value: UUID) -> NSObject {
        NSUUID(uuidString: value.uuidString) ?? NSUUID()
    }
    public var cs_value: UUID { UUID(uuidString: uuidString) ?? UUID() }
}

extension NSURL: ValueClass {
    public static func cs_fromFieldStoredNativeType(_ value: URL) -> Self { object(of: value) }
    public static func cs_fromQueryableNativeType(_ value: Any) -> Self? {
        object(ofNative: value)
    }
    public static func cs_object(_ value: URL) -> NSObject {
        NSURL(string: value.absoluteString) ?? NSURL(fileURLWithPath: "/")
    }
    public var cs_value: URL {
        URL(string: absoluteString) ?? URL(fileURLWithPath: "/")
    }
}

/// A number is kept as an Int64, so that a fraction is cut off: declare a Double for one, or an
/// `NSDecimalNumber`, which is kept as the decimal that it is.
extension NSNumber: ImportableAttributeType, FieldStorableType {
    public typealias FieldStoredNativeType = NSNumber

    public static func cs_fromFieldStoredNativeType(_ value: NSNumber) -> Self {
        guard let number = value as? Self else {
            Log.abort("a property cannot be a \(Self.self): declare it as Decimal")
        }
        return number
    }

    /// Whether the class is `NSDecimalNumber`. It cannot override a property that an extension
    /// declares.
    private static var isDecimal: Bool { self is NSDecimalNumber.Type }

    public static var cs_rawAttributeType: NSAttributeType {
        isDecimal ? .decimalAttributeType : .integer64AttributeType
    }

    public static func cs_load(_ row: FieldRow, _ offset: Int) -> Self {
        let number =
            isDecimal
            ? NSDecimalNumber(decimal: Decimal.cs_load(row, offset))
            : NSNumber(value: Int64.cs_load(row, offset))
        guard let number = number as? Self else {
            Log.abort("a property cannot be a \(Self.self): declare it as Decimal")
        }
        return number
    }

    /// As an Int64: a decimal is written by the type of its property.
    public func cs_store(_ row: inout FieldRow, _ offset: Int) {
        int64Value.cs_store(&row, offset)
    }

    public func cs_toFieldStoredNativeType() -> Any? {
        if let decimal = self as? NSDecimalNumber { return decimal.decimalValue }
        return int64Value
    }

    /// The number as it is: conditions compare fractions.
    public func cs_toQueryableNativeType() -> Any {
        if let decimal = self as? NSDecimalNumber { return decimal.decimalValue }
        if let whole = Int64(exactly: self) { return whole }
        if let whole = UInt64(exactly: self) { return whole }
        return doubleValue
    }

    public static func cs_fromQueryableNativeType(_ value: Any) -> Self? {
        guard !isDecimal else {
            return NumberBridge.decimal(value).map { NSDecimalNumber(decimal: $0) } as? Self
        }
        return ValueBridge.value(value).flatMap { ValueBridge.boxed($0) } as? Self
    }
}

/// Stands for nil in conditions.
extension NSNull: QueryableAttributeType {
    public static var cs_rawAttributeType: NSAttributeType { .undefinedAttributeType }
    public static func cs_fromQueryableNativeType(_ value: Any) -> Self? { value as? Self }
    public func cs_toQueryableNativeType() -> Any { self }
}
