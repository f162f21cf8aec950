import RecordStore

// Each type says how it is kept, and converts from every other number the way `NSNumber` does.

/// Conversions between the stored forms of numbers.
enum NumberBridge {
    /// The number that a stored value is, as the nearest integer toward zero.
    static func integer<Integer: FixedWidthInteger>(_ value: Any, _ type: Integer.Type) -> Integer?
    {
        switch value {
        case let number as Int64: Integer(truncatingIfNeeded: number)
        // A sum beyond the integers of 64 bits: nil, as a Double of that size is.
        case let number as UInt64 where Integer.isSigned && Integer.bitWidth == UInt64.bitWidth:
            Integer(exactly: number)
        case let number as UInt64: Integer(truncatingIfNeeded: number)
        case let flag as Bool: flag ? 1 : 0
        case let number as Double: integer(number, type)
        case let number as Float: integer(Double(number), type)
        case let number as Decimal: integer(number, type)
        case let number as any BinaryInteger: Integer(truncatingIfNeeded: number)
        default: nil
        }
    }

    private static func integer<Integer: FixedWidthInteger>(
        _ number: Double, _ type: Integer.Type
    ) -> Integer? {
        guard number.isFinite, let whole = Int64(exactly: number.rounded(.towardZero)) else {
            return nil
        }
        return Integer(truncatingIfNeeded: whole)
    }

    private static func integer<Integer: FixedWidthInteger>(
        _ number: Decimal, _ type: Integer.Type
    ) -> Integer? {
        // A Double has fewer digits.
        let whole = "\(number)".prefix { $0 != "." }
        return Int64(whole).map { Integer(truncatingIfNeeded: $0) }
            ?? UInt64(whole).map { Integer(truncatingIfNeeded: $0) }
    }

    /// The number that a stored value is, as the nearest Double.
    static func double(_ value: Any) -> Double? {
        switch value {
        case let number as Double: number
        case let number as Float: Double(number)
        case let number as Int64: Double(number)
        case let number as UInt64: Double(number)
        case let flag as Bool: flag ? 1 : 0
        case let number as Decimal: Double("\(number)")
        case let number as any BinaryInteger: Double(number)
        default: nil
        }
    }

    static func decimal(_ value: Any) -> Decimal? {
        switch value {
        case let number as Decimal: number
        case let number as Int64: Decimal(number)
        case let number as UInt64: Decimal(number)
        case let flag as Bool: flag ? 1 : 0
        case let number as Double: Decimal(string: "\(number)")
        case let number as Float: Decimal(string: "\(number)")
        default: nil
        }
    }
}

extension Bool: ImportableAttributeType, FieldStorableType {
    public typealias FieldStoredNativeType = Bool
    public static var cs_rawAttributeType: NSAttributeType { .booleanAttributeType }

    @inlinable @inline(__always)
    public static func cs_load(_ row: FieldRow, _ offset: Int) -> Bool { row.bool(offset) }

    @inlinable @inline(__always)
    public func cs_store(_ row: inout FieldRow, _ offset: Int) { row.set(self, offset) }

    public func cs_toFieldStoredNativeType() -> Any? { self }
    public func cs_toQueryableNativeType() -> Any { self }

    public static func cs_fromQueryableNativeType(_ value: Any) -> Bool? {
        if let flag = value as? Bool { return flag }
        return NumberBridge.double(value).map { $0 != 0 }
    }
}

extension Int: ImportableAttributeType, FieldStorableType {
    public typealias FieldStoredNativeType = Int
    public static var cs_rawAttributeType: NSAttributeType { .integer64AttributeType }

    @inlinable @inline(__always)
    public static func cs_load(_ row: FieldRow, _ offset: Int) -> Int {
        Int(truncatingIfNeeded: row.int(offset))
    }

    @inlinable @inline(__always)
    public func cs_store(_ row: inout FieldRow, _ offset: Int) { row.set(Int64(self), offset) }

    public func cs_toFieldStoredNativeType() -> Any? { Int64(self) }
    public func cs_toQueryableNativeType() -> Any { Int64(self) }

    public static func cs_fromQueryableNativeType(_ value: Any) -> Int? {
        NumberBridge.integer(value, Int.self)
    }
}

extension Int8: ImportableAttributeType, FieldStorableType {
    public typealias FieldStoredNativeType = Int8
    public static var cs_rawAttributeType: NSAttributeType { .integer8AttributeType }

    @inlinable @inline(__always)
    public static func cs_load(_ row: FieldRow, _ offset: Int) -> Int8 {
        Int8(truncatingIfNeeded: row.int(offset))
    }

    @inlinable @inline(__always)
    public func cs_store(_ row: inout FieldRow, _ offset: Int) { row.set(Int64(self), offset) }

    public func cs_toFieldStoredNativeType() -> Any? { Int64(self) }
    public func cs_toQueryableNativeType() -> Any { Int64(self) }

