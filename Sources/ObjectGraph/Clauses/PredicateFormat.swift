import Query
import RecordStore

/// The predicate language on the side of the program's values.
enum PredicateFormat {
    /// How much of a format an error quotes.
    private static let formatShownMax = 200

    static func condition(_ format: String, _ arguments: [Any]) -> Condition {
        do throws(QueryError) {
            var values: [FormatArgument] = []
            for argument in arguments { values.append(try self.argument(argument)) }
            return try ConditionParser.parse(format, values)
        } catch {
            let shown = format.prefix(formatShownMax) + (format.count > formatShownMax ? "…" : "")
            return .unreadable(QueryError("\(error.message), in the condition “\(shown)”"))
        }
    }

    /// A template with values for its variables.
    static func condition(
        _ template: Condition, _ variables: [String: Any]
    ) throws(QueryError) -> Condition {
        var values: [String: FormatArgument] = [:]
        for (name, argument) in variables { values[name] = try self.argument(argument) }
        return try template.substituting(values)
    }

    /// How many values one list may have: a range of integers may have more than any memory.
    private static let listCountMax = 1_000_000

    private static func argument(_ argument: Any) throws(QueryError) -> FormatArgument {
        if let single = try single(argument) { return single }
        var list: [FormatArgument] = []
        for element in try elements(argument) {
            guard list.count < listCountMax else {
                throw QueryError("a list in a condition has at most \(listCountMax) values")
            }
            guard let single = try single(element) else { throw refusal(element) }
            list.append(single)
        }
        return .list(list)
    }

    /// Nil for an argument that is neither a single value nor an object.
    private static func single(_ argument: Any) throws(QueryError) -> FormatArgument? {
        guard let value = try value(argument) else { return nil }
        guard case .object = value else { return .value(value) }
        let id = argument as? NSManagedObjectID ?? (argument as? any DynamicObject)?.objectID()
        return id.map { .object($0.reference) }
    }

    /// The elements of a list; the values of a dictionary.
    private static func elements(_ argument: Any) throws(QueryError) -> any Sequence<Any> {
        if let dictionary = argument as? [AnyHashable: Any] { return Array(dictionary.values) }
        guard let list = argument as? any Sequence else { throw refusal(argument) }
        return list.anyElements
    }

    private static func refusal(_ argument: Any) -> QueryError {
        if argument is NSPredicate || argument is any WhereClauseType {
            return QueryError("a condition is no argument of another: combine them with && or ||")
        }
        return QueryError("\(type(of: argument)) is no value that a condition compares with")
    }

    private static func value(_ argument: Any) throws(QueryError) -> Value? {
        // The first time that a type is asked for a protocol, all that the process has loaded is
        // searched; these need not be asked.
        let type = type(of: argument)
        if type == String.self, let text = argument as? String { return .string(text) }
        if type == Int.self, let number = argument as? Int { return .int(Int64(number)) }
        if type == Double.self, let number = argument as? Double { return .double(number) }
        switch argument {
        case let text as any StringProtocol: return .string(String(text))
        case let character as Character: return .string(String(character))
        case let number as any BinaryInteger:
            if let number = Int64(exactly: number) { return .int(number) }
            if let number = UInt64(exactly: number) { return .uint(number) }
            throw QueryError("\(number) is beyond 64 bits")
        default: return isNil(argument) ? .null : ValueBridge.value(argument)
        }
    }

    /// Whether an optional without a value was passed as `Any`.
    private static func isNil(_ argument: Any) -> Bool {
        let mirror = Mirror(reflecting: argument)
        return mirror.displayStyle == .optional && mirror.children.isEmpty
    }
}

extension Sequence {
    fileprivate var anyElements: any Sequence<Any> { lazy.map { $0 as Any } }
}

/// A class that predicate formats extend: `NSPredicate`.
public protocol FormatPredicate {}

extension NSPredicate: FormatPredicate {}

extension FormatPredicate where Self == NSPredicate {
    /// A condition in the predicate language, for ``Where``. A fetch with a format that cannot be
    /// read throws `.internalError`.
    ///
    /// Foundation has no such initialiser on this platform. Only a store can evaluate the result:
    /// `evaluate(with:)` always returns true.
    public init(format: String, _ arguments: Any...) {
        self.init(format: format, argumentArray: arguments)
    }

    /// A condition in the predicate language, with its arguments in an array.
    public init(format: String, argumentArray: [Any]?) {
        self = ConditionPredicate(PredicateFormat.condition(format, argumentArray ?? []))
    }
}

extension NSPredicate {
    /// The condition with values for its `$names`, except those that a SUBQUERY binds. Without a
    /// value for each of them every fetch with it throws.
    public func withSubstitutionVariables(_ variables: [String: Any]) -> NSPredicate {
        let template = Condition.stated(by: self)
        if case .unreadable = template { return self }
        do throws(QueryError) {
            return ConditionPredicate(try PredicateFormat.condition(template, variables))
        } catch {
            return ConditionPredicate(.unreadable(error))
        }
    }
}
