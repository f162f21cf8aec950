import RecordStore

/// Parses the operands that begin with a word: literals, properties and functions.
extension ConditionParser {
    mutating func named(_ word: String) throws(QueryError) -> Operand {
        let start = place
        try advance()
        let isCall = token == .symbol("(")
        switch word.uppercased() {
        case _ where !word.utf8.allSatisfy({ $0 < 0x80 }): break
        case "TRUE", "YES": return .constant(.bool(true))
        case "FALSE", "NO": return .constant(.bool(false))
        case "NULL", "NIL": return .constant(.null)
        case "SELF": return try path(fromSelf: [])
        case "SUBQUERY" where isCall: return try subquery()
        case "CAST" where isCall: return try cast()
        case "TERNARY" where isCall: return try ternary()
        default: break
        }
        guard isCall else {
            guard !word.contains(":") else {
                throw failure("a store calls no methods such as \(word)", at: start)
            }
            return .keyPath(try keyPath(after: [word]))
        }
        return try call(word, start)
    }

    /// A function by either of its names: `bitwiseand(a, b)` or `bitwiseAnd:with:(a, b)`.
    private mutating func call(
        _ word: String, _ start: Int
    ) throws(QueryError) -> Operand {
        let name = word.lowercased()
        if let reason = Functions.rejected[name] { throw failure(reason, at: start) }
        let short = Functions.shortName(name)
        guard let arity = Functions.arities[short] else {
            throw failure("\(word)() is no function that a store answers", at: start)
        }
        try expect(symbol: "(")
        var operands: [Operand] = []
        if token != .symbol(")") {
            repeat { operands.append(try nestedOperand()) } while try take(symbol: ",")
        }
        try expect(symbol: ")")
        guard arity.contains(operands.count) else {
            throw failure(
                "\(word)() takes \(arity.lowerBound) argument"
                    + (arity.lowerBound == 1 ? "" : "s") + ", and got \(operands.count)", at: start)
        }
        if short == "castobject" {
            guard case .constant(.string(let type)) = operands[1] else {
                throw failure("a cast ends with the name of a type in quotes", at: start)
            }
            return try cast(operands[0], type, start)
        }
        guard let operation = Functions.calculations[short] else {
            return .function(short, operands)
        }
        try countCalculation()
        // `from:subtract:` has the subtrahend last, like the operator.
        return .arithmetic(operation, operands[0], operands[1])
    }

    private mutating func subquery() throws(QueryError) -> Operand {
        try expect(symbol: "(")
        let collection = try nestedOperand()
        switch collection {
        case .keyPath, .variable: break
        default: throw failure("SUBQUERY begins with a to-many relationship")
        }
        try expect(symbol: ",")
        guard case .variable(let name) = token else {
            throw failure("SUBQUERY names its element with a variable such as $x")
        }
        try advance()
        try expect(symbol: ",")
        let inner = try nested { parser throws(QueryError) in try parser.disjunction() }
        let condition = try self.condition(inner)
        try expect(symbol: ")")
        let operand = Operand.subquery(collection, variable: name, condition)
        guard try take(symbol: ".") else { return operand }
        guard token == .word("@count") else {
            throw failure("only @count can follow SUBQUERY")
        }
        try advance()
        return .function("count", [operand])
    }

    private mutating func cast() throws(QueryError) -> Operand {
        try expect(symbol: "(")
        let inner = try nestedOperand()
        try expect(symbol: ",")
        let start = place
        guard case .text(let type) = token else {
            throw failure("CAST ends with the name of a type in quotes")
        }
        try advance()
        try expect(symbol: ")")
        return try cast(inner, type, start)
    }

    /// A constant is cast at once, so that an index can be used.
    private func cast(
        _ inner: Operand, _ type: String, _ place: Int
    ) throws(QueryError) -> Operand {
        if type == "NSManagedObjectID" {
            guard case .constant(.string(let text)) = inner,
                let object = ObjectReference(uri: text)
            else { throw failure("only the text of an object's URI is cast to its ID", at: place) }
            return .object(object)
        }
        guard let kind = Functions.CastType(name: type) else {
            throw failure("CAST knows no type “\(type)”", at: place)
        }
        guard case .constant(let value) = inner else { return .cast(inner, type) }
        return .constant(Functions.cast(value, kind))
    }

    private mutating func ternary() throws(QueryError) -> Operand {
        try expect(symbol: "(")
        let test = try nested { parser throws(QueryError) in try parser.disjunction() }
        let condition = try self.condition(test)
        try expect(symbol: ",")
        let yes = try nestedOperand()
        try expect(symbol: ",")
        let no = try nestedOperand()
        try expect(symbol: ")")
        return .ternary(condition, yes, no)
    }
}
