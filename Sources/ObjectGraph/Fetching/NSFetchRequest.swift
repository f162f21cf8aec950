import Query

/// What will be fetched: what a ``Tweak`` may change before it is.
public final class NSFetchRequest<ResultType> {
    var terms = FetchTerms()

    /// The condition; nil for all objects.
    public var predicate: NSPredicate? {
        get { terms.request.condition.map { ConditionPredicate($0) } }
        set { terms.request.condition = newValue.map { Condition.stated(by: $0) } }
    }
    /// The order.
    public var sortDescriptors: [NSSortDescriptor]? {
        get {
            let keys = terms.request.sortKeys
            return keys.isEmpty ? nil : keys.map { KeySortDescriptor($0) }
        }
        set {
            terms.request.sortKeys = (newValue ?? []).compactMap { KeySortDescriptor.sortKey($0) }
        }
    }
    /// The most objects to fetch; zero for all.
    public var fetchLimit: Int {
        get { terms.request.limit ?? 0 }
        set { terms.request.limit = newValue > 0 ? newValue : nil }
    }
    /// How many of the first objects to leave out.
    public var fetchOffset: Int {
        get { terms.request.offset }
        set { terms.request.offset = max(0, newValue) }
    }
    /// Accepted for its name; objects are always made as they are needed.
    public var fetchBatchSize = 0
    /// Whether changes of the transaction that are not committed yet count.
    public var includesPendingChanges: Bool {
        get { terms.includesPendingChanges }
        set { terms.includesPendingChanges = newValue }
    }
    /// Whether objects of entities below the fetched one count.
    public var includesSubentities: Bool {
        get { terms.request.includesSubentities }
        set { terms.request.includesSubentities = newValue }
    }
    /// Accepted for its name; values are always read when they are first used.
    public var returnsObjectsAsFaults = false
    /// Whether equal rows of a query are returned once.
    public var returnsDistinctResults: Bool {
        get { terms.returnsDistinctResults }
        set { terms.returnsDistinctResults = newValue }
    }
    /// The storages to fetch from, of those that have the class; nil for all. Without any of them
    /// the fetch throws, and an observed list is empty.
    public var affectedStores: [any StorageInterface]? {
        get { terms.affectedStores }
        set { terms.affectedStores = newValue }
    }
    /// The names of the properties by which a query's rows are grouped, as of a ``GroupBy`` clause;
    /// nil for none.
    public var propertiesToGroupBy: [Any]? {
        get { terms.groupKeyPaths.isEmpty ? nil : terms.groupKeyPaths }
        set { terms.groupKeyPaths = (newValue ?? []).map { $0 as? String ?? "\($0)" } }
    }
    /// Accepted for its name.
    public var relationshipKeyPathsForPrefetching: [String]?
    /// Accepted for its name: an object is always found with its values.
    public var includesPropertyValues = true
    /// Accepted for its name: an object that a fetch finds always has the values of the commit that
    /// the fetch reads, or those that its transaction assigned.
    public var shouldRefreshRefetchedObjects = false

    init() {}
}

/// What the results of an ``NSFetchRequest`` are; a name that code written for other stores uses.
public protocol NSFetchRequestResult {}
