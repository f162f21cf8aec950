import RecordStore

/// A row of a query for values. `.null` represents nil.
package struct ValueRow {
    /// The position of the store that the row's objects are in.
    package var store: Int
    package var values: [Value]
}

/// Remembers rows, to detect duplicates. Objects of two stores may have the same number.
private struct DistinctRows {
    private var seen: Set<[Value]> = []

    /// False for a duplicate.
    mutating func insert(_ row: ValueRow) -> Bool {
        let hasObject = row.values.contains { if case .object = $0 { true } else { false } }
        let store = hasObject ? [Value.int(Int64(row.store))] : []
        return seen.insert(row.values + store).inserted
    }
}

extension PreparedValues {
    /// The rows of one query in several stores: one for each group, or one for each record if
    /// nothing is grouped or aggregated.
    package static func rows(_ parts: [PreparedValues]) throws -> [ValueRow] {
        guard let first = parts.first, !first.columns.isEmpty else { return [] }
        return first.isAggregate ? try groupedRows(parts, first) : try plainRows(parts, first)
    }

    /// The rows of this store only.
    package func rows() throws -> [[Value]] { try Self.rows([self]).map(\.values) }

    // MARK: Records

    private static func plainRows(
        _ parts: [PreparedValues], _ first: PreparedValues
    ) throws -> [ValueRow] {
        guard parts.count > 1 else { return try first.plainRows() }
        var found: [(row: ValueRow, keys: [Value], number: ObjectNumber)] = []
        for (store, part) in parts.enumerated() {
            let evaluator = ReferenceEvaluator(part.fetch.reader)
            try part.fetch.forEachMatch { number, row in
                let values = try part.columns.map { try $0.value(evaluator, number, row) }
                let keys = try part.fetch.sortValues(row, number, evaluator)
                found.append((ValueRow(store: store, values: values), keys, number))
                return true
            }
        }
        found.sort { left, right in
            let order = SortOrder.compare(left.keys, right.keys, first.fetch.order)
            if order != 0 { return order < 0 }
            return left.row.store != right.row.store
                ? left.row.store < right.row.store : left.number < right.number
        }
        return first.window(found.map(\.row))
    }

    /// The rows of this store only, whose fetch has the limit already unless rows are distinct.
    private func plainRows() throws -> [ValueRow] {
        var rows: [ValueRow] = []
        let evaluator = ReferenceEvaluator(fetch.reader)
        var distinct = DistinctRows()
        let countMax = returnsDistinct ? limit.map { $0.addingReportingOverflow(offset) } : nil
        let end = countMax.map { $0.overflow ? Int.max : $0.partialValue } ?? .max
        guard end > 0 else { return [] }
        try fetch.lendEach { number, row in
            let row = ValueRow(
                store: 0, values: try columns.map { try $0.value(evaluator, number, row) })
            if !returnsDistinct || distinct.insert(row) { rows.append(row) }
            return rows.count < end
        }
        return returnsDistinct ? Array(rows.dropFirst(offset)) : rows
    }

    /// The requested rows: as in SQL, duplicates are removed first, and limit and offset apply to
    /// the rest.
    private func window(_ found: [ValueRow]) -> [ValueRow] {
        var rows = found
        if returnsDistinct {
            var distinct = DistinctRows()
            rows = found.filter { distinct.insert($0) }
        }
        let rest = rows.dropFirst(offset)
        return Array(limit.map { rest.prefix($0) } ?? rest)
    }

    // MARK: Groups

    /// A row of the result for one group, with the values that it is grouped by.
    struct GroupRow {
        var store = 0
        var keys: [Value]
        var values: [Value]
    }

    private static func groupedRows(
        _ parts: [PreparedValues], _ first: PreparedValues
    ) throws -> [ValueRow] {
        var rows: [GroupRow]
        if parts.count == 1, let totalled = try first.totalledRows() {
            rows = totalled
        } else {
            var grouping = Grouping(first)
            for (store, part) in parts.enumerated() { try grouping.add(part, store: store) }
            rows = grouping.rows(first.columns)
        }
        rows.sort { first.precedes($0, $1) }
        return first.window(rows.map { ValueRow(store: $0.store, values: $0.values) })
    }

    /// Sorts groups by the sort keys, which name grouped properties, then by their group keys.
    private func precedes(_ left: GroupRow, _ right: GroupRow) -> Bool {
        for key in groupOrder {
            let order = Value.compare(left.keys[key.group], right.keys[key.group])
            if order != 0 { return key.isAscending ? order < 0 : order > 0 }
        }
        for (left, right) in zip(left.keys, right.keys) {
            let order = Value.compare(left, right)
            if order != 0 { return order < 0 }
        }
        return false
    }
}

extension ValueColumn {
    func value(
        _ evaluator: ReferenceEvaluator, _ number: ObjectNumber, _ row: RowView
    ) throws -> Value {
        guard let path else { return .object(number) }
        if let field = path.ownField { return try evaluator.reader.value(field, of: row) }
        switch try evaluator.evaluate(path, row, number) {
        case .one(let value): return value
        case .many(let values):
            guard let function else { return values.first ?? .null }
            return Aggregate.value(function, of: values, isCollection: true)
        }
    }
}
