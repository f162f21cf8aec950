/// A value with a debug text for people, over several lines where it has several parts.
public protocol CoreStoreDebugStringConvertible {
    /// The text without the name of the type, which `debugDescription` adds.
    var coreStoreDumpString: String { get }
}

/// Writes values as `(Type) (\n    .key = value; …\n)`.
enum DebugText {
    typealias Part = (key: String, value: Any?)

    /// The parts of a value, one on each line.
    static func parts(_ parts: [Part]) -> String {
        guard !parts.isEmpty else { return "()" }
        let lines = parts.map { part in ".\(part.key) = \(text(part.value))" }
        return "(\n\(indented(lines.joined(separator: ";\n")))\n)"
    }

    static func text(_ value: Any?) -> String {
        switch value {
        case nil: "nil"
        case let value as any CoreStoreDebugStringConvertible: value.coreStoreDumpString
        case let text as String: String(reflecting: text)
        case let list as [Any]: self.list(list.map { text($0) }, "[", "]")
        case let value?: "\(value)"
        }
    }

    static func list(_ elements: [String], _ open: String, _ close: String) -> String {
        guard !elements.isEmpty else { return open + close }
        return "\(open)\n\(indented(elements.joined(separator: ",\n")))\n\(close)"
    }

    static func described(_ value: some CoreStoreDebugStringConvertible) -> String {
        "(\(type(of: value))) \(value.coreStoreDumpString)"
    }

    private static func indented(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { "    \($0)" }
            .joined(separator: "\n")
    }
}
