import Foundation
import RecordStore

/// A running total of one group's values.
private protocol RunningTotal {
    init()
    mutating func add(_ word: UInt64)
}

/// Count, sum, least and greatest value of a column of numbers, for each group of records:
/// everything that the aggregates ask, from loads at a fixed offset.
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
        /// Of the values that are numbers.
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

    /// Nil for a column of no such numbers.
    init?(_ field: FieldLayout) {
        guard let type = field.type, type.isSigned || type == .double else { return nil }
        self.type = type
        column = LeafColumn(field)
    }

    /// Adds the records of a leaf, or some of them; `groups` says where each belongs, and is empty
    /// when all are of one group.
    mutating func add(
        _ leaf: borrowing LeafRows, _ selection: LeafSelection, _ groups: [Int32], groupCount: Int
    ) {
        // Before the first record passes, a query with groups has none.
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
        // One total stays in registers.
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

    /// As ``Aggregate/result()`` has it.
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
        // NaN stands before every other number.
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
