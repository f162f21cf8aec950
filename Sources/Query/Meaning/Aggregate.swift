import Foundation
import RecordStore

/// Sums integers and decimals exactly and other numbers as Doubles; ignores nil. Minimum and
/// maximum use the order of indexes, for values of every type except objects.
struct Aggregate {
    private let function: SelectTerm.Function
    private var count = 0
    private var exact = Decimal(0)
    private var integer: Int64 = 0
    private var floating = 0.0
    private var isFloating = false
    private var extreme: Value = .null
    /// For a sum or an average: whether there were values that are not numbers.
    private var isOfOthers = false

    init(_ function: SelectTerm.Function) { self.function = function }

    mutating func add(_ value: Value) {
        guard !value.isNull else { return }
        count += 1
        switch function {
        case .count: break
        case .minimum, .maximum:
            if case .object = value { return }
            let order = extreme.isNull ? 0 : Value.compare(value, extreme)
            let isBeyond = function == .minimum ? order < 0 : order > 0
            if extreme.isNull || isBeyond { extreme = value }
        case .sum, .average: addNumber(value)
        }
    }

    /// Counts a row, whatever it contains.
    mutating func addRow() { count += 1 }

    /// Sums a Double without creating a `Value`.
    mutating func add(_ number: Double) {
        count += 1
        floating += number
        isFloating = true
    }

    private mutating func addNumber(_ value: Value) {
        switch value {
        case .int(let number):
            let (sum, overflow) = integer.addingReportingOverflow(number)
            if overflow {
                exact += Decimal(integer)
                integer = number
            } else {
                integer = sum
            }
        case .uint, .decimal, .bool: exact += value.decimal
        case .double(let number):
            floating += number
            isFloating = true
        case .float(let number):
            floating += Double(number)
            isFloating = true
        default:
            count -= 1
            isOfOthers = true
        }
    }

    /// The result: a count is an integer, an extreme has its property's type, a sum and an average
    /// are a Double if Doubles took part and otherwise an exact decimal. Without values a count and
    /// a sum are zero, the others nil; a sum of only other values than numbers is nil too.
    func result() -> Value {
        switch function {
        case .count: return .int(Int64(count))
        case .minimum, .maximum: return extreme
        case .sum: return count == 0 && isOfOthers ? .null : total
        case .average:
            guard count > 0 else { return .null }
            switch total {
            case .double(let sum): return .double(sum / Double(count))
            case .decimal(let sum): return .decimal(sum / Decimal(count))
            default: return .null
            }
        }
    }

    private var total: Value {
        let whole = exact + Decimal(integer)
        return isFloating ? .double(floating + DecimalForm.double(whole)) : .decimal(whole)
    }

    static func value(
        _ function: SelectTerm.Function, of values: [Value], isCollection: Bool
    ) -> Value {
        var aggregate = Aggregate(function)
        for value in values {
            if function == .count && isCollection {
                aggregate.addRow()
            } else {
                aggregate.add(value)
            }
        }
        return aggregate.result()
    }
}
