import RecordStore

/// A condition whose names are resolved against a schema and whose shape is checked: the only form
/// that is planned, compiled and evaluated.
indirect enum ResolvedCondition: Sendable {
    case constant(Bool)
    case comparison(ResolvedComparison)
    /// Always true if empty.
    case and([ResolvedCondition])
    /// Always false if empty.
    case or([ResolvedCondition])
    case not(ResolvedCondition)
}

/// A class, so that plans and programs pass it on without copying.
final class ResolvedComparison: Sendable {
    let quantifier: Comparison.Quantifier
    let left: ResolvedOperand
    let operation: Comparison.Operation
    let right: ResolvedOperand
    let options: TextOptions

    init(
        _ left: ResolvedOperand, _ operation: Comparison.Operation, _ right: ResolvedOperand,
        options: TextOptions = [], quantifier: Comparison.Quantifier = .none
    ) {
        self.left = left
        self.operation = operation
        self.right = right
        self.options = options
        self.quantifier = quantifier
    }

    /// The path on the left of a comparison without a quantifier.
    var path: ResolvedPath? {
        guard quantifier == .none, case .path(let path) = left else { return nil }
        return path
    }
}

/// A side of a comparison.
indirect enum ResolvedOperand: Sendable {
    case constant(Value)
    /// A list of constants.
    case values([Value])
    case list([ResolvedOperand])
    case path(ResolvedPath)
    /// The record itself.
    case selfObject
    /// The object bound to a variable of a subquery.
    case variable(String)
    /// A path from that object; the hierarchy is that of its record.
    case variablePath(String, HierarchyID, ResolvedPath)
    case arithmetic(Operand.Arithmetic, ResolvedOperand, ResolvedOperand)
    case negated(ResolvedOperand)
    case function(String, [ResolvedOperand])
    case subquery(ResolvedOperand, variable: String, ResolvedCondition)
    case element(ResolvedOperand, Operand.ElementIndex)
    case ternary(ResolvedCondition, ResolvedOperand, ResolvedOperand)
    case cast(ResolvedOperand, Functions.CastType)
    /// Objects of another hierarchy than those that they are compared with. They equal none of
    /// these, although they may have the same numbers.
    case foreign(ResolvedOperand)

    /// The constants of a list that has only constants.
    var listedValues: [Value]? {
        guard case .values(let values) = self else { return nil }
        return values
    }
}

extension Value {
    /// An object that equals no stored one: numbers begin with 1.
    static let noObject = Value.object(ObjectNumber(0))
}
