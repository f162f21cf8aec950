import Foundation
import RecordStore

/// Sums integers and decimals exactly and everything else as Doubles; nil values do not count.
/// Values of every type have a least and a greatest one, by the order that indexes have; objects
/// have none.
struct Aggregate {
    private let function: SelectTerm.Function
    private var count = 0
    private var exact = Decimal(0)
    private var integer: Int64 = 0
    private var floating = 0.0
    private var isFloating = false
    private var extreme: Value = .null
    /// Of a sum or an average: whether there were values that are no numbers.
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

    /// A row that counts whatever it holds.
    mutating func addRow() { count += 1 }

    /// Sums a Double without making a value of it.
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

    /// The result: a count is an integer, an extreme is of its property's type, a sum and an
    /// average are a Double where Doubles took part and an exact decimal otherwise. Without values
    /// a count and a sum are zero, the others nil; so is a sum of what are no numbers.
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
