import Foundation
import RecordStore

/// A query for values made ready for one store, once.
package struct PreparedValues {
    /// The records that it is about; without order and limit where they are aggregated, and
    /// without limit where rows that are equal become one.
    let fetch: PreparedQuery
    let columns: [ValueColumn]
    let groups: [ResolvedPath]
    /// Whether there is one row a group, or one of all, and not one of each record.
    let isAggregate: Bool
    /// The groups that the rows of groups are sorted by, by their position.
    let groupOrder: [(group: Int, isAscending: Bool)]
    let limit: Int?
    let offset: Int
    let returnsDistinct: Bool
    /// The terms that name no property, or that calculate with objects, by their position, and why:
    /// the rows have no column for them.
    package let unknownTerms: [Int: QueryError]

    package init(
        _ request: ValueRequest, of entity: EntityLayout, in reader: RecordReader, storeID: UUID
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
        for path in request.groupPaths { groups.append(try paths.resolve(path, from: entity)) }
        isAggregate = columns.contains(where: \.isAggregate) || !groups.isEmpty
        if isAggregate { for index in columns.indices { columns[index].joinGroup() } }
        try Self.check(request, columns)
        var fetch = request.fetch
        if isAggregate {
            _ = try paths.order(fetch.sortKeys, of: entity)
            (fetch.sortKeys, fetch.limit, fetch.offset) = ([], nil, 0)
        } else if request.returnsDistinct {
            // Rows are limited, not the records that they are of.
            (fetch.limit, fetch.offset) = (nil, 0)
        }
        groupOrder = isAggregate ? try Self.groupOrder(request) : []
        self.fetch = try PreparedQuery.prepare(fetch, of: entity, in: reader, storeID: storeID)
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

    /// Without groups there is one row, which no order changes.
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

    /// The plan, for people.
    package var explanation: String {
        guard isAggregate else { return fetch.explanation }
        return fetch.explanation + (groups.isEmpty ? ", aggregated" : ", grouped")
    }
}

/// A column of a query with its property found.
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
            path = try paths.resolve(names, from: entity)
            (function, isAggregate) = (nil, false)
        case .aggregate(let function, let names):
            let path = try paths.resolve(names, from: entity)
            // Their numbers say nothing of an order, and those of two stores nothing of each other.
            guard function == .count || path.isAttribute else {
                throw QueryError(
                    "“\(names.joined(separator: "."))” leads to objects, of which there is no "
                        + "\(function.rawValue): name a property of theirs")
            }
            (self.path, self.function, isAggregate) = (path, function, path.isSingle)
        }
    }

    /// Where records are aggregated, the values that each has in a to-many are aggregated too.
    mutating func joinGroup() { isAggregate = function != nil }
}
