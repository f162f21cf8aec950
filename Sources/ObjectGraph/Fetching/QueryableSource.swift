/// A source of values: a ``DataStack`` or a transaction. A query sees committed changes only.
public protocol QueryableSource: FetchContextOwner {
    /// The first column of the first row; nil when there is none or its type does not fit.
    func queryValue<O, U: QueryableAttributeType>(
        _ from: From<O>, _ selectClause: Select<O, U>, _ queryClauses: [any QueryClause]
    ) throws(CoreStoreError) -> U?
    /// Rows as dictionaries; a nil value is left out. A number casts to every type that can hold
    /// it; sums and averages that are exact are Decimals.
    func queryAttributes<O>(
        _ from: From<O>, _ selectClause: Select<O, NSDictionary>,
        _ queryClauses: [any QueryClause]
    ) throws(CoreStoreError) -> [[String: Any]]
}

extension QueryableSource {
    public func queryValue<O, U: QueryableAttributeType>(
        _ from: From<O>, _ selectClause: Select<O, U>, _ queryClauses: [any QueryClause]
    ) throws(CoreStoreError) -> U? {
        try withFetchContext { context throws(CoreStoreError) in
            try context.runner.value(from, selectClause, queryClauses)
        }
    }

    public func queryAttributes<O>(
        _ from: From<O>, _ selectClause: Select<O, NSDictionary>,
        _ queryClauses: [any QueryClause]
    ) throws(CoreStoreError) -> [[String: Any]] {
        try withFetchContext { context throws(CoreStoreError) in
            try context.runner.attributes(from, selectClause, queryClauses)
        }
    }

    public func queryValue<O, U: QueryableAttributeType>(
        _ from: From<O>, _ selectClause: Select<O, U>, _ queryClauses: any QueryClause...
    ) throws(CoreStoreError) -> U? {
        try queryValue(from, selectClause, queryClauses)
    }

    /// The same with the result alone in `Select`: `Select<Int>("age")`.
    public func queryValue<O, U: QueryableAttributeType>(
        _ from: From<O>, _ selectClause: Select<U>, _ queryClauses: any QueryClause...
    ) throws(CoreStoreError) -> U? {
        try queryValue(from, selectClause, queryClauses)
    }

    public func queryValue<O, U: QueryableAttributeType>(
        _ from: From<O>, _ selectClause: Select<U>, _ queryClauses: [any QueryClause]
    ) throws(CoreStoreError) -> U? {
        try queryValue(from, Select<O, U>(columns: selectClause.columns), queryClauses)
    }

    public func queryValue<B: QueryChainableBuilderType>(
        _ clauseChain: B
    ) throws(CoreStoreError) -> B.ResultType? where B.ResultType: QueryableAttributeType {
        try queryValue(clauseChain.from, clauseChain.select, clauseChain.queryClauses)
    }

    public func queryAttributes<O>(
        _ from: From<O>, _ selectClause: Select<O, NSDictionary>,
        _ queryClauses: any QueryClause...
    ) throws(CoreStoreError) -> [[String: Any]] {
        try queryAttributes(from, selectClause, queryClauses)
    }

    public func queryAttributes<B: QueryChainableBuilderType>(
        _ clauseChain: B
    ) throws(CoreStoreError) -> [[String: Any]] where B.ResultType == NSDictionary {
        try queryAttributes(clauseChain.from, clauseChain.select, clauseChain.queryClauses)
    }
}
