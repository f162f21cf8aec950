import RecordStore

/// The meaning of each operation for values.
enum ValueComparison {
    static func holds(
        _ operation: Comparison.Operation, _ left: Outcome, _ right: Outcome,
        _ options: TextOptions
    ) throws -> Bool {
        switch (operation, left, right) {
        case (.in, .one(let element), .many(let values)):
            return contains(values, element, options)
        case (.contains, .many(let values), .one(let element)):
            return contains(values, element, options)
        case (.between, .one(let value), .many(let bounds)):
            guard bounds.count == 2 else {
                throw QueryError("BETWEEN needs exactly two bounds")
            }
            return holds(.greaterOrEqual, value, bounds[0], options)
                && holds(.lessOrEqual, value, bounds[1], options)
        case (.in, .one(let part), .one(let whole)):
            return holds(.contains, whole, part, options)
        case (.equal, .many(let values), .one(.null)), (.equal, .one(.null), .many(let values)):
            return values.isEmpty
        case (.notEqual, .many(let values), .one(.null)),
            (.notEqual, .one(.null), .many(let values)):
            return !values.isEmpty
        case (_, .one(let left), .one(let right)):
            return try holdsOrThrows(operation, left, right, options)
        default:
            throw QueryError(
                "a to-many relationship stands in a comparison with \(operation.rawValue): "
                    + "say ANY, ALL or NONE before it, or compare its @count")
        }
    }

    private static func contains(
        _ values: [Value], _ element: Value, _ options: TextOptions
    ) -> Bool {
        guard !element.isNull else { return false }
        return values.contains { holds(.equal, element, $0, options) }
    }

    private static func holdsOrThrows(
        _ operation: Comparison.Operation, _ left: Value, _ right: Value,
        _ options: TextOptions
    ) throws -> Bool {
        switch operation {
        case .like, .matches:
            guard let text = left.text, let pattern = right.text else { return false }
            return operation == .like
                ? TextPattern.isLike(text, pattern, options)
                : try TextPattern.matches(text, pattern, options)
        case .between: throw QueryError("BETWEEN needs exactly two bounds")
        default: return holds(operation, left, right, options)
        }
    }

    /// For the operations that cannot fail.
    static func holds(
        _ operation: Comparison.Operation, _ left: Value, _ right: Value,
        _ options: TextOptions
    ) -> Bool {
        switch operation {
        case .equal: return order(left, right, options) == 0
        case .notEqual: return order(left, right, options) != 0
        case .less, .greater:
            guard let order = comparableOrder(left, right, options) else { return false }
            return operation == .less ? order < 0 : order > 0
        case .lessOrEqual, .greaterOrEqual:
            if left.isNull && right.isNull { return true }
            guard let order = comparableOrder(left, right, options) else { return false }
            return operation == .lessOrEqual ? order <= 0 : order >= 0
        case .contains, .beginsWith, .endsWith:
            guard let text = left.text, let part = right.text else { return false }
            return TextMatch.holds(operation, text, part, options)
        case .between, .in, .like, .matches: return false
        }
    }

    /// Nil if one side is nil or the kinds cannot be ordered.
    private static func comparableOrder(
        _ left: Value, _ right: Value, _ options: TextOptions
    ) -> Int? {
        guard !left.isNull, !right.isNull, left.isComparable(with: right) else { return nil }
        return order(left, right, options)
    }

    private static func order(_ left: Value, _ right: Value, _ options: TextOptions) -> Int {
        if !TextMatch.folds(options) { return Value.compare(left, right) }
        guard let left = left.text, let right = right.text else {
            return Value.compare(left, right)
        }
        return Value.order(TextMatch.fold(left, options), TextMatch.fold(right, options))
    }
}

extension Value {
    var text: String? {
        switch self {
        case .string(let text), .url(let text): text
        default: nil
        }
    }

    func isComparable(with other: Value) -> Bool {
        switch (self, other) {
        case (.string, .string), (.string, .url), (.url, .string), (.url, .url): true
        case (.date, .date), (.data, .data), (.uuid, .uuid), (.object, .object): true
        default: approximation != nil && other.approximation != nil
        }
    }
}
