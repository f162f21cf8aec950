import RecordStore

extension String: ImportableAttributeType, FieldStorableType {
    public static var cs_rawAttributeType: NSAttributeType { .stringAttributeType }

    @inlinable @inline(__always)
    public static func cs_load(_ row: FieldRow, _ offset: Int) -> String { row.string(offset) }

    @inlinable
    public func cs_store(_ row: inout FieldRow, _ offset: Int) { row.set(self, offset) }

    public func cs_toFieldStoredNativeType() -> Any? { self }
    public func cs_toQueryableNativeType() -> Any { self }

    public static func cs_fromQueryableNativeType(_ value: Any) -> String? {
        switch value {
        case let text as String: text
        case let url as URL: url.absoluteString
        case let uuid as UUID: uuid.uuidString.lowercased()
        default: nil
        }
    }
}

extension Data: ImportableAttributeType, FieldStorableType {
    public static var cs_rawAttributeType: NSAttributeType { .binaryDataAttributeType }

    public static func cs_load(_ row: FieldRow, _ offset: Int) -> Data { Data(row.bytes(offset)) }
    public func cs_store(_ row: inout FieldRow, _ offset: Int) { row.set([UInt8](self), offset) }
    public func cs_toFieldStoredNativeType() -> Any? { self }
    public func cs_toQueryableNativeType() -> Any { self }
    public static func cs_fromQueryableNativeType(_ value: Any) -> Data? { value as? Data }
}

extension Date: ImportableAttributeType, FieldStorableType {
    public static var cs_rawAttributeType: NSAttributeType { .dateAttributeType }

    @inlinable @inline(__always)
    public static func cs_load(_ row: FieldRow, _ offset: Int) -> Date {
        Date(timeIntervalSinceReferenceDate: row.double(offset))
    }

    @inlinable @inline(__always)
    public func cs_store(_ row: inout FieldRow, _ offset: Int) {
        row.set(timeIntervalSinceReferenceDate, offset)
    }

    public func cs_toFieldStoredNativeType() -> Any? { self }
    public func cs_toQueryableNativeType() -> Any { self }
    public static func cs_fromQueryableNativeType(_ value: Any) -> Date? { value as? Date }
}

extension UUID: ImportableAttributeType, FieldStorableType {
    public static var cs_rawAttributeType: NSAttributeType { .UUIDAttributeType }

    public static func cs_load(_ row: FieldRow, _ offset: Int) -> UUID {
        row.uuid(offset) ?? UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    }

    public func cs_store(_ row: inout FieldRow, _ offset: Int) { row.set(self, offset) }
    public func cs_toFieldStoredNativeType() -> Any? { self }
    public func cs_toQueryableNativeType() -> Any { self }

    public static func cs_fromQueryableNativeType(_ value: Any) -> UUID? {
        if let text = value as? String { return UUID(uuidString: text) }
        return value as? UUID
    }
}

extension URL: ImportableAttributeType, FieldStorableType {
    public static var cs_rawAttributeType: NSAttributeType { .URIAttributeType }

    public static func cs_load(_ row: FieldRow, _ offset: Int) -> URL {
        URL(string: row.string(offset)) ?? URL(fileURLWithPath: "/")
    }

    public func cs_store(_ row: inout FieldRow, _ offset: Int) { row.set(absoluteString, offset) }
    public func cs_toFieldStoredNativeType() -> Any? { self }
    public func cs_toQueryableNativeType() -> Any { self }

    public static func cs_fromQueryableNativeType(_ value: Any) -> URL? {
        if let text = value as? String { return URL(string: text) }
        return value as? URL
    }
}

extension NSManagedObjectID: QueryableAttributeType {
    public static var cs_rawAttributeType: NSAttributeType { .objectIDAttributeType }

    public func cs_toQueryableNativeType() -> Any { self }

    public static func cs_fromQueryableNativeType(_ value: Any) -> Self? { value as? Self }
}

// A raw value that its type does not know must not stop the program: the file may come from a newer
// version of it. An optional reads it as nil, another property as its type's first case. A
// declaration needs no more than the names of the protocols.

extension RawRepresentable where RawValue: FieldStorableType, Self: FieldStorableType {
    public static var cs_rawAttributeType: NSAttributeType { RawValue.cs_rawAttributeType }

    public static func cs_load(_ row: FieldRow, _ offset: Int) -> Self {
        cs_known(row, offset) ?? cs_first(RawValue.cs_load(row, offset))
    }