    public static func cs_fromQueryableNativeType(_ value: Any) -> Int8? {
        NumberBridge.integer(value, Int8.self)
    }
}

extension Int16: ImportableAttributeType, FieldStorableType {
    public typealias FieldStoredNativeType = Int16
    public static var cs_rawAttributeType: NSAttributeType { .integer16AttributeType }

    @inlinable @inline(__always)
    public static func cs_load(_ row: FieldRow, _ offset: Int) -> Int16 {
        Int16(truncatingIfNeeded: row.int(offset))
    }

    @inlinable @inline(__always)
    public func cs_store(_ row: inout FieldRow, _ offset: Int) { row.set(Int64(self), offset) }

    public func cs_toFieldStoredNativeType() -> Any? { Int64(self) }
    public func cs_toQueryableNativeType() -> Any { Int64(self) }

    public static func cs_fromQueryableNativeType(_ value: Any) -> Int16? {
        NumberBridge.integer(value, Int16.self)
    }
}

extension Int32: ImportableAttributeType, FieldStorableType {
    public typealias FieldStoredNativeType = Int32
    public static var cs_rawAttributeType: NSAttributeType { .integer32AttributeType }

    @inlinable @inline(__always)
    public static func cs_load(_ row: FieldRow, _ offset: Int) -> Int32 {
        Int32(truncatingIfNeeded: row.int(offset))
    }

    @inlinable @inline(__always)
    public func cs_store(_ row: inout FieldRow, _ offset: Int) { row.set(Int64(self), offset) }

    public func cs_toFieldStoredNativeType() -> Any? { Int64(self) }
    public func cs_toQueryableNativeType() -> Any { Int64(self) }

    public static func cs_fromQueryableNativeType(_ value: Any) -> Int32? {
        NumberBridge.integer(value, Int32.self)
    }
}

extension Int64: ImportableAttributeType, FieldStorableType {
    public typealias FieldStoredNativeType = Int64
    public static var cs_rawAttributeType: NSAttributeType { .integer64AttributeType }

    @inlinable @inline(__always)
    public static func cs_load(_ row: FieldRow, _ offset: Int) -> Int64 {
        row.int(offset)
    }

    @inlinable @inline(__always)
    public func cs_store(_ row: inout FieldRow, _ offset: Int) { row.set(self, offset) }

    public func cs_toFieldStoredNativeType() -> Any? { self }
    public func cs_toQueryableNativeType() -> Any { self }

    public static func cs_fromQueryableNativeType(_ value: Any) -> Int64? {
        NumberBridge.integer(value, Int64.self)
    }
}

extension UInt: ImportableAttributeType, FieldStorableType {
    public typealias FieldStoredNativeType = UInt
    public static var cs_rawAttributeType: NSAttributeType { .unsigned64AttributeType }

    @inlinable @inline(__always)
    public static func cs_load(_ row: FieldRow, _ offset: Int) -> UInt {
        UInt(truncatingIfNeeded: row.uint(offset))
    }

    @inlinable @inline(__always)
    public func cs_store(_ row: inout FieldRow, _ offset: Int) { row.set(UInt64(self), offset) }

    public func cs_toFieldStoredNativeType() -> Any? { UInt64(self) }
    public func cs_toQueryableNativeType() -> Any { UInt64(self) }

    public static func cs_fromQueryableNativeType(_ value: Any) -> UInt? {
        NumberBridge.integer(value, UInt.self)
    }
}

extension UInt8: ImportableAttributeType, FieldStorableType {
    public typealias FieldStoredNativeType = UInt8
    public static var cs_rawAttributeType: NSAttributeType { .unsigned8AttributeType }

    @inlinable @inline(__always)
    public static func cs_load(_ row: FieldRow, _ offset: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: row.uint(offset))
    }

    @inlinable @inline(__always)
    public func cs_store(_ row: inout FieldRow, _ offset: Int) { row.set(UInt64(self), offset) }

    public func cs_toFieldStoredNativeType() -> Any? { UInt64(self) }
    public func cs_toQueryableNativeType() -> Any { UInt64(self) }

    public static func cs_fromQueryableNativeType(_ value: Any) -> UInt8? {
        NumberBridge.integer(value, UInt8.self)
    }
}

extension UInt16: ImportableAttributeType, FieldStorableType {
    public typealias FieldStoredNativeType = UInt16
    public static var cs_rawAttributeType: NSAttributeType { .unsigned16AttributeType }

    @inlinable @inline(__always)
    public static func cs_load(_ row: FieldRow, _ offset: Int) -> UInt16 {
        UInt16(truncatingIfNeeded: row.uint(offset))
    }

    @inlinable @inline(__always)
    public func cs_store(_ row: inout FieldRow, _ offset: Int) { row.set(UInt64(self), offset) }

