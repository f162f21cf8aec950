import RecordStore

/// Aggregates the records' own numbers, a leaf at a time and without creating a value for each.
extension PreparedValues {
    /// Nil if the query needs anything else, or if an index finds its records.
    func totalledRows() throws -> [GroupRow]? {
        let reader = fetch.reader
        guard var plan = TotalsPlan(columns, groups), case .scan = fetch.access,
            let candidateFilter = fetch.candidateFilter
        else { return nil }
        var filter = RecordFilter(candidateFilter, reader)
        var keys: [[Value]] = groups.isEmpty ? [[]] : []
        var firsts: [[Value]] = groups.isEmpty ? [columns.map { _ in .null }] : []
        var assigned: [Int32] = []
        var selection = LeafSelection()
        let scan = reader.recordScan(fetch.entity.hierarchy)
        while let leaf = try scan.next() {
            try filter.select(from: leaf, into: &selection)
            try plan.table?.assign(leaf, selection, into: &assigned) { row in
                keys.append(try groups.compactMap(\.ownField).map { try reader.value($0, of: row) })
                firsts.append(
                    try columns.map { column in
                        guard !column.isAggregate, let field = column.path?.ownField else {
                            return .null
                        }
                        return try reader.value(field, of: row)
                    })
            }
            for index in plan.totals.indices {
                plan.totals[index].add(leaf, selection, assigned, groupCount: keys.count)
            }
        }
        return keys.indices.map { group in
            GroupRow(
                keys: keys[group],
                values: columns.indices.map { index in
                    guard let function = columns[index].function, columns[index].isAggregate,
                        let position = plan.totalsOfColumn[index]
                    else { return firsts[group][index] }
                    return plan.totals[position].result(function, group: group)
                })
        }
    }

    private struct TotalsPlan {
        var table: GroupTable?
        var totals: [ColumnTotals] = []
        /// The position in `totals` of each column; nil for a column that is not an aggregate.
        var totalsOfColumn: [Int?] = []

        init?(_ columns: [ValueColumn], _ paths: [ResolvedPath]) {
            guard paths.count <= 1 else { return nil }
            if let path = paths.first {
                guard let field = path.ownField, let table = GroupTable(field) else { return nil }
                self.table = table
            }
            var positions: [Int: Int] = [:]
            for column in columns {
                guard let field = column.path?.ownField else { return nil }
                guard column.isAggregate else {
                    // Only `Grouping` handles a term that is neither grouped nor an aggregate.
                    guard !paths.isEmpty else { return nil }
                    totalsOfColumn.append(nil)
                    continue
                }
                if positions[field.byteOffset] == nil {
                    guard let total = ColumnTotals(field) else { return nil }
                    positions[field.byteOffset] = totals.count
                    totals.append(total)
                }
                totalsOfColumn.append(positions[field.byteOffset])
            }
        }
    }
}
