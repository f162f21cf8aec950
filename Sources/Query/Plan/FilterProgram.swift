import RecordStore

/// A condition compiled into a flat program over raw records: each test has a next step if it
/// holds, and another if not. Tests of the record's own columns are loads at fixed offsets; rarer
/// tests are left to the reference evaluator.
struct FilterProgram {
    static let accept = -1
    static let reject = -2

    enum Test {
        case isNull(offset: Int)
        /// Index into `columnTests`.
        case column(offset: Int, test: Int)
        /// Index into `texts`.
        case text(offset: Int, Comparison.Operation, text: Int)
        case foldedContains(offset: Int, text: Int)
        case link(offset: Int, UInt64)
        /// One of many constants; index into `members`.
        case member(Int)
        case general(Int)
    }

    /// A class, so that a test copies a reference instead of a condition.
    final class Text: Sendable {
        let bytes: [UInt8]
        let isASCII: Bool
        let search: LetterSearch?
        let options: TextOptions
        let original: ResolvedComparison

        init(bytes: [UInt8], options: TextOptions, original: ResolvedComparison) {
            self.bytes = bytes
            isASCII = bytes.allSatisfy { $0 < 0x80 }
            search = LetterSearch(bytes, lowers: options.contains(.caseInsensitive))
            self.options = options
            self.original = original
        }
    }

    struct Step {
        var test: Test
        var onTrue: Int
        var onFalse: Int
    }

    private(set) var steps: [Step] = []
    private(set) var start = accept
    /// The first step for a record that has passed `requiredTests`.
    private(set) var startAfterRequired = accept
    /// Column tests that every record must pass, and that are the cheapest.
    private(set) var requiredTests: [ColumnTest] = []
    /// The letters that are searched after `requiredTests`, if nothing else is tested.
    private(set) var lettersAfterRequired: (offset: Int, letters: LetterSearch)?
    private(set) var columnTests: [ColumnTest] = []
    private(set) var texts: [Text] = []
    private(set) var generals: [ResolvedComparison] = []
    private(set) var members: [(field: FieldLayout, values: Set<Value>)] = []

    init(_ condition: ResolvedCondition) {
        var costly: [ResolvedCondition] = []
        for part in Self.conjuncts(of: condition) {
            if let test = requiredTest(part) {
                requiredTests.append(test)
            } else {
                costly.append(part)
            }
        }
        startAfterRequired = compile(.and(costly), Self.accept, Self.reject)
        lettersAfterRequired = letters(from: startAfterRequired)
        start = startAfterRequired
        guard start != Self.reject else { return }
        for test in requiredTests.reversed() {
            start = append(column(test), start, Self.reject)
            start = append(.isNull(offset: test.field.byteOffset), Self.reject, start)
        }
    }

    private mutating func column(_ test: ColumnTest) -> Test {
        columnTests.append(test)
        return .column(offset: test.field.byteOffset, test: columnTests.count - 1)
    }

    /// The conditions that must all hold, flattened from nested ANDs.
    private static func conjuncts(of condition: ResolvedCondition) -> [ResolvedCondition] {
        guard case .and(let parts) = condition else { return [condition] }
        return parts.flatMap { conjuncts(of: $0) }
    }

    /// The test of a condition, if it is a column test that nil never passes.
    private func requiredTest(_ condition: ResolvedCondition) -> ColumnTest? {
        guard case .comparison(let comparison) = condition, comparison.operation != .notEqual,
            case .constant(let value) = comparison.right, !value.isNull,
            let field = comparison.path?.ownField
        else { return nil }
        return columnTest(field, comparison.operation, value)
    }

    /// Whether every record passes.
    var acceptsAll: Bool { start == Self.accept }
    var acceptsNone: Bool { start == Self.reject }
    /// Whether every record that has passed `requiredTests` passes.
    var hasOnlyRequiredTests: Bool { startAfterRequired == Self.accept }

    /// The letters that a text must contain, if nothing else is tested after `requiredTests`: a
    /// scan then searches the records of a leaf without running the program for each.
    private func letters(from start: Int) -> (offset: Int, letters: LetterSearch)? {
        guard start >= 0, case .isNull(let offset) = steps[start].test,
            steps[start].onTrue == Self.reject, steps[start].onFalse >= 0
        else { return nil }
        let step = steps[steps[start].onFalse]
        guard case .foldedContains(offset, let text) = step.test, step.onTrue == Self.accept,
            step.onFalse == Self.reject, let letters = texts[text].search
        else { return nil }
        return (offset, letters)
    }

    // MARK: Compiling, last test first

    private mutating func compile(
        _ condition: ResolvedCondition, _ onTrue: Int, _ onFalse: Int
    ) -> Int {
        switch condition {
        case .constant(let flag): return flag ? onTrue : onFalse
        case .not(let inner): return compile(inner, onFalse, onTrue)
        case .and(let parts):
            var next = onTrue
            for part in parts.reversed() { next = compile(part, next, onFalse) }
            return next
        case .or(let parts):
            var next = onFalse
            for part in parts.reversed() { next = compile(part, onTrue, next) }
            return next
        case .comparison(let comparison):
            return compile(comparison, onTrue, onFalse)
        }
    }

    private mutating func append(_ test: Test, _ onTrue: Int, _ onFalse: Int) -> Int {
        steps.append(Step(test: test, onTrue: onTrue, onFalse: onFalse))
        return steps.count - 1
    }

