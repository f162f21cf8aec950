import Query

/// What will be fetched: what a ``Tweak`` may change before it is.
public final class NSFetchRequest<ResultType> {
    /// The condition; nil for all objects.
    public var predicate: NSPredicate? {
        get { condition.map { ConditionPredicate($0) } }
        set { condition = newValue.map { WhereCondition.of($0) } }
    }
    /// The order.
    public var sortDescriptors: [NSSortDescriptor]? {
        get { sortKeys.isEmpty ? nil : sortKeys.map { KeySortDescriptor($0) } }
        set { sortKeys = (newValue ?? []).compactMap { KeySortDescriptor.sortKey($0) } }
    }
    /// The most objects to fetch; zero for all.
    public var fetchLimit = 0
    /// How many of the first objects to leave out.
    public var fetchOffset = 0
    /// Accepted for its name; objects are always made as they are needed.
    public var fetchBatchSize = 0
    /// Whether changes of the transaction that are not committed yet count.
    public var includesPendingChanges = true
    /// Whether objects of entities below the fetched one count.
    public var includesSubentities = true
    /// Accepted for its name; values are always read when they are first used.
    public var returnsObjectsAsFaults = false
    /// Whether equal rows of a query are returned once.
    public var returnsDistinctResults = false
    /// Accepted for its name.
    public var relationshipKeyPathsForPrefetching: [String]?

    var condition: WhereCondition?
    var sortKeys: [Query.SortKey] = []
    var groupKeyPaths: [KeyPathString] = []

    init() {}

    /// Nil for no limit.
    var limit: Int? { fetchLimit > 0 ? fetchLimit : nil }
    var offset: Int { max(0, fetchOffset) }

    /// The request in the terms of the store. Throws a `QueryError` for a condition that could not
    /// be read.
    func request(entityName: String) throws -> FetchRequest {
        var request = FetchRequest(
            entityName: entityName, condition: try condition?.resolved() ?? .constant(true),
            sortKeys: sortKeys,
            limit: limit, offset: offset)
        request.includesSubentities = includesSubentities
        return request
    }
}

/// What the results of an ``NSFetchRequest`` are; a name that code written for other stores uses.
public protocol NSFetchRequestResult {}
