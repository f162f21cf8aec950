/// A fetch that is being put together: `From<Dog>().where(\.$age > 3).orderBy(…)`.
public protocol FetchChainableBuilderType: Sendable {
    /// The class that the fetch returns.
    associatedtype ObjectType: DynamicObject
    /// The class and its stores.
    var from: From<ObjectType> { get }
    /// The clauses, in the order in which they are applied.
    var fetchClauses: [any FetchClause] { get }
}

/// A query that is being put together.
public protocol QueryChainableBuilderType: Sendable {
    /// The class that the query reads.
    associatedtype ObjectType: DynamicObject
    /// The type of the query's result: a value, or `NSDictionary` for rows.
    associatedtype ResultType: SelectResultType
    /// The class and its stores.
    var from: From<ObjectType> { get }
    /// The columns.
    var select: Select<ObjectType, ResultType> { get }
    /// The other clauses, in the order in which they are applied.
    var queryClauses: [any QueryClause] { get }
}

/// A fetch that is being put together, as ``From`` begins it. It is a value: keep it in a `static
/// let` and fetch with it from any thread.
public struct FetchChainBuilder<O: DynamicObject>: FetchChainableBuilderType {
    public typealias ObjectType = O
    /// The class and its stores.
    public let from: From<O>
    /// The first clause, when it is a condition: kept as it is, because most fetches have no other.
    let condition: Where<O>?
    private let otherClauses: [any FetchClause]

    /// The clauses, in the order in which they are applied.
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

    /// All clauses, applied one after the other.
    func terms(limit: Int? = nil) -> FetchTerms {
        guard let condition, otherClauses.isEmpty else {
            return FetchTerms(fetchClauses, limit: limit)
        }
        return FetchTerms(condition.condition, limit: limit)
    }
}

/// A query that is being put together: `From<Dog>().select(Int.self, .maximum(\.$age))`. It is a
/// value: keep it in a `static let` and query with it from any thread.
public struct QueryChainBuilder<O: DynamicObject, R: SelectResultType>: QueryChainableBuilderType {
    public typealias ObjectType = O
    public typealias ResultType = R
    /// The class and its stores.
    public let from: From<O>
    /// The columns.
    public let select: Select<O, R>
    /// The other clauses, in the order in which they are applied.
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

    /// Only objects that fulfil a condition in the predicate language. A fetch with a format that
    /// cannot be read throws `.internalError`.
    public func `where`(format: String, _ args: Any...) -> FetchChainBuilder<O> {
        with(Where<O>(format, argumentArray: args))
    }

    /// Only objects that fulfil a condition in the predicate language, with its arguments in an
    /// array.
    public func `where`(format: String, argumentArray: [Any]?) -> FetchChainBuilder<O> {
        with(Where<O>(format, argumentArray: argumentArray))
    }

    /// Only objects that fulfil a condition of their properties: `.where { $0.$age > 3 }`.
    public func `where`(_ clause: (O) -> Where<O>) -> FetchChainBuilder<O>
    where O: CoreStoreObject {
        with(Where<O>(clause))
    }

    /// Sorts the objects.
    public func orderBy(_ clause: OrderBy<O>) -> FetchChainBuilder<O> { with(clause) }

    /// Sorts by the first key, objects that are equal in it by the next one, and so on.
    public func orderBy(
        _ sortKey: OrderBy<O>.SortKey, _ sortKeys: OrderBy<O>.SortKey...
    ) -> FetchChainBuilder<O> {
        with(OrderBy<O>([sortKey] + sortKeys))
    }

    /// Sorts by the first key, objects that are equal in it by the next one, and so on.
    public func orderBy(_ sortKeys: [OrderBy<O>.SortKey]) -> FetchChainBuilder<O> {
        with(OrderBy<O>(sortKeys))
    }

    /// Customises the request just before it runs: `.tweak { $0.fetchLimit = 10 }`.
    @preconcurrency
    public func tweak(
        _ closure: @escaping @Sendable (NSFetchRequest<any NSFetchRequestResult>) -> Void
    ) -> FetchChainBuilder<O> {
        with(Tweak(closure))
    }

    /// Adds a clause of any type, one of the program's own too.
    public func appending(_ clause: any FetchClause) -> FetchChainBuilder<O> { with(clause) }

    /// Adds clauses of any types, which are applied in their order.
    public func appending<S: Sequence>(contentsOf clauses: S) -> FetchChainBuilder<O>
    where S.Element == any FetchClause {
        FetchChainBuilder(from: self, fetchClauses: Array(clauses))
    }

    /// Queries columns instead of objects.
    public func select<R>(_ clause: Select<O, R>) -> QueryChainBuilder<O, R> {
        QueryChainBuilder(from: self, select: clause, queryClauses: [])
    }

