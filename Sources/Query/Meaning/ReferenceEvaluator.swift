import RecordStore

/// The record for which a condition is evaluated.
struct Candidate {
    var number: ObjectNumber
    var row: RowView
}

/// The value or values of an operand.
enum Outcome {
    case one(Value)
    case many([Value])

    var values: [Value] {
        switch self {
        case .one(let value): [value]
        case .many(let values): values
        }
    }

    func map(_ transform: (Value) -> Value) -> Outcome {
        switch self {
        case .one(let value): .one(transform(value))
        case .many(let values): .many(values.map(transform))
        }
    }
}

/// The definition of what conditions mean, written to be obviously right: every other evaluation
/// must agree with it.
struct ReferenceEvaluator {
    let reader: RecordReader
    /// The elements bound to variables of subqueries.
    private var variables: [String: ObjectNumber] = [:]

    init(_ reader: RecordReader) { self.reader = reader }

    func isTrue(_ condition: ResolvedCondition, of candidate: Candidate) throws -> Bool {
        switch condition {
        case .constant(let flag): return flag
        case .and(let parts):
            for part in parts where try !isTrue(part, of: candidate) { return false }
            return true
        case .or(let parts):
            for part in parts where try isTrue(part, of: candidate) { return true }
            return false
        case .not(let inner): return try !isTrue(inner, of: candidate)
        case .comparison(let comparison): return try isTrue(comparison, of: candidate)
        }
    }

    func isTrue(_ comparison: ResolvedComparison, of candidate: Candidate) throws -> Bool {
        let left = try evaluate(comparison.left, candidate)
        let right = try evaluate(comparison.right, candidate)
        func holds(_ value: Value) throws -> Bool {
            try ValueComparison.holds(
                comparison.operation, .one(value), right, comparison.options)
        }
        switch comparison.quantifier {
        case .none:
            return try ValueComparison.holds(
                comparison.operation, left, right, comparison.options)
        case .any: return try left.values.contains { try holds($0) }
        case .all: return try left.values.allSatisfy { try holds($0) }
        case .noneOf: return try !left.values.contains { try holds($0) }
        }
    }

    // MARK: Operands

    func evaluate(_ operand: ResolvedOperand, _ candidate: Candidate) throws -> Outcome {
        switch operand {
        case .constant(let value): return .one(value)
        case .values(let values): return .many(values)
        case .list(let operands):
            return .many(try operands.flatMap { try evaluate($0, candidate).values })
        case .path(let path): return try evaluate(path, candidate.row, candidate.number)
        case .selfObject: return .one(.object(candidate.number))
        case .variable(let name): return .one(.object(try number(of: name)))
        case .variablePath(let name, let hierarchy, let path):
            let number = try number(of: name)
            var outcome = Outcome.one(.null)
            try reader.lendRow(number, in: hierarchy) { row in
                outcome = try evaluate(path, row, number)
            }
            return outcome
        case .arithmetic(let operation, let left, let right):
            return .one(
                Arithmetic.apply(
                    operation, try single(left, candidate), try single(right, candidate)))
        case .negated(let inner):
            return .one(Arithmetic.apply(.subtract, .int(0), try single(inner, candidate)))
        case .function(let name, let arguments):
            return .one(
                try Functions.apply(name, try arguments.map { try evaluate($0, candidate) }))
        case .subquery(let collection, let variable, let condition):
            return try evaluate(subquery: collection, variable, condition, candidate)
        case .element(let inner, let index):
            return .one(Self.element(try evaluate(inner, candidate).values, index))
        case .ternary(let condition, let yes, let no):
            return try evaluate(try isTrue(condition, of: candidate) ? yes : no, candidate)
        case .cast(let inner, let type):
            return .one(Functions.cast(try single(inner, candidate), type))
        case .foreign(let inner):
            return try evaluate(inner, candidate).map { value in
                if case .object = value { .noObject } else { value }
            }
        }
    }

    private func single(_ operand: ResolvedOperand, _ candidate: Candidate) throws -> Value {
        switch try evaluate(operand, candidate) {
        case .one(let value): return value
        case .many: throw QueryError("a calculation needs one value and not a collection")
        }
    }

    private static func element(_ values: [Value], _ index: Operand.ElementIndex) -> Value {
        switch index {
        case .first: values.first ?? .null
        case .last: values.last ?? .null
        case .size: .int(Int64(values.count))
        case .at(let position): values.indices.contains(position) ? values[position] : .null
        }
    }

    private func number(of variable: String) throws -> ObjectNumber {
        guard let number = variables[variable] else {
            throw QueryError("the variable $\(variable) has no value")
        }
        return number
    }

    /// The value or values of a path; a to-one link that is nil gives nil, or no values.
    func evaluate(
        _ path: ResolvedPath, _ row: RowView, _ number: ObjectNumber
    ) throws -> Outcome {
        try evaluate(path, steps: path.steps[...], row, number)
    }

    private func evaluate(
        _ path: ResolvedPath, steps: ArraySlice<ResolvedPath.Step>, _ row: RowView,
        _ number: ObjectNumber
    ) throws -> Outcome {
        guard let step = steps.first else { return try evaluate(path.end, row, number) }
        var outcome: Outcome = path.isSingle ? .one(.null) : .many([])
        guard let target = row.link(at: step.field.byteOffset) else {
            if case .collection(let collection) = path.end, collection.function == .count {
                return .one(.int(0))
            }
            return outcome
        }
        try reader.lendRow(target, in: step.hierarchy) { row in
            outcome = try evaluate(path, steps: steps.dropFirst(), row, target)
        }
        return outcome
    }

    private func evaluate(
        _ end: ResolvedPath.End, _ row: RowView, _ number: ObjectNumber
    ) throws -> Outcome {
        switch end {
        case .attribute(let field): return .one(try reader.value(field, of: row))
        case .object: return .one(.object(number))
        case .collection(let collection):
            let targets = try reader.linkedNumbers(collection.relationship, of: number)
            if collection.function == .count && collection.elements == nil {
                return .one(.int(Int64(targets.count)))
            }
            let values = try elements(collection, targets)
            guard let function = collection.function else { return .many(values) }
            return .one(Aggregate.value(function, of: values, isCollection: true))
        }
    }

    private func elements(
        _ collection: ResolvedPath.Collection, _ targets: [ObjectNumber]
    ) throws -> [Value] {
        guard let path = collection.elements?.path else { return targets.map { .object($0) } }
        var values: [Value] = []
        for target in targets {
            try reader.lendRow(target, in: collection.hierarchy) { row in
                values += try evaluate(path, row, target).values
            }
        }
        return values
    }

    private func evaluate(
        subquery collection: ResolvedOperand, _ variable: String, _ condition: ResolvedCondition,
        _ candidate: Candidate
    ) throws -> Outcome {
        var kept: [Value] = []
        var inner = self
        for value in try evaluate(collection, candidate).values {
            guard case .object(let number) = value else { continue }
            inner.variables[variable] = number
            if try inner.isTrue(condition, of: candidate) { kept.append(value) }
        }
        return .many(kept)
    }
}
