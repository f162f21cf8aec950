import Foundation
import RecordStore

/// A running total of one group's values.
private protocol RunningTotal {
    init()
    mutating func add(_ word: UInt64)
}

/// Count, sum, minimum and maximum of a column of numbers, for each group of records: all that
/// aggregates need, from loads at a fixed offset.
struct ColumnTotals {
    private struct Whole: RunningTotal {
        var count = 0
        var sum: Int128 = 0
        var least = Int64.max
        var greatest = Int64.min

        @inline(__always)
        mutating func add(_ word: UInt64) {
            let number = Int64(bitPattern: word)
            count &+= 1
            sum &+= Int128(number)
            least = min(least, number)
            greatest = max(greatest, number)
        }
    }

    private struct Floating: RunningTotal {
        var count = 0
        var nanCount = 0
        var sum = 0.0
        /// Of the values that are not NaN.
        var least = Double.infinity
        var greatest = -Double.infinity

        @inline(__always)
        mutating func add(_ word: UInt64) {
            let number = Double(bitPattern: word)
            count &+= 1
            sum += number
            if number < least { least = number }
            if number > greatest { greatest = number }
            if number.isNaN { nanCount &+= 1 }
        }
    }

    private var column: LeafColumn
    private let type: AttributeType
    private var whole: [Whole] = []
    private var floating: [Floating] = []

    /// Nil for a column that is neither a signed integer nor a Double.
    init?(_ field: FieldLayout) {
        guard let type = field.type, type.isSigned || type == .double else { return nil }
        self.type = type
        column = LeafColumn(field)
    }

    /// Adds some or all records of a leaf; `groups` has the group of each, and is empty if all are
    /// in one group.
    mutating func add(
        _ leaf: borrowing LeafRows, _ selection: LeafSelection, _ groups: [Int32], groupCount: Int
    ) {
        // A query with groups has no total before the first record passes.
        guard selection.count > 0 else { return }
        column.read(leaf)
        if type == .double {
            Self.add(column, selection, groups, groupCount, to: &floating)
        } else {
            Self.add(column, selection, groups, groupCount, to: &whole)
        }
    }

    private static func add<Total: RunningTotal>(
        _ column: LeafColumn, _ selection: LeafSelection, _ groups: [Int32], _ groupCount: Int,
        to totals: inout [Total]
    ) {
        while totals.count < groupCount { totals.append(Total()) }
        var totals = totals.mutableSpan
        guard groups.isEmpty else {
            for position in 0..<selection.count {
                let index = selection[position]
                if !column.isNull(index) { totals[Int(groups[position])].add(column[index]) }
            }
            return
        }
        // A single total stays in registers.
        var total = totals[0]
        if selection.isAll && !column.hasNull {
            for index in 0..<selection.count { total.add(column[index]) }
        } else {
            for position in 0..<selection.count {
                let index = selection[position]
                if !column.isNull(index) { total.add(column[index]) }
            }
        }
        totals[0] = total
    }

    // MARK: Results

    /// Agrees with ``Aggregate/result()``.
    func result(_ function: SelectTerm.Function, group: Int) -> Value {
        if type == .double {
            return result(function, group < floating.count ? floating[group] : Floating())
        }
        return result(function, group < whole.count ? whole[group] : Whole())
    }

    private func result(_ function: SelectTerm.Function, _ total: Floating) -> Value {
        guard function != .count else { return .int(Int64(total.count)) }
        guard total.count > 0 else { return function == .sum ? .decimal(0) : .null }
        switch function {
        case .count: return .null
        case .sum: return .double(total.sum)
        case .average: return .double(total.sum / Double(total.count))
        // NaN sorts before every other number.
        case .minimum: return .double(total.nanCount > 0 ? .nan : total.least)
        case .maximum: return .double(total.nanCount == total.count ? .nan : total.greatest)
        }
    }

    private func result(_ function: SelectTerm.Function, _ total: Whole) -> Value {
        guard function != .count else { return .int(Int64(total.count)) }
        guard total.count > 0 else { return function == .sum ? .decimal(0) : .null }
        switch function {
        case .count: return .null
        case .sum: return .decimal(Self.decimal(total.sum))
        case .average: return .decimal(Self.decimal(total.sum) / Decimal(total.count))
        case .minimum: return .int(total.least)
        case .maximum: return .int(total.greatest)
        }
    }

    private static func decimal(_ sum: Int128) -> Decimal {
        if let number = Int64(exactly: sum) { return Decimal(number) }
        let high = Decimal(Int64(truncatingIfNeeded: sum >> 32))
        return high * 4_294_967_296 + Decimal(UInt64(UInt32(truncatingIfNeeded: sum)))
    }
}
