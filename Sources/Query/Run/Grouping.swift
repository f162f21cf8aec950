import RecordStore

/// Groups and aggregates records value by value, over any number of stores.
struct Grouping {
    private struct Group {
        /// The store of its first record.
        var store: Int
        var keys: [Value]
        var aggregates: [Aggregate]
        /// The values of the columns that are not aggregates, from the first record.
        var firstValues: [Value]?

        init(store: Int, keys: [Value], _ columns: [ValueColumn]) {
            self.store = store
            self.keys = keys
            aggregates = columns.map { Aggregate($0.function ?? .count) }
        }
    }

    private var groups: [Group] = []
    private var groupByKeys: [[Value]: Int] = [:]
    /// Whether keys are objects, whose numbers differ between stores.
    private let hasObjectKeys: Bool

    init(_ query: PreparedValues) {
        hasObjectKeys = query.groups.contains { $0.hierarchy != nil }
        if query.groups.isEmpty { groups = [Group(store: 0, keys: [], query.columns)] }
    }

    mutating func add(_ query: PreparedValues, store: Int) throws {
        let evaluator = ReferenceEvaluator(query.fetch.reader)
        try query.fetch.forEachMatch { number, row in
            let position = try group(of: query, store, evaluator, number, row)
            if groups[position].firstValues == nil {
                groups[position].store = store
                groups[position].firstValues = try query.columns.map { column in
                    column.isAggregate ? .null : try column.value(evaluator, number, row)
                }
            }
            for (index, column) in query.columns.enumerated() where column.isAggregate {
                try column.accumulate(
                    into: &groups[position].aggregates[index], evaluator, number, row)
            }
            return true
        }
    }

    private mutating func group(
        of query: PreparedValues, _ store: Int, _ evaluator: ReferenceEvaluator,
        _ number: ObjectNumber, _ row: RowView
    ) throws -> Int {
        guard !query.groups.isEmpty else { return 0 }
        var keys = try query.groups.map {
            try evaluator.evaluate($0, row, number).values.first ?? .null
        }
        if hasObjectKeys { keys.append(.int(Int64(store))) }
        if let position = groupByKeys[keys] { return position }
        groupByKeys[keys] = groups.count
        groups.append(Group(store: store, keys: keys, query.columns))
        return groups.count - 1
    }

    func rows(_ columns: [ValueColumn]) -> [PreparedValues.GroupRow] {
        groups.map { group in
            PreparedValues.GroupRow(
                store: group.store, keys: group.keys,
                values: columns.indices.map {
                    columns[$0].isAggregate
                        ? group.aggregates[$0].result() : group.firstValues?[$0] ?? .null
                })
        }
    }
}

extension ValueColumn {
    fileprivate func accumulate(
        into aggregate: inout Aggregate, _ evaluator: ReferenceEvaluator, _ number: ObjectNumber,
        _ row: RowView
    ) throws {
        if let field = path?.ownField {
            if row.isNull(at: field.byteOffset) { return }
            if field.type == .double && function != .minimum && function != .maximum {
                aggregate.add(row.double(at: field.byteOffset))
                return
            }
        }
        guard let path, !path.isSingle else {
            return aggregate.add(try value(evaluator, number, row))
        }
        for value in try evaluator.evaluate(path, row, number).values {
            if function == .count { aggregate.addRow() } else { aggregate.add(value) }
        }
    }
}
