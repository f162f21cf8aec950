import Foundation
import RecordStore

/// The functions of the predicate language that a store answers.
package enum Functions {
    /// Every name, in lower case.
    package static let names: Set<String> = [
        "sum", "count", "min", "max", "average", "abs", "ceiling", "floor", "trunc", "sqrt", "ln",
        "log", "exp", "uppercase", "lowercase", "length", "canonical", "now", "modulus",
        "bitwiseand", "bitwiseor", "bitwisexor",
    ]

    static func apply(_ name: String, _ arguments: [Outcome]) throws -> Value {
        let values = arguments.flatMap(\.values)
        switch name {
        case "sum": return Aggregate.value(.sum, of: values, isCollection: false)
        case "count": return .int(Int64(values.count))
        case "min": return Aggregate.value(.minimum, of: values, isCollection: false)
        case "max": return Aggregate.value(.maximum, of: values, isCollection: false)
        case "average": return Aggregate.value(.average, of: values, isCollection: false)
        case "now": return .date(Date().timeIntervalSinceReferenceDate)
        case "uppercase", "lowercase", "length", "canonical": return try text(name, values)
        case "modulus", "bitwiseand", "bitwiseor", "bitwisexor": return try pair(name, values)
        default: return try number(name, values)
        }
    }

    private static func text(_ name: String, _ values: [Value]) throws -> Value {
        guard values.count == 1 else { throw QueryError("\(name)() takes one argument") }
        guard let text = values[0].text else { return .null }
        switch name {
        case "uppercase": return .string(text.uppercased())
        case "lowercase": return .string(text.lowercased())
        case "length": return .int(Int64(text.count))
        default:
            return .string(TextMatch.fold(text, [.caseInsensitive, .diacriticInsensitive]))
        }
    }

    private static func pair(_ name: String, _ values: [Value]) throws -> Value {
        guard values.count == 2 else { throw QueryError("\(name)() takes two arguments") }
        switch name {
        case "bitwiseand": return Arithmetic.apply(.bitAnd, values[0], values[1])
        case "bitwiseor": return Arithmetic.apply(.bitOr, values[0], values[1])
        case "bitwisexor": return Arithmetic.apply(.bitXor, values[0], values[1])
        default:
            guard let left = values[0].approximation, let right = values[1].approximation else {
                return .null
            }
            if case .int(let left) = values[0], case .int(let right) = values[1], right != 0,
                right != -1
            {
                return .int(left % right)
            }
            return .double(left.truncatingRemainder(dividingBy: right))
        }
    }

    private static func number(_ name: String, _ values: [Value]) throws -> Value {
        guard values.count == 1 else { throw QueryError("\(name)() takes one argument") }
        guard let number = values[0].approximation else { return .null }
        switch name {
        case "abs":
            if case .int(let whole) = values[0], whole != .min { return .int(Swift.abs(whole)) }
            return .double(Swift.abs(number))
        case "ceiling": return .double(number.rounded(.up))
        case "floor": return .double(number.rounded(.down))
        case "trunc": return .double(number.rounded(.towardZero))
        case "sqrt": return .double(number.squareRoot())
        case "ln": return .double(Foundation.log(number))
        case "log": return .double(Foundation.log10(number))
        case "exp": return .double(Foundation.exp(number))
        default: throw QueryError("\(name)() is no function that a store answers")
        }
    }

    static func cast(_ value: Value, _ type: String) throws -> Value {
        switch type {
        case "NSDate", "Date":
            if case .date = value { return value }
            return value.approximation.map { .date($0) } ?? .null
        case "NSDecimalNumber", "Decimal":
            if let text = value.text { return Decimal(string: text).map { .decimal($0) } ?? .null }
            return value.approximation == nil ? .null : .decimal(value.decimal)
        case "NSNumber", "Double":
            if let text = value.text { return Double(text).map { .double($0) } ?? .null }
            return value.approximation == nil ? .null : value
        case "NSString", "String":
            return value.isNull ? .null : .string(Self.description(value))
        default: throw QueryError("CAST knows no type “\(type)”")
        }
    }

    private static func description(_ value: Value) -> String {
        switch value {
        case .string(let text), .url(let text): text
        case .int(let number): "\(number)"
        case .uint(let number): "\(number)"
        case .double(let number): "\(number)"
        case .float(let number): "\(number)"
        case .decimal(let number): "\(number)"
        case .bool(let flag): flag ? "1" : "0"
        case .uuid(let uuid): uuid.uuidString.lowercased()
        default: ""
        }
    }
}
