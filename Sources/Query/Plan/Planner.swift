import RecordStore

/// How the candidates of a request are found; each is then tested by the whole condition.
enum AccessPlan {
    case scan
    case index(IndexLayout, [KeyRange])
    /// The objects whose to-one relationship leads to these.
    case sources(RelationshipLayout, [ObjectNumber])
    case numbers([ObjectNumber])

    var description: String {
        switch self {
        case .scan: "scan of all records"
        case .index(let index, let ranges):
            "\(ranges.count) range\(ranges.count == 1 ? "" : "s") of the index on "
                + index.columns.map(\.name).joined(separator: ", ")
        case .sources(let relationship, let targets):
            "links of \(relationship.name) to \(targets.count) object"
                + (targets.count == 1 ? "" : "s")
        case .numbers(let numbers): "\(numbers.count) known objects"
        }
    }
}

/// Chooses how to find candidates: the part of the condition that promises the fewest.
struct Planner {
    private let entity: EntityLayout
    private let reader: RecordReader
    private let resolver: PathResolver

    init(_ entity: EntityLayout, _ reader: RecordReader) {
        self.entity = entity
        self.reader = reader
        resolver = PathResolver(schema: reader.schema)
    }

    func plan(_ condition: Condition) -> AccessPlan {
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
            // Nothing promises fewer than the one entry of a unique key.
            if let best, best.cost <= 2 { return best.plan }
        }
        for part in parts {
            if let (plan, cost) = sources(part.comparison) { offer(plan, cost) }
        }
        return best?.plan ?? .scan
    }

    /// One of the conditions that must all hold, with the slot of the record's own column that it
    /// is about, found once for all indexes.
    private struct Part {
        var comparison: Comparison
        var slot: Int?

        init(_ comparison: Comparison, slot: Int?) {
            self.comparison = comparison
            self.slot = slot
        }
    }

    private func conjuncts(_ condition: Condition) -> [Comparison] {
        switch condition {
        case .comparison(let comparison): [comparison]
        case .and(let parts): parts.flatMap(conjuncts)
        case .constant, .or, .not: []
        }
    }

    // MARK: Known objects

    private func direct(_ comparison: Comparison) -> AccessPlan? {
        guard comparison.quantifier == .none, isSelf(comparison.left) else { return nil }
        switch (comparison.operation, comparison.right) {
        case (.equal, .constant(.object(let number))): return .numbers([number])
        case (.in, .list(let operands)):
            guard let numbers = objects(operands) else { return nil }
            return .numbers(numbers)
        default: return nil
        }
    }

    private func isSelf(_ operand: Operand) -> Bool {
        switch operand {
        case .selfObject: true
        case .keyPath(let path): path.count == 1 && path[0].uppercased() == "SELF"
        default: false
        }
    }

    private func objects(_ operands: [Operand]) -> [ObjectNumber]? {
        var numbers: Set<ObjectNumber> = []
        for operand in operands {
            guard case .constant(.object(let number)) = operand else { return nil }
            numbers.insert(number)
        }
        return numbers.sorted()
    }

    private func sources(_ comparison: Comparison) -> (AccessPlan, Int)? {
        guard comparison.quantifier == .none, case .keyPath(let path) = comparison.left,
            let resolved = try? resolver.resolve(path, from: entity),
            let field = resolved.ownLink, case .link(let id) = field.content
        else { return nil }
        let relationship = reader.schema.relationship(id: id)
        switch (comparison.operation, comparison.right) {
        case (.equal, .constant(.object(let number))):
            return (.sources(relationship, [number]), 25)
        case (.in, .list(let operands)):
            guard let numbers = objects(operands) else { return nil }
            return (.sources(relationship, numbers), 25 + numbers.count)
        default: return nil
        }
    }

    // MARK: Indexes

    /// Equal columns first, then at most one with a range.
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
        // Sorted and without repetition, so that no entry comes twice.
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

    private func slot(_ comparison: Comparison) -> Int? {
        guard comparison.quantifier == .none, !TextMatch.folds(comparison.options),
            case .keyPath(let path) = comparison.left,
            let resolved = try? resolver.resolve(path, from: entity)
        else { return nil }
        return (resolved.ownField ?? resolved.ownLink)?.slot
    }

    /// The values that a column must equal one of.
    private func equalValues(_ parts: [Comparison], _ column: FieldLayout) -> [Value]? {
        for part in parts {
            switch (part.operation, part.right) {
            case (.equal, .constant(let value)): return [value]
            case (.in, .list(let operands)):
                var values: [Value] = []
                for operand in operands {
                    guard case .constant(let value) = operand else { return nil }
                    if !value.isNull { values.append(value) }
                }
                return values
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

    /// Whether a value that has no key of the column equals none of its values.
    private func canMissAll(_ value: Value, _ column: FieldLayout) -> Bool {
        guard let type = column.type else { return false }
        return type.isNumber && value.approximation != nil
    }

    /// One range behind each prefix for `<`, `<=`, `>`, `>=`, BETWEEN and BEGINSWITH.
    private func range(
        _ parts: [Comparison], _ column: FieldLayout, _ prefixes: [KeyEncoder]
    ) -> (ranges: [KeyRange], weight: Int)? {
        var lower: Value?
        var upper: Value?
        for part in parts {
            switch (part.operation, part.right) {
            case (.greater, .constant(let value)), (.greaterOrEqual, .constant(let value)):
                lower = lower ?? value
            case (.less, .constant(let value)), (.lessOrEqual, .constant(let value)):
                upper = upper ?? value
            case (.between, .list(let bounds)):
                guard bounds.count == 2, case .constant(let first) = bounds[0],
                    case .constant(let last) = bounds[1]
                else { continue }
                (lower, upper) = (first, last)
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
        // A nil bound holds for nil alone, or for nothing: the scan says which.
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
        // Behind the nils, which are in no order with a value.
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
