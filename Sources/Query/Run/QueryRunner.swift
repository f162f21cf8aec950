import RecordStore

/// Runs requests against a reader. Results are those of the reference meaning whatever plan finds
/// them; no object is ever made here.
package struct QueryRunner {
    let reader: RecordReader

    package init(_ reader: RecordReader) { self.reader = reader }

    /// Throws a `QueryError` for an entity that the store does not have.
    func entity(_ request: FetchRequest) throws -> EntityLayout {
        guard let entity = reader.schema.entity(named: request.entityName) else {
            throw QueryError("the store has no entity “\(request.entityName)”")
        }
        return entity
    }

    /// The numbers of the objects that fulfil a request, in its order.
    package func numbers(_ request: FetchRequest) throws -> [ObjectNumber] {
        var numbers: [ObjectNumber] = []
        try forEach(request) { number, _ in
            numbers.append(number)
            return true
        }
        return numbers
    }

    /// How many objects fulfil a request, its limit and offset included.
    package func count(_ request: FetchRequest) throws -> Int {
        let entity = try entity(request)
        var total = 0
        let program = try FilterProgram(
            request.condition, entity: entity, schema: reader.schema)
        if program.acceptsAll {
            total = try reader.recordCount(
                of: entity, includesSubentities: request.includesSubentities)
        } else if case .scan = Planner(entity, reader).plan(request.condition) {
            total = try scannedCount(request, entity)
        } else {
            try forEachMatch(request) { _, _ in
                total += 1
                return true
            }
        }
        let rest = max(0, total - request.offset)
        return min(rest, request.limit ?? rest)
    }

    /// How many records of all pass, without looking at those that do again.
    private func scannedCount(_ request: FetchRequest, _ entity: EntityLayout) throws -> Int {
        var filter = try RecordFilter(request, entity, ReferenceEvaluator(reader))
        guard !filter.acceptsNone else { return 0 }
        var total = 0
        var selection = LeafSelection()
        let scan = reader.recordScan(entity.hierarchy)
        while let leaf = try scan.next() {
            try filter.select(from: leaf, into: &selection)
            total += selection.count
        }
        return total
    }

    /// Lends each record that fulfils a request, in its order, until the body says to stop.
    package func forEach(
        _ request: FetchRequest, _ body: (ObjectNumber, RowView) throws -> Bool
    ) throws {
        let entity = try entity(request)
        let ordered = request.sortKeys.isEmpty ? nil : try orderedPlan(request)
        guard request.sortKeys.isEmpty || ordered != nil else {
            try forEachSorted(request, entity, body)
            return
        }
        var skipped = 0
        var taken = 0
        if request.limit == 0 {
            // Nothing is wanted, and what is wrong with the condition is still said.
            try ConditionCheck(entity, reader.schema).check(request.condition)
            return
        }
        try forEachMatch(request, along: ordered) { number, row in
            if skipped < request.offset {
                skipped += 1
                return true
            }
            taken += 1
            guard try body(number, row) else { return false }
            return taken < request.limit ?? .max
        }
    }

    private func forEachSorted(
        _ request: FetchRequest, _ entity: EntityLayout,
        _ body: (ObjectNumber, RowView) throws -> Bool
    ) throws {
        guard let order = RowOrder(request.sortKeys, entity, reader.schema) else {
            for (number, _) in try sortedNumbers(request) {
                guard try reader.lend(number, entity.hierarchy, body) else { return }
            }
            return
        }
        // Of a few that are wanted of many, copies of all would be made for nothing.
        var sorted = SortedRows(keepsRows: request.limit == nil)
        try forEachMatch(request, setAsideIn: sorted.stash) { number, row in
            try sorted.append(number, row, order, reader)
            return true
        }
        sorted.sort()
        let end = request.limit.map { min(sorted.count, request.offset + $0) } ?? sorted.count
        for position in min(request.offset, end)..<end {
            sorted.prefetch(position + 4)
            let number = sorted.number(position)
            if let row = sorted.row(position) {
                guard try body(number, row) else { return }
            } else {
                guard try reader.lend(number, entity.hierarchy, body) else { return }
            }
        }
    }

    /// A plan that meets the records in the request's order, so that nothing is sorted and a limit
    /// ends early: the entries of an index on the one sort key are ordered by it and then by
    /// number, as results are. Texts are left out, because long ones are cut in their keys.
    private func orderedPlan(_ request: FetchRequest) throws -> AccessPlan? {
        let entity = try entity(request)
        guard request.sortKeys.count == 1, let key = request.sortKeys.first, key.isAscending,
            key.path.count == 1, let field = entity.field(named: key.path[0]), !field.isVariable,
            let index = entity.indexes.first(where: { index in
                index.columns.count == 1 && index.columns[0].slot == field.slot
            })
        else { return nil }
        switch Planner(entity, reader).plan(request.condition) {
        case .index(let used, let ranges) where used.id == index.id:
            return .index(used, ranges)
        case .scan where request.limit != nil: return .index(index, [.all])
        default: return nil
        }
    }

    /// The objects with the values that they are sorted by, so that the results of several stores
    /// can be merged.
    package func sortedNumbers(
        _ request: FetchRequest
    ) throws -> [(number: ObjectNumber, values: [Value])] {
        let entity = try entity(request)
        let evaluator = ReferenceEvaluator(reader)
        let paths = try request.sortKeys.map { key in
            let path = try evaluator.resolver.resolve(key.path, from: entity)
            guard path.isSingle else {
                throw QueryError(
                    "“\(key.path.joined(separator: "."))” has several values for one object, "
                        + "so nothing can be sorted by it")
            }
            return path
        }
        var found: [(number: ObjectNumber, values: [Value])] = []
        try forEachMatch(request) { number, row in
            let values = try paths.map { path -> Value in
                if let field = path.ownField { return try reader.value(field, of: row) }
                return try evaluator.evaluate(path, row, number).values.first ?? .null
            }
            found.append((number, values))
            return true
        }
        found.sort { SortOrder.precedes($0, $1, request.sortKeys) }
        let rest = found.dropFirst(request.offset)
        return Array(request.limit.map { rest.prefix($0) } ?? rest)
    }

    /// What a request does, for people.
    package func explain(_ request: FetchRequest) throws -> String {
        let plan = Planner(try entity(request), reader).plan(request.condition)
        let sort = request.sortKeys.isEmpty ? "" : ", then a sort"
        return "\(request.entityName): \(plan.description)\(sort)"
    }

    // MARK: Matches, in no particular order

    func forEachMatch(
        _ request: FetchRequest, along ordered: AccessPlan? = nil,
        setAsideIn stash: RowStash? = nil, _ body: (ObjectNumber, RowView) throws -> Bool
    ) throws {
        let entity = try entity(request)
        var filter = try RecordFilter(request, entity, ReferenceEvaluator(reader))
        guard !filter.acceptsNone else { return }
        func test(_ number: ObjectNumber, _ row: RowView) throws -> Bool {
            guard try filter.accepts(row, number) else { return true }
            return try body(number, row)
        }
        switch ordered ?? Planner(entity, reader).plan(request.condition) {
        case .scan:
            let scan = reader.recordScan(entity.hierarchy)
            var selection = LeafSelection()
            while let leaf = try scan.next() {
                filter.narrow(leaf, into: &selection)
                for position in 0..<selection.count {
                    let index = selection[position]
                    // One by one: whoever wants few records pays for no others.
                    guard try filter.acceptsNarrowed(leaf, index) else { continue }
                    guard try body(leaf.number(index), leaf.row(index)) else { return }
                }
            }
        case .index(let index, let ranges):
            let order: IndexWalk.Order =
                ordered != nil ? .ofEntries : (request.limit == nil ? .any : .ofEntries)
            let batches = request.limit == nil
            var walk = IndexWalk(
                reader, entity.hierarchy, order, batches: batches, for: stash)
            for range in ranges {
                guard try walk.go(along: reader.indexCursor(index, range), test) else { return }
            }
            if batches { _ = try walk.finish(test) }
        case .sources(let relationship, let targets):
            for target in targets {
                var numbers: [ObjectNumber] = []
                try reader.forEachSource(of: relationship, target: target) { numbers.append($0) }
                for number in numbers {
                    guard try reader.lend(number, entity.hierarchy, test) else { return }
                }
            }
        case .numbers(let numbers):
            for number in numbers {
                guard try reader.lend(number, entity.hierarchy, test) else { return }
            }
        }
    }
}

/// The order of results: key by key, then by object number, so that it never depends on a plan.
package enum SortOrder {
    package static func precedes(
        _ left: (number: ObjectNumber, values: [Value]),
        _ right: (number: ObjectNumber, values: [Value]), _ keys: [SortKey]
    ) -> Bool {
        let order = compare(left.values, right.values, keys)
        return order != 0 ? order < 0 : left.number < right.number
    }

    package static func compare(_ left: [Value], _ right: [Value], _ keys: [SortKey]) -> Int {
        for index in keys.indices {
            let order = Value.compare(left[index], right[index])
            if order != 0 { return keys[index].isAscending ? order : -order }
        }
        return 0
    }
}
