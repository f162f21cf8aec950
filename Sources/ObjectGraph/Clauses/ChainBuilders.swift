/// A fetch that is being put together: `From<Dog>().where(\.$age > 3).orderBy(…)`.
public protocol FetchChainableBuilderType: Sendable {
    associatedtype ObjectType: DynamicObject
    var from: From<ObjectType> { get }
    var fetchClauses: [any FetchClause] { get }
}

/// A query that is being put together.
public protocol QueryChainableBuilderType: Sendable {
    associatedtype ObjectType: DynamicObject
    associatedtype ResultType: SelectResultType
    var from: From<ObjectType> { get }
    var select: Select<ObjectType, ResultType> { get }
    var queryClauses: [any QueryClause] { get }
}

public struct FetchChainBuilder<O: DynamicObject>: FetchChainableBuilderType {
    public typealias ObjectType = O
    public let from: From<O>
    /// The first clause, when it is a condition: kept as it is, because most fetches have no other.
    let condition: Where<O>?
    private let otherClauses: [any FetchClause]

    public var fetchClauses: [any FetchClause] {
        guard let condition else { return otherClauses }
        return [condition] + otherClauses
    }

    init(from: From<O>, fetchClauses: [any FetchClause]) {
        self.from = from
        condition = nil
        otherClauses = fetchClauses
    }

    @usableFromInline
    init(from: From<O>, condition: Where<O>) {
        self.from = from
        self.condition = condition
        otherClauses = []
    }

    /// What the clauses say together.
    func terms(limit: Int? = nil) -> FetchTerms {
        guard let condition, otherClauses.isEmpty else {
            return FetchTerms(fetchClauses, limit: limit)
        }
        return FetchTerms(condition.condition, limit: limit)
    }
}

public struct QueryChainBuilder<O: DynamicObject, R: SelectResultType>: QueryChainableBuilderType {
    public typealias ObjectType = O
    public typealias ResultType = R
    public let from: From<O>
    public let select: Select<O, R>
    public let queryClauses: [any QueryClause]
}

extension From {
    private func with(_ clause: any FetchClause) -> FetchChainBuilder<O> {
        FetchChainBuilder(from: self, fetchClauses: [clause])
    }

    /// Only objects that fulfil a condition.
    @inlinable
    public func `where`(_ clause: Where<O>) -> FetchChainBuilder<O> {
        FetchChainBuilder(from: self, condition: clause)
    }

    /// Only objects that fulfil all of these conditions.
    public func `where`(combineByAnd clauses: Where<O>...) -> FetchChainBuilder<O> {
        with(clauses.combinedByAnd())
    }

    /// Only objects that fulfil one of these conditions.
    public func `where`(combineByOr clauses: Where<O>...) -> FetchChainBuilder<O> {
        with(clauses.combinedByOr())
    }

    /// Only objects that fulfil a condition in the predicate language.
    public func `where`(format: String, _ args: Any...) -> FetchChainBuilder<O> {
        with(Where<O>(format, argumentArray: args))
    }

    public func `where`(format: String, argumentArray: [Any]?) -> FetchChainBuilder<O> {
        with(Where<O>(format, argumentArray: argumentArray))
    }

    /// Only objects that fulfil a condition of their properties: `.where { $0.$age > 3 }`.
    public func `where`(_ clause: (O) -> Where<O>) -> FetchChainBuilder<O>
    where O: CoreStoreObject {
        with(Where<O>(clause))
    }

    /// In an order.
    public func orderBy(_ clause: OrderBy<O>) -> FetchChainBuilder<O> { with(clause) }

    public func orderBy(
        _ sortKey: OrderBy<O>.SortKey, _ sortKeys: OrderBy<O>.SortKey...
    ) -> FetchChainBuilder<O> {
        with(OrderBy<O>([sortKey] + sortKeys))
    }

    public func orderBy(_ sortKeys: [OrderBy<O>.SortKey]) -> FetchChainBuilder<O> {
        with(OrderBy<O>(sortKeys))
    }

