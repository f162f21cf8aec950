import RecordStore

/// Runs a query. Results agree with the reference evaluator, whatever the plan; no object is
/// created.
extension PreparedQuery {
    /// The numbers of the objects, in the request's order.
    package func numbers() throws -> [ObjectNumber] {
        var numbers: [ObjectNumber] = []
        try lendEach { number, _ in
            numbers.append(number)
            return true
        }
        return numbers
    }

    /// How many objects fulfil the request, after its limit and offset.
    package func count() throws -> Int {
        var total = 0
        switch access {
        case .counter:
            total = try reader.recordCount(of: entity, includesSubentities: includesSubentities)
        case .scan: total = try scannedCount()
        default:
            try forEachMatch { _, _ in
                total += 1
                return true
            }
        }
        let rest = max(0, total - offset)
        return min(rest, limit ?? rest)
    }

    /// Counts the records of a scan that pass, without visiting those again.
    private func scannedCount() throws -> Int {
        guard let candidateFilter else { return 0 }
        var filter = RecordFilter(candidateFilter, reader)
        var total = 0
        var selection = LeafSelection()
        let scan = reader.recordScan(entity.hierarchy)
        while let leaf = try scan.next() {
            try filter.select(from: leaf, into: &selection)
            total += selection.count
        }
        return total
    }

    /// Passes each record that fulfils the request to the body, in order, until it returns false.
    package func lendEach(_ body: (ObjectNumber, RowView) throws -> Bool) throws {
        if case .key(let index, let key) = access {
            return try forEachKeyed(index, key, limit: limit, offset: offset, body)
        }
        guard isInOrder else { return try forEachSorted(body) }
        var skipped = 0
        var taken = 0
        try forEachMatch { number, row in
            if skipped < offset {
                skipped += 1
                return true
            }
            taken += 1
            guard try body(number, row) else { return false }
            return taken < limit ?? .max
        }
    }

    // MARK: Sorted

    private func forEachSorted(_ body: (ObjectNumber, RowView) throws -> Bool) throws {
        guard let order = RowOrder(order) else {
            let sorted = try sortedNumbers().dropFirst(offset)
            for (number, _) in limit.map({ sorted.prefix($0) }) ?? sorted {
                guard try reader.lend(number, entity.hierarchy, body) else { return }
            }
            return
        }
        // Capturing `self` would copy all of it for each record.
        let reader = reader
        // With a limit, copies of most records would be useless.
        var sorted = SortedRows(keepsRows: limit == nil)
        try forEachMatch(setAsideIn: sorted.stash) { number, row in
            try sorted.append(number, row, order, reader)
            return true
        }
        sorted.sort()
        let start = min(offset, sorted.count)
        let end = limit.map { start + min($0, sorted.count - start) } ?? sorted.count
        for position in start..<end {
            sorted.prefetch(position + 4)
            let number = sorted.number(position)
            if let row = sorted.row(position) {
                guard try body(number, row) else { return }
            } else {
                guard try reader.lend(number, entity.hierarchy, body) else { return }
            }
        }
    }

    /// All objects, regardless of the limit, with their sort values.
    private func sortedNumbers() throws -> [(number: ObjectNumber, values: [Value])] {
        let evaluator = ReferenceEvaluator(reader)
        var found: [(number: ObjectNumber, values: [Value])] = []
        try forEachMatch { number, row in
            found.append((number, try sortValues(row, number, evaluator)))
            return true
        }
        found.sort { left, right in
            let precedence = SortOrder.compare(left.values, right.values, order)
            return precedence != 0 ? precedence < 0 : left.number < right.number
        }
        return found
    }

    /// The objects that the query finds, up to its limit, with their sort values.
    private func valuedNumbers() throws -> [(number: ObjectNumber, values: [Value])] {
        guard limit != nil else { return try sortedNumbers() }
        let evaluator = ReferenceEvaluator(reader)
        var found: [(number: ObjectNumber, values: [Value])] = []
        try lendEach { number, row in
            found.append((number, try sortValues(row, number, evaluator)))
            return true
        }
        return found
    }

    func sortValues(
        _ row: RowView, _ number: ObjectNumber, _ evaluator: ReferenceEvaluator
    ) throws -> [Value] {
        try order.map { key in
            if let field = key.path.ownField { return try reader.value(field, of: row) }
            return try evaluator.evaluate(key.path, row, number).values.first ?? .null
        }
    }

