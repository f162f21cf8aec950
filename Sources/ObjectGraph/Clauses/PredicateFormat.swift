import Query
import RecordStore

/// The predicate language on the side of the program's values.
enum PredicateFormat {
    static func condition(_ format: String, _ arguments: [Any]) -> WhereCondition {
        do throws(QueryError) {
            var values: [FormatArgument] = []
            for argument in arguments { values.append(try self.argument(argument)) }
            return .condition(try ConditionParser.parse(format, values))
        } catch {
            Log.error(
                .failure(.query, error.message), "the condition “\(format)” cannot be read.")
            return .unreadable(error)
        }
    }

    private static func argument(_ argument: Any) throws(QueryError) -> FormatArgument {
        if let text = argument as? String { return .value(.string(text)) }
        if let value = ValueBridge.value(argument) { return .value(value) }
        if let list = argument as? any Sequence {
            var values: [Value] = []
            for element in list {
                guard let value = ValueBridge.value(element) else {
                    throw QueryError("\(element) cannot be part of a condition")
                }
                values.append(value)
            }
            return .list(values)
        }
        throw QueryError("\(argument) cannot be part of a condition")
    }
}

extension NSPredicate {
    /// A condition in the predicate language, for ``Where/init(_:)-(NSPredicate)``. One that cannot
    /// be read makes every fetch with it throw.
    public static func format(_ format: String, _ arguments: Any...) -> NSPredicate {
        ConditionPredicate(PredicateFormat.condition(format, arguments))
    }
}
