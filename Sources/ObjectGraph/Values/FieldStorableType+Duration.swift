import RecordStore

/// A span of time is kept as a decimal number of seconds, which holds every `Duration` exactly: it
/// is compared, ordered and summed up as what it is.
extension Duration: ImportableAttributeType, FieldStorableType {
    public typealias FieldStoredNativeType = Decimal

    public static var cs_rawAttributeType: NSAttributeType { .decimalAttributeType }

    /// The duration of a number of seconds. A number out of range becomes the longest duration, NaN
    /// becomes zero.
    public static func cs_fromFieldStoredNativeType(_ value: Decimal) -> Duration {
        exact(value) ?? (value.isNaN ? .zero : Duration(attoseconds: value < 0 ? .min : .max))
    }

    public static func cs_load(_ row: FieldRow, _ offset: Int) -> Duration {
        cs_fromFieldStoredNativeType(Decimal.cs_load(row, offset))
    }

    public func cs_store(_ row: inout FieldRow, _ offset: Int) { row.set(seconds, offset) }
    public func cs_toFieldStoredNativeType() -> Any? { seconds }

    public static func cs_fromQueryableNativeType(_ value: Any) -> Duration? {
        if let duration = value as? Duration { return duration }
        return NumberBridge.decimal(value).flatMap { exact($0) }
    }

    public func cs_toQueryableNativeType() -> Any { seconds }

    private static let attosecondDigits = 18

    private var seconds: Decimal {
        // 39 digits have room in a Decimal, and its text is read without rounding.
        Decimal(
            sign: attoseconds < 0 ? .minus : .plus, exponent: -Self.attosecondDigits,
            significand: Decimal(string: "\(attoseconds.magnitude)") ?? 0)
    }

    /// Nil for a number that no `Duration` can hold. Fractions of an attosecond are truncated.
    private static func exact(_ seconds: Decimal) -> Duration? {
        // The text is exact, which Foundation's conversions to integers are not.
        let parts = "\(seconds.magnitude)".split(separator: ".")
        let digits = (parts.count > 1 ? parts[1] : "").prefix(attosecondDigits)
        let padding = String(repeating: "0", count: attosecondDigits - digits.count)
        guard let whole = parts.first, let attoseconds = UInt128(whole + digits + padding) else {
            return nil
        }
        if seconds < 0 {
            let isLeast = attoseconds == Int128.min.magnitude
            return (isLeast ? .min : Int128(exactly: attoseconds).map { -$0 })
                .map { Duration(attoseconds: $0) }
        }
        return Int128(exactly: attoseconds).map { Duration(attoseconds: $0) }
    }
}
