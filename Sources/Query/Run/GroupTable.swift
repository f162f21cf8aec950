import Primitives
import RecordStore

/// Finds the group of a record by one fixed-width column: by an array for small numbers, and by a
/// map of the column's bits for others.
struct GroupTable {
    private var column: LeafColumn
    private let isFloating: Bool
    /// The groups of keys that are not small, and therefore never zero.
    private var groups = IntegerMap<Int32>()
    private var nullGroup: Int32 = -1
    /// The groups of the small keys, which start at 0; negative for none.
    private var smallGroups: [Int32]
    private(set) var count = 0

    /// Nil for a column whose equal values may have different bits.
    init?(_ field: FieldLayout) {
        guard let type = field.type, !type.isVariable, type != .float else { return nil }
        column = LeafColumn(field)
        isFloating = type == .double || type == .date
        smallGroups = Array(repeating: -1, count: 256)
    }

    /// Assigns groups to a leaf's records, in the order of the selection; later elements are left
    /// over from longer leaves. Calls the body for the first record of each new group.
    mutating func assign(
        _ leaf: borrowing LeafRows, _ selection: LeafSelection, into assigned: inout [Int32],
        _ isNew: (RowView) throws -> Void
    ) rethrows {
        if assigned.count < selection.count {
            assigned += repeatElement(0, count: selection.count - assigned.count)
        }
        var assigned = assigned.mutableSpan
        column.read(leaf)
        for position in 0..<selection.count {
            let index = selection[position]
            let before = count
            assigned[position] = column.isNull(index) ? groupOfNull() : group(column[index])
            if count > before { try isNew(leaf.row(index)) }
        }
    }

    private mutating func groupOfNull() -> Int32 {
        if nullGroup < 0 { nullGroup = add() }
        return nullGroup
    }

    @inline(__always)
    private mutating func group(_ word: UInt64) -> Int32 {
        let key = isFloating ? bits(Double(bitPattern: word)) : word
        guard key < 256 else { return searchedGroup(key) }
        let place = Int(truncatingIfNeeded: key)
        if smallGroups[place] < 0 { smallGroups[place] = add() }
        return smallGroups[place]
    }

    @inline(never)
    private mutating func searchedGroup(_ key: UInt64) -> Int32 {
        if let group = groups[key] { return group }
        let group = add()
        groups[key] = group
        return group
    }

    /// The bits of a number, equal for equal numbers: without -0, and with a single NaN.
    private func bits(_ number: Double) -> UInt64 {
        if number == 0 { return 0 }
        return number.isNaN ? Double.nan.bitPattern : number.bitPattern
    }

    private mutating func add() -> Int32 {
        defer { count += 1 }
        return Int32(count)
    }
}
