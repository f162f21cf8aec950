import RecordStore

extension QueryRunner {
    /// One row of values a group, or a matching record where nothing is grouped or aggregated.
    /// `.null` stands for nil.
    package func rows(_ request: ValueRequest) throws -> [[Value]] {
        let entity = try entity(request.fetch)
        let evaluator = ReferenceEvaluator(reader)
        var columns = try request.terms.map { try Column($0, entity, evaluator.resolver) }
        let groups = try request.groupPaths.map {
            try evaluator.resolver.resolve($0, from: entity)
        }
        let isAggregate = columns.contains(where: \.isAggregate) || !groups.isEmpty
        if isAggregate { for index in columns.indices { columns[index].joinGroup() } }
        try check(request, columns)
        var rows: [[Value]]
        if isAggregate {
            rows = try groupedRows(request, columns, groups, evaluator)
        } else {
            rows = try plainRows(request, columns, evaluator)
        }
        if request.returnsDistinct {
            var seen: Set<[Value]> = []
            rows = rows.filter { seen.insert($0).inserted }
        }
        return rows
    }

    struct Column {
        var path: ResolvedPath?
        var function: SelectTerm.Function?
        /// An aggregate over a to-many is a value of each record, unless records are aggregated.
        private(set) var isAggregate: Bool

        init(_ term: SelectTerm, _ entity: EntityLayout, _ resolver: PathResolver) throws {
            switch term {
            case .objectID: (path, function, isAggregate) = (nil, nil, false)
            case .attribute(let names):
                (path, function, isAggregate) = (
                    try resolver.resolve(names, from: entity), nil, false
                )
            case .aggregate(let function, let names):
                let path = try resolver.resolve(names, from: entity)
                (self.path, self.function, isAggregate) = (path, function, path.isSingle)
            }
        }

        /// Where records are aggregated, what they have in a to-many is taken together too.
        mutating func joinGroup() { isAggregate = function != nil }

        func value(
            _ evaluator: ReferenceEvaluator, _ number: ObjectNumber, _ row: RowView
        ) throws -> Value {
            guard let path else { return .object(number) }
            if let field = path.ownField { return try evaluator.reader.value(field, of: row) }
            let outcome = try evaluator.evaluate(path, row, number)
            switch outcome {
            case .one(let value): return value
            case .many(let values):
                guard let function else { return values.first ?? .null }
                return Aggregate.value(function, of: values, isCollection: true)
            }
        }
    }

    private func check(_ request: ValueRequest, _ columns: [Column]) throws {
        guard !request.groupPaths.isEmpty else { return }
        for (term, column) in zip(request.terms, columns) where !column.isAggregate {
            if case .attribute(let path) = term, request.groupPaths.contains(path) { continue }
            throw QueryError(
                "a query with GroupBy selects only what it groups by and aggregates")
        }
    }

    private func plainRows(
        _ request: ValueRequest, _ columns: [Column], _ evaluator: ReferenceEvaluator
    ) throws -> [[Value]] {
        var rows: [[Value]] = []
        try forEach(request.fetch) { number, row in
            rows.append(try columns.map { try $0.value(evaluator, number, row) })
            return true
        }
        return rows
    }

    /// A group's row of the result, with what it is grouped by.
    struct GroupRow {
        var keys: [Value]
        var values: [Value]
    }

    private func groupedRows(
        _ request: ValueRequest, _ columns: [Column], _ paths: [ResolvedPath],
        _ evaluator: ReferenceEvaluator
    ) throws -> [[Value]] {
        var unlimited = request.fetch
        (unlimited.limit, unlimited.offset, unlimited.sortKeys) = (nil, 0, [])
        var rows =
            try totalledRows(unlimited, columns, paths, evaluator)
            ?? collectedRows(unlimited, columns, paths, evaluator)
        try sort(&rows, request)
        let rest = rows.dropFirst(request.fetch.offset).map(\.values)
        return Array(request.fetch.limit.map { rest.prefix($0) } ?? rest[...])
    }

    private struct Group {
        var keys: [Value]
        var aggregates: [Aggregate]
        /// What the columns hold that are no aggregates.
        var firstValues: [Value]

        init(keys: [Value], _ columns: [Column]) {
            self.keys = keys
            aggregates = columns.map { Aggregate($0.function ?? .count) }
            firstValues = Array(repeating: .null, count: columns.count)
        }
    }

    /// Whatever is grouped and calculated, value by value.
    private func collectedRows(
        _ request: FetchRequest, _ columns: [Column], _ paths: [ResolvedPath],
        _ evaluator: ReferenceEvaluator
    ) throws -> [GroupRow] {
        var groups: [Group] = []
        var groupByKeys: [[Value]: Int] = [:]
        if paths.isEmpty { groups = [Group(keys: [], columns)] }
        var isFirst = true
        try forEachMatch(request) { number, row in
            var position = 0
            if !paths.isEmpty {
                let keys = try paths.map {
                    try evaluator.evaluate($0, row, number).values.first ?? .null
                }
                position = groupByKeys[keys] ?? groups.count
                if position == groups.count {
                    groupByKeys[keys] = position
                    groups.append(Group(keys: keys, columns))
                    isFirst = true
                }
            }
            for (index, column) in columns.enumerated() {
                if column.isAggregate {
                    try accumulate(
                        column, into: &groups[position].aggregates[index], evaluator, number, row)
                } else if isFirst {
                    groups[position].firstValues[index] = try column.value(evaluator, number, row)
                }
            }
            isFirst = false
            return true
        }
        return groups.map { group in
            GroupRow(
                keys: group.keys,
                values: columns.indices.map {
                    columns[$0].isAggregate
                        ? group.aggregates[$0].result() : group.firstValues[$0]
                })
        }
    }

    private func accumulate(
        _ column: Column, into aggregate: inout Aggregate, _ evaluator: ReferenceEvaluator,
        _ number: ObjectNumber, _ row: RowView
    ) throws {
        if let field = column.path?.ownField {
            if row.isNull(at: field.byteOffset) { return }
            if field.type == .double && column.function != .minimum && column.function != .maximum {
                aggregate.add(row.double(at: field.byteOffset))
                return
            }
        }
        guard let path = column.path, !path.isSingle else {
            return aggregate.add(try column.value(evaluator, number, row))
        }
        for value in try evaluator.evaluate(path, row, number).values {
            if column.function == .count { aggregate.addRow() } else { aggregate.add(value) }
        }
    }

    /// Groups come in the order of the sort keys that name a grouped property, then of their keys.
    private func sort(_ groups: inout [GroupRow], _ request: ValueRequest) throws {
        let keys = try request.fetch.sortKeys.map { key in
            guard let index = request.groupPaths.firstIndex(of: key.path) else {
                throw QueryError(
                    "a query with aggregates is sorted by what it groups by, and "
                        + "“\(key.path.joined(separator: "."))” is not among it")
            }
            return (index: index, isAscending: key.isAscending)
        }
        groups.sort { left, right in
            for key in keys {
                let order = Value.compare(left.keys[key.index], right.keys[key.index])
                if order != 0 { return key.isAscending ? order < 0 : order > 0 }
            }
            for (left, right) in zip(left.keys, right.keys) {
                let order = Value.compare(left, right)
                if order != 0 { return order < 0 }
            }
            return false
        }
    }
}
