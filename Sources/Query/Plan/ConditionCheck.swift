import RecordStore

/// Finds what is wrong with a condition before the first record is read, so that an empty store
/// and a full one give the same answer: unknown names and variables, collections where one value
/// belongs, and patterns that are none.
struct ConditionCheck {
    /// What a record gives for an operand.
    private enum Shape {
        case one, many
    }

    private let entity: EntityLayout
    private let resolver: PathResolver
    /// The entities of the elements that variables stand for.
    private var variables: [String: EntityLayout] = [:]

    init(_ entity: EntityLayout, _ schema: Schema) {
        self.entity = entity
        resolver = PathResolver(schema: schema)
    }

    func check(_ condition: Condition) throws {
        switch condition {
        case .constant: break
        case .and(let parts), .or(let parts): try parts.forEach(check)
        case .not(let inner): try check(inner)
        case .comparison(let comparison): try check(comparison)
        }
    }

    // MARK: Comparisons

    private func check(_ comparison: Comparison) throws {
        var left = try shape(comparison.left)
        let right = try shape(comparison.right)
        if comparison.quantifier != .none {
            guard left == .many else {
                throw QueryError(
                    "ANY, ALL and NONE ask the elements of a to-many relationship, and "
                        + "“\(ConditionText.text(comparison.left))” has one value")
            }
            left = .one
        }
        guard Self.fits(comparison, left, right) else { throw misfit(comparison, left) }
        if case .matches = comparison.operation, case .constant(let value) = comparison.right,
            let pattern = value.text
        {
            _ = try TextPattern.expression(pattern, comparison.options)
        }
    }

    /// Whether the operation has a meaning for one value or several on its sides: those that
    /// `ValueComparison` answers.
    private static func fits(_ comparison: Comparison, _ left: Shape, _ right: Shape) -> Bool {
        switch (comparison.operation, left, right) {
        case (.between, .one, .many):
            if case .list(let bounds) = comparison.right { return bounds.count == 2 }
            return false
        case (.between, _, _): return false
        case (.in, .one, .one):
            if case .constant(let value) = comparison.right {
                return value.isNull || value.text != nil
            }
            return true
        case (_, .one, .one), (.in, .one, .many), (.contains, .many, .one): return true
        case (.equal, .many, .one), (.notEqual, .many, .one):
            return comparison.right == .constant(.null)
        case (.equal, .one, .many), (.notEqual, .one, .many):
            return comparison.left == .constant(.null)
        default: return false
        }
    }

    private func misfit(_ comparison: Comparison, _ left: Shape) -> QueryError {
        switch comparison.operation {
        case .between: return QueryError("BETWEEN needs exactly two bounds")
        case .in where left == .one:
            return QueryError("IN needs a list, a to-many relationship or a text behind it")
        default: break
        }
        let side = left == .many ? comparison.left : comparison.right
        return QueryError(
            "“\(ConditionText.text(side))” has several values for \(entity.name): say ANY, ALL "
                + "or NONE before it, or compare its @count")
    }

    // MARK: Operands

    private func shape(_ operand: Operand) throws -> Shape {
        switch operand {
        case .constant, .selfObject: return .one
        case .keyPath(let path):
            return try resolver.resolve(path, from: entity).isSingle ? .one : .many
        case .variable(let name, let path): return try shape(variable: name, path)
        case .list(let operands):
            for operand in operands { _ = try shape(operand) }
            return .many
        case .arithmetic(_, let left, let right):
            try single(left)
            try single(right)
            return .one
        case .negated(let inner): return try one(inner)
        case .cast(let inner, let type):
            guard Functions.CastType(name: type) != nil else {
                throw QueryError("CAST knows no type “\(type)”")
            }
            return try one(inner)
        case .function(let name, let operands):
            for operand in operands {
                if Functions.collecting.contains(name) {
                    _ = try shape(operand)
                } else {
                    try single(operand)
                }
            }
            return .one
        case .element(let inner, _):
            guard try shape(inner) == .many else {
                throw QueryError(
                    "“\(ConditionText.text(inner))” has one value, so it has no elements")
            }
            return .one
        case .subquery(let collection, let variable, let condition):
            var inner = self
            inner.variables[variable] = try resolver.elementEntity(of: collection, entity) {
                variables[$0]
            }
            try inner.check(condition)
            return .many
        case .ternary(let condition, let yes, let no):
            try check(condition)
            let shape = try shape(yes)
            guard try self.shape(no) == shape else {
                throw QueryError("TERNARY chooses between two values or between two collections")
            }
            return shape
        }
    }

    private func one(_ operand: Operand) throws -> Shape {
        try single(operand)
        return .one
    }

    private func single(_ operand: Operand) throws {
        guard try shape(operand) == .one else {
            throw QueryError(
                "“\(ConditionText.text(operand))” has several values, and a calculation needs one")
        }
    }

    private func shape(variable name: String, _ path: [String]) throws -> Shape {
        guard let element = variables[name] else {
            throw QueryError("the variable $\(name) has no value")
        }
        return try resolver.resolve(path, from: element).isSingle ? .one : .many
    }
}

extension PathResolver {
    /// The entity of the objects that a subquery asks.
    func elementEntity(
        of collection: Operand, _ entity: EntityLayout, variable: (String) -> EntityLayout?
    ) throws -> EntityLayout {
        let path: ResolvedPath
        switch collection {
        case .keyPath(let names): path = try resolve(names, from: entity)
        case .variable(let name, let names):
            guard let element = variable(name) else {
                throw QueryError("the variable $\(name) has no value")
            }
            path = try resolve(names, from: element)
        default: throw QueryError("SUBQUERY begins with a to-many relationship")
        }
        guard !path.isSingle, let element = path.elementEntity(in: schema) else {
            throw QueryError(
                "SUBQUERY needs a to-many relationship, and “\(ConditionText.text(collection))” "
                    + "is none")
        }
        return element
    }
}
