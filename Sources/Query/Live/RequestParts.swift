import RecordStore

/// A list's request resolved against the schema of a store. Only this file of the folder uses the
/// planner and the evaluator. A class, because each step hands it on several times.
final class RequestParts {
    let entity: EntityLayout
    let order: [ResolvedSortKey]
    /// Nil for a list without sections, or with computed ones.
    let section: ResolvedPath?
    let watched: [ResolvedPath]
    private(set) var conditionPaths: [ResolvedPath] = []
    /// Why changes do not show which objects of the list they concern; nil if they do.
    private(set) var refusal: String?
    /// The hierarchies whose records the request reads, the list's own among them.
    private(set) var readHierarchies: Set<HierarchyID>
    /// The to-many relationships whose links the request reads.
    private(set) var readRelationships: [RelationshipLayout] = []
    fileprivate let candidateFilter: CandidateFilter
    private let request: FetchRequest
    private let store: StoreIdentity

    init(_ request: ListRequest, _ schema: Schema, store: StoreIdentity) throws {
        let fetch = request.fetch
        self.request = fetch
        self.store = store
        guard let entity = schema.entity(named: request.entityName) else {
            throw QueryError("the store has no entity “\(request.entityName)”")
        }
        self.entity = entity
        readHierarchies = [entity.hierarchy]
        let paths = PathResolver(schema: schema)
        order = try paths.order(fetch.sortKeys, of: entity)
        if case .path(let names, _) = request.section {
            section = try paths.single(
                names, from: entity, else: "it names no section")
        } else {
            section = nil
        }
        watched = try request.watchedPaths.map { try paths.resolve($0, from: entity) }
        var condition = ResolvedCondition.constant(true)
        if let stated = fetch.condition {
            condition = try ConditionResolver(entity, paths, store: store).resolve(stated)
        }
        candidateFilter = CandidateFilter(
            FilterProgram(condition), entity, includesSubentities: fetch.includesSubentities,
            schema)
        collect(condition)
        for path in order.map(\.path) + watched + [section].compactMap({ $0 }) { admit(path) }
    }

    private func admit(_ path: ResolvedPath) {
        note(path)
        if case .collection = path.end {
            refusal = refusal ?? "a path of \(entity.name) ends with a to-many relationship"
        }
    }

    private func note(_ path: ResolvedPath) {
        for step in path.steps { readHierarchies.insert(step.hierarchy) }
        guard case .collection(let collection) = path.end else { return }
        readRelationships.append(collection.relationship)
        readHierarchies.formUnion([path.entity.hierarchy, collection.hierarchy])
        if let elements = collection.elements { note(elements.path) }
    }

    /// Whether a sort key counts or collects the links of a to-many relationship.
    var isSortedByCollection: Bool {
        order.contains { key in
            if case .collection = key.path.end { return true }
            return false
        }
    }

    // MARK: The condition's paths

    private func collect(_ condition: ResolvedCondition) {
        switch condition {
        case .constant: break
        case .and(let parts), .or(let parts): for part in parts { collect(part) }
        case .not(let inner): collect(inner)
        case .comparison(let comparison):
            collect(comparison.left)
            collect(comparison.right)
        }
    }

    private func collect(_ operand: ResolvedOperand) {
        switch operand {
        case .constant, .values, .selfObject: break
        case .path(let path):
            conditionPaths.append(path)
            admit(path)
        case .list(let operands), .function(_, let operands):
            for operand in operands { collect(operand) }
        case .arithmetic(_, let left, let right):
            collect(left)
            collect(right)
        case .negated(let inner), .element(let inner, _), .cast(let inner, _), .foreign(let inner):
            collect(inner)
        case .ternary(let condition, let yes, let no):
            collect(condition)
            collect(yes)
            collect(no)
        case .subquery(let collection, _, let condition):
            collect(collection)
            refusal = "the condition asks a subquery"
            collect(condition)
        case .variable: break
        case .variablePath(_, let hierarchy, let path):
            readHierarchies.insert(hierarchy)
            note(path)
        }
    }

    // MARK: Records

