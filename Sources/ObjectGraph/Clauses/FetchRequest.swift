import Query
import RecordStore

/// What will be fetched: what a ``Tweak`` may change before it is.
public final class NSFetchRequest<ResultType> {
    /// The condition; nil for all objects.
    public var predicate: NSPredicate?
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

    /// The request in the terms of the store. Throws a `QueryError` for a condition that could not
    /// be read.
    func request(entityName: String) throws -> FetchRequest {
        var condition = Condition.constant(true)
        if let predicate {
            condition = try WhereCondition.of(predicate).resolved()
        } else if let own = self.condition {
            condition = try own.resolved()
        }
        var request = FetchRequest(
            entityName: entityName, condition: condition, sortKeys: sortKeys,
            limit: fetchLimit > 0 ? fetchLimit : nil, offset: max(0, fetchOffset))
        request.includesSubentities = includesSubentities
        return request
    }
}

/// What the results of an ``NSFetchRequest`` are; a name that code written for other stores uses.
public protocol NSFetchRequestResult {}

/// A condition, or why it could not be read: a fetch with it throws then.
enum WhereCondition: Hashable, Sendable {
    case condition(Condition)
    case unreadable(QueryError)

    func resolved() throws -> Condition {
        switch self {
        case .condition(let condition): return condition
        case .unreadable(let error): throw error
        }
    }

    static func of(_ predicate: NSPredicate) -> WhereCondition {
        if let own = predicate as? ConditionPredicate { return own.condition }
        if let compound = predicate as? NSCompoundPredicate {
            let parts = compound.subpredicates.map { of($0) }
            return combine(parts) { parts in
                switch compound.compoundPredicateType {
                case .and: .and(parts)
                case .or: .or(parts)
                case .not: parts.first.map { .not($0) } ?? .constant(false)
                }
            }
        }
        return .unreadable(
            QueryError("the predicate \(predicate) was not made for a store: use a format"))
    }

    static func combine(
        _ parts: [WhereCondition], _ body: ([Condition]) -> Condition
    ) -> WhereCondition {
        var conditions: [Condition] = []
        for part in parts {
            switch part {
            case .condition(let condition): conditions.append(condition)
            case .unreadable: return part
            }
        }
        return .condition(body(conditions))
    }
}

/// A condition where code expects a predicate.
final class ConditionPredicate: NSPredicate {
    let condition: WhereCondition

    init(_ condition: WhereCondition) {
        self.condition = condition
        super.init(value: true)
    }

    required init?(coder: NSCoder) { nil }

    override func isEqual(_ object: Any?) -> Bool {
        (object as? ConditionPredicate)?.condition == condition
    }

    override var hash: Int { condition.hashValue }

    override var predicateFormat: String {
        switch condition {
        case .condition(let condition): ConditionText.text(condition)
        case .unreadable(let error): "FALSEPREDICATE /* \(error.message) */"
        }
    }

    override func copy(with zone: NSZone? = nil) -> Any { self }
}
