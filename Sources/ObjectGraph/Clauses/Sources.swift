/// What objects are fetched from: a ``DataStack`` or a transaction.
///
/// A fetch in a transaction sees the transaction's own changes. The errors are
/// `.persistentStoreNotFound` when no attached store has the entity, and `.internalError` for a
/// condition that makes no sense or a store that cannot be read; each is logged once.
public protocol FetchableSource: AnyObject {
    /// This source's instance of an object; nil when it is gone.
    func fetchExisting<O: DynamicObject>(_ object: O) -> O?
    func fetchExisting<O: DynamicObject>(_ objectID: NSManagedObjectID) -> O?
    /// This source's instances, in order, without those that are gone.
    func fetchExisting<O: DynamicObject, S: Sequence>(_ objects: S) -> [O] where S.Element == O
    func fetchExisting<O: DynamicObject, S: Sequence>(_ objectIDs: S) -> [O]
    where S.Element == NSManagedObjectID

    /// The first object, nil when there is none.
    func fetchOne<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> O?
    /// All objects. Without an order, in no particular one.
    func fetchAll<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> [O]
    /// How many objects there are; none is made.
    func fetchCount<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> Int
    func fetchObjectID<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> NSManagedObjectID?
    func fetchObjectIDs<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) throws(CoreStoreError) -> [NSManagedObjectID]
}

/// What values are queried from. A query sees what was committed, and no transaction's changes.
public protocol QueryableSource: AnyObject {
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

extension FetchableSource {
    public func fetchOne<O>(
        _ from: From<O>, _ fetchClauses: any FetchClause...
    ) throws(CoreStoreError) -> O? {
        try fetchOne(from, fetchClauses)
    }

    public func fetchOne<B: FetchChainableBuilderType>(
        _ clauseChain: B
    ) throws(CoreStoreError) -> B.ObjectType? {
        try fetchOne(clauseChain.from, clauseChain.fetchClauses)
    }

    public func fetchAll<O>(
        _ from: From<O>, _ fetchClauses: any FetchClause...
    ) throws(CoreStoreError) -> [O] {
        try fetchAll(from, fetchClauses)
    }

    public func fetchAll<B: FetchChainableBuilderType>(
        _ clauseChain: B
    ) throws(CoreStoreError) -> [B.ObjectType] {
        try fetchAll(clauseChain.from, clauseChain.fetchClauses)
    }

    public func fetchCount<O>(
        _ from: From<O>, _ fetchClauses: any FetchClause...
    ) throws(CoreStoreError) -> Int {
        try fetchCount(from, fetchClauses)
    }

    public func fetchCount<B: FetchChainableBuilderType>(
        _ clauseChain: B
    ) throws(CoreStoreError) -> Int {
        try fetchCount(clauseChain.from, clauseChain.fetchClauses)
    }

    public func fetchObjectID<O>(
        _ from: From<O>, _ fetchClauses: any FetchClause...
    ) throws(CoreStoreError) -> NSManagedObjectID? {
        try fetchObjectID(from, fetchClauses)
    }

    public func fetchObjectID<B: FetchChainableBuilderType>(
        _ clauseChain: B
    ) throws(CoreStoreError) -> NSManagedObjectID? {
        try fetchObjectID(clauseChain.from, clauseChain.fetchClauses)
    }

    public func fetchObjectIDs<O>(
        _ from: From<O>, _ fetchClauses: any FetchClause...
    ) throws(CoreStoreError) -> [NSManagedObjectID] {
        try fetchObjectIDs(from, fetchClauses)
    }

    public func fetchObjectIDs<B: FetchChainableBuilderType>(
        _ clauseChain: B
    ) throws(CoreStoreError) -> [NSManagedObjectID] {
        try fetchObjectIDs(clauseChain.from, clauseChain.fetchClauses)
    }

}

extension QueryableSource {
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
