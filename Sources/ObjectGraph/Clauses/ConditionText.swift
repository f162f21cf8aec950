import Query
import RecordStore

/// A condition as text, for people and logs.
enum ConditionText {
    static func text(_ condition: Condition) -> String {
        switch condition {
        case .constant(let flag): flag ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .not(let inner): "NOT (\(text(inner)))"
        case .and(let parts): parts.isEmpty ? "TRUEPREDICATE" : joined(parts, " AND ")
        case .or(let parts): parts.isEmpty ? "FALSEPREDICATE" : joined(parts, " OR ")
        case .comparison(let comparison): text(comparison)
        }
    }

    private static func joined(_ parts: [Condition], _ separator: String) -> String {
        parts.map { part in
            switch part {
            case .and, .or: "(\(text(part)))"
            default: text(part)
            }
        }.joined(separator: separator)
    }

    private static func text(_ comparison: Comparison) -> String {
        var options = ""
        if comparison.options.contains(.caseInsensitive) { options += "c" }
        if comparison.options.contains(.diacriticInsensitive) { options += "d" }
        if comparison.options.contains(.normalized) { options += "n" }
        if comparison.options.contains(.widthInsensitive) { options += "w" }
        if comparison.options.contains(.localized) { options += "l" }
        let operation = comparison.operation.rawValue + (options.isEmpty ? "" : "[\(options)]")
        let quantifier =
            switch comparison.quantifier {
            case .none: ""
            case .any: "ANY "
            case .all: "ALL "
            case .noneOf: "NONE "
            }
        return "\(quantifier)\(text(comparison.left)) \(operation) \(text(comparison.right))"
    }

    private static func text(_ operand: Operand) -> String {
        switch operand {
        case .constant(let value): text(value)
        case .list(let operands): "{\(operands.map(text).joined(separator: ", "))}"
        case .keyPath(let path): path.joined(separator: ".")
        case .selfObject: "SELF"
        case .variable(let name, let path): (["$" + name] + path).joined(separator: ".")
        case .arithmetic(let operation, let left, let right):
            "(\(text(left)) \(operation.rawValue) \(text(right)))"
        case .negated(let inner): "-(\(text(inner)))"
        case .function(let name, let arguments):
            "\(name)(\(arguments.map(text).joined(separator: ", ")))"
        case .subquery(let path, let variable, let condition):
            "SUBQUERY(\(path.joined(separator: ".")), $\(variable), \(text(condition)))"
        case .element(let inner, let index): "\(text(inner))[\(index)]"
        case .ternary(let condition, let yes, let no):
            "TERNARY(\(text(condition)), \(text(yes)), \(text(no)))"
        case .cast(let inner, let type): "CAST(\(text(inner)), \"\(type)\")"
        }
    }

    private static func text(_ value: Value) -> String {
        switch value {
        case .null: return "nil"
        case .bool(let flag): return flag ? "TRUE" : "FALSE"
        case .int(let number): return "\(number)"
        case .uint(let number): return "\(number)"
        case .float(let number): return "\(number)"
        case .double(let number): return "\(number)"
        case .decimal(let number): return "\(number)"
        case .string(let text), .url(let text):
            let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            return "\"\(escaped)\""
        case .data(let bytes): return "<\(bytes.count) bytes>"
        case .date(let seconds): return "CAST(\(seconds), \"NSDate\")"
        case .uuid(let uuid): return "\"\(uuid.uuidString)\""
        case .object(let number): return "<object \(number.rawValue)>"
        }
    }
}
