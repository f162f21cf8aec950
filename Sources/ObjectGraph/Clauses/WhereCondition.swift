import Query
import RecordStore

/// A condition, or why it could not be read: a fetch with it throws then.
enum WhereCondition: Hashable, Sendable {
    /// The property of this name equals a value. What programs ask most often: without the boxes of
    /// a condition it costs one, and a lookup in an index asks for nothing else.
    case equality(KeyPathString, Value)
    /// Any other condition. ``of(_:)-(Condition)`` tells which one is which, so that equal
    /// conditions are equal here however they were stated.
    case condition(Condition)
    /// One that names objects: their numbers are other objects' in other stores. What it says in
    /// each store that has some of them, and in all others; none of these is such a condition.
    indirect case byStore([UUID: WhereCondition], elsewhere: WhereCondition)
    case unreadable(QueryError)

    func resolved() throws(QueryError) -> Condition {
        switch self {
        case .equality(let name, let value): return .equality(name, value)
        case .condition(let condition): return condition
        case .byStore: return try shown.resolved()
        case .unreadable(let error): throw error
        }
    }

    // MARK: Objects

    /// What the condition says in a store.
    func `in`(_ store: UUID) -> WhereCondition {
        guard case .byStore(let conditions, let elsewhere) = self else { return self }
        return conditions[store] ?? elsewhere
    }

    /// Whether the condition is an equality where it names no object of the store.
    var isEquality: Bool {
        switch self {
        case .equality, .byStore(_, elsewhere: .equality): true
        default: false
        }
    }

    /// What the condition says in a store that has none of the objects that it names.
    var elsewhere: WhereCondition {
        guard case .byStore(_, let elsewhere) = self else { return self }
        return elsewhere
    }

    /// One of the forms, for people.
    private var shown: WhereCondition {
        guard case .byStore(let conditions, let elsewhere) = self else { return self }
        return conditions.min { $0.key.uuidString < $1.key.uuidString }?.value ?? elsewhere
    }

    private var stores: [UUID] {
        guard case .byStore(let conditions, _) = self else { return [] }
        return Array(conditions.keys)
    }

    /// The number of what is in no store.
    static let nothing = Value.object(ObjectNumber(0))

    /// A condition that names objects, made from what a store calls them: those of other stores
    /// are ``nothing``.
    static func naming(
        _ ids: some Sequence<NSManagedObjectID>, _ make: ((NSManagedObjectID) -> Value) -> Self
    ) -> WhereCondition {
        let stores = Set(ids.lazy.map(\.storeID))
        guard !stores.isEmpty else { return make { .object($0.number) } }
        return byStore(stores) { store in
            make { $0.storeID == store ? .object($0.number) : nothing }
        }
    }

    /// One that names a list of them, which has in a store only what is there.
    static func naming(
        list ids: [NSManagedObjectID], _ make: ([Value]) -> WhereCondition
    ) -> WhereCondition {
        naming(ids) { value in make(ids.map(value).filter { $0 != nothing }) }
    }

    private static func byStore<Failure>(
        _ stores: Set<UUID>, _ make: (UUID?) throws(Failure) -> WhereCondition
    ) throws(Failure) -> WhereCondition {
        var conditions: [UUID: WhereCondition] = [:]
        for store in stores { conditions[store] = try make(store) }
        return .byStore(conditions, elsewhere: try make(nil))
    }

    /// The condition with values for its variables, made from what a store calls the objects that
    /// they name.
    func substituting(
        _ ids: [NSManagedObjectID],
        _ values: ((NSManagedObjectID) -> Value) -> [String: FormatArgument]
    ) throws(QueryError) -> WhereCondition {
        let stores = Set(ids.map(\.storeID)).union(stores)
        guard !stores.isEmpty else {
            return .of(try resolved().substituting(values { .object($0.number) }))
        }
        return try Self.byStore(stores) { store throws(QueryError) in
            let form = store.map(self.in) ?? elsewhere
            let named = values { $0.storeID == store ? .object($0.number) : Self.nothing }
            return .of(try form.resolved().substituting(named))
        }
    }

    /// The condition in the predicate language, for people and logs.
    var text: String {
        do {
            return ConditionText.text(try resolved())
        } catch {
            return "FALSEPREDICATE /* \(error.message) */"
        }
    }

    static func of(_ condition: Condition) -> WhereCondition {
        if let (name, value) = condition.equality {
            .equality(name, value)
        } else {
            .condition(condition)
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
        let stores = parts.flatMap(\.stores)
        guard stores.isEmpty else {
            return byStore(Set(stores)) { store in
                combine(parts.map { store.map($0.in) ?? $0.elsewhere }, body)
            }
        }
        var conditions: [Condition] = []
        for part in parts {
            do {
                conditions.append(try part.resolved())
            } catch {
                return .unreadable(error)
            }
        }
        return of(body(conditions))
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

    override var predicateFormat: String { description }

    /// A format that reads back as the predicate.
    override var description: String { condition.text }

    override func copy(with zone: NSZone? = nil) -> Any { self }
}
