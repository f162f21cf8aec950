import RecordStore

/// Chooses the access: the part of the condition that promises the fewest candidates.
struct Planner {
    private let entity: EntityLayout
    private let reader: RecordReader

    init(_ entity: EntityLayout, _ reader: RecordReader) {
        self.entity = entity
        self.reader = reader
    }

    /// The lookup for a condition that compares one property with one value, if an index is on
    /// exactly that property and its keys represent the whole value. No other plan is better, and
    /// this one costs less than resolving the condition.
    static func keyLookup(
        _ condition: Condition?, of entity: EntityLayout, in reader: RecordReader
    ) -> AccessPlan? {
        guard case .equality(let name, let value) = condition,
            let index = entity.index(on: name)
        else { return nil }
        var key = reader.keyEncoder(columnCount: 1)
        guard key.appendWhole(value, index.columns[0].content) else { return nil }
        return .key(index, key)
    }

    func plan(_ condition: ResolvedCondition) -> AccessPlan {
        let parts = conjuncts(condition).map { Part($0, slot: slot($0)) }
        var best: (plan: AccessPlan, cost: Int)?
        func offer(_ plan: AccessPlan?, _ cost: Int) {
            guard let plan, cost < best?.cost ?? .max else { return }
            best = (plan, cost)
        }
        for part in parts { offer(direct(part.comparison), 1) }
        for (position, slot) in entity.leadingSlots.enumerated()
        where parts.contains(where: { $0.slot == slot }) {
            if let (plan, cost) = plan(entity.indexes[position], parts) { offer(plan, cost) }
            // No plan promises fewer than the one entry of a unique key.
            if let best, best.cost <= 2 { return best.plan }
        }
        for part in parts {
            if let (plan, cost) = sources(part.comparison) { offer(plan, cost) }
        }
        return best?.plan ?? .scan
    }

    /// One of the conditions that must all hold, with the slot of the record's own column that it
    /// tests, found once for all indexes.
    private struct Part {
        var comparison: ResolvedComparison
        var slot: Int?

        init(_ comparison: ResolvedComparison, slot: Int?) {
            self.comparison = comparison
            self.slot = slot
        }
    }

    private func conjuncts(_ condition: ResolvedCondition) -> [ResolvedComparison] {
        switch condition {
        case .comparison(let comparison): [comparison]
        case .and(let parts): parts.flatMap(conjuncts)
        case .constant, .or, .not: []
        }
    }

    // MARK: Known objects

    private func direct(_ comparison: ResolvedComparison) -> AccessPlan? {
        guard comparison.quantifier == .none, isSelf(comparison.left) else { return nil }
        return targets(of: comparison).map { .numbers($0) }
    }

    private func isSelf(_ operand: ResolvedOperand) -> Bool {
        switch operand {
        case .selfObject: true
        case .path(let path): path.isSelf
        default: false
        }
    }

    /// The objects of which the left side of a comparison must be one, in order.
    private func targets(of comparison: ResolvedComparison) -> [ObjectNumber]? {
        let values: [Value]
        switch (comparison.operation, comparison.right) {
        case (.equal, .constant(let value)): values = [value]
        case (.in, .values(let list)): values = list
        default: return nil
        }
        var numbers: Set<ObjectNumber> = []
        for value in values where value != .noObject {
            guard case .object(let number) = value else { return nil }
            numbers.insert(number)
        }
        return numbers.sorted()
    }

    private func sources(_ comparison: ResolvedComparison) -> (AccessPlan, Int)? {
        guard let field = comparison.path?.ownLink, case .link(let id) = field.content,
            let targets = targets(of: comparison)
        else { return nil }
        return (.sources(reader.schema.relationship(id: id), targets), 24 + targets.count)
    }

    // MARK: Indexes

    /// Columns with equality first, then at most one with a range.
    private func plan(_ index: IndexLayout, _ parts: [Part]) -> (AccessPlan, Int)? {
        var prefixes = [reader.keyEncoder(columnCount: index.columns.count)]
        var equalCount = 0
        for column in index.columns {
            let own = parts.compactMap { $0.slot == column.slot ? $0.comparison : nil }
            if let values = equalValues(own, column) {
                guard values.count * prefixes.count <= 10_000 else { break }
                guard let next = extended(prefixes, column, values) else { break }
                // A value that is listed twice must not be scanned twice.
                prefixes = next.count > 1 ? Self.distinct(next) : next
                equalCount += 1
                continue
            }
            guard let range = range(own, column, prefixes) else { break }
            return (.index(index, range.ranges), cost(index, equalCount) / range.weight)
        }
        guard equalCount > 0 else { return nil }
        // Sorted and distinct, so that no entry comes twice.
        let keys = prefixes.map(\.bytes).sorted { left, right in
            left.lexicographicallyPrecedes(right)
        }
        let ranges = keys.map { KeyRange(prefix: $0) }
        let isUnique = index.isUnique && equalCount == index.columns.count
        return (
            .index(index, ranges), isUnique ? 2 : cost(index, equalCount) / 4 + ranges.count
        )
    }

