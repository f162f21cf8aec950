import RecordStore

/// A value that a format's `%@`, `%K` or `%d` stands for.
package enum FormatArgument: Hashable, Sendable {
    case value(Value)
    case list([Value])
}
