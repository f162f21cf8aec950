import Foundation
import RecordStore

/// Replaces `now()` by a fixed time.
struct NowBinding {
    private let now: Operand

    init(_ date: Date) { now = .constant(.date(date.timeIntervalSinceReferenceDate)) }

    func bound(_ condition: Condition) -> Condition {
        switch condition {
        case .constant, .equality, .unreadable: return condition
        case .and(let list): return .and(ConditionList(list.parts.map(bound)))
        case .or(let list): return .or(ConditionList(list.parts.map(bound)))
        case .not(let inner): return .not(bound(inner))
        case .comparison(var comparison):
            comparison.left = bound(comparison.left)
            comparison.right = bound(comparison.right)
            return .comparison(comparison)
        }
    }

    private func bound(_ operand: Operand) -> Operand {
        switch operand {
        case .constant, .object, .keyPath, .selfObject, .variable: return operand
        case .function("now", _): return now
        case .function(let name, let arguments): return .function(name, arguments.map(bound))
        case .list(let operands): return .list(operands.map(bound))
        case .arithmetic(let operation, let left, let right):
            return .arithmetic(operation, bound(left), bound(right))
        case .negated(let inner): return .negated(bound(inner))
        case .element(let inner, let index): return .element(bound(inner), index)
        case .cast(let inner, let type): return .cast(bound(inner), type)
        case .ternary(let condition, let yes, let no):
            return .ternary(bound(condition), bound(yes), bound(no))
        case .subquery(let collection, let variable, let condition):
            return .subquery(bound(collection), variable: variable, bound(condition))
        }
    }
}
