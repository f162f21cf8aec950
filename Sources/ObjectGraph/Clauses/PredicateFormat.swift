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

/// A class that conditions in the predicate language can stand in for: `NSPredicate`.
public protocol FormatPredicate {}

extension NSPredicate: FormatPredicate {}

extension FormatPredicate where Self == NSPredicate {
    /// A condition in the predicate language, for ``Where``. One that cannot be read is reported to
    /// the logger and makes every fetch with it throw.
    ///
    /// Foundation has no such initialiser on this platform. Only a store can evaluate the result:
    /// `evaluate(with:)` answers true of everything.
    public init(format: String, _ arguments: Any...) {
        self.init(format: format, argumentArray: arguments)
    }

    public init(format: String, argumentArray: [Any]?) {
        self = ConditionPredicate(PredicateFormat.condition(format, argumentArray ?? []))
    }
}
