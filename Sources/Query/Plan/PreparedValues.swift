import Foundation
import RecordStore

/// A query for values, prepared once for one store.
package struct PreparedValues {
    /// The query for the records; without order and limit if they are aggregated, and without limit
    /// if equal rows are merged.
    let fetch: PreparedQuery
    let columns: [ValueColumn]
    let groups: [ResolvedPath]
    /// Whether there is one row for each group, or a single one, instead of one for each record.
    let isAggregate: Bool
    /// The sort order of the rows of groups, by positions in `groups`.
    let groupOrder: [(group: Int, isAscending: Bool)]
    let limit: Int?
    let offset: Int
    let returnsDistinct: Bool
    /// The terms, by position, that name no property or that aggregate objects, with the errors.
    /// The rows have no column for them.
    package let unknownTerms: [Int: QueryError]

    package init(
        _ request: ValueRequest, of entity: EntityLayout, in reader: RecordReader,
        store: StoreIdentity
    ) throws(QueryError) {
        let paths = PathResolver(schema: reader.schema)
        var columns: [ValueColumn] = []
        var unknownTerms: [Int: QueryError] = [:]
        for (position, term) in request.terms.enumerated() {
            do throws(QueryError) {
                columns.append(try ValueColumn(term, entity, paths))
            } catch {
                unknownTerms[position] = error
            }
        }
        var groups: [ResolvedPath] = []
        for path in request.groupPaths {
            groups.append(
                try paths.single(path, from: entity, else: "nothing can be grouped by it"))
        }
        isAggregate = columns.contains(where: \.isAggregate) || !groups.isEmpty
        if isAggregate { for index in columns.indices { columns[index].joinGroup() } }
        try Self.check(request, columns)
        var fetch = request.fetch
        if isAggregate {
            _ = try paths.order(fetch.sortKeys, of: entity)
            (fetch.sortKeys, fetch.limit, fetch.offset) = ([], nil, 0)
        } else if request.returnsDistinct {
            // The limit counts rows, not the records that they come from.
            (fetch.limit, fetch.offset) = (nil, 0)
        }
        groupOrder = isAggregate ? try Self.groupOrder(request) : []
        self.fetch = try PreparedQuery.prepare(fetch, of: entity, in: reader, store: store)
        self.columns = columns
        self.groups = groups
        self.unknownTerms = unknownTerms
        limit = request.fetch.limit
        offset = request.fetch.offset
        returnsDistinct = request.returnsDistinct
    }

    private static func check(
        _ request: ValueRequest, _ columns: [ValueColumn]
    ) throws(QueryError) {
        guard !request.groupPaths.isEmpty else { return }
        for column in columns where !column.isAggregate {
            if case .attribute(let path) = column.term, request.groupPaths.contains(path) {
                continue
            }
            throw QueryError(
                "a query with GroupBy selects only what it groups by and aggregates")
        }
    }

    /// Without groups there is a single row, which needs no order.
    private static func groupOrder(
        _ request: ValueRequest
    ) throws(QueryError) -> [(group: Int, isAscending: Bool)] {
        guard !request.groupPaths.isEmpty else { return [] }
        var order: [(group: Int, isAscending: Bool)] = []
        for key in request.fetch.sortKeys {
            guard let group = request.groupPaths.firstIndex(of: key.path) else {
                throw QueryError(
                    "a query with GroupBy is sorted by what it groups by, and "
                        + "“\(key.path.joined(separator: "."))” is not among it")
            }
            order.append((group, key.isAscending))
        }
        return order
    }

    /// The plan, for display.
    package var explanation: String {
        guard isAggregate else { return fetch.explanation }
        return fetch.explanation + (groups.isEmpty ? ", aggregated" : ", grouped")
    }
}

/// A column of a query, with its property resolved.
struct ValueColumn {
    let term: SelectTerm
    let path: ResolvedPath?
    let function: SelectTerm.Function?
    /// An aggregate over a to-many is a value of each record, unless records are aggregated.
    private(set) var isAggregate: Bool

    init(_ term: SelectTerm, _ entity: EntityLayout, _ paths: PathResolver) throws(QueryError) {
        self.term = term
        switch term {
        case .objectID: (path, function, isAggregate) = (nil, nil, false)
        case .attribute(let names):
            path = try paths.single(
                names, from: entity, else: "it is selected by an aggregate alone")
            (function, isAggregate) = (nil, false)
        case .aggregate(let function, let names):
            let path = try paths.resolve(names, from: entity)
            // Numbers of objects have no meaningful order, and those of two stores are not
            // comparable.
            guard function == .count || path.isAttribute else {
                throw QueryError(
                    "“\(names.joined(separator: "."))” leads to objects, of which there is no "
                        + "\(function.rawValue): name a property of theirs")
            }
            (self.path, self.function, isAggregate) = (path, function, path.isSingle)
        }
    }

    /// If records are aggregated, the values of their to-many relationships are aggregated too.
    mutating func joinGroup() { isAggregate = function != nil }
}
