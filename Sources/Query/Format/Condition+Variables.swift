import RecordStore

/// Templates: conditions with `$name` instead of values that are known later.
extension Condition {
    /// The condition with its variables replaced by values. A variable that a SUBQUERY binds is
    /// kept. Throws for a variable without a value.
    package func substituting(
        _ values: [String: FormatArgument]
    ) throws(QueryError) -> Condition {
        try Substitution(values: values).condition(self)
    }
}

private struct Substitution {
    let values: [String: FormatArgument]
    var bound: Set<String> = []

    func condition(_ condition: Condition) throws(QueryError) -> Condition {
        switch condition {
        case .constant, .equality: return condition
        case .unreadable(let error): throw error
        case .and(let list): return .and(try conditions(list))
        case .or(let list): return .or(try conditions(list))
        case .not(let inner): return .not(try self.condition(inner))
        case .comparison(var comparison):
            comparison.left = try operand(comparison.left)
            comparison.right = try operand(comparison.right)
            return .comparing(comparison)
        }
    }

    private func conditions(_ list: ConditionList) throws(QueryError) -> ConditionList {
        var result: [Condition] = []
        for part in list.parts { result.append(try condition(part)) }
        return ConditionList(result)
    }

    private func operands(_ operands: [Operand]) throws(QueryError) -> [Operand] {
        var result: [Operand] = []
        for operand in operands { result.append(try self.operand(operand)) }
        return result
    }

    private func operand(_ operand: Operand) throws(QueryError) -> Operand {
        switch operand {
        case .constant, .object, .keyPath, .selfObject: return operand
        case .variable(let name, let path): return try variable(name, path)
        case .list(let inner): return .list(try operands(inner))
        case .arithmetic(let operation, let left, let right):
            return .arithmetic(operation, try self.operand(left), try self.operand(right))
        case .negated(let inner): return try self.operand(inner).negation
        case .function(let name, let arguments): return .function(name, try operands(arguments))
        case .element(let inner, let index): return .element(try self.operand(inner), index)
        case .cast(let inner, let type): return .cast(try self.operand(inner), type)
        case .ternary(let condition, let yes, let no):
            return .ternary(
                try self.condition(condition), try self.operand(yes), try self.operand(no))
        case .subquery(let collection, let variable, let condition):
            var inner = self
            inner.bound.insert(variable)
            return .subquery(
                try self.operand(collection), variable: variable, try inner.condition(condition))
        }
    }

    private func variable(_ name: String, _ path: [String]) throws(QueryError) -> Operand {
        if bound.contains(name) { return .variable(name, path) }
        guard let value = values[name] else {
            throw QueryError("the variable $\(name) has no value")
        }
        guard path.isEmpty else {
            throw QueryError(
                "the variable $\(name) stands for a value, so “.\(path.joined(separator: "."))” "
                    + "cannot follow it")
        }
        return value.operand
    }
}
