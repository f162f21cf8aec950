import Query

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

    /// The condition in the predicate language, for people and logs.
    var text: String {
        switch self {
        case .condition(let condition): ConditionText.text(condition)
        case .unreadable(let error): "FALSEPREDICATE /* \(error.message) */"
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

    override var predicateFormat: String { description }

    /// A format that reads back as the predicate.
    override var description: String { condition.text }

    override func copy(with zone: NSZone? = nil) -> Any { self }
}
