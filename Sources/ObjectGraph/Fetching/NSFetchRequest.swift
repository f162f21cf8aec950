import Query

/// A request as a ``Tweak`` may change it before it runs.
public final class NSFetchRequest<ResultType> {
    var terms = FetchTerms()

    /// The condition; nil for all objects.
    public var predicate: NSPredicate? {
        get { terms.request.condition.map { ConditionPredicate($0) } }
        set { terms.request.condition = newValue.map { Condition.stated(by: $0) } }
    }
    /// The order; nil for none.
    public var sortDescriptors: [NSSortDescriptor]? {
        get {
            let keys = terms.request.sortKeys
            return keys.isEmpty ? nil : keys.map { KeySortDescriptor($0) }
        }
        set {
            terms.request.sortKeys = (newValue ?? []).compactMap { KeySortDescriptor.sortKey($0) }
        }
    }
    /// The greatest number of objects to fetch; zero for all.
    public var fetchLimit: Int {
        get { terms.request.limit ?? 0 }
        set { terms.request.limit = newValue > 0 ? newValue : nil }
    }
    /// How many of the first objects are left out.
    public var fetchOffset: Int {
        get { terms.request.offset }
        set { terms.request.offset = max(0, newValue) }
    }
    /// Accepted for compatibility and ignored: objects are always made as they are needed.
    public var fetchBatchSize = 0
    /// Whether the transaction's own changes are found, of which none is committed yet. Queries
    /// never find them.
    public var includesPendingChanges: Bool {
        get { terms.includesPendingChanges }
        set { terms.includesPendingChanges = newValue }
    }
    /// Whether objects of subentities are found.
    public var includesSubentities: Bool {
        get { terms.request.includesSubentities }
        set { terms.request.includesSubentities = newValue }
    }
    /// Accepted for compatibility and ignored: values are always read when they are first used.
    public var returnsObjectsAsFaults = false
    /// Whether equal rows of a query are returned once.
    public var returnsDistinctResults: Bool {
        get { terms.returnsDistinctResults }
        set { terms.returnsDistinctResults = newValue }
    }
    /// The storages to fetch from, among those that have the class; nil for all. If none of them
    /// has the class the fetch throws, and an observed list is empty.
    public var affectedStores: [any StorageInterface]? {
        get { terms.affectedStores }
        set { terms.affectedStores = newValue }
    }
    /// The names of the properties by which a query's rows are grouped, as in a ``GroupBy`` clause;
    /// nil for none.
    public var propertiesToGroupBy: [Any]? {
        get { terms.groupKeyPaths.isEmpty ? nil : terms.groupKeyPaths }
        set { terms.groupKeyPaths = (newValue ?? []).map { $0 as? String ?? "\($0)" } }
    }
    /// Accepted for compatibility and ignored.
    public var relationshipKeyPathsForPrefetching: [String]?
    /// Accepted for compatibility and ignored: an object is always found with its values.
    public var includesPropertyValues = true
    /// Accepted for compatibility and ignored: an object that a fetch finds always has the values
    /// of the commit that the fetch reads, or those that its transaction assigned.
    public var shouldRefreshRefetchedObjects = false

    init() {}
}

/// The results of an ``NSFetchRequest``: a name for code that was written for other stores.
public protocol NSFetchRequestResult {}
