import RecordStore

/// A comparison of a record's own number with a constant; nil never passes. A scan applies it to a
/// whole leaf before any other test.
struct ColumnTest {
    enum Constant {
        case int(Int64)
        case uint(UInt64)
        case double(Double)
        /// Compared as Double, with a column of Floats.
        case float(Double)
    }

    let field: FieldLayout
    let operation: Comparison.Operation
    let constant: Constant

    /// Whether a value passes, given by the bits of its slot.
    @inline(__always)
    func holds(_ word: UInt64) -> Bool {
        switch constant {
        case .int(let value): Self.holds(operation, Int64(bitPattern: word), value)
        case .uint(let value): Self.holds(operation, word, value)
        case .double(let value): Self.holds(operation, ordered: Double(bitPattern: word), value)
        case .float(let value):
            Self.holds(
                operation,
                ordered: Double(Float(bitPattern: UInt32(truncatingIfNeeded: word))), value)
        }
    }

    @inline(__always)
    static func holds<Number: Comparable>(
        _ operation: Comparison.Operation, _ left: Number, _ right: Number
    ) -> Bool {
        switch operation {
        case .equal: left == right
        case .less: left < right
        case .lessOrEqual: left <= right
        case .greater: left > right
        default: left >= right
        }
    }

    /// NaN sorts before every other number; the constant is never NaN.
    @inline(__always)
    private static func holds(
        _ operation: Comparison.Operation, ordered left: Double, _ right: Double
    ) -> Bool {
        if left.isNaN { return operation == .less || operation == .lessOrEqual }
        return holds(operation, left, right)
    }
}
