import Foundation
import RecordStore

/// Count, sum, least and greatest value of a column of numbers, for each group of records:
/// everything that the aggregates ask, from loads at a fixed offset.
struct ColumnTotals {
    private struct Whole {
        var count = 0
        var sum: Int128 = 0
        var least = Int64.max
        var greatest = Int64.min

        @inline(__always)
        mutating func add(_ number: Int64) {
            count &+= 1
            sum &+= Int128(number)
            least = min(least, number)
            greatest = max(greatest, number)
        }
    }

    private struct Floating {
        var count = 0
        var nanCount = 0
        var sum = 0.0
        /// Of the values that are numbers.
        var least = Double.infinity
        var greatest = -Double.infinity

        @inline(__always)
        mutating func add(_ number: Double) {
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
            grow(&floating, Floating(), groupCount)
            addFloating(scan, selection, groups)
        } else {
            grow(&whole, Whole(), groupCount)
            addWhole(scan, selection, groups)
        }
    }

    private func grow<Element>(_ list: inout [Element], _ blank: Element, _ count: Int) {
        while list.count < count { list.append(blank) }
    }

    private mutating func addFloating(
        _ scan: RecordScan, _ selection: LeafSelection, _ groups: [Int32]
    ) {
        let offset = byteOffset
        guard groups.isEmpty else {
            for position in 0..<selection.count {
                let row = scan.row(selection[position])
                guard !row.isNull(at: offset) else { continue }
                floating[Int(groups[position])].add(row.double(at: offset))
            }
            return
        }
        var total = floating[0]
        for position in 0..<selection.count {
            let row = scan.row(selection[position])
            if !row.isNull(at: offset) { total.add(row.double(at: offset)) }
        }
        floating[0] = total
    }

    private mutating func addWhole(
        _ scan: RecordScan, _ selection: LeafSelection, _ groups: [Int32]
    ) {
        let offset = byteOffset
        guard groups.isEmpty else {
            for position in 0..<selection.count {
                let row = scan.row(selection[position])
                guard !row.isNull(at: offset) else { continue }
                whole[Int(groups[position])].add(row.int(at: offset))
            }
            return
        }
        var total = whole[0]
        for position in 0..<selection.count {
            let row = scan.row(selection[position])
            if !row.isNull(at: offset) { total.add(row.int(at: offset)) }
        }
        whole[0] = total
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
