import Foundation
import RecordStore

/// The functions of the predicate language that a store evaluates.
package enum Functions {
    /// How many arguments each function takes, by its short name in lower case.
    static let arities: [String: ClosedRange<Int>] = {
        var arities: [String: ClosedRange<Int>] = ["now": 0...0, "castobject": 2...2]
        for name in calculations.keys { arities[name] = 2...2 }
        arities["modulus"] = 2...2
        for name in single { arities[name] = 1...1 }
        for name in collecting { arities[name] = 1...1000 }
        return arities
    }()

    /// Functions of one value.
    private static let single = [
        "abs", "ceiling", "floor", "trunc", "sqrt", "ln", "log", "exp", "uppercase", "lowercase",
        "length", "canonical", "onescomplement",
    ]

    /// Functions of a collection, or of several values.
    static let collecting: Set<String> = [
        "sum", "count", "min", "max", "average", "median", "mode", "stddev",
    ]

    /// Functions that are operators by another name.
    static let calculations: [String: Operand.Arithmetic] = [
        "add": .add, "from": .subtract, "multiply": .multiply, "divide": .divide,
        "raise": .power, "bitwiseand": .bitAnd, "bitwiseor": .bitOr, "bitwisexor": .bitXor,
        "leftshift": .leftShift, "rightshift": .rightShift,
    ]

    /// The functions of the language that a store does not evaluate, with the reason.
    static let rejected: [String: String] = [
        "function": "FUNCTION calls code by name, which a store does not do",
        "random": "the result of a condition must not vary, so nothing is random",
        "randomn": "the result of a condition must not vary, so nothing is random",
        "distancetolocation:fromlocation:": "a store has no locations to measure between",
    ]

    private static let labels: [String: String] = [
        "add": "to", "from": "subtract", "multiply": "by", "divide": "by", "modulus": "by",
        "raise": "topower", "bitwiseand": "with", "bitwiseor": "with", "bitwisexor": "with",
        "leftshift": "by", "rightshift": "by", "castobject": "totype",
    ]

    /// `modulus` for `modulus:by:`, `uppercase` for `uppercase:`; other names unchanged.
    static func shortName(_ name: String) -> String {
        let parts = name.split(separator: ":").map(String.init)
        guard name.hasSuffix(":"), let first = parts.first else { return name }
        switch parts.count {
        case 1: return labels[first] == nil ? first : name
        case 2: return labels[first] == parts[1] ? first : name
        default: return name
        }
    }

    static func apply(_ name: String, _ arguments: [Outcome]) throws -> Value {
        let values = arguments.flatMap(\.values)
        if collecting.contains(name) { return Statistics.value(name, of: values) }
        if name == "now" { return .date(Date().timeIntervalSinceReferenceDate) }
        if name == "modulus" {
            guard values.count == 2 else { throw wrongCount(name) }
            return Arithmetic.remainder(values[0], values[1])
        }
        guard values.count == 1 else { throw wrongCount(name) }
        switch name {
        case "uppercase", "lowercase", "length", "canonical": return text(name, values[0])
        case "onescomplement": return Arithmetic.complement(values[0])
        case "abs", "ceiling", "floor", "trunc": return rounded(name, values[0])
        default: return try number(name, values[0])
        }
    }

    private static func wrongCount(_ name: String) -> QueryError {
        QueryError("\(name)() got a collection or too few values: it calculates with single ones")
    }

    private static func text(_ name: String, _ value: Value) -> Value {
        guard let text = value.text else { return .null }
        switch name {
        case "uppercase": return .string(text.uppercased())
        case "lowercase": return .string(text.lowercased())
        case "length": return .int(Int64(text.count))
        default:
            return .string(TextMatch.fold(text, [.caseInsensitive, .diacriticInsensitive]))
        }
    }

    /// A whole number stays unchanged, and a decimal stays a decimal.
    private static func rounded(_ name: String, _ value: Value) -> Value {
        switch value {
        case .int(let number):
            if name != "abs" || number >= 0 { return value }
            return number == .min ? .uint(1 << 63) : .int(-number)
        case .uint, .bool: return value
        case .decimal(let number): return .decimal(rounded(name, number))
        default: break
        }
        guard let number = value.approximation else { return .null }
        switch name {
        case "abs": return .double(Swift.abs(number))
        case "ceiling": return .double(number.rounded(.up))
        case "floor": return .double(number.rounded(.down))
        default: return .double(number.rounded(.towardZero))
        }
    }

    private static func rounded(_ name: String, _ number: Decimal) -> Decimal {
        if name == "abs" { return number < 0 ? -number : number }
        // Cutting the digits after the point rounds towards zero.
        let text = "\(number)"
        guard let point = text.firstIndex(of: "."),
            let whole = Decimal(string: String(text[..<point]))
        else { return number }
        switch name {
        case "ceiling": return number > 0 ? whole + 1 : whole
        case "floor": return number < 0 ? whole - 1 : whole
        default: return whole
        }
    }

    private static func number(_ name: String, _ value: Value) throws -> Value {
        guard let number = value.approximation else { return .null }
        switch name {
        case "sqrt": return .double(number.squareRoot())
        case "ln": return .double(Foundation.log(number))
        case "log": return .double(Foundation.log10(number))
        case "exp": return .double(Foundation.exp(number))
        default: throw QueryError("\(name)() is no function that a store answers")
        }
    }
}