    /// The objects of one request in several stores, in its order: by sort values, then by store,
    /// then by number. Limit and offset apply to all stores together: each query must be prepared
    /// with their sum as its limit, or without a limit.
    package static func merged(
        _ queries: [PreparedQuery], limit: Int?, offset: Int
    ) throws -> [(store: Int, number: ObjectNumber)] {
        guard let order = queries.first?.order else { return [] }
        var found: [(store: Int, number: ObjectNumber, values: [Value])] = []
        for (store, query) in queries.enumerated() {
            for (number, values) in try query.valuedNumbers() {
                found.append((store, number, values))
            }
        }
        found.sort { left, right in
            let precedence = SortOrder.compare(left.values, right.values, order)
            if precedence != 0 { return precedence < 0 }
            return left.store != right.store
                ? left.store < right.store : left.number < right.number
        }
        let rest = found.dropFirst(offset)
        return (limit.map { rest.prefix($0) } ?? rest).map { ($0.store, $0.number) }
    }

    // MARK: Matches

    /// Passes the records that fulfil the condition to the body, regardless of the limit: in the
    /// request's order if the access provides it, else in any.
    func forEachMatch(
        setAsideIn stash: RowStash? = nil, _ body: (ObjectNumber, RowView) throws -> Bool
    ) throws {
        if case .key(let index, let key) = access {
            return try forEachKeyed(index, key, limit: nil, offset: 0, body)
        }
        guard let candidateFilter else { return }
        let filter = RecordFilter(candidateFilter, reader)
        func test(_ number: ObjectNumber, _ row: RowView) throws -> Bool {
            guard try filter.accepts(row, number) else { return true }
            return try body(number, row)
        }
        switch access {
        case .none, .key: break
        case .counter, .scan: try forEachScanned(filter, body)
        case .index(let index, let ranges):
            let isOrdered = !order.isEmpty && isInOrder
            // All matches are needed for a sort, whatever the limit.
            let batches = limit == nil || !isInOrder
            var walk = IndexWalk(
                reader, entity.hierarchy, isOrdered || !batches ? .ofEntries : .any,
                batches: batches, for: stash)
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

    private func forEachScanned(
        _ filter: RecordFilter, _ body: (ObjectNumber, RowView) throws -> Bool
    ) throws {
        var filter = filter
        let scan = reader.recordScan(entity.hierarchy)
        var selection = LeafSelection()
        while let leaf = try scan.next() {
            filter.narrow(leaf, into: &selection)
            for position in 0..<selection.count {
                let index = selection[position]
                // One by one, so that a caller that wants few records pays for no others.
                guard try filter.acceptsNarrowed(leaf, index) else { continue }
                guard try body(leaf.number(index), leaf.row(index)) else { return }
            }
        }
    }

    /// Passes the records of a key to the body, in the order of their numbers. Only their entity is
    /// left to test.
    private func forEachKeyed(
        _ index: IndexLayout, _ key: KeyEncoder, limit: Int?, offset: Int,
        _ body: (ObjectNumber, RowView) throws -> Bool
    ) throws {
        // Capturing `self` would copy all of it.
        let (reader, hierarchy) = (reader, entity.hierarchy)
        // Nil if every record of the index is wanted.
        var wanted: Set<UInt16>?
        if !includesSubentities {
            wanted = [entity.tag]
        } else if index.entityTag != entity.tag {
            wanted = entity.tags
        }
        var skips = offset
        var rest = limit ?? .max
        try reader.forEachNumber(in: index, equalTo: key) { number in
            var goesOn = true
            try reader.lendRow(number, in: hierarchy) { row in
                guard wanted?.contains(row.entityTag) ?? true else { return }
                guard skips == 0 else {
                    skips -= 1
                    return
                }
                rest -= 1
                goesOn = try body(number, row) && rest > 0
            }
            return goesOn
        }
    }
}

/// The order of results: key by key. Objects with equal keys are ordered by their numbers, so that
/// the order never depends on a plan.
enum SortOrder {
    static func compare(
        _ left: [Value], _ right: [Value], _ keys: [ResolvedSortKey]
    ) -> Int {
        for index in keys.indices {
            let order = Value.compare(left[index], right[index])
            if order != 0 { return keys[index].isAscending ? order : -order }
        }
        return 0
    }
}
