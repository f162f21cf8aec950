import RecordStore

/// A property to sort by; the path may cross to-one relationships.
package struct SortKey: Hashable, Sendable {
    package var path: [String]
    package var isAscending: Bool

    package init(path: [String], isAscending: Bool = true) {
        self.path = path
        self.isAscending = isAscending
    }
}

/// Which objects are wanted, in which order: a value that can be kept, printed and run anywhere.
package struct FetchRequest: Hashable, Sendable {
    package var entityName: String
    package var includesSubentities = true
    package var condition: Condition
    package var sortKeys: [SortKey]
    /// Nil for no limit.
    package var limit: Int?
    package var offset: Int

    package init(
        entityName: String, condition: Condition = .constant(true), sortKeys: [SortKey] = [],
        limit: Int? = nil, offset: Int = 0
    ) {
        self.entityName = entityName
        self.condition = condition
        self.sortKeys = sortKeys
        self.limit = limit
        self.offset = offset
    }
}

/// One column of a query's result.
package enum SelectTerm: Hashable, Sendable {
    package enum Function: String, Hashable, Sendable {
        case sum, average, count, minimum, maximum
    }

    case attribute([String])
    case aggregate(Function, [String])
    case objectID
}

/// A query for values instead of objects.
package struct ValueRequest: Hashable, Sendable {
    package var fetch: FetchRequest
    package var terms: [SelectTerm]
    package var groupPaths: [[String]]
    package var having: Condition?
    package var returnsDistinct: Bool

    package init(
        _ fetch: FetchRequest, terms: [SelectTerm], groupPaths: [[String]] = [],
        having: Condition? = nil, returnsDistinct: Bool = false
    ) {
        self.fetch = fetch
        self.terms = terms
        self.groupPaths = groupPaths
        self.having = having
        self.returnsDistinct = returnsDistinct
    }
}