    /// With a last word on the request.
    @preconcurrency
    public func tweak(
        _ closure: @escaping @Sendable (NSFetchRequest<any NSFetchRequestResult>) -> Void
    ) -> FetchChainBuilder<O> {
        with(Tweak(closure))
    }

    /// With a clause of the program's own.
    public func appending(_ clause: any FetchClause) -> FetchChainBuilder<O> { with(clause) }

    public func appending<S: Sequence>(contentsOf clauses: S) -> FetchChainBuilder<O>
    where S.Element == any FetchClause {
        FetchChainBuilder(from: self, fetchClauses: Array(clauses))
    }

    /// A query for columns.
    public func select<R>(_ clause: Select<O, R>) -> QueryChainBuilder<O, R> {
        QueryChainBuilder(from: self, select: clause, queryClauses: [])
    }

    public func select<R>(
        _ resultType: R.Type, _ selectTerm: SelectTerm<O>, _ selectTerms: SelectTerm<O>...
    ) -> QueryChainBuilder<O, R> {
        select(Select<O, R>([selectTerm] + selectTerms))
    }

    public func select<R>(
        _ resultType: R.Type, _ selectTerms: [SelectTerm<O>]
    ) -> QueryChainBuilder<O, R> {
        select(Select<O, R>(selectTerms))
    }

    /// A query for rows of columns.
    public func select(
        _ selectTerm: SelectTerm<O>, _ selectTerms: SelectTerm<O>...
    ) -> QueryChainBuilder<O, NSDictionary> {
        select(Select<O, NSDictionary>([selectTerm] + selectTerms))
    }

    /// A query for one attribute.
    public func select<B: CoreStoreObject, R: QueryableAttributeType>(
        _ keyPath: KeyPath<O, FieldContainer<B>.Stored<R>>
    ) -> QueryChainBuilder<O, R> where O: CoreStoreObject {
        select(Select<O, R>([.attribute(keyPath)]))
    }

    /// A query for one attribute that may be nil.
    public func select<B: CoreStoreObject, R: QueryableAttributeType>(
        _ keyPath: KeyPath<O, FieldContainer<B>.Stored<R?>>
    ) -> QueryChainBuilder<O, R> where O: CoreStoreObject {
        select(Select<O, R>([.attribute(keyPath)]))
    }
}

extension FetchChainBuilder {
    private func with(_ clause: any FetchClause) -> FetchChainBuilder<O> {
        FetchChainBuilder(from: from, fetchClauses: fetchClauses + [clause])
    }

    /// Only objects that fulfil a condition.
    public func `where`(_ clause: Where<O>) -> FetchChainBuilder<O> { with(clause) }

    /// Only objects that fulfil all of these conditions.
    public func `where`(combineByAnd clauses: Where<O>...) -> FetchChainBuilder<O> {
        with(clauses.combinedByAnd())
    }

    /// Only objects that fulfil one of these conditions.
    public func `where`(combineByOr clauses: Where<O>...) -> FetchChainBuilder<O> {
        with(clauses.combinedByOr())
    }

    /// Only objects that fulfil a condition in the predicate language.
    public func `where`(format: String, _ args: Any...) -> FetchChainBuilder<O> {
        with(Where<O>(format, argumentArray: args))
    }

    public func `where`(format: String, argumentArray: [Any]?) -> FetchChainBuilder<O> {
        with(Where<O>(format, argumentArray: argumentArray))
    }

    /// Only objects that fulfil a condition of their properties: `.where { $0.$age > 3 }`.
    public func `where`(_ clause: (O) -> Where<O>) -> FetchChainBuilder<O>
    where O: CoreStoreObject {
        with(Where<O>(clause))
    }

    /// In an order.
    public func orderBy(_ clause: OrderBy<O>) -> FetchChainBuilder<O> { with(clause) }

    public func orderBy(
        _ sortKey: OrderBy<O>.SortKey, _ sortKeys: OrderBy<O>.SortKey...
    ) -> FetchChainBuilder<O> {
        with(OrderBy<O>([sortKey] + sortKeys))
    }

    public func orderBy(_ sortKeys: [OrderBy<O>.SortKey]) -> FetchChainBuilder<O> {
        with(OrderBy<O>(sortKeys))
    }

