/// A source of values: a ``DataStack``, a transaction or a ``ReadView``. A query sees committed
/// changes only: in a transaction not even its own.
///
/// Isolation and errors are those of a ``FetchableSource``. A column that names no property is left
/// out with a warning in the log.
public protocol QueryableSource: FetchContextOwner {
    /// The first column of the first row; nil when there is none or its type does not fit.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    func queryValue<O, U: QueryableAttributeType>(
        _ from: From<O>, _ selectClause: Select<O, U>, _ queryClauses: [any QueryClause]
    ) throws(CoreStoreError) -> U?
    /// Rows as dictionaries, whose keys are the aliases of the columns; a nil value is left out. A
    /// number casts to every type that can hold it; sums and averages that are exact are Decimals.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    func queryAttributes<O>(
        _ from: From<O>, _ selectClause: Select<O, NSDictionary>,
        _ queryClauses: [any QueryClause]
    ) throws(CoreStoreError) -> [[String: Any]]
}

extension QueryableSource {
    /// The first column of the first row; nil when there is none or its type does not fit.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    public func queryValue<O, U: QueryableAttributeType>(
        _ from: From<O>, _ selectClause: Select<O, U>, _ queryClauses: [any QueryClause]
    ) throws(CoreStoreError) -> U? {
        try withFetchContext { context throws(CoreStoreError) in
            try context.runner.value(from, selectClause, queryClauses)
        }
    }

    /// Rows as dictionaries, whose keys are the aliases of the columns; a nil value is left out.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    public func queryAttributes<O>(
        _ from: From<O>, _ selectClause: Select<O, NSDictionary>,
        _ queryClauses: [any QueryClause]
    ) throws(CoreStoreError) -> [[String: Any]] {
        try withFetchContext { context throws(CoreStoreError) in
            try context.runner.attributes(from, selectClause, queryClauses)
        }
    }

    /// The first column of the first row; nil when there is none or its type does not fit.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    public func queryValue<O, U: QueryableAttributeType>(
        _ from: From<O>, _ selectClause: Select<O, U>, _ queryClauses: any QueryClause...
    ) throws(CoreStoreError) -> U? {
        try queryValue(from, selectClause, queryClauses)
    }

    /// The first column of the first row, where `Select` names the result alone:
    /// `Select<Int>("age")`.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    public func queryValue<O, U: QueryableAttributeType>(
        _ from: From<O>, _ selectClause: Select<U>, _ queryClauses: any QueryClause...
    ) throws(CoreStoreError) -> U? {
        try queryValue(from, selectClause, queryClauses)
    }

    /// The first column of the first row, where `Select` names the result alone.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    public func queryValue<O, U: QueryableAttributeType>(
        _ from: From<O>, _ selectClause: Select<U>, _ queryClauses: [any QueryClause]
    ) throws(CoreStoreError) -> U? {
        try queryValue(from, Select<O, U>(columns: selectClause.columns), queryClauses)
    }

    /// The first column of the first row of a chain; nil when there is none or its type does not
    /// fit.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    public func queryValue<B: QueryChainableBuilderType>(
        _ clauseChain: B
    ) throws(CoreStoreError) -> B.ResultType? where B.ResultType: QueryableAttributeType {
        try queryValue(clauseChain.from, clauseChain.select, clauseChain.queryClauses)
    }

    /// Rows as dictionaries, whose keys are the aliases of the columns; a nil value is left out.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    public func queryAttributes<O>(
        _ from: From<O>, _ selectClause: Select<O, NSDictionary>,
        _ queryClauses: any QueryClause...
    ) throws(CoreStoreError) -> [[String: Any]] {
        try queryAttributes(from, selectClause, queryClauses)
    }

    /// The rows of a chain as dictionaries, whose keys are the aliases of the columns; a nil value
    /// is left out.
    ///
    /// - Throws: `.persistentStoreNotFound`, `.internalError`.
    public func queryAttributes<B: QueryChainableBuilderType>(
        _ clauseChain: B
    ) throws(CoreStoreError) -> [[String: Any]] where B.ResultType == NSDictionary {
        try queryAttributes(clauseChain.from, clauseChain.select, clauseChain.queryClauses)
    }
}
