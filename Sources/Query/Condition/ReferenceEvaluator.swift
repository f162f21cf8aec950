import RecordStore

/// The record that a condition is asked about.
struct Candidate {
    var number: ObjectNumber
    var row: RowView
    var entity: EntityLayout
}

/// What an operand gives.
enum Outcome {
    case one(Value)
    case many([Value])

    var values: [Value] {
        switch self {
        case .one(let value): [value]
        case .many(let values): values
        }
    }
}

/// The meaning of conditions, written to be obviously right: every other way of answering must
/// agree with it.
struct ReferenceEvaluator {
    let reader: RecordReader
    let resolver: PathResolver
    /// The elements that variables of subqueries stand for.
    private var variables: [String: (number: ObjectNumber, entity: EntityLayout)] = [:]

    init(_ reader: RecordReader) {
        self.reader = reader
        resolver = PathResolver(schema: reader.schema)
    }

    func isTrue(_ condition: Condition, of candidate: Candidate) throws -> Bool {
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

    private func isTrue(_ comparison: Comparison, of candidate: Candidate) throws -> Bool {
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

    func evaluate(_ operand: Operand, _ candidate: Candidate) throws -> Outcome {
        switch operand {
        case .constant(let value): return .one(value)
        case .list(let operands):
            return .many(try operands.flatMap { try evaluate($0, candidate).values })
        case .keyPath(let path):
            let resolved = try resolver.resolve(path, from: candidate.entity)
            return try evaluate(resolved, candidate.row, candidate.number)
        case .selfObject: return .one(.object(candidate.number))
        case .variable(let name, let path): return try evaluate(variable: name, path, candidate)
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
            return .one(try Functions.cast(try single(inner, candidate), type))
        }
    }

    private func single(_ operand: Operand, _ candidate: Candidate) throws -> Value {
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

    /// The value or values that a path leads to; nil in a to-one step gives nil.
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
        let nothing: Outcome = path.isSingle ? .one(.null) : .many([])
        guard let target = row.link(at: step.field.byteOffset) else {
            if case .collection(let collection) = path.end, collection.function == .count {
                return .one(.int(0))
            }
            return nothing
        }
        var outcome = nothing
        var failure: (any Error)?
        _ = try reader.withRow(target, in: step.hierarchy) { row in
            do {
                outcome = try evaluate(path, steps: steps.dropFirst(), row, target)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
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
        var failure: (any Error)?
        for target in targets {
            _ = try reader.withRow(target, in: collection.hierarchy) { row in
                do {
                    values += try evaluate(path, row, target).values
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
        }
        return values
    }

    // MARK: Subqueries

    private func evaluate(
        subquery operand: Operand, _ variable: String, _ condition: Condition,
        _ candidate: Candidate
    ) throws -> Outcome {
        let entity = try resolver.elementEntity(of: operand, candidate.entity) { name in
            variables[name]?.entity
        }
        var kept: [Value] = []
        for value in try evaluate(operand, candidate).values {
            guard case .object(let number) = value else { continue }
            var inner = self
            inner.variables[variable] = (number, entity)
            if try inner.isTrue(condition, of: candidate) { kept.append(value) }
        }
        return .many(kept)
    }

    private func evaluate(
        variable name: String, _ path: [String], _ candidate: Candidate
    ) throws -> Outcome {
        guard let element = variables[name] else {
            throw QueryError("the variable $\(name) has no value")
        }
        if path.isEmpty { return .one(.object(element.number)) }
        let resolved = try resolver.resolve(path, from: element.entity)
        var outcome = Outcome.one(.null)
        var failure: (any Error)?
        _ = try reader.withRow(element.number, in: element.entity.hierarchy) { row in
            do {
                outcome = try evaluate(resolved, row, element.number)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return outcome
    }
}
