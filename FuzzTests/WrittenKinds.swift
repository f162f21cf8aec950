import Query
import RecordStore

/// A condition as its text can be read: constants of some kinds are written as those of others.
enum WrittenKinds {
    static func of(_ condition: Condition) -> Condition {
        switch condition {
        case .constant, .unreadable: return condition
        case .equality(let name, let value): return .equality(name, self.value(value))
        case .and(let list): return .and(ConditionList(list.parts.map(of)))
        case .or(let list): return .or(ConditionList(list.parts.map(of)))
        case .not(let inner): return .not(of(inner))
        case .comparison(var comparison):
            comparison.left = operand(comparison.left)
            comparison.right = operand(comparison.right)
            return .comparison(comparison)
        }
    }

    private static func operand(_ operand: Operand) -> Operand {
        switch operand {
        case .constant(let value): return .constant(self.value(value))
        case .object, .keyPath, .selfObject, .variable: return operand
        case .function(let name, let arguments):
            return .function(name, arguments.map(self.operand))
        case .list(let operands): return .list(operands.map(self.operand))
        case .arithmetic(let operation, let left, let right):
            return .arithmetic(operation, self.operand(left), self.operand(right))
        case .negated(let inner): return .negated(self.operand(inner))
        case .element(let inner, let index): return .element(self.operand(inner), index)
        case .cast(let inner, let type): return .cast(self.operand(inner), type)
        case .ternary(let condition, let yes, let no):
            return .ternary(of(condition), self.operand(yes), self.operand(no))
        case .subquery(let collection, let variable, let condition):
            return .subquery(self.operand(collection), variable: variable, of(condition))
        }
    }

    private static func value(_ value: Value) -> Value {
        switch value {
        case .uint(let number): Int64(exactly: number).map { .int($0) } ?? value
        case .float(let number): .double(Double(number))
        case .url(let text): .string(text)
        case .object(let number):
            Int64(exactly: number.rawValue).map { .int($0) } ?? .uint(number.rawValue)
        default: value
        }
    }
}