    /// With a last word on the request.
    @preconcurrency
    public func tweak(
        _ closure: @escaping @Sendable (NSFetchRequest<any NSFetchRequestResult>) -> Void
    ) -> FetchChainBuilder<O> {
        with(Tweak(closure))
    }

    /// With a clause of the program's own.
    public func appending(_ clause: any FetchClause) -> FetchChainBuilder<O> { with(clause) }

    public func appending<S: Sequence>(contentsOf clauses: S) -> FetchChainBuilder<O>
    where S.Element == any FetchClause {
        FetchChainBuilder(from: from, fetchClauses: fetchClauses + clauses)
    }
}

extension QueryChainBuilder {
    private func with(_ clause: any QueryClause) -> QueryChainBuilder<O, R> {
        QueryChainBuilder(from: from, select: select, queryClauses: queryClauses + [clause])
    }

    /// Only objects that fulfil a condition.
    public func `where`(_ clause: Where<O>) -> QueryChainBuilder<O, R> { with(clause) }

    /// Only objects that fulfil all of these conditions.
    public func `where`(combineByAnd clauses: Where<O>...) -> QueryChainBuilder<O, R> {
        with(clauses.combinedByAnd())
    }

    /// Only objects that fulfil one of these conditions.
    public func `where`(combineByOr clauses: Where<O>...) -> QueryChainBuilder<O, R> {
        with(clauses.combinedByOr())
    }

    /// Only objects that fulfil a condition in the predicate language.
    public func `where`(format: String, _ args: Any...) -> QueryChainBuilder<O, R> {
        with(Where<O>(format, argumentArray: args))
    }

    public func `where`(format: String, argumentArray: [Any]?) -> QueryChainBuilder<O, R> {
        with(Where<O>(format, argumentArray: argumentArray))
    }

    /// Only objects that fulfil a condition of their properties: `.where { $0.$age > 3 }`.
    public func `where`(_ clause: (O) -> Where<O>) -> QueryChainBuilder<O, R>
    where O: CoreStoreObject {
        with(Where<O>(clause))
    }

    /// In an order.
    public func orderBy(_ clause: OrderBy<O>) -> QueryChainBuilder<O, R> { with(clause) }

    public func orderBy(
        _ sortKey: OrderBy<O>.SortKey, _ sortKeys: OrderBy<O>.SortKey...
    ) -> QueryChainBuilder<O, R> {
        with(OrderBy<O>([sortKey] + sortKeys))
    }

    public func orderBy(_ sortKeys: [OrderBy<O>.SortKey]) -> QueryChainBuilder<O, R> {
        with(OrderBy<O>(sortKeys))
    }

    /// With a last word on the request.
    @preconcurrency
    public func tweak(
        _ closure: @escaping @Sendable (NSFetchRequest<any NSFetchRequestResult>) -> Void
    ) -> QueryChainBuilder<O, R> {
        with(Tweak(closure))
    }

    /// With a clause of the program's own.
    public func appending(_ clause: any QueryClause) -> QueryChainBuilder<O, R> { with(clause) }

    public func appending<S: Sequence>(contentsOf clauses: S) -> QueryChainBuilder<O, R>
    where S.Element == any QueryClause {
        QueryChainBuilder(from: from, select: select, queryClauses: queryClauses + clauses)
    }

    /// One row for each set of values of these properties.
    public func groupBy(_ clause: GroupBy<O>) -> QueryChainBuilder<O, R> { with(clause) }

    public func groupBy(
        _ keyPath: KeyPathString, _ keyPaths: KeyPathString...
    ) -> QueryChainBuilder<O, R> {
        with(GroupBy<O>([keyPath] + keyPaths))
    }

    public func groupBy(_ keyPaths: [KeyPathString]) -> QueryChainBuilder<O, R> {
        with(GroupBy<O>(keyPaths))
    }

    public func groupBy<B: CoreStoreObject, V>(
        _ keyPath: KeyPath<O, FieldContainer<B>.Stored<V>>
    ) -> QueryChainBuilder<O, R> where O: CoreStoreObject {
        with(GroupBy<O>(keyPath))
    }
}
