import RecordStore

/// Parses calculations, literals and paths.
extension ConditionParser {
    // MARK: Calculations

    /// All operators but `**`, which is read from the right. As in C, except that comparisons bind
    /// weaker than all of these: `flags & 4 == 4` means `(flags & 4) == 4`.
    private static let operations: [String: Operand.Arithmetic] = [
        "|": .bitOr, "^": .bitXor, "&": .bitAnd, "<<": .leftShift, ">>": .rightShift, "+": .add,
        "-": .subtract, "*": .multiply, "/": .divide,
    ]

    func operand(_ parsed: Parsed) throws(QueryError) -> Operand {
        guard case .operand(let operand) = parsed else {
            throw failure("a condition precedes this, but a value is needed")
        }
        return operand
    }

    /// An operand within parentheses, a call, a list or the like.
    mutating func nestedOperand() throws(QueryError) -> Operand {
        try operand(try nested { parser throws(QueryError) in try parser.calculation() })
    }

    mutating func calculation(_ lowest: Int = 0) throws(QueryError) -> Parsed {
        var left = try power()
        while case .symbol(let symbol) = token,
            let operation = Self.operations[symbol], operation.precedence >= lowest
        {
            try countCalculation()
            let first = try operand(left)
            try advance()
            let second = try operand(try calculation(operation.precedence + 1))
            left = .operand(.arithmetic(operation, first, second))
        }
        return left
    }

    /// Associates to the right: `2 ** 3 ** 2` is 2 to the 9th.
    private mutating func power() throws(QueryError) -> Parsed {
        let base = try unary()
        guard token == .symbol("**") else { return base }
        try countCalculation()
        let first = try operand(base)
        try advance()
        let second = try nested { parser throws(QueryError) in try parser.power() }
        return .operand(.arithmetic(.power, first, try operand(second)))
    }

    private mutating func unary() throws(QueryError) -> Parsed {
        guard token == .symbol("-") || token == .symbol("~") else { return try indexed() }
        let isMinus = token == .symbol("-")
        try advance()
        let parsed = try nested { parser throws(QueryError) in try parser.unary() }
        let inner = try operand(parsed)
        return .operand(isMinus ? inner.negation : .function("onescomplement", [inner]))
    }

    // MARK: Elements

    private mutating func indexed() throws(QueryError) -> Parsed {
        let parsed = try atom()
        guard token == .symbol("[") else { return parsed }
        let collection = try operand(parsed)
        try advance()
        let index = try elementIndex()
        try advance()
        try expect(symbol: "]")
        guard token != .symbol(".") else {
            throw failure("nothing can follow an index: use SUBQUERY or a path of its own")
        }
        return .operand(.element(collection, index))
    }

    private func elementIndex() throws(QueryError) -> Operand.ElementIndex {
        switch token {
        case .number(.int(let number)): return .at(Int(clamping: number))
        case .word(let word):
            switch word.uppercased() {
            case "FIRST": return .first
            case "LAST": return .last
            case "SIZE": return .size
            default: break
            }
        case .text: throw failure("no property of a store has keys: an index is a number")
        default: break
        }
        throw failure("an index is a number, FIRST, LAST or SIZE")
    }

    private mutating func atom() throws(QueryError) -> Parsed {
        switch token {
        case .text(let text):
            try advance()
            return .operand(.constant(.string(text)))
        case .number(let value):
            try advance()
            return .operand(.constant(value))
        case .argument(let kind): return .operand(try argument(kind))
        case .keyPathArgument:
            let path = try keyPathArgument()
            guard path.first == "SELF" else {
                return .operand(.keyPath(try keyPath(after: path)))
            }
            return .operand(try self.path(fromSelf: Array(path.dropFirst())))
        case .variable(let name):
            try advance()
            return .operand(.variable(name, try keyPath(after: [])))
        case .escapedName(let name):
            try advance()
            return .operand(.keyPath(try keyPath(after: [name])))
        case .symbol("("):
            try advance()
            let inner = try nested { parser throws(QueryError) in try parser.disjunction() }
            try expect(symbol: ")")
            return inner
        case .symbol("{"): return .operand(try list())
        case .word(let word): return .operand(try named(word))
        case .symbol(let symbol): throw failure("“\(symbol)” is not a value, and one is needed")
        case .end: throw failure("a value is missing at the end")
        }
    }

    // MARK: Paths

    /// The path that starts at the record itself; the record if no path follows.
    mutating func path(fromSelf start: [String]) throws(QueryError) -> Operand {
        let path = try keyPath(after: start)
        return path.isEmpty ? .selfObject : .keyPath(path)
    }

    /// The rest of a path: `.name.@count`.
    mutating func keyPath(after path: [String]) throws(QueryError) -> [String] {
        var path = path
        while try take(symbol: ".") {
            switch token {
            case .word(let name), .escapedName(let name):
                path.append(name)
                try advance()
            case .keyPathArgument: path += try keyPathArgument()
            default: throw failure("a name is missing after “.”")
            }
        }
        return path
    }

    private mutating func keyPathArgument() throws(QueryError) -> [String] {
        guard case .value(.string(let text)) = try takeArgument() else {
            throw failure("%K stands for the name of a property, which is a text")
        }
        let path = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard path.allSatisfy({ !$0.isEmpty }) else {
            throw failure("%K stands for names with dots between them, and got “\(text)”")
        }
        try advance()
        return path
    }

    private mutating func list() throws(QueryError) -> Operand {
        try expect(symbol: "{")
        var operands: [Operand] = []
        if try take(symbol: "}") { return .list([]) }
        repeat { operands.append(try nestedOperand()) } while try take(symbol: ",")
        try expect(symbol: "}")
        return .list(operands)
    }

    // MARK: Arguments

    private mutating func argument(_ kind: Character) throws(QueryError) -> Operand {
        let argument = try takeArgument()
        switch argument {
        case .value(let value):
            if let wanted = Self.mismatch(kind, value) {
                throw failure("%\(kind) stands for \(wanted), and got \(value)")
            }
        case .object where kind != "@":
            throw failure("%\(kind) stands for a value, and got an object")
        case .list where kind != "@":
            throw failure("%\(kind) stands for one value, and got a list")
        case .object, .list: break
        }
        try advance()
        return argument.operand
    }

    /// The type that a placeholder requires, if the value has another one; nil otherwise.
    private static func mismatch(_ kind: Character, _ value: Value) -> String? {
        switch kind {
        case "@": nil
        case "s": value.text == nil ? "a text" : nil
        case "c":
            value.text.map { $0.count == 1 } ?? isWhole(value) ? nil : "a character"
        case "f", "e", "E", "g", "G": value.approximation == nil ? "a number" : nil
        default: isWhole(value) ? nil : "a whole number"
        }
    }

    private static func isWhole(_ value: Value) -> Bool {
        value.approximation.map { $0.rounded() == $0 } ?? false
    }
}