    /// Queries columns: `.select(Int.self, .maximum(\.$age))`. With a value as the result type only
    /// the first column is returned.
    public func select<R>(
        _ resultType: R.Type, _ selectTerm: SelectTerm<O>, _ selectTerms: SelectTerm<O>...
    ) -> QueryChainBuilder<O, R> {
        select(Select<O, R>([selectTerm] + selectTerms))
    }

    /// Queries columns, given as an array. With a value as the result type only the first column is
    /// returned.
    public func select<R>(
        _ resultType: R.Type, _ selectTerms: [SelectTerm<O>]
    ) -> QueryChainBuilder<O, R> {
        select(Select<O, R>(selectTerms))
    }

    /// Queries rows of columns, for ``QueryableSource/queryAttributes(_:)``.
    public func select(
        _ selectTerm: SelectTerm<O>, _ selectTerms: SelectTerm<O>...
    ) -> QueryChainBuilder<O, NSDictionary> {
        select(Select<O, NSDictionary>([selectTerm] + selectTerms))
    }

    /// Queries one attribute.
    public func select<B: CoreStoreObject, R: QueryableAttributeType>(
        _ keyPath: KeyPath<O, FieldContainer<B>.Stored<R>>
    ) -> QueryChainBuilder<O, R> where O: CoreStoreObject {
        select(Select<O, R>([.attribute(keyPath)]))
    }

    /// Queries one attribute that may be nil.
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

    /// Only objects that fulfil a condition. A second condition replaces the first, with a warning
    /// in the log: combine them with `&&`.
    public func `where`(_ clause: Where<O>) -> FetchChainBuilder<O> { with(clause) }

    /// Only objects that fulfil all of these conditions.
    public func `where`(combineByAnd clauses: Where<O>...) -> FetchChainBuilder<O> {
        with(clauses.combinedByAnd())
    }

    /// Only objects that fulfil one of these conditions.
    public func `where`(combineByOr clauses: Where<O>...) -> FetchChainBuilder<O> {
        with(clauses.combinedByOr())
    }

    /// Only objects that fulfil a condition in the predicate language. A fetch with a format that
    /// cannot be read throws `.internalError`.
    public func `where`(format: String, _ args: Any...) -> FetchChainBuilder<O> {
        with(Where<O>(format, argumentArray: args))
    }

    /// Only objects that fulfil a condition in the predicate language, with its arguments in an
    /// array.
    public func `where`(format: String, argumentArray: [Any]?) -> FetchChainBuilder<O> {
        with(Where<O>(format, argumentArray: argumentArray))
    }

    /// Only objects that fulfil a condition of their properties: `.where { $0.$age > 3 }`.
    public func `where`(_ clause: (O) -> Where<O>) -> FetchChainBuilder<O>
    where O: CoreStoreObject {
        with(Where<O>(clause))
    }

    /// Sorts the objects. A second order replaces the first, with a warning in the log: add them
    /// with `+`.
    public func orderBy(_ clause: OrderBy<O>) -> FetchChainBuilder<O> { with(clause) }

    /// Sorts by the first key, objects that are equal in it by the next one, and so on.
    public func orderBy(
        _ sortKey: OrderBy<O>.SortKey, _ sortKeys: OrderBy<O>.SortKey...
    ) -> FetchChainBuilder<O> {
        with(OrderBy<O>([sortKey] + sortKeys))
    }

    /// Sorts by the first key, objects that are equal in it by the next one, and so on.
    public func orderBy(_ sortKeys: [OrderBy<O>.SortKey]) -> FetchChainBuilder<O> {
        with(OrderBy<O>(sortKeys))
    }

    /// Customises the request just before it runs: `.tweak { $0.fetchLimit = 10 }`. It sees the
    /// clauses before it in the chain; those after it may replace its changes.
    @preconcurrency
    public func tweak(
        _ closure: @escaping @Sendable (NSFetchRequest<any NSFetchRequestResult>) -> Void
    ) -> FetchChainBuilder<O> {
        with(Tweak(closure))
    }

    /// Adds a clause of any type, one of the program's own too.
    public func appending(_ clause: any FetchClause) -> FetchChainBuilder<O> { with(clause) }

    /// Adds clauses of any types, which are applied in their order.
    public func appending<S: Sequence>(contentsOf clauses: S) -> FetchChainBuilder<O>
    where S.Element == any FetchClause {
        FetchChainBuilder(from: from, fetchClauses: fetchClauses + clauses)
    }
}

extension QueryChainBuilder {
    private func with(_ clause: any QueryClause) -> QueryChainBuilder<O, R> {
        QueryChainBuilder(from: from, select: select, queryClauses: queryClauses + [clause])
    }

