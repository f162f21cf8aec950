import RecordStore

extension ColumnTest {
    /// Keeps the records of a leaf that pass the test.
    func narrow(_ selection: inout LeafSelection, _ column: LeafColumn) {
        if column.hasNull { selection.keep { !column.isNull($0) } }
        switch constant {
        case .int(let value): keep(&selection, column, value) { Int64(bitPattern: $0) }
        case .uint(let value): keep(&selection, column, value) { $0 }
        case .double(let value): keep(&selection, column, value) { Double(bitPattern: $0) }
        case .float(let value):
            keep(&selection, column, value) {
                Double(Float(bitPattern: UInt32(truncatingIfNeeded: $0)))
            }
        }
    }

    /// Chooses the operation once per leaf instead of once per record. NaN sorts before every other
    /// number: a value that is not at least the constant is less.
    @inline(__always)
    private func keep<Number: Comparable>(
        _ selection: inout LeafSelection, _ column: LeafColumn, _ value: Number,
        _ number: (UInt64) -> Number
    ) {
        switch operation {
        case .equal: selection.keep { number(column[$0]) == value }
        case .less: selection.keep { !(number(column[$0]) >= value) }
        case .lessOrEqual: selection.keep { !(number(column[$0]) > value) }
        case .greater: selection.keep { number(column[$0]) > value }
        default: selection.keep { number(column[$0]) >= value }
        }
    }
}
