import Foundation

/// JSON that keeps the order of its keys and the digits of its numbers.
enum JSONText {
    case null
    case bool(Bool)
    /// The digits as they are to appear.
    case number(String)
    case string(String)
    case array([JSONText])
    case object([(name: String, value: JSONText)])

    static func integer(_ number: some BinaryInteger) -> JSONText { .number("\(number)") }

    /// A finite number; what JSON has no number for appears as a string, every NaN as `nan`.
    static func float(_ number: some BinaryFloatingPoint & CustomStringConvertible) -> JSONText {
        number.isFinite
            ? .number(number.description) : .string(number.isNaN ? "nan" : number.description)
    }

    static func optional(_ number: UInt64?) -> JSONText {
        number.map { .number("\($0)") } ?? .null
    }

    var text: String {
        var text = ""
        append(to: &text)
        return text
    }

    private func append(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let flag): text += flag ? "true" : "false"
        case .number(let digits): text += digits
        case .string(let content): JSONText.append(content, to: &text)
        case .array(let elements):
            text += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { text += ", " }
                element.append(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { text += ", " }
                JSONText.append(member.name, to: &text)
                text += ": "
                member.value.append(to: &text)
            }
            text += "}"
        }
    }

    private static func append(_ content: String, to text: inout String) {
        text += "\""
        for scalar in content.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.value < 32:
                text += "\\u" + String(format: "%04x", scalar.value)
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
