import Foundation
import RecordStore

/// What is added up of one group's values.
private protocol RunningTotal {
    init()
    mutating func add(_ row: RowView, at byteOffset: Int)
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
        mutating func add(_ row: RowView, at byteOffset: Int) {
            let number = row.int(at: byteOffset)
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
        mutating func add(_ row: RowView, at byteOffset: Int) {
            let number = row.double(at: byteOffset)
            count &+= 1
            sum += number
            if number < least { least = number }
            if number > greatest { greatest = number }
            if number.isNaN { nanCount &+= 1 }
        }
    }

    private let byteOffset: Int
    private let type: AttributeType
    private var whole: [Whole] = []
    private var floating: [Floating] = []

    /// Nil for a column of no such numbers.
    init?(_ field: FieldLayout) {
        guard let type = field.type, type.isSigned || type == .double else { return nil }
        self.type = type
        byteOffset = field.byteOffset
    }

    /// Adds the records of a leaf, or some of them; `groups` says where each belongs, and is empty
    /// when all are of one group.
    mutating func add(
        _ scan: RecordScan, _ selection: LeafSelection, _ groups: [Int32], groupCount: Int
    ) {
        if type == .double {
            Self.add(scan, selection, groups, groupCount, byteOffset, to: &floating)
        } else {
            Self.add(scan, selection, groups, groupCount, byteOffset, to: &whole)
        }
    }

    private static func add<Total: RunningTotal>(
        _ scan: RecordScan, _ selection: LeafSelection, _ groups: [Int32], _ groupCount: Int,
        _ offset: Int, to totals: inout [Total]
    ) {
        while totals.count < groupCount { totals.append(Total()) }
        guard groups.isEmpty else {
            for position in 0..<selection.count {
                let row = scan.row(selection[position])
                guard !row.isNull(at: offset) else { continue }
                totals[Int(groups[position])].add(row, at: offset)
            }
            return
        }
        // One total stays in registers.
        var total = totals[0]
        for position in 0..<selection.count {
            let row = scan.row(selection[position])
            if !row.isNull(at: offset) { total.add(row, at: offset) }
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

/// Which records of a leaf take part.
struct LeafSelection {
    /// Nil for all of them.
    private let positions: [Int32]?
    let count: Int

    init(all count: Int) {
        positions = nil
        self.count = count
    }

    init(_ positions: [Int32]) {
        self.positions = positions
        count = positions.count
    }

    @inline(__always)
    subscript(index: Int) -> Int { positions.map { Int($0[index]) } ?? index }
}