    private mutating func compile(
        _ comparison: ResolvedComparison, _ onTrue: Int, _ onFalse: Int
    ) -> Int {
        if let path = comparison.path, case .constant(let value) = comparison.right {
            if let field = path.ownField,
                let next = compile(field, comparison, value, onTrue, onFalse)
            {
                return next
            }
            if let link = path.ownLink,
                let next = compile(link: link, comparison, value, onTrue, onFalse)
            {
                return next
            }
        }
        if let next = compileMember(comparison, onTrue, onFalse) { return next }
        generals.append(comparison)
        return append(.general(generals.count - 1), onTrue, onFalse)
    }

    /// `column IN {constants}` is a lookup in a set, instead of a test for each constant.
    private mutating func compileMember(
        _ comparison: ResolvedComparison, _ onTrue: Int, _ onFalse: Int
    ) -> Int? {
        guard comparison.operation == .in, !TextMatch.folds(comparison.options),
            let path = comparison.path, let field = path.ownField ?? path.ownLink,
            let values = comparison.right.listedValues
        else { return nil }
        members.append((field, Set(values.lazy.filter { !$0.isNull })))
        return append(.member(members.count - 1), onTrue, onFalse)
    }

    private mutating func compile(
        _ field: FieldLayout, _ comparison: ResolvedComparison, _ value: Value, _ onTrue: Int,
        _ onFalse: Int
    ) -> Int? {
        let offset = field.byteOffset
        var operation = comparison.operation
        var (onTrue, onFalse) = (onTrue, onFalse)
        if operation == .notEqual {
            operation = .equal
            swap(&onTrue, &onFalse)
        }
        if value.isNull {
            switch operation {
            case .equal, .lessOrEqual, .greaterOrEqual:
                return append(.isNull(offset: offset), onTrue, onFalse)
            default: return onFalse
            }
        }
        guard let test = test(field, operation, comparison, value) else { return nil }
        let next = append(test, onTrue, onFalse)
        // Nil equals no value, and is not ordered with one.
        return append(.isNull(offset: offset), onFalse, next)
    }

    private mutating func test(
        _ field: FieldLayout, _ operation: Comparison.Operation, _ comparison: ResolvedComparison,
        _ value: Value
    ) -> Test? {
        switch (field.type, value) {
        case (.string?, .string(let text)), (.url?, .url(let text)), (.string?, .url(let text)),
            (.url?, .string(let text)):
            return textTest(field.byteOffset, operation, comparison, text)
        default: return columnTest(field, operation, value).map { column($0) }
        }
    }

    private func columnTest(
        _ field: FieldLayout, _ operation: Comparison.Operation, _ value: Value
    ) -> ColumnTest? {
        guard [.equal, .less, .lessOrEqual, .greater, .greaterOrEqual].contains(operation),
            let constant = field.type.flatMap({ Self.constant($0, value) })
        else { return nil }
        return ColumnTest(field: field, operation: operation, constant: constant)
    }

    /// A value in the form in which a column of a type is compared; nil if no form means exactly
    /// the same.
    private static func constant(_ type: AttributeType, _ value: Value) -> ColumnTest.Constant? {
        switch (type, value) {
        case (.date, .date(let seconds)) where !seconds.isNaN: return .double(seconds)
        case (.double, _), (.float, _):
            guard let number = value.approximation, !number.isNaN,
                Value.compare(.double(number), value) == 0
            else { return nil }
            return type == .double ? .double(number) : .float(number)
        case (_, _) where type.isSigned || type == .bool: return whole(value).map { .int($0) }
        case (_, _) where type.isUnsigned:
            guard let number = whole(value), number >= 0 else { return nil }
            return .uint(UInt64(number))
        default: return nil
        }
    }

    private static func whole(_ value: Value) -> Int64? {
        switch value {
        case .int(let number): number
        case .bool(let flag): flag ? 1 : 0
        case .uint(let number): Int64(exactly: number)
        default: nil
        }
    }

    private mutating func textTest(
        _ offset: Int, _ operation: Comparison.Operation, _ comparison: ResolvedComparison,
        _ text: String
    ) -> Test? {
        let folds = TextMatch.folds(comparison.options)
        // What a value outside the record is tested by: `!=` has become the opposite of `==`.
        let comparison = ResolvedComparison(
            comparison.left, operation, comparison.right, options: comparison.options,
            quantifier: comparison.quantifier)
        switch operation {
        case .contains where folds:
            let folded = TextMatch.fold(text, comparison.options)
            texts.append(
                Text(
                    bytes: Array(folded.utf8), options: comparison.options, original: comparison))
            return .foldedContains(offset: offset, text: texts.count - 1)
        case .equal, .less, .lessOrEqual, .greater, .greaterOrEqual, .contains, .beginsWith,
            .endsWith:
            guard !folds else { return nil }
            texts.append(
                Text(bytes: Array(text.utf8), options: comparison.options, original: comparison))
            return .text(offset: offset, operation, text: texts.count - 1)
        default: return nil
        }
    }

    private mutating func compile(
        link field: FieldLayout, _ comparison: ResolvedComparison, _ value: Value, _ onTrue: Int,
        _ onFalse: Int
    ) -> Int? {
        let (whenEqual, whenOther): (Int, Int)
        switch comparison.operation {
        case .equal: (whenEqual, whenOther) = (onTrue, onFalse)
        case .notEqual: (whenEqual, whenOther) = (onFalse, onTrue)
        default: return nil
        }
        switch value {
        case .null: return append(.link(offset: field.byteOffset, 0), whenEqual, whenOther)
        case .noObject: return whenOther
        case .object(let object):
            return append(
                .link(offset: field.byteOffset, object.rawValue), whenEqual, whenOther)
        default: return nil
        }
    }
}
