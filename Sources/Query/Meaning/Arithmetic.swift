import Foundation
import RecordStore

/// Arithmetic on operands: with integers if both are and the result has 64 bits, with decimals if
/// one is and they can hold the operands and the result, and otherwise with Doubles; nil if an
/// operand is nil or not a number.
///
/// A quotient of two integers is an integer, rounded towards zero, as in SQL and Swift. An integer
/// or a decimal divided by zero is nil; a Double is infinite or NaN.
enum Arithmetic {
    static func apply(
        _ operation: Operand.Arithmetic, _ left: Value, _ right: Value
    ) -> Value {
        if let left = integer(left), let right = integer(right) {
            if right == 0, operation == .divide { return .null }
            if let exact = apply(operation, left, right) { return .int(exact) }
        }
        if let left = wide(left), let right = wide(right) {
            if right == 0, operation == .divide { return .null }
            if let exact = apply(operation, left, right) { return exact }
        }
        if case .date(let seconds) = left, let other = right.approximation {
            switch operation {
            case .add: return .date(seconds + other)
            case .subtract: return .date(seconds - other)
            default: return .null
            }
        }
        if case .date(let seconds) = right, operation == .add, let other = left.approximation {
            return .date(other + seconds)
        }
        if case .date(let left) = left, case .date(let right) = right, operation == .subtract {
            return .double(left - right)
        }
        guard let first = left.approximation, let second = right.approximation else {
            return .null
        }
        if left.isDecimal || right.isDecimal, operation != .power,
            let exact = decimal(operation, left, right)
        {
            return exact
        }
        switch operation {
        case .add: return .double(first + second)
        case .subtract: return .double(first - second)
        case .multiply: return .double(first * second)
        case .divide: return .double(first / second)
        case .power: return .double(pow(first, second))
        case .bitAnd, .bitOr, .bitXor, .leftShift, .rightShift: return .null
        }
    }

    /// The remainder of a division, with the sign of the dividend.
    static func remainder(_ left: Value, _ right: Value) -> Value {
        if let left = integer(left), let right = integer(right) {
            guard right != 0 else { return .null }
            return .int(left.remainderReportingOverflow(dividingBy: right).partialValue)
        }
        if let left = wide(left), let right = wide(right) {
            return right == 0 ? .null : value(left % right) ?? .null
        }
        guard let left = left.approximation, let right = right.approximation else { return .null }
        return .double(left.truncatingRemainder(dividingBy: right))
    }

    /// The bitwise complement; nil if the value is not an integer.
    static func complement(_ value: Value) -> Value {
        if case .uint(let number) = value { return .uint(~number) }
        return integer(value).map { .int(~$0) } ?? .null
    }

    private static func integer(_ value: Value) -> Int64? {
        switch value {
        case .int(let number): number
        case .uint(let number): Int64(exactly: number)
        case .bool(let flag): flag ? 1 : 0
        default: nil
        }
    }

    /// An integer, also one beyond Int64.
    private static func wide(_ value: Value) -> Int128? {
        if case .uint(let number) = value { return Int128(number) }
        return integer(value).map { Int128($0) }
    }

    private static func value(_ number: Int128) -> Value? {
        Int64(exactly: number).map { .int($0) } ?? UInt64(exactly: number).map { .uint($0) }
    }

    /// For integers of which one is beyond Int64, or whose result is. Their product may be beyond
    /// Int128.
    private static func apply(
        _ operation: Operand.Arithmetic, _ left: Int128, _ right: Int128
    ) -> Value? {
        let (leftBits, rightBits) = (
            UInt64(truncatingIfNeeded: left), UInt64(truncatingIfNeeded: right)
        )
        switch operation {
        case .add: return value(left + right)
        case .subtract: return value(left - right)
        case .multiply:
            let (product, overflow) = left.multipliedReportingOverflow(by: right)
            return overflow ? nil : value(product)
        case .divide: return value(left / right)
        case .power: return right == 0 ? .int(1) : right == 1 ? value(left) : nil
        case .bitAnd: return .uint(leftBits & rightBits)
        case .bitOr: return .uint(leftBits | rightBits)
        case .bitXor: return .uint(leftBits ^ rightBits)
        case .leftShift: return .uint(leftBits << right)
        case .rightShift: return .uint(leftBits >> right)
        }
    }

    private static func apply(
        _ operation: Operand.Arithmetic, _ left: Int64, _ right: Int64
    ) -> Int64? {
        func exact(_ result: (partialValue: Int64, overflow: Bool)) -> Int64? {
            result.overflow ? nil : result.partialValue
        }
        switch operation {
        case .add: return exact(left.addingReportingOverflow(right))
        case .subtract: return exact(left.subtractingReportingOverflow(right))
        case .multiply: return exact(left.multipliedReportingOverflow(by: right))
        case .divide:
            return exact(left.dividedReportingOverflow(by: right))
        case .power: return power(left, right)
        case .bitAnd: return left & right
        case .bitOr: return left | right
        case .bitXor: return left ^ right
        case .leftShift: return left << right
        case .rightShift: return left >> right
        }
    }

    /// Nil if the result does not fit an Int64.
    private static func power(_ base: Int64, _ exponent: Int64) -> Int64? {
        switch base {
        case 0, 1: return exponent < 0 && base == 0 ? nil : (exponent == 0 ? 1 : base)
        case -1: return exponent.isMultiple(of: 2) ? 1 : -1
        default: break
        }
        guard 0..<64 ~= exponent else { return nil }
        var result: Int64 = 1
        for _ in 0..<exponent {
            let (product, overflow) = result.multipliedReportingOverflow(by: base)
            if overflow { return nil }
            result = product
        }
        return result
    }

    /// Nil if decimals cannot hold an operand, which is a Double then, or the result.
    private static func decimal(
        _ operation: Operand.Arithmetic, _ left: Value, _ right: Value
    ) -> Value? {
        let (first, second) = (left.widened.decimal, right.widened.decimal)
        guard !first.isNaN || left.isDecimal, !second.isNaN || right.isDecimal else { return nil }
        let result: Decimal
        switch operation {
        case .add: result = first + second
        case .subtract: result = first - second
        case .multiply:
            // Foundation ends the process where the exponent of a product is smaller.
            guard first.exponent + second.exponent >= Int(Int8.min) else { return nil }
            result = first * second
        case .divide:
            if second == 0 { return .null }
            result = first / second
        case .power, .bitAnd, .bitOr, .bitXor, .leftShift, .rightShift: return .null
        }
        let isBeyond = result.isNaN && !first.isNaN && !second.isNaN
        return isBeyond ? nil : .decimal(result)
    }
}

extension Value {
    var isDecimal: Bool {
        if case .decimal = self { return true }
        return false
    }
}

extension Value {
    /// A float as the double that comparisons take it for: its own shortest text is another number.
    var widened: Value {
        if case .float(let number) = self { .double(Double(number)) } else { self }
    }
}