    public func cs_toFieldStoredNativeType() -> Any? { UInt64(self) }
    public func cs_toQueryableNativeType() -> Any { UInt64(self) }

    public static func cs_fromQueryableNativeType(_ value: Any) -> UInt16? {
        NumberBridge.integer(value, UInt16.self)
    }
}

extension UInt32: ImportableAttributeType, FieldStorableType {
    public typealias FieldStoredNativeType = UInt32
    public static var cs_rawAttributeType: NSAttributeType { .unsigned32AttributeType }

    @inlinable @inline(__always)
    public static func cs_load(_ row: FieldRow, _ offset: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: row.uint(offset))
    }

    @inlinable @inline(__always)
    public func cs_store(_ row: inout FieldRow, _ offset: Int) { row.set(UInt64(self), offset) }

    public func cs_toFieldStoredNativeType() -> Any? { UInt64(self) }
    public func cs_toQueryableNativeType() -> Any { UInt64(self) }

    public static func cs_fromQueryableNativeType(_ value: Any) -> UInt32? {
        NumberBridge.integer(value, UInt32.self)
    }
}

extension UInt64: ImportableAttributeType, FieldStorableType {
    public typealias FieldStoredNativeType = UInt64
    public static var cs_rawAttributeType: NSAttributeType { .unsigned64AttributeType }

    @inlinable @inline(__always)
    public static func cs_load(_ row: FieldRow, _ offset: Int) -> UInt64 {
        row.uint(offset)
    }

    @inlinable @inline(__always)
    public func cs_store(_ row: inout FieldRow, _ offset: Int) { row.set(self, offset) }

    public func cs_toFieldStoredNativeType() -> Any? { self }
    public func cs_toQueryableNativeType() -> Any { self }

    public static func cs_fromQueryableNativeType(_ value: Any) -> UInt64? {
        NumberBridge.integer(value, UInt64.self)
    }
}

extension Double: ImportableAttributeType, FieldStorableType {
    public typealias FieldStoredNativeType = Double
    public static var cs_rawAttributeType: NSAttributeType { .doubleAttributeType }

    @inlinable @inline(__always)
    public static func cs_load(_ row: FieldRow, _ offset: Int) -> Double { row.double(offset) }

    @inlinable @inline(__always)
    public func cs_store(_ row: inout FieldRow, _ offset: Int) { row.set(self, offset) }

    public func cs_toFieldStoredNativeType() -> Any? { self }
    public func cs_toQueryableNativeType() -> Any { self }

    public static func cs_fromQueryableNativeType(_ value: Any) -> Double? {
        NumberBridge.double(value)
    }
}

extension Float: ImportableAttributeType, FieldStorableType {
    public typealias FieldStoredNativeType = Float
    public static var cs_rawAttributeType: NSAttributeType { .floatAttributeType }

    @inlinable @inline(__always)
    public static func cs_load(_ row: FieldRow, _ offset: Int) -> Float { row.float(offset) }

    @inlinable @inline(__always)
    public func cs_store(_ row: inout FieldRow, _ offset: Int) { row.set(self, offset) }

    public func cs_toFieldStoredNativeType() -> Any? { self }
    public func cs_toQueryableNativeType() -> Any { self }

    public static func cs_fromQueryableNativeType(_ value: Any) -> Float? {
        NumberBridge.double(value).map { Float($0) }
    }
}

extension CGFloat: ImportableAttributeType, FieldStorableType {
    public typealias FieldStoredNativeType = CGFloat
    public static var cs_rawAttributeType: NSAttributeType { .doubleAttributeType }

    @inlinable @inline(__always)
    public static func cs_load(_ row: FieldRow, _ offset: Int) -> CGFloat {
        CGFloat(row.double(offset))
    }

    @inlinable @inline(__always)
    public func cs_store(_ row: inout FieldRow, _ offset: Int) { row.set(Double(self), offset) }

    public func cs_toFieldStoredNativeType() -> Any? { Double(self) }
    public func cs_toQueryableNativeType() -> Any { Double(self) }

    public static func cs_fromQueryableNativeType(_ value: Any) -> CGFloat? {
        NumberBridge.double(value).map { CGFloat($0) }
    }
}

extension Decimal: ImportableAttributeType, FieldStorableType {
    public typealias FieldStoredNativeType = Decimal
    public static var cs_rawAttributeType: NSAttributeType { .decimalAttributeType }

    public static func cs_load(_ row: FieldRow, _ offset: Int) -> Decimal {
        row.decimal(offset) ?? 0
    }

    public func cs_store(_ row: inout FieldRow, _ offset: Int) { row.set(self, offset) }
    public func cs_toFieldStoredNativeType() -> Any? { self }
    public func cs_toQueryableNativeType() -> Any { self }

    public static func cs_fromQueryableNativeType(_ value: Any) -> Decimal? {
        NumberBridge.decimal(value)
    }
}