    private func cost(_ index: IndexLayout, _ equalCount: Int) -> Int {
        max(8, 400 >> (equalCount * 3))
    }

    private static func distinct(_ keys: [KeyEncoder]) -> [KeyEncoder] {
        var known: Set<[UInt8]> = []
        return keys.filter { known.insert($0.bytes).inserted }
    }

    private func slot(_ comparison: ResolvedComparison) -> Int? {
        guard !TextMatch.folds(comparison.options), let path = comparison.path else { return nil }
        return (path.ownField ?? path.ownLink)?.slot
    }

    /// The values of which a column must equal one.
    private func equalValues(
        _ parts: [ResolvedComparison], _ column: FieldLayout
    ) -> [Value]? {
        for part in parts {
            switch (part.operation, part.right) {
            case (.equal, .constant(let value)): return [value]
            case (.in, .values(let values)): return values.filter { !$0.isNull }
            default: continue
            }
        }
        return nil
    }

    private func extended(
        _ prefixes: [KeyEncoder], _ column: FieldLayout, _ values: [Value]
    ) -> [KeyEncoder]? {
        var result: [KeyEncoder] = []
        for prefix in prefixes {
            for value in values {
                var key = prefix
                if key.append(value, as: column.content) {
                    result.append(key)
                } else if !canMissAll(value, column) {
                    return nil
                }
            }
        }
        return result
    }

    /// Whether a value that has no key in the column equals none of the column's values.
    private func canMissAll(_ value: Value, _ column: FieldLayout) -> Bool {
        guard let type = column.type else { return false }
        return type.isNumber && value.approximation != nil
    }

    /// One range after each prefix for `<`, `<=`, `>`, `>=`, BETWEEN and BEGINSWITH.
    private func range(
        _ parts: [ResolvedComparison], _ column: FieldLayout, _ prefixes: [KeyEncoder]
    ) -> (ranges: [KeyRange], weight: Int)? {
        var lower: Value?
        var upper: Value?
        for part in parts {
            switch (part.operation, part.right) {
            case (.greater, .constant(let value)), (.greaterOrEqual, .constant(let value)):
                lower = lower ?? value
            case (.less, .constant(let value)), (.lessOrEqual, .constant(let value)):
                upper = upper ?? value
            case (.between, .values(let bounds)):
                guard bounds.count == 2 else { continue }
                (lower, upper) = (bounds[0], bounds[1])
            case (.beginsWith, .constant(.string(let text))) where column.type == .string:
                return (
                    prefixes.map { prefix in
                        var key = prefix
                        key.appendPrefix(text)
                        return KeyRange(prefix: key.bytes)
                    }, 3
                )
            default: continue
            }
        }
        // A nil bound holds only for nil, or never: the scan decides.
        guard lower != nil || upper != nil, lower?.isNull != true, upper?.isNull != true else {
            return nil
        }
        var ranges: [KeyRange] = []
        for prefix in prefixes {
            guard let range = range(lower, upper, column, prefix) else { return nil }
            ranges.append(range)
        }
        return (ranges, lower != nil && upper != nil ? 3 : 1)
    }

    private func range(
        _ lower: Value?, _ upper: Value?, _ column: FieldLayout, _ prefix: KeyEncoder
    ) -> KeyRange? {
        var start = prefix.bytes
        // After the nils, which are not ordered with values.
        start.append(1)
        if let lower {
            var key = prefix
            guard key.append(lower, as: column.content) else { return nil }
            start = key.bytes
        }
        var end = KeyEncoder.successor(of: prefix.bytes)
        if let upper {
            var key = prefix
            guard key.append(upper, as: column.content) else { return nil }
            var bytes = key.bytes
            if key.isTruncated { bytes.removeLast() }
            end = KeyEncoder.successor(of: bytes)
        }
        return KeyRange(lower: start, upper: end)
    }
}
