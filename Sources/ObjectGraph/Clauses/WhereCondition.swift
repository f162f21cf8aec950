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
    case unreadable(QueryError)

    func resolved() throws(QueryError) -> Condition {
        switch self {
        case .equality(let name, let value): return .equality(name, value)
        case .condition(let condition): return condition
        case .unreadable(let error): throw error
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
