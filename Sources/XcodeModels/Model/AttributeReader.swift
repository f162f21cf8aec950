import Foundation
import RecordStore

/// Reads the attributes of entities: their types, and the defaults as Xcode writes them.
enum AttributeReader {
    /// The stored attribute that an element declares.
    static func attribute(
        _ element: ModelElement, of entityName: String
    ) throws(XcodeModelError) -> AttributeDescription {
        let name = try element.required("name")
        let place = "\(entityName).\(name)"
        let typeName = try element.required("attributeType")
        guard let type = types[typeName] else {
            throw element.failure(.unsupported, "\(place) is of the type “\(typeName)”")
        }
        let isCoded = typeName == "Transformable"
        return AttributeDescription(
            name: name, type: type, isOptional: try element.flag("optional"),
            // Only the program knows the meaning of a coded attribute's bytes.
            defaultValue: isCoded ? .null : try defaultValue(type, element, place),
            isCoded: isCoded, versionHashModifier: element["versionHashModifier"],
            previousName: element.previousName)
    }

    private static let types: [String: AttributeType] = [
        "Integer 16": .int16, "Integer 32": .int32, "Integer 64": .int64, "Decimal": .decimal,
        "Double": .double, "Float": .float, "String": .string, "Boolean": .bool, "Date": .date,
        "Binary": .data, "UUID": .uuid, "URI": .url, "Transformable": .data,
    ]

    private static func defaultValue(
        _ type: AttributeType, _ element: ModelElement, _ place: String
    ) throws(XcodeModelError) -> Value {
        let text: String?
        switch type {
        case .date: text = element["defaultDateTimeInterval"]
        // An empty text is a default; of other types it says that there is none.
        case .string: return element.attributes["defaultValueString"].map { .string($0) } ?? .null
        default: text = element["defaultValueString"]
        }
        guard let text else { return .null }
        guard let value = value(type, text) else {
            throw element.failure(
                .invalidModel, "the default “\(text.prefix(100))” of \(place) is none of its type")
        }
        return value
    }

    /// A default by its text; nil for a text that the type does not have.
    private static func value(_ type: AttributeType, _ text: String) -> Value? {
        switch type {
        case .bool:
            switch text.lowercased() {
            case "yes", "true", "1": .bool(true)
            case "no", "false", "0": .bool(false)
            default: nil
            }
        case .int16: integer(text, in: Int64(Int16.min)...Int64(Int16.max))
        case .int32: integer(text, in: Int64(Int32.min)...Int64(Int32.max))
        case .int64: integer(text, in: .min ... .max)
        case .double: finite(text).map { .double($0) }
        case .date: finite(text).map { .date($0) }
        case .float: finite(text).map(Float.init).flatMap { $0.isFinite ? .float($0) : nil }
        case .decimal: decimal(text).map { .decimal($0) }
        case .uuid: UUID(uuidString: text).map { .uuid($0) }
        case .url: URL(string: text).map { _ in .url(text) }
        // Xcode has no default for bytes.
        default: .null
        }
    }

    /// An integer, which Xcode writes as `0.0` where the attribute had another type before.
    private static func integer(_ text: String, in range: ClosedRange<Int64>) -> Value? {
        guard let number = Int64(text) ?? finite(text).flatMap({ Int64(exactly: $0) }),
            range.contains(number)
        else { return nil }
        return .int(number)
    }

    private static func finite(_ text: String) -> Double? {
        guard isNumber(text), let number = Double(text), number.isFinite else { return nil }
        return number
    }

    private static func decimal(_ text: String) -> Decimal? {
        guard isNumber(text), Double(text) != nil else { return nil }
        let number = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
        return number.flatMap { $0.isNaN ? nil : $0 }
    }

    /// No hexadecimal numbers, no infinities, no words.
    private static func isNumber(_ text: String) -> Bool {
        text.utf8.count <= 400 && text.utf8.allSatisfy { "0123456789+-.eE".utf8.contains($0) }
    }
}