    /// Only objects that fulfil a condition. A second condition replaces the first, with a warning
    /// in the log: combine them with `&&`.
    public func `where`(_ clause: Where<O>) -> QueryChainBuilder<O, R> { with(clause) }

    /// Only objects that fulfil all of these conditions.
    public func `where`(combineByAnd clauses: Where<O>...) -> QueryChainBuilder<O, R> {
        with(clauses.combinedByAnd())
    }

    /// Only objects that fulfil one of these conditions.
    public func `where`(combineByOr clauses: Where<O>...) -> QueryChainBuilder<O, R> {
        with(clauses.combinedByOr())
    }

    /// Only objects that fulfil a condition in the predicate language. A query with a format that
    /// cannot be read throws `.internalError`.
    public func `where`(format: String, _ args: Any...) -> QueryChainBuilder<O, R> {
        with(Where<O>(format, argumentArray: args))
    }

    /// Only objects that fulfil a condition in the predicate language, with its arguments in an
    /// array.
    public func `where`(format: String, argumentArray: [Any]?) -> QueryChainBuilder<O, R> {
        with(Where<O>(format, argumentArray: argumentArray))
    }

    /// Only objects that fulfil a condition of their properties: `.where { $0.$age > 3 }`.
    public func `where`(_ clause: (O) -> Where<O>) -> QueryChainBuilder<O, R>
    where O: CoreStoreObject {
        with(Where<O>(clause))
    }

    /// Sorts the rows. A second order replaces the first, with a warning in the log.
    public func orderBy(_ clause: OrderBy<O>) -> QueryChainBuilder<O, R> { with(clause) }

    /// Sorts by the first key, rows that are equal in it by the next one, and so on.
    public func orderBy(
        _ sortKey: OrderBy<O>.SortKey, _ sortKeys: OrderBy<O>.SortKey...
    ) -> QueryChainBuilder<O, R> {
        with(OrderBy<O>([sortKey] + sortKeys))
    }

    /// Sorts by the first key, rows that are equal in it by the next one, and so on.
    public func orderBy(_ sortKeys: [OrderBy<O>.SortKey]) -> QueryChainBuilder<O, R> {
        with(OrderBy<O>(sortKeys))
    }

    /// Customises the request just before it runs: `.tweak { $0.fetchLimit = 10 }`.
    @preconcurrency
    public func tweak(
        _ closure: @escaping @Sendable (NSFetchRequest<any NSFetchRequestResult>) -> Void
    ) -> QueryChainBuilder<O, R> {
        with(Tweak(closure))
    }

    /// Adds a clause of any type, one of the program's own too.
    public func appending(_ clause: any QueryClause) -> QueryChainBuilder<O, R> { with(clause) }

    /// Adds clauses of any types, which are applied in their order.
    public func appending<S: Sequence>(contentsOf clauses: S) -> QueryChainBuilder<O, R>
    where S.Element == any QueryClause {
        QueryChainBuilder(from: from, select: select, queryClauses: queryClauses + clauses)
    }

    /// Returns one row for each combination of values of these properties. A second grouping
    /// replaces the first, with a warning in the log.
    public func groupBy(_ clause: GroupBy<O>) -> QueryChainBuilder<O, R> { with(clause) }

    /// Returns one row for each combination of values of these properties, by their names.
    public func groupBy(
        _ keyPath: KeyPathString, _ keyPaths: KeyPathString...
    ) -> QueryChainBuilder<O, R> {
        with(GroupBy<O>([keyPath] + keyPaths))
    }

    /// Returns one row for each combination of values of these properties, by their names.
    public func groupBy(_ keyPaths: [KeyPathString]) -> QueryChainBuilder<O, R> {
        with(GroupBy<O>(keyPaths))
    }

    /// Returns one row for each value of a stored property.
    public func groupBy<B: CoreStoreObject, V>(
        _ keyPath: KeyPath<O, FieldContainer<B>.Stored<V>>
    ) -> QueryChainBuilder<O, R> where O: CoreStoreObject {
        with(GroupBy<O>(keyPath))
    }

    /// Returns one row for each value of a coded property: for each of its encoded forms.
    public func groupBy<B: CoreStoreObject, V>(
        _ keyPath: KeyPath<O, FieldContainer<B>.Coded<V>>
    ) -> QueryChainBuilder<O, R> where O: CoreStoreObject {
        with(GroupBy<O>(keyPath))
    }

    /// Groups by a computed property, which no store has: the query throws `.internalError`.
    public func groupBy<B: CoreStoreObject, V>(
        _ keyPath: KeyPath<O, FieldContainer<B>.Virtual<V>>
    ) -> QueryChainBuilder<O, R> where O: CoreStoreObject {
        with(GroupBy<O>(keyPath))
    }
}
