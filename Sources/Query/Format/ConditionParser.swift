import RecordStore

/// Parses conditions in the predicate language, such as `age > %d AND name BEGINSWITH[cd] %@`.
///
/// NOT binds tighter than AND, and AND tighter than OR. Arguments are values and never parsed.
/// Invalid formats throw a `QueryError` with the position; nothing traps. A format is parsed in one
/// pass without backtracking, so that the time is linear in its length.
package struct ConditionParser {
    /// The maximum nesting depth of parentheses and the like.
    package static let nestingMax = 100
    /// The most arithmetic operators in one condition; together with `nestingMax` it bounds the
    /// height of the tree, and so the stack that evaluating it needs.
    package static let calculationCountMax = 500

    /// A parenthesis opens a condition or an operand, and only its content decides which.
    enum Parsed {
        case condition(Condition)
        case operand(Operand)
    }

    private var lexer: FormatLexer
    private(set) var token = FormatToken.end
    private var arguments: ArraySlice<FormatArgument>
    private var depth = 0
    private var depthReached = 0
    private var calculationCount = 0

    package static func parse(
        _ format: String, _ arguments: [FormatArgument] = []
    ) throws(QueryError) -> Condition {
        var parser = ConditionParser(lexer: FormatLexer(format), arguments: arguments[...])
        try parser.advance()
        let condition = try parser.whole()
        guard parser.arguments.isEmpty else { throw parser.unusedArguments(of: arguments.count) }
        if case .unreadable(let error) = condition.bounded { throw error }
        try parser.checkIsReadableWhenPrinted(condition)
        return condition
    }

    private mutating func whole() throws(QueryError) -> Condition {
        let parsed = try disjunction()
        guard token == .end else { throw excess(parsed) }
        return try condition(parsed)
    }

    /// An argument may be deeper as a text: a date prints as `CAST(-1.0, "NSDate")`, two levels.
    private func checkIsReadableWhenPrinted(_ condition: Condition) throws(QueryError) {
        guard depthReached > Self.nestingMax - 2 else { return }
        let lexer = FormatLexer(ConditionText.text(condition))
        var parser = ConditionParser(lexer: lexer, arguments: [])
        try parser.advance()
        _ = try parser.whole()
    }

    private init(lexer: FormatLexer, arguments: ArraySlice<FormatArgument>) {
        self.lexer = lexer
        self.arguments = arguments
    }

    // MARK: Tokens

    mutating func advance() throws(QueryError) { token = try lexer.next() }

    mutating func take(symbol: String) throws(QueryError) -> Bool {
        guard token == .symbol(symbol) else { return false }
        try advance()
        return true
    }

    mutating func expect(symbol: String) throws(QueryError) {
        guard try take(symbol: symbol) else { throw failure("“\(symbol)” is missing") }
    }

    /// The current word in upper case; nil unless it is ASCII. Keywords are ASCII, but other
    /// letters may have ASCII capitals.
    private var keyword: String? {
        guard case .word(let word) = token, word.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        return word.uppercased()
    }

    private mutating func take(keyword wanted: String...) throws(QueryError) -> Bool {
        guard let keyword, wanted.contains(keyword) else { return false }
        try advance()
        return true
    }

    /// The argument for the placeholder that is the current token.
    mutating func takeArgument() throws(QueryError) -> FormatArgument {
        guard let argument = arguments.popFirst() else {
            throw failure("the format has more places than there are arguments")
        }
        return argument
    }

    mutating func nested<Result>(
        _ body: (inout ConditionParser) throws(QueryError) -> Result
    ) throws(QueryError) -> Result {
        depth += 1
        depthReached = max(depthReached, depth)
        defer { depth -= 1 }
        guard depth <= Self.nestingMax else { throw failure("the condition is nested too deeply") }
        return try body(&self)
    }

    mutating func countCalculation() throws(QueryError) {
        calculationCount += 1
        guard calculationCount <= Self.calculationCountMax else {
            throw failure(
                "a condition calculates with at most \(Self.calculationCountMax) operators")
        }
    }

    // MARK: Errors

    /// The start of the current token.
    var place: Int { lexer.tokenStart }

    /// An error at the current token.
    func failure(_ message: String, at place: Int? = nil) -> QueryError {
        lexer.failure(message, at: place ?? self.place)
    }

    private func excess(_ parsed: Parsed) -> QueryError {
        if case .operand = parsed { return missingComparison }
        return failure("the condition goes on where it should have ended")
    }

    private var missingComparison: QueryError {
        let rejected = [
            "TOKENMATCHES": "TOKENMATCHES is no operator of a store: use CONTAINS or MATCHES",
            "UTI-CONFORMS-TO": "types of files are not compared in a store: use == or IN",
            "UTI-EQUALS": "types of files are not compared in a store: use == or IN",
        ]
        if let keyword, let reason = rejected[keyword] { return failure(reason) }
        if token == .symbol(":=") { return failure("a condition assigns nothing: use ==") }
        if case .word(let word) = token, word.contains(":") {
            return failure("a store calls no methods such as \(word)")
        }
        return failure("a comparison such as == or CONTAINS is missing")
    }

    private func unusedArguments(of count: Int) -> QueryError {
        let message = "the format has fewer places than the \(count) arguments"
        guard let mark = lexer.quotedMark else { return QueryError(message) }
        return lexer.failure(
            "\(message): a place inside of quotes is text, take the quotes away", at: mark)
    }

    // MARK: Logic

    func condition(_ parsed: Parsed) throws(QueryError) -> Condition {
        guard case .condition(let condition) = parsed else { throw missingComparison }
        return condition
    }

    mutating func disjunction() throws(QueryError) -> Parsed {
        let first = try conjunction()
        guard token == .symbol("||") || keyword == "OR" else { return first }
        var parts = [try condition(first)]
        while token == .symbol("||") || keyword == "OR" {
            try advance()
            parts.append(try condition(try conjunction()))
        }
        return .condition(.or(ConditionList(parts)))
    }

    private mutating func conjunction() throws(QueryError) -> Parsed {
        let first = try negation()
        guard token == .symbol("&&") || keyword == "AND" else { return first }
        var parts = [try condition(first)]
        while token == .symbol("&&") || keyword == "AND" {
            try advance()
            parts.append(try condition(try negation()))
        }
        return .condition(.and(ConditionList(parts)))
    }

    private mutating func negation() throws(QueryError) -> Parsed {
        guard token == .symbol("!") || keyword == "NOT" else { return try comparison() }
        try advance()
        // The parenthesis counts as a level itself, so that `!a` and `NOT (a)` are as deep.
        let inner =
            token == .symbol("(")
            ? try negation() : try nested { parser throws(QueryError) in try parser.negation() }
        return .condition(.not(try condition(inner)))
    }

    // MARK: Comparisons

    private static let words: [String: Comparison.Operation] = [
        "BETWEEN": .between, "IN": .in, "CONTAINS": .contains, "BEGINSWITH": .beginsWith,
        "ENDSWITH": .endsWith, "LIKE": .like, "MATCHES": .matches,
    ]

    private static let symbols: [String: Comparison.Operation] = [
        "=": .equal, "==": .equal, "!=": .notEqual, "<>": .notEqual, "<": .less,
        "<=": .lessOrEqual, "=<": .lessOrEqual, ">": .greater, ">=": .greaterOrEqual,
        "=>": .greaterOrEqual,
    ]

    private mutating func quantifier() throws(QueryError) -> Comparison.Quantifier {
        if try take(keyword: "ANY", "SOME") { return .any }
        if try take(keyword: "ALL") { return .all }
        return try take(keyword: "NONE") ? .noneOf : .none
    }

    /// A comparison; or a lone operand, or a condition in parentheses.
    private mutating func comparison() throws(QueryError) -> Parsed {
        if try take(keyword: "TRUEPREDICATE") { return .condition(.constant(true)) }
        if try take(keyword: "FALSEPREDICATE") { return .condition(.constant(false)) }
        let quantifier = try self.quantifier()
        let parsed = try calculation()
        if quantifier == .none, case .condition = parsed { return parsed }
        let left = try operand(parsed)
        let isNegated = try take(keyword: "NOT")
        guard let operation = try self.operation(isNegated: isNegated) else {
            guard quantifier == .none, !isNegated else { throw missingComparison }
            return .operand(left)
        }
        guard quantifier == .none || !isNegated else {
            throw failure("say NOT before ANY, ALL or NONE, where it is clear what it negates")
        }
        let options = try self.options()
        let right = try operand(try calculation())
        try check(operation, right)
        let condition = Condition.comparing(
            Comparison(left, operation, right, options: options, quantifier: quantifier))
        return .condition(isNegated ? .not(condition) : condition)
    }

    private mutating func operation(
        isNegated: Bool
    ) throws(QueryError) -> Comparison.Operation? {
        var operation = keyword.flatMap { Self.words[$0] }
        if case .symbol(let symbol) = token, !isNegated { operation = Self.symbols[symbol] }
        if operation != nil { try advance() }
        return operation
    }

    private func check(_ operation: Comparison.Operation, _ right: Operand) throws(QueryError) {
        guard operation == .between else { return }
        switch right {
        case .list(let bounds) where bounds.count == 2: break
        case .variable: break
        default: throw failure("BETWEEN needs exactly two bounds before this")
        }
    }

    private mutating func options() throws(QueryError) -> TextOptions {
        guard try take(symbol: "[") else { return [] }
        guard case .word(let letters) = token else {
            throw failure("the options of a comparison are letters: c, d, n, w or l")
        }
        var options: TextOptions = []
        for letter in letters {
            switch letter {
            case "c", "C": options.insert(.caseInsensitive)
            case "d", "D": options.insert(.diacriticInsensitive)
            case "n", "N": options.insert(.normalized)
            case "w", "W": options.insert(.widthInsensitive)
            case "l", "L": options.insert(.localized)
            default:
                throw failure("“\(letter)” is no option of a comparison: c, d, n, w and l are")
            }
        }
        try advance()
        try expect(symbol: "]")
        return options
    }
}
