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
    package var returnsDistinct: Bool

    package init(
        _ fetch: FetchRequest, terms: [SelectTerm], groupPaths: [[String]] = [],
        returnsDistinct: Bool = false
    ) {
        self.fetch = fetch
        self.terms = terms
        self.groupPaths = groupPaths
        self.returnsDistinct = returnsDistinct
    }
}
