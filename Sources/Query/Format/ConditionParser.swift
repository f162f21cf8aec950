import RecordStore

/// Reads conditions in the predicate language, such as `age > %d AND name BEGINSWITH[cd] %@`.
///
/// NOT binds tighter than AND, and AND tighter than OR. Arguments are values and never parsed.
/// Everything that cannot be read throws a `QueryError` that says where; nothing traps.
package struct ConditionParser {
    private var lexer: FormatLexer
    private var token = FormatToken.end
    private var arguments: ArraySlice<FormatArgument>
    private var depth = 0

    package static func parse(
        _ format: String, _ arguments: [FormatArgument]
    ) throws(QueryError) -> Condition {
        var parser = ConditionParser(lexer: FormatLexer(format), arguments: arguments[...])
        try parser.advance()
        let condition = try parser.disjunction()
        guard parser.token == .end else {
            throw parser.lexer.failure("the condition goes on where it should have ended")
        }
        guard parser.arguments.isEmpty else {
            throw QueryError("the format has fewer places than the \(arguments.count) arguments")
        }
        return condition
    }

    private init(lexer: FormatLexer, arguments: ArraySlice<FormatArgument>) {
        self.lexer = lexer
        self.arguments = arguments
    }

    // MARK: Tokens

    private mutating func advance() throws(QueryError) { token = try lexer.next() }

    private mutating func take(symbol: String) throws(QueryError) -> Bool {
        guard token == .symbol(symbol) else { return false }
        try advance()
        return true
    }

    private mutating func expect(symbol: String) throws(QueryError) {
        guard try take(symbol: symbol) else { throw lexer.failure("“\(symbol)” is missing") }
    }

    /// The keyword here, in upper case.
    private var keyword: String? {
        if case .word(let word) = token { return word.uppercased() }
        return nil
    }

    private mutating func take(keyword wanted: String...) throws(QueryError) -> Bool {
        guard let keyword, wanted.contains(keyword) else { return false }
        try advance()
        return true
    }

    private mutating func nextArgument() throws(QueryError) -> FormatArgument {
        guard let argument = arguments.popFirst() else {
            throw QueryError("the format has more places than there are arguments")
        }
        return argument
    }

    private mutating func nested<Result>(
        _ body: (inout ConditionParser) throws(QueryError) -> Result
    ) throws(QueryError) -> Result {
        depth += 1
        defer { depth -= 1 }
        guard depth < 200 else { throw lexer.failure("the condition is nested too deeply") }
        return try body(&self)
    }

    // MARK: Logic

    private mutating func disjunction() throws(QueryError) -> Condition {
        var parts = [try conjunction()]
        while true {
            let isKeyword = try take(keyword: "OR")
            let goesOn = isKeyword ? true : try take(symbol: "||")
            guard goesOn else { break }
            parts.append(try conjunction())
        }
        return parts.count == 1 ? parts[0] : .or(parts)
    }

    private mutating func conjunction() throws(QueryError) -> Condition {
        var parts = [try negation()]
        while true {
            let isKeyword = try take(keyword: "AND")
            let goesOn = isKeyword ? true : try take(symbol: "&&")
            guard goesOn else { break }
            parts.append(try negation())
        }
        return parts.count == 1 ? parts[0] : .and(parts)
    }

    private mutating func negation() throws(QueryError) -> Condition {
        let isKeyword = try take(keyword: "NOT")
        let isNegated = isKeyword ? true : try take(symbol: "!")
        guard isNegated else { return try primary() }
        return .not(try nested { parser throws(QueryError) in try parser.negation() })
    }

    private mutating func primary() throws(QueryError) -> Condition {
        if try take(keyword: "TRUEPREDICATE") { return .constant(true) }
        if try take(keyword: "FALSEPREDICATE") { return .constant(false) }
        guard token == .symbol("(") else { return try comparison() }
        // A parenthesis opens a condition or an operand: the one that can be read decides.
        let saved = self
        do throws(QueryError) {
            try advance()
            let inner = try nested { parser throws(QueryError) in try parser.disjunction() }
            try expect(symbol: ")")
            if !continuesOperand { return inner }
        } catch {
            self = saved
            do throws(QueryError) {
                return try comparison()
            } catch _ {
                throw error
            }
        }
        self = saved
        return try comparison()
    }

    private var continuesOperand: Bool {
        if case .symbol(let symbol) = token {
            return !["&&", "||", ")", ",", "]", "}"].contains(symbol)
        }
        if let keyword { return Self.operations[keyword] != nil }
        return false
    }

    // MARK: Comparisons

    private static let operations: [String: Comparison.Operation] = [
        "BETWEEN": .between, "IN": .in, "CONTAINS": .contains, "BEGINSWITH": .beginsWith,
        "ENDSWITH": .endsWith, "LIKE": .like, "MATCHES": .matches,
    ]

    private static let symbols: [String: Comparison.Operation] = [
        "=": .equal, "==": .equal, "!=": .notEqual, "<>": .notEqual, "<": .less,
        "<=": .lessOrEqual, "=<": .lessOrEqual, ">": .greater, ">=": .greaterOrEqual,
        "=>": .greaterOrEqual,
    ]

    private mutating func comparison() throws(QueryError) -> Condition {
        var quantifier = Comparison.Quantifier.none
        if try take(keyword: "ANY", "SOME") {
            quantifier = .any
        } else if try take(keyword: "ALL") {
            quantifier = .all
        } else if try take(keyword: "NONE") {
            quantifier = .noneOf
        }
        let left = try sum()
        let operation = try self.operation()
        let options = try self.options()
        let right = try sum()
        if operation == .between, case .list(let bounds) = right, bounds.count != 2 {
            throw lexer.failure("BETWEEN needs exactly two bounds")
        }
        return .comparison(
            Comparison(left, operation, right, options: options, quantifier: quantifier))
    }

    private mutating func operation() throws(QueryError) -> Comparison.Operation {
        if case .symbol(let symbol) = token, let operation = Self.symbols[symbol] {
            try advance()
            return operation
        }
        guard let keyword, let operation = Self.operations[keyword] else {
            throw lexer.failure("a comparison such as == or CONTAINS is missing")
        }
        try advance()
        return operation
    }

    private mutating func options() throws(QueryError) -> TextOptions {
        guard try take(symbol: "[") else { return [] }
        guard case .word(let letters) = token else {
            throw lexer.failure("the options of a comparison are letters: c, d, n, w or l")
        }
        var options: TextOptions = []
        for letter in letters {
            switch letter {
            case "c", "C": options.insert(.caseInsensitive)
            case "d", "D": options.insert(.diacriticInsensitive)
            case "n", "N": options.insert(.normalized)
            case "w", "W": options.insert(.widthInsensitive)
            case "l", "L": options.insert(.localized)
            default: throw lexer.failure("“\(letter)” is no option of a comparison")
            }
        }
        try advance()
        try expect(symbol: "]")
        return options
    }

    // MARK: Operands

    private mutating func sum() throws(QueryError) -> Operand {
        var left = try product()
        while case .symbol(let symbol) = token, "+-&|^".contains(symbol), symbol.count == 1 {
            guard let operation = Operand.Arithmetic(rawValue: symbol) else { break }
            try advance()
            left = .arithmetic(operation, left, try product())
        }
        return left
    }

    private mutating func product() throws(QueryError) -> Operand {
        var left = try power()
        while case .symbol(let symbol) = token, symbol == "*" || symbol == "/" {
            guard let operation = Operand.Arithmetic(rawValue: symbol) else { break }
            try advance()
            left = .arithmetic(operation, left, try power())
        }
        return left
    }

    private mutating func power() throws(QueryError) -> Operand {
        let base = try unary()
        guard try take(symbol: "**") else { return base }
        return .arithmetic(
            .power, base, try nested { parser throws(QueryError) in try parser.power() })
    }

    private mutating func unary() throws(QueryError) -> Operand {
        guard try take(symbol: "-") else { return try indexed() }
        let inner = try nested { parser throws(QueryError) in try parser.unary() }
        switch inner {
        case .constant(.int(let number)): return .constant(.int(0 &- number))
        case .constant(.double(let number)): return .constant(.double(-number))
        default: return .negated(inner)
        }
    }

    private mutating func indexed() throws(QueryError) -> Operand {
        let operand = try atom()
        guard token == .symbol("[") else { return operand }
        try advance()
        let index: Operand.ElementIndex
        switch token {
        case .integer(let number): index = .at(Int(clamping: number))
        case .word(let word):
            switch word.uppercased() {
            case "FIRST": index = .first
            case "LAST": index = .last
            case "SIZE": index = .size
            default: throw lexer.failure("an index is a number, FIRST, LAST or SIZE")
            }
        default: throw lexer.failure("an index is a number, FIRST, LAST or SIZE")
        }
        try advance()
        try expect(symbol: "]")
        return .element(operand, index)
    }

    private mutating func atom() throws(QueryError) -> Operand {
        let current = token
        switch current {
        case .text(let text):
            try advance()
            return .constant(.string(text))
        case .integer(let number):
            try advance()
            return .constant(.int(number))
        case .number(let number):
            try advance()
            return .constant(.double(number))
        case .argument(let kind):
            try advance()
            return try argument(kind)
        case .keyPathArgument:
            try advance()
            guard case .value(.string(let path)) = try nextArgument() else {
                throw QueryError("%K stands for the name of a property, which is a text")
            }
            return .keyPath(try keyPath(after: path.split(separator: ".").map(String.init)))
        case .variable(let name):
            try advance()
            return .variable(name, try keyPath(after: []))
        case .escapedName(let name):
            try advance()
            return .keyPath(try keyPath(after: [name]))
        case .symbol("("):
            try advance()
            let inner = try nested { parser throws(QueryError) in try parser.sum() }
            try expect(symbol: ")")
            return inner
        case .symbol("{"): return try list()
        case .word(let word): return try named(word)
        case .symbol(let symbol): throw lexer.failure("“\(symbol)” stands where a value should")
        case .end: throw lexer.failure("a value is missing at the end")
        }
    }

    /// The rest of a path: `.name.@count`.
    private mutating func keyPath(after path: [String]) throws(QueryError) -> [String] {
        var path = path
        while try take(symbol: ".") {
            switch token {
            case .word(let name), .escapedName(let name): path.append(name)
            default: throw lexer.failure("a name is missing behind “.”")
            }
            try advance()
        }
        return path
    }

    private mutating func list() throws(QueryError) -> Operand {
        try expect(symbol: "{")
        var operands: [Operand] = []
        if try take(symbol: "}") { return .list([]) }
        while true {
            operands.append(try nested { parser throws(QueryError) in try parser.sum() })
            guard try take(symbol: ",") else { break }
        }
        try expect(symbol: "}")
        return .list(operands)
    }

    private mutating func argument(_ kind: Character) throws(QueryError) -> Operand {
        switch try nextArgument() {
        case .list(let values):
            guard kind == "@" else { throw QueryError("%\(kind) stands for one number") }
            return .list(values.map { .constant($0) })
        case .value(let value):
            guard kind != "@" else { return .constant(value) }
            if kind == "s" || kind == "c" { return .constant(value) }
            guard value.approximation != nil else {
                throw QueryError("%\(kind) stands for a number, and got \(value)")
            }
            return .constant(value)
        }
    }

    private mutating func named(_ word: String) throws(QueryError) -> Operand {
        try advance()
        switch word.uppercased() {
        case "TRUE", "YES": return .constant(.bool(true))
        case "FALSE", "NO": return .constant(.bool(false))
        case "NULL", "NIL": return .constant(.null)
        case "SELF":
            let path = try keyPath(after: [])
            return path.isEmpty ? .selfObject : .keyPath(path)
        case "SUBQUERY" where token == .symbol("("): return try subquery()
        case "CAST" where token == .symbol("("): return try cast()
        case "TERNARY" where token == .symbol("("): return try ternary()
        case "FUNCTION" where token == .symbol("("):
            throw lexer.failure("FUNCTION calls code by name, which a store does not do")
        default: break
        }
        guard token == .symbol("(") else { return .keyPath(try keyPath(after: [word])) }
        let name = word.lowercased()
        guard Functions.names.contains(name) else {
            throw lexer.failure("\(word)() is no function that a store answers")
        }
        try expect(symbol: "(")
        var arguments: [Operand] = []
        if try take(symbol: ")") { return .function(name, []) }
        while true {
            arguments.append(try nested { parser throws(QueryError) in try parser.sum() })
            guard try take(symbol: ",") else { break }
        }
        try expect(symbol: ")")
        return .function(name, arguments)
    }

    private mutating func subquery() throws(QueryError) -> Operand {
        try expect(symbol: "(")
        guard case .keyPath(let path) = try atom() else {
            throw lexer.failure("SUBQUERY begins with a to-many relationship")
        }
        try expect(symbol: ",")
        guard case .variable(let name) = token else {
            throw lexer.failure("SUBQUERY names its element with a variable such as $x")
        }
        try advance()
        try expect(symbol: ",")
        let condition = try nested { parser throws(QueryError) in try parser.disjunction() }
        try expect(symbol: ")")
        let operand = Operand.subquery(collection: path, variable: name, condition)
        guard try take(symbol: ".") else { return operand }
        guard case .word("@count") = token else {
            throw lexer.failure("only @count can follow SUBQUERY")
        }
        try advance()
        return .function("count", [operand])
    }

    private mutating func cast() throws(QueryError) -> Operand {
        try expect(symbol: "(")
        let inner = try nested { parser throws(QueryError) in try parser.sum() }
        try expect(symbol: ",")
        guard case .text(let type) = token else {
            throw lexer.failure("CAST ends with the name of a type in quotes")
        }
        try advance()
        try expect(symbol: ")")
        return .cast(inner, type)
    }

    private mutating func ternary() throws(QueryError) -> Operand {
        try expect(symbol: "(")
        let condition = try nested { parser throws(QueryError) in try parser.disjunction() }
        try expect(symbol: ",")
        let yes = try nested { parser throws(QueryError) in try parser.sum() }
        try expect(symbol: ",")
        let no = try nested { parser throws(QueryError) in try parser.sum() }
        try expect(symbol: ")")
        return .ternary(condition, yes, no)
    }
}
