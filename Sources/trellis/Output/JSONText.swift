import RecordStore

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

    /// A finite number; a value without a number in JSON appears as a string, every NaN as `nan`.
    static func float(_ number: some BinaryFloatingPoint & CustomStringConvertible) -> JSONText {
        number.isFinite
            ? .number(number.description) : .string(number.isNaN ? "nan" : number.description)
    }

    static func optional(_ number: UInt64?) -> JSONText {
        number.map { .number("\($0)") } ?? .null
    }

    var text: String {
        var json = JSONWriter(isSpaced: true)
        append(to: &json)
        return json.text
    }

    private func append(to json: inout JSONWriter) {
        switch self {
        case .null: json.null()
        case .bool(let flag): json.bool(flag)
        case .number(let digits): json.number(digits)
        case .string(let content): json.string(content)
        case .array(let elements): json.list(elements) { $1.append(to: &$0) }
        case .object(let members):
            json.object { json in
                for member in members {
                    json.name(member.name)
                    member.value.append(to: &json)
                }
            }
        }
    }
}