    /// Passes the records that fulfil the condition to the body, in the request's order or in any.
    ///
    /// - Parameter least: a lower bound of the first sort key; smaller values are skipped.
    func forEachMatch(
        in reader: RecordReader, isOrdered: Bool, limit: Int?, least: Value? = nil,
        _ body: (ObjectNumber, RowView) throws -> Bool
    ) throws {
        var request = request
        request.offset = 0
        request.limit = limit
        if let least, let first = request.sortKeys.first {
            let bound = Comparison(.keyPath(first.path), .greaterOrEqual, .constant(least))
            request.condition = .and([request.condition ?? .constant(true), .comparison(bound)])
        }
        if !isOrdered { request.sortKeys = [] }
        try PreparedQuery.prepare(request, of: entity, in: reader, store: store).lendEach(body)
    }

    func evaluation(in reader: RecordReader) -> RecordEvaluation {
        RecordEvaluation(reader: reader, parts: self)
    }
}

/// Evaluates what a list needs of the records of one commit. A class for the same reason.
final class RecordEvaluation {
    let reader: RecordReader
    let parts: RequestParts
    private let filter: RecordFilter
    private let evaluator: ReferenceEvaluator

    fileprivate init(reader: RecordReader, parts: RequestParts) {
        self.reader = reader
        self.parts = parts
        filter = RecordFilter(parts.candidateFilter, reader)
        evaluator = ReferenceEvaluator(reader)
    }

    func accepts(_ row: RowView, _ number: ObjectNumber) throws -> Bool {
        if parts.candidateFilter.program.acceptsNone { return false }
        return try filter.accepts(row, number)
    }

    /// The value of a path that has a single one.
    func value(_ path: ResolvedPath, _ row: RowView, _ number: ObjectNumber) throws -> Value {
        try evaluator.evaluate(path, row, number).values.first ?? .null
    }

    /// Appends the whole sort key of a record. Keys sort like the request.
    func appendKey(
        of row: RowView, _ number: ObjectNumber, to key: inout KeyEncoder
    ) throws(StoreError) {
        for sort in parts.order {
            let start = key.bytes.count
            if let column = sort.ownColumn {
                try reader.append(column, of: row, to: &key)
            } else {
                try append(sort.path, sort.path.steps[...], row, to: &key)
                if sort.path.isSelf { key.append(number) }
            }
            if !sort.isAscending { key.invert(from: start) }
        }
    }

    /// The first sort value of an object, if it is a lower bound of that of all later ones: an
    /// ascending column of the record itself, and neither nil nor NaN.
    func firstSortValue(of number: ObjectNumber) throws(StoreError) -> Value? {
        guard let first = parts.order.first, first.isAscending, let field = first.path.ownField
        else { return nil }
        let value = try reader.withRow(number, in: parts.entity.hierarchy) {
            row throws(StoreError) in
            try reader.value(field, of: row)
        }
        guard let value, !value.isNull, value.approximation?.isNaN != true else { return nil }
        return value
    }

    /// The key of the first sort column of a record.
    func appendFirstKey(of row: RowView, to key: inout KeyEncoder) throws(StoreError) {
        guard let first = parts.order.first?.path else { return }
        try append(first, first.steps[...], row, to: &key)
    }

    /// The values of a record that the list watches, encoded as a key.
    func watched(of row: RowView) throws(StoreError) -> [UInt8] {
        var key = KeyEncoder(columnSizeMax: .max)
        for path in parts.watched { try append(path, path.steps[...], row, to: &key) }
        return key.bytes
    }

    private func append(
        _ path: ResolvedPath, _ steps: ArraySlice<ResolvedPath.Step>, _ row: RowView,
        to key: inout KeyEncoder
    ) throws(StoreError) {
        guard let step = steps.first else {
            if case .attribute(let field) = path.end { try reader.append(field, of: row, to: &key) }
            return
        }
        var isFound = false
        if let target = row.link(at: step.field.byteOffset) {
            let isLast = steps.count == 1
            _ = try reader.withRow(target, in: step.hierarchy) { next throws(StoreError) in
                isFound = true
                if isLast, case .object = path.end {
                    _ = key.append(.object(target), as: step.field.content)
                } else {
                    try self.append(path, steps.dropFirst(), next, to: &key)
                }
            }
        }
        if !isFound { _ = key.append(.null, as: step.field.content) }
    }
}
