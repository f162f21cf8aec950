import Foundation
import RecordStore

/// Calculations of operands: integers while they stay exact, decimals where one takes part, and
/// Doubles otherwise; nil where an operand is nil or is no number.
enum Arithmetic {
    static func apply(
        _ operation: Operand.Arithmetic, _ left: Value, _ right: Value
    ) -> Value {
        if let left = integer(left), let right = integer(right) {
            if let exact = apply(operation, left, right) { return .int(exact) }
        }
        if case .date(let seconds) = left, let other = right.approximation {
            switch operation {
            case .add: return .date(seconds + other)
            case .subtract: return .date(seconds - other)
            default: return .null
            }
        }
        if case .date(let left) = left, case .date(let right) = right, operation == .subtract {
            return .double(left - right)
        }
        guard let first = left.approximation, let second = right.approximation else {
            return .null
        }
        if left.isDecimal || right.isDecimal, operation != .power {
            return apply(operation, left.decimal, right.decimal)
        }
        switch operation {
        case .add: return .double(first + second)
        case .subtract: return .double(first - second)
        case .multiply: return .double(first * second)
        case .divide: return .double(first / second)
        case .power: return .double(pow(first, second))
        case .bitAnd, .bitOr, .bitXor: return .null
        }
    }

    private static func integer(_ value: Value) -> Int64? {
        switch value {
        case .int(let number): number
        case .uint(let number): Int64(exactly: number)
        case .bool(let flag): flag ? 1 : 0
        default: nil
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
            guard right != 0, left.remainderReportingOverflow(dividingBy: right) == (0, false)
            else { return nil }
            return exact(left.dividedReportingOverflow(by: right))
        case .power: return nil
        case .bitAnd: return left & right
        case .bitOr: return left | right
        case .bitXor: return left ^ right
        }
    }

    private static func apply(
        _ operation: Operand.Arithmetic, _ left: Decimal, _ right: Decimal
    ) -> Value {
        switch operation {
        case .add: .decimal(left + right)
        case .subtract: .decimal(left - right)
        case .multiply: .decimal(left * right)
        case .divide: right == 0 ? .null : .decimal(left / right)
        case .power, .bitAnd, .bitOr, .bitXor: .null
        }
    }
}

extension Value {
    var isDecimal: Bool {
        if case .decimal = self { return true }
        return false
    }
}
