import RecordStore

/// A span of time is kept as a decimal number of seconds, which holds every `Duration` exactly: it
/// is compared, ordered and summed up as what it is.
extension Duration: ImportableAttributeType, FieldStorableType {
    public typealias FieldStoredNativeType = Decimal

    public static var cs_rawAttributeType: NSAttributeType { .decimalAttributeType }

    /// Beyond 292 billion years, which no `Duration` can be, the longest one.
    public static func cs_fromFieldStoredNativeType(_ value: Decimal) -> Duration {
        exact(value)
            ?? Duration(
                secondsComponent: value < 0 ? .min : .max, attosecondsComponent: 0)
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
        let (seconds, attoseconds) = components
        return Decimal(seconds)
            + Decimal(
                sign: attoseconds < 0 ? .minus : .plus, exponent: -Self.attosecondDigits,
                significand: Decimal(attoseconds.magnitude))
    }

    /// Nil for what no `Duration` can hold. What is less than an attosecond is cut off.
    private static func exact(_ seconds: Decimal) -> Duration? {
        // The text is exact, which Foundation's conversions to integers are not.
        let parts = "\(seconds.magnitude)".split(separator: ".")
        guard let first = parts.first, let whole = Int64(first) else { return nil }
        let digits = (parts.count > 1 ? parts[1] : "").prefix(attosecondDigits)
        let padding = String(repeating: "0", count: attosecondDigits - digits.count)
        guard let attoseconds = Int64(digits + padding) else { return nil }
        let sign: Int64 = seconds < 0 ? -1 : 1
        return Duration(
            secondsComponent: sign * whole, attosecondsComponent: sign * attoseconds)
    }
}
