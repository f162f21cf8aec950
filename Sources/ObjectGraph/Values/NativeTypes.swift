import RecordStore

/// A class of Foundation's that can be the stored form of a program's own value type.
public protocol CoreDataNativeType {}

extension NSNumber: CoreDataNativeType {}
extension NSString: CoreDataNativeType {}
extension NSDate: CoreDataNativeType {}
extension NSData: CoreDataNativeType {}
extension NSURL: CoreDataNativeType {}
extension NSUUID: CoreDataNativeType {}

/// The values of types that a program declares, by their native forms.
enum NativeForm {
    /// A native form as the value that a column of a type holds. A number of Foundation's does not
    /// know its stored type, so that the column's type decides. Nil for a form that the column
    /// cannot hold.
    static func value(_ native: Any?, _ type: NSAttributeType) -> Value? {
        guard let native, Swift.type(of: native) is NSNumber.Type, let number = native as? NSNumber
        else {
            return ValueBridge.value(native).flatMap { isKept($0, as: type) ? $0 : nil }
        }
        return value(number, type)
    }

    /// Whether a column of a type has a form for a value.
    private static func isKept(_ value: Value, as type: NSAttributeType) -> Bool {
        switch (value, type) {
        case (.string, .stringAttributeType), (.string, .URIAttributeType),
            (.url, .URIAttributeType), (.url, .stringAttributeType),
            (.data, .binaryDataAttributeType), (.uuid, .UUIDAttributeType),
            (.date, .dateAttributeType), (.object, _), (.null, _):
            true
        case (.string, _), (.url, _), (.data, _), (.uuid, _), (.date, _): false
        default: isNumber(type)
        }
    }

    private static func isNumber(_ type: NSAttributeType) -> Bool {
        switch type {
        case .stringAttributeType, .URIAttributeType, .binaryDataAttributeType,
            .UUIDAttributeType:
            false
        default: true
        }
    }

    private static func value(_ number: NSNumber, _ type: NSAttributeType) -> Value? {
        switch type {
        case _ where !isNumber(type): return nil
        case .booleanAttributeType: return .bool(number.boolValue)
        case .doubleAttributeType: return .double(number.doubleValue)
        case .floatAttributeType: return .float(number.floatValue)
        case .decimalAttributeType: return .decimal(number.decimalValue)
        case .unsigned8AttributeType, .unsigned16AttributeType, .unsigned32AttributeType,
            .unsigned64AttributeType:
            return .uint(number.uint64Value)
        case .dateAttributeType: return .date(number.doubleValue)
        default: return .int(number.int64Value)
        }
    }

    /// A value as the native type that a program's type is made from.
    static func native<Native>(_ value: Any, as type: Native.Type) -> Native? {
        if let native = value as? Native { return native }
        let boxed: Any? =
            if let number = value as? Decimal {
                NSDecimalNumber(decimal: number)
            } else {
                ValueBridge.value(value).flatMap { ValueBridge.boxed($0) }
            }
        return boxed as? Native
    }

    /// The value of a column; the type's zero for one without a value.
    static func value(_ row: FieldRow, _ offset: Int, _ type: AttributeType) -> Value {
        let value = row.buffer.view.value(RowBuffer.field(type, at: offset))
        if value != .null { return value }
        return switch type {
        case .string: .string("")
        case .url: .url("about:blank")
        case .data: .data([])
        case .decimal: .decimal(0)
        case .uuid: .uuid(UUID.cs_load(row, offset))
        case .bool: .bool(false)
        case .date: .date(0)
        case .float: .float(0)
        case .double: .double(0)
        case .uint8, .uint16, .uint32, .uint64: .uint(0)
        case .int8, .int16, .int32, .int64: .int(0)
        }
    }
}

extension FieldStorableType where FieldStoredNativeType: CoreDataNativeType {
    /// Reads the native form and makes the value of it.
    public static func cs_load(_ row: FieldRow, _ offset: Int) -> Self {
        cs_fromFieldStoredNativeType(cs_native(row, offset))
    }

    static func cs_native(_ row: FieldRow, _ offset: Int) -> FieldStoredNativeType {
        guard let type = cs_rawAttributeType.attributeType,
            let native = ValueBridge.native(NativeForm.value(row, offset, type))
                ?? (type == .url ? URL(string: "about:blank") : nil),
            let form = NativeForm.native(native, as: FieldStoredNativeType.self)
        else {
            Log.abort(
                "\(Self.self) cannot be made: no \(FieldStoredNativeType.self) is kept as "
                    + "\(cs_rawAttributeType)")
        }
        return form
    }

    /// Writes the native form.
    public func cs_store(_ row: inout FieldRow, _ offset: Int) {
        let type = Self.cs_rawAttributeType
        guard let column = type.attributeType,
            let value = NativeForm.value(cs_toFieldStoredNativeType(), type)
        else { Log.abort("\(Self.self) gives no native form that is kept as \(type)") }
        row.buffer.setValue(value, RowBuffer.field(column, at: offset))
    }
}

extension FieldStorableType
where
    Self: ImportableAttributeType, FieldStoredNativeType == QueryableNativeType,
    FieldStoredNativeType: CoreDataNativeType
{
    /// The value of the stored form; nil for a form that a query of the same type would not return.
    public static func cs_known(_ row: FieldRow, _ offset: Int) -> Self? {
        let native = cs_native(row, offset)
        guard cs_fromQueryableNativeType(native) != nil else { return nil }
        // A type may say how stored forms are read, and otherwise does what a query does.
        return cs_fromFieldStoredNativeType(native)
    }

    /// The value that a query returns for the form. The type must know the form.
    public static func cs_fromFieldStoredNativeType(_ value: FieldStoredNativeType) -> Self {
        guard let known = cs_fromQueryableNativeType(value) else {
            Log.abort("\(Self.self) does not know the stored \(value)")
        }
        return known
    }

    /// The stored form that conditions compare with.
    public func cs_toFieldStoredNativeType() -> Any? { cs_toQueryableNativeType() }
}

extension QueryableAttributeType {
    /// The value of a stored form of whatever type.
    static func cs_value(of native: Any) -> Self? {
        NativeForm.native(native, as: QueryableNativeType.self)
            .flatMap { cs_fromQueryableNativeType($0) }
    }
}
