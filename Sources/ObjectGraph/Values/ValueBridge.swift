import RecordStore

/// Values between a program's types and the store's.
enum ValueBridge {
    /// The value of a native form; nil for what the store has no form for.
    static func value(_ native: Any?) -> Value? {
        if let native {
            if let value = value(exactly: native) { return value }
            // A decimal that casts to a Double would not be the same any more, and calculations
            // tell the Double 2 from the integer.
            let type = type(of: native)
            if type == NSNumber.self || type is NSNumber.Type, let number = native as? NSNumber,
                let value = number.kindValue
            {
                return value
            }
        }
        return switch native {
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
        case let other as any QueryableAttributeType: value(queryable: other)
        default: nil
        }
    }

    /// The value of the most frequent forms, which a comparison of types recognises much faster
    /// than a series of casts; nil for others.
    private static func value(exactly native: Any) -> Value? {
        let type = type(of: native)
        if type == String.self { return (native as? String).map { .string($0) } }
        if type == Int64.self { return (native as? Int64).map { .int($0) } }
        if type == Int.self { return (native as? Int).map { .int(Int64($0)) } }
        if type == Double.self { return (native as? Double).map { .double($0) } }
        guard type == Date.self else { return nil }
        return (native as? Date).map { .date($0.timeIntervalSinceReferenceDate) }
    }

    /// The value that a condition compares with: a number as it is, where a property would keep it
    /// without its fraction.
    static func value<V: FieldStorableType>(compared value: V) -> Value {
        // The most frequent types are recognised without a cast.
        guard V.self != Int.self, V.self != String.self,
            isNumberClass(V.self)
        else { return self.value(value) }
        guard let number = value as? NSNumber else { return .null }
        return self.value(number as Any) ?? .null
    }

    static func value<V: FieldStorableType>(_ value: V) -> Value {
        if let text = value as? String { return .string(text) }
        if V.self == Int.self, let number = value as? Int { return .int(Int64(number)) }
        // A decimal that casts to an Int or a Double would not be the same any more.
        if isNumberClass(V.self) { return other(value) }
        if let number = value as? Int { return .int(Int64(number)) }
        if let number = value as? Double { return .double(number) }
        return other(value)
    }

    /// Whether a type is one of Foundation's numbers, or an optional of one. The optional of a
    /// class is no subtype of the optional of the class above it.
    private static func isNumberClass<V>(_ type: V.Type) -> Bool {
        type is NSNumber.Type || type is NSNumber?.Type || type is NSDecimalNumber?.Type
    }

    private static func other<V: FieldStorableType>(_ value: V) -> Value {
        NativeForm.value(value.cs_toFieldStoredNativeType(), V.cs_rawAttributeType) ?? .null
    }

    static func value<V: QueryableAttributeType>(queryable value: V) -> Value {
        NativeForm.value(value.cs_toQueryableNativeType(), V.cs_rawAttributeType) ?? .null
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
