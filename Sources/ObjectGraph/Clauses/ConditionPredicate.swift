import Query

/// A condition where code expects a predicate.
final class ConditionPredicate: NSPredicate {
    let condition: Condition

    init(_ condition: Condition) {
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
    override var description: String { ConditionText.text(condition) }

    override func copy(with zone: NSZone? = nil) -> Any { self }
}

extension Condition {
    /// The condition that a predicate states.
    static func stated(by predicate: NSPredicate) -> Condition { stated(by: predicate, depth: 0) }

    private static func stated(by predicate: NSPredicate, depth: Int) -> Condition {
        if let own = predicate as? ConditionPredicate { return own.condition }
        guard let compound = predicate as? NSCompoundPredicate else {
            return constant(predicate)
                ?? .unreadable(
                    QueryError(
                        "the predicate \(predicate) was not made for a store: use a format"))
        }
        guard depth < depthMax else { return .tooDeep }
        var parts: [Condition] = []
        for part in compound.subpredicates {
            let condition = stated(by: part, depth: depth + 1)
            if case .unreadable = condition { return condition }
            parts.append(condition)
        }
        switch compound.compoundPredicateType {
        case .and: return .and(ConditionList(parts)).bounded
        case .or: return .or(ConditionList(parts)).bounded
        case .not: return parts.first.map { .negation(of: $0) } ?? .constant(false)
        }
    }

    /// The condition of `NSPredicate(value:)`. A subclass of the program's own also inherits a
    /// constant value, and means something else.
    private static func constant(_ predicate: NSPredicate) -> Condition? {
        for value in [true, false] {
            let constant = NSPredicate(value: value)
            if type(of: predicate) == type(of: constant), predicate.isEqual(constant) {
                return .constant(value)
            }
        }
        return nil
    }
}
