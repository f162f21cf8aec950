import RecordStore

/// Formats a condition for display, logs and ``ConditionParser``, which can parse the result.
package enum ConditionText {
    package static func text(_ condition: Condition) -> String {
        switch condition {
        case .constant(let flag): flag ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .not(.comparison(let comparison))
        where comparison.quantifier == .none && comparison.operation.isWord:
            text(comparison, isNegated: true)
        case .not(let inner): "NOT (\(text(inner)))"
        case .and(let list): list.isEmpty ? "TRUEPREDICATE" : joined(list, " AND ")
        case .or(let list): list.isEmpty ? "FALSEPREDICATE" : joined(list, " OR ")
        case .equality(let name, let value):
            "\(path([name])) \(Comparison.Operation.equal.rawValue) \(text(value))"
        case .comparison(let comparison): text(comparison)
        case .unreadable(let error): "FALSEPREDICATE /* \(error.message) */"
        }
    }

    private static func joined(_ list: ConditionList, _ separator: String) -> String {
        list.parts.map { part in
            switch part {
            case .and, .or: "(\(text(part)))"
            default: text(part)
            }
        }.joined(separator: separator)
    }

    private static func text(_ comparison: Comparison, isNegated: Bool = false) -> String {
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
        let (left, right) = (text(comparison.left), text(comparison.right))
        return "\(quantifier)\(left) \(isNegated ? "NOT " : "")\(operation) \(right)"
    }

    // MARK: Operands

    // No parentheses but those that the parser needs: each counts as a level of nesting, of which a
    // format has few, and what was read must be readable when it is printed.

    package static func text(_ operand: Operand) -> String {
        switch operand {
        case .constant(let value): text(value)
        case .object(let reference):
            "CAST(\(quoted(reference.uri)), \"NSManagedObjectID\")"
        case .list(let operands): "{\(operands.map(text).joined(separator: ", "))}"
        case .keyPath(let path): self.path(path)
        case .selfObject: "SELF"
        case .variable(let variable, let path):
            (["$" + name(variable)] + path.map(name)).joined(separator: ".")
        case .arithmetic(let operation, let left, let right):
            if operation == .power {
                "\(text(left, above: operation.precedence + 1)) ** "
                    + text(right, above: operation.precedence)
            } else {
                "\(text(left, above: operation.precedence)) \(operation.rawValue) "
                    + text(right, above: operation.precedence + 1)
            }
        case .negated(let inner): "- \(text(inner, above: .max))"
        case .function(let name, let arguments):
            "\(name)(\(arguments.map(text).joined(separator: ", ")))"
        case .subquery(let collection, let variable, let condition):
            "SUBQUERY(\(text(collection)), $\(name(variable)), \(text(condition)))"
        case .element(let inner, let index): element(inner, index)
        case .ternary(let condition, let yes, let no):
            "TERNARY(\(text(condition)), \(text(yes)), \(text(no)))"
        case .cast(let inner, let type): "CAST(\(text(inner)), \(quoted(type)))"
        }
    }

    private static func element(_ inner: Operand, _ index: Operand.ElementIndex) -> String {
        let place =
            switch index {
            case .first: "FIRST"
            case .last: "LAST"
            case .size: "SIZE"
            case .at(let position): "\(position)"
            }
        let text = text(inner, above: .max)
        let isAtom =
            switch inner {
            case .arithmetic: true
            case .element: false
            default: !text.hasPrefix("-")
            }
        return isAtom ? "\(text)[\(place)]" : "(\(text))[\(place)]"
    }

    /// In parentheses where it calculates with less than the given precedence.
    private static func text(_ operand: Operand, above precedence: Int) -> String {
        guard case .arithmetic(let operation, _, _) = operand, operation.precedence < precedence
        else { return text(operand) }
        return "(\(text(operand)))"
    }

    // MARK: Names

    private static let keywords: Set<String> = [
        "AND", "OR", "NOT", "ANY", "SOME", "ALL", "NONE", "TRUE", "YES", "FALSE", "NO", "NULL",
        "NIL", "SELF", "TRUEPREDICATE", "FALSEPREDICATE", "BETWEEN", "IN", "CONTAINS",
        "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES", "SUBQUERY", "CAST", "TERNARY",
        "TOKENMATCHES",
    ]

    /// Only the first name can be mistaken for a keyword, or for a method because of a colon.
    private static func path(_ path: [String]) -> String {
        let isMarked =
            path.first.map { keywords.contains($0.uppercased()) || $0.contains(":") } ?? false
        return (isMarked ? "#" : "") + path.map(name).joined(separator: ".")
    }

    /// A name, with escapes for characters that names cannot have.
    private static func name(_ name: String) -> String {
        var text = ""
        for (index, scalar) in name.unicodeScalars.enumerated() {
            let belongs =
                index == 0 ? FormatLexer.beginsName(scalar) : FormatLexer.continuesName(scalar)
            if belongs && scalar != "\\" {
                text.unicodeScalars.append(scalar)
            } else {
                text += escape(scalar)
            }
        }
        return text
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        String(scalar).utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }

    // MARK: Values

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                quoted += "\\"
                quoted.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20: quoted += escape(scalar)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    private static func text(_ value: Value) -> String {
        switch value {
        case .null: "nil"
        case .bool(let flag): flag ? "TRUE" : "FALSE"
        case .int(let number): "\(number)"
        case .uint(let number): "\(number)"
        case .float(let number): text(Double(number))
        case .double(let number): text(number)
        case .decimal(let number): "CAST(\"\(number)\", \"NSDecimalNumber\")"
        case .string(let text), .url(let text): quoted(text)
        case .data(let bytes): "CAST(\"\(hexadecimal(bytes))\", \"NSData\")"
        case .date(let seconds): "CAST(\(text(seconds)), \"NSDate\")"
        case .uuid(let uuid): "CAST(\"\(uuid.uuidString)\", \"NSUUID\")"
        // The resolver refuses a number without its entity.
        case .object(let number): "\(number.rawValue)"
        }
    }

    private static func text(_ number: Double) -> String {
        number.isFinite ? "\(number)" : "CAST(\"\(number)\", \"NSNumber\")"
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}
