import RecordStore

/// A value for a placeholder such as `%@`, `%K` or `%d` in a format.
package enum FormatArgument: Hashable, Sendable {
    case value(Value)
    case object(ObjectReference)
    case list([FormatArgument])

    var operand: Operand {
        switch self {
        case .value(let value): .constant(value)
        case .object(let reference): .object(reference)
        case .list(let elements): .list(elements.map(\.operand))
        }
    }
}
