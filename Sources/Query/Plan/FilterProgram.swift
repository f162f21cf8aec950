import RecordStore

/// A condition as a flat program over raw records: each test says where to go on when it holds and
/// where when it does not. Tests of the record's own columns are loads at fixed offsets; what is
/// rarer is left to the reference evaluator.
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

    /// An object, so that a test copies a reference and no condition.
    private final class Text: Sendable {
        let bytes: [UInt8]
        let isASCII: Bool
        let search: LetterSearch?
        let options: TextOptions
        let original: Comparison

        init(bytes: [UInt8], options: TextOptions, original: Comparison) {
            self.bytes = bytes
            isASCII = bytes.allSatisfy { $0 < 0x80 }
            search = LetterSearch(bytes, lowers: options.contains(.caseInsensitive))
            self.options = options
            self.original = original
        }
    }

    private struct Step {
        var test: Test
        var onTrue: Int
        var onFalse: Int
    }

    private var steps: [Step] = []
    private var start = accept
    /// Where to go on with a record that has passed `leads`.
    private var startWhenLed = accept
    /// Tests of columns that every record must pass, which cost the least.
    private(set) var leads: [ColumnTest] = []
    /// All that is asked of a record that has passed `leads`, when it is no more than this.
    private(set) var ledLetters: (offset: Int, letters: LetterSearch)?
    private var columnTests: [ColumnTest] = []
    private var texts: [Text] = []
    private var generals: [Comparison] = []
    private var members: [(field: FieldLayout, values: Set<Value>)] = []
    private let entity: EntityLayout
    private let resolver: PathResolver

    /// Throws the `QueryError` of `ConditionCheck`.
    init(_ condition: Condition, entity: EntityLayout, schema: Schema) throws {
        self.entity = entity
        resolver = PathResolver(schema: schema)
        try ConditionCheck(entity, schema).check(condition)
        var costly: [Condition] = []
        for part in Self.conjuncts(of: condition) {
            if let lead = try lead(part) { leads.append(lead) } else { costly.append(part) }
        }
        startWhenLed = try compile(.and(costly), Self.accept, Self.reject)
        ledLetters = letters(from: startWhenLed)
        start = startWhenLed
        guard start != Self.reject else { return }
        for test in leads.reversed() {
            start = append(column(test), start, Self.reject)
            start = append(.isNull(offset: test.field.byteOffset), Self.reject, start)
        }
    }

    private mutating func column(_ test: ColumnTest) -> Test {
        columnTests.append(test)
        return .column(offset: test.field.byteOffset, test: columnTests.count - 1)
    }

    /// What must hold together, whatever it is nested in.
    private static func conjuncts(of condition: Condition) -> [Condition] {
        guard case .and(let parts) = condition else { return [condition] }
        return parts.flatMap { conjuncts(of: $0) }
    }

    /// The test of a condition that is one of a column that no nil passes.
    private func lead(_ condition: Condition) throws -> ColumnTest? {
        guard case .comparison(let comparison) = condition, comparison.quantifier == .none,
            comparison.operation != .notEqual, case .keyPath(let path) = comparison.left,
            case .constant(let value) = comparison.right, !value.isNull,
            let field = try resolver.resolve(path, from: entity).ownField
        else { return nil }
        return columnTest(field, comparison.operation, value)
    }

    /// Whether every record passes.
    var acceptsAll: Bool { start == Self.accept }
    var acceptsNone: Bool { start == Self.reject }
    /// Whether every record passes that has passed `leads`.
    var acceptsLed: Bool { startWhenLed == Self.accept }

    /// The letters that a text must have, when nothing else is asked of a record that has passed
    /// `leads`: a scan looks for them in a leaf of records without asking each what to do.
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
        _ condition: Condition, _ onTrue: Int, _ onFalse: Int
    ) throws -> Int {
        switch condition {
        case .constant(let flag): return flag ? onTrue : onFalse
        case .not(let inner): return try compile(inner, onFalse, onTrue)
        case .and(let parts):
            var next = onTrue
            for part in parts.reversed() { next = try compile(part, next, onFalse) }
            return next
        case .or(let parts):
            var next = onFalse
            for part in parts.reversed() { next = try compile(part, onTrue, next) }
            return next
        case .comparison(let comparison):
            return try compile(comparison, onTrue, onFalse)
        }
    }

    private mutating func append(_ test: Test, _ onTrue: Int, _ onFalse: Int) -> Int {
        steps.append(Step(test: test, onTrue: onTrue, onFalse: onFalse))
        return steps.count - 1
    }

    private mutating func compile(
        _ comparison: Comparison, _ onTrue: Int, _ onFalse: Int
    ) throws -> Int {
        if comparison.quantifier == .none, case .keyPath(let path) = comparison.left,
            case .constant(let value) = comparison.right
        {
            let resolved = try resolver.resolve(path, from: entity)
            if let field = resolved.ownField,
                let next = compile(field, comparison, value, onTrue, onFalse)
            {
                return next
            }
            if let link = resolved.ownLink,
                let next = compile(link: link, comparison, value, onTrue, onFalse)
            {
                return next
            }
        }
        if let next = try compileMember(comparison, onTrue, onFalse) { return next }
        generals.append(comparison)
        return append(.general(generals.count - 1), onTrue, onFalse)
    }

    /// `column IN {constants}` asks a set instead of each constant in turn.
    private mutating func compileMember(
        _ comparison: Comparison, _ onTrue: Int, _ onFalse: Int
    ) throws -> Int? {
        guard comparison.operation == .in, comparison.quantifier == .none,
            !TextMatch.folds(comparison.options), case .keyPath(let path) = comparison.left,
            case .list(let operands) = comparison.right
        else { return nil }
        let resolved = try resolver.resolve(path, from: entity)
        guard let field = resolved.ownField ?? resolved.ownLink else { return nil }
        var values: Set<Value> = []
        for operand in operands {
            guard case .constant(let value) = operand else { return nil }
            if !value.isNull { values.insert(value) }
        }
        members.append((field, values))
        return append(.member(members.count - 1), onTrue, onFalse)
    }

    private mutating func compile(
        _ field: FieldLayout, _ comparison: Comparison, _ value: Value, _ onTrue: Int,
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
        // A nil equals no value and is in no order with one.
        return append(.isNull(offset: offset), onFalse, next)
    }

    private mutating func test(
        _ field: FieldLayout, _ operation: Comparison.Operation, _ comparison: Comparison,
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

    /// A value in the form that a column of a type is compared in; nil where it has none that
    /// means exactly the same.
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
        _ offset: Int, _ operation: Comparison.Operation, _ comparison: Comparison, _ text: String
    ) -> Test? {
        let folds = TextMatch.folds(comparison.options)
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
        link field: FieldLayout, _ comparison: Comparison, _ value: Value, _ onTrue: Int,
        _ onFalse: Int
    ) -> Int? {
        let number: UInt64
        switch value {
        case .null: number = 0
        case .object(let object): number = object.rawValue
        default: return nil
        }
        switch comparison.operation {
        case .equal: return append(.link(offset: field.byteOffset, number), onTrue, onFalse)
        case .notEqual: return append(.link(offset: field.byteOffset, number), onFalse, onTrue)
        default: return nil
        }
    }

    // MARK: Running

    func accepts(
        _ row: RowView, _ number: ObjectNumber, _ evaluator: ReferenceEvaluator
    ) throws -> Bool {
        try run(from: start, row, number, evaluator)
    }

    /// Whether a record passes that has passed `leads`.
    func acceptsLed(
        _ row: RowView, _ number: ObjectNumber, _ evaluator: ReferenceEvaluator
    ) throws -> Bool {
        try run(from: startWhenLed, row, number, evaluator)
    }

    @inline(__always)
    private func run(
        from start: Int, _ row: RowView, _ number: ObjectNumber, _ evaluator: ReferenceEvaluator
    ) throws -> Bool {
        var position = start
        while position >= 0 {
            let isTrue: Bool
            switch steps[position].test {
            case .isNull(let offset): isTrue = row.isNull(at: offset)
            case .column(let offset, let index):
                isTrue = columnTests[index].holds(row.uint(at: offset))
            case .link(let offset, let value): isTrue = row.uint(at: offset) == value
            case .text(let offset, let operation, let index):
                isTrue = try text(row, offset, operation, texts[index], number, evaluator)
            case .foldedContains(let offset, let index):
                isTrue = try folded(row, offset, texts[index], number, evaluator)
            case .member(let index):
                let (field, values) = members[index]
                let value = try evaluator.reader.value(field, of: row)
                isTrue = !value.isNull && values.contains(value)
            case .general(let index):
                isTrue = try general(generals[index], row, number, evaluator)
            }
            position = isTrue ? steps[position].onTrue : steps[position].onFalse
        }
        return position == Self.accept
    }

    private func general(
        _ comparison: Comparison, _ row: RowView, _ number: ObjectNumber,
        _ evaluator: ReferenceEvaluator
    ) throws -> Bool {
        try evaluator.isTrue(
            .comparison(comparison),
            of: Candidate(number: number, row: row, entity: entity))
    }

    private func text(
        _ row: RowView, _ offset: Int, _ operation: Comparison.Operation, _ text: Text,
        _ number: ObjectNumber, _ evaluator: ReferenceEvaluator
    ) throws -> Bool {
        if row.isBlob(at: offset) { return try general(text.original, row, number, evaluator) }
        let wanted = text.bytes
        return row.withHeap(at: offset) { bytes in
            let part = wanted.span
            switch operation {
            case .contains: return TextMatch.contains(bytes, part, wholeCharacters: false)
            case .beginsWith:
                return bytes.count >= part.count && Self.isEqual(bytes, part, from: 0)
            case .endsWith:
                return bytes.count >= part.count
                    && Self.isEqual(bytes, part, from: bytes.count - part.count)
            case .equal: return bytes.count == part.count && Self.isEqual(bytes, part, from: 0)
            default: return ColumnTest.holds(operation, Self.order(bytes, part), 0)
            }
        }
    }

    private static func isEqual(
        _ bytes: Span<UInt8>, _ part: Span<UInt8>, from start: Int
    ) -> Bool {
        for index in part.indices where bytes[start + index] != part[index] { return false }
        return true
    }

    private static func order(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Int {
        for index in 0..<min(left.count, right.count) where left[index] != right[index] {
            return Int(left[index]) - Int(right[index])
        }
        return left.count - right.count
    }

    private func folded(
        _ row: RowView, _ offset: Int, _ text: Text, _ number: ObjectNumber,
        _ evaluator: ReferenceEvaluator
    ) throws -> Bool {
        if row.isBlob(at: offset) { return try general(text.original, row, number, evaluator) }
        if let search = text.search, let isFound = row.isFound(search, at: offset) {
            return isFound
        }
        let lowers = text.options.contains(.caseInsensitive)
        let foldsMarks = text.options != .caseInsensitive || !text.isASCII
        let wanted = text.bytes
        let quick = row.withHeap(at: offset) { bytes in
            Self.containsASCII(bytes, wanted.span, lowers: lowers, foldsMarks: foldsMarks)
        }
        if let quick { return quick }
        let folded = TextMatch.fold(row.string(at: offset), text.options)
        return TextMatch.contains(folded.utf8.span, wanted.span, wholeCharacters: true)
    }

    /// Whether folding makes no letter of ASCII out of another, and joins none to a mark: so it is
    /// for ASCII, and where marks are not folded for Latin letters up to U+017E, which are whole
    /// characters. Of these ß, ı, İ and ŉ become ASCII when case is folded.
    private static func keepsASCII(_ bytes: Span<UInt8>, foldsMarks: Bool) -> Bool {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            guard byte >= 0x80 else { continue }
            guard !foldsMarks, 0xC2...0xC5 ~= byte, index < bytes.count else { return false }
            switch (byte, bytes[index]) {
            case (0xC3, 0x9F), (0xC4, 0xB0), (0xC4, 0xB1), (0xC5, 0x89), (0xC5, 0xBF):
                return false
            case (_, 0x80...0xBF): index += 1
            default: return false
            }
        }
        return true
    }

    /// Whether a text contains another of ASCII; nil when the bytes do not tell.
    static func containsASCII(
        _ bytes: Span<UInt8>, _ part: Span<UInt8>, lowers: Bool, foldsMarks: Bool
    ) -> Bool? {
        guard keepsASCII(bytes, foldsMarks: foldsMarks) else { return nil }
        guard part.count > 0 else { return true }
        guard part.count <= bytes.count else { return false }
        func lower(_ byte: UInt8) -> UInt8 {
            lowers && byte &- 0x41 < 26 ? byte | 0x20 : byte
        }
        let first = part[0]
        for start in 0...(bytes.count - part.count) where lower(bytes[start]) == first {
            var index = 1
            while index < part.count && lower(bytes[start + index]) == part[index] { index += 1 }
            if index == part.count { return true }
        }
        return false
    }
}
