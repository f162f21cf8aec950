import Foundation

/// Converts values between attribute types in a migration.
enum ValueConversion {
    /// Whether every value of the old type has an equal or nearest value in the new one.
    static func isInferred(from old: AttributeType, to new: AttributeType) -> Bool {
        if old == new || LayoutEdits.isWider(new, than: old) { return true }
        return switch new {
        case .double: old.isNumber && old != .decimal
        case .decimal: old.isNumber
        case .float: old == .bool
        default: false
        }
    }

    /// Converts a value to a type; nil if the type cannot hold it.
    static func value(_ value: Value, as type: AttributeType) -> Value? {
        switch (type, value) {
        case (_, .null): .null
        case (.bool, .bool), (.date, .date), (.uuid, .uuid), (.data, .data), (.string, .string),
            (.url, .url):
            value
        case (.bool, _): flag(value)
        case (.string, .url(let text)): .string(text)
        case (.url, .string(let text)): .url(text)
        case (.data, .string(let text)), (.data, .url(let text)): .data(Array(text.utf8))
        case (.float, _): value.approximation.map { .float(Float($0)) }
        case (.double, _): value.approximation.map { .double($0) }
        case (.decimal, _): decimal(value)
        default: wholeNumber(value, type)
        }
    }

    /// Converts a value that a program sets; nil if the type cannot hold it. A number is rounded to
    /// the nearest one of the type, and stays a number.
    static func assigned(_ value: Value, as type: AttributeType) -> Value? {
        let converted = self.value(value, as: type)
        guard case .float(let number) = converted, number.isInfinite,
            value.approximation?.isFinite == true
        else { return converted }
        return nil
    }

    /// Nil for a number that a decimal cannot hold.
    private static func decimal(_ value: Value) -> Value? {
        guard let number = value.approximation else { return nil }
        let decimal = value.decimal
        return decimal.isNaN && !number.isNaN ? nil : .decimal(decimal)
    }

    private static func flag(_ value: Value) -> Value? {
        guard let number = value.approximation, number == 0 || number == 1 else { return nil }
        return .bool(number == 1)
    }

    private static func wholeNumber(_ value: Value, _ type: AttributeType) -> Value? {
        switch type {
        case .int8: number(value, Int8.self).map { .int(Int64($0)) }
        case .int16: number(value, Int16.self).map { .int(Int64($0)) }
        case .int32: number(value, Int32.self).map { .int(Int64($0)) }
        case .int64: number(value, Int64.self).map { .int($0) }
        case .uint8: number(value, UInt8.self).map { .uint(UInt64($0)) }
        case .uint16: number(value, UInt16.self).map { .uint(UInt64($0)) }
        case .uint32: number(value, UInt32.self).map { .uint(UInt64($0)) }
        case .uint64: number(value, UInt64.self).map { .uint($0) }
        default: nil
        }
    }

    /// Nil if the number is not exact in the type.
    private static func number<Number: FixedWidthInteger>(
        _ value: Value, _ type: Number.Type
    ) -> Number? {
        switch value {
        case .bool(let flag): flag ? 1 : 0
        case .int(let number): Number(exactly: number)
        case .uint(let number): Number(exactly: number)
        case .float(let number): Number(exactly: number)
        case .double(let number): Number(exactly: number)
        case .decimal(let number): Number("\(number)")
        default: nil
        }
    }
}