    public static func cs_known(_ row: FieldRow, _ offset: Int) -> Self? {
        Self(rawValue: RawValue.cs_load(row, offset))
    }

    private static func cs_first(_ unknown: RawValue) -> Self {
        func first<C: CaseIterable>(of type: C.Type) -> Any? { type.allCases.first }
        guard let type = Self.self as? any CaseIterable.Type, let value = first(of: type) as? Self
        else {
            Log.abort(
                "\(Self.self) does not know the stored \(unknown): declare it CaseIterable, or "
                    + "the property optional")
        }
        Log.message(.warning, "\(Self.self) does not know the stored \(unknown)")
        return value
    }

    public func cs_store(_ row: inout FieldRow, _ offset: Int) {
        rawValue.cs_store(&row, offset)
    }

    public func cs_toFieldStoredNativeType() -> Any? { rawValue.cs_toFieldStoredNativeType() }
}

extension RawRepresentable where RawValue: QueryableAttributeType, Self: QueryableAttributeType {
    public static var cs_rawAttributeType: NSAttributeType { RawValue.cs_rawAttributeType }

    public func cs_toQueryableNativeType() -> Any { rawValue.cs_toQueryableNativeType() }

    public static func cs_fromQueryableNativeType(_ value: Any) -> Self? {
        RawValue.cs_fromQueryableNativeType(value).flatMap { Self(rawValue: $0) }
    }
}

extension RawRepresentable
where
    RawValue: FieldStorableType & QueryableAttributeType,
    Self: FieldStorableType & QueryableAttributeType
{
    public static var cs_rawAttributeType: NSAttributeType { RawValue.cs_rawAttributeType }
}

/// Values between a program's types and the store's.
enum ValueBridge {
    /// The value of a native form; nil for what the store has no form for.
    static func value(_ native: Any?) -> Value? {
        switch native {
        case nil, is NSNull: .null
        case let flag as Bool: .bool(flag)
        case let number as Int64: .int(number)
        case let number as UInt64: .uint(number)
        case let number as Int: .int(Int64(number))
        case let number as Double: .double(number)
        case let number as Float: .float(number)
        case let number as Decimal: .decimal(number)
        case let text as String: .string(text)
        case let data as Data: .data([UInt8](data))
        case let date as Date: .date(date.timeIntervalSinceReferenceDate)
        case let uuid as UUID: .uuid(uuid)
        case let url as URL: .url(url.absoluteString)
        case let id as NSManagedObjectID: .object(id.number)
        case let object as any DynamicObject: .object(object.objectID().number)
        case let number as any BinaryInteger:
            Int64(exactly: number).map { .int($0) } ?? UInt64(exactly: number).map { .uint($0) }
        case let number as CGFloat: .double(Double(number))
        case let other as any QueryableAttributeType: value(other.cs_toQueryableNativeType())
        default: nil
        }
    }

    static func value<V: FieldStorableType>(_ value: V) -> Value {
        if let text = value as? String { return .string(text) }
        if let number = value as? Int { return .int(Int64(number)) }
        // A decimal that casts to a Double would not be the same any more.
        if V.self is NSNumber.Type || V.self is NSNumber?.Type { return other(value) }
        if let number = value as? Double { return .double(number) }
        return other(value)
    }

    private static func other<V: FieldStorableType>(_ value: V) -> Value {
        self.value(value.cs_toFieldStoredNativeType()) ?? .null
    }

    static func value<V: QueryableAttributeType>(queryable value: V) -> Value {
        self.value(value.cs_toQueryableNativeType()) ?? .null
    }

    /// The native form of a value; an object needs its store to become an ID.
    static func native(_ value: Value) -> Any? {
        switch value {
        case .null, .object: nil
        case .bool(let flag): flag
        case .int(let number): number
        case .uint(let number): number
        case .float(let number): number
        case .double(let number): number
        case .decimal(let number): number
        case .string(let text): text
        case .data(let bytes): Data(bytes)
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .uuid(let uuid): uuid
        case .url(let text): URL(string: text)
        }
    }

    /// The native form as a row of a query holds it: numbers cast to every type that can hold them.
    /// Decimals stay as they are, because Foundation's own cannot be hashed on this platform.
    static func boxed(_ value: Value) -> Any? {
        switch value {
        case .bool(let flag): NSNumber(value: flag)
        case .int(let number): NSNumber(value: number)
        case .uint(let number): NSNumber(value: number)
        case .float(let number): NSNumber(value: number)
        case .double(let number): NSNumber(value: number)
        default: native(value)
        }
    }
}
