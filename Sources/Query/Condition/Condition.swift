import RecordStore

/// The condition of a request on a record. It is two-valued: true or false of every record, also
/// where a property is nil.
package enum Condition: Hashable, Sendable {
    case constant(Bool)
    /// The property of this name equals a value: the most frequent condition, without the two boxes
    /// of a comparison. ``comparing(_:)`` chooses it, so that equal conditions are equal however
    /// they were stated.
    case equality(String, Value)
    case comparison(Comparison)
    /// True of everything when empty.
    case and(ConditionList)
    /// True of nothing when empty.
    case or(ConditionList)
    indirect case not(Condition)
    /// A condition that could not be read; a query with it throws the error.
    case unreadable(QueryError)

    /// How deep AND, OR and NOT may stand in each other. Walking a condition, and freeing it, take
    /// stack in proportion.
    package static let depthMax = 200

    /// How deep AND, OR and NOT stand in each other here.
    package var depth: Int {
        switch self {
        case .constant, .equality, .comparison, .unreadable: 0
        case .and(let list), .or(let list): list.depth + 1
        case .not(let inner): inner.depth + 1
        }
    }

    package static func comparing(_ comparison: Comparison) -> Condition {
        guard comparison.operation == .equal, comparison.quantifier == .none,
            comparison.options.isEmpty, case .keyPath(let path) = comparison.left,
            path.count == 1, case .constant(let value) = comparison.right
        else { return .comparison(comparison) }
        return .equality(path[0], value)
    }

    // MARK: Logic

    /// Both conditions. A chain becomes one list, so that it prints and runs flat.
    package static func both(_ left: Condition, _ right: Condition) -> Condition {
        join(left, right) {
            $0.conjuncts + $1.conjuncts
        } as: {
            .and($0)
        }
    }

    /// One of the conditions at least; a chain becomes one list.
    package static func either(_ left: Condition, _ right: Condition) -> Condition {
        join(left, right) {
            $0.disjuncts + $1.disjuncts
        } as: {
            .or($0)
        }
    }

    package static func negation(of condition: Condition) -> Condition {
        if case .unreadable = condition { return condition }
        return Condition.not(condition).bounded
    }

    private static func join(
        _ left: Condition, _ right: Condition,
        _ list: (Condition, Condition) -> ConditionList, as make: (ConditionList) -> Condition
    ) -> Condition {
        if case .unreadable = left { return left }
        if case .unreadable = right { return right }
        return make(list(left, right)).bounded
    }

    /// The condition, unless it is nested too deeply.
    package var bounded: Condition { depth > Self.depthMax ? .tooDeep : self }

    package static let tooDeep = Condition.unreadable(
        QueryError("AND, OR and NOT stand in each other more than \(depthMax) deep"))

    private var conjuncts: ConditionList {
        if case .and(let list) = self { list } else { [self] }
    }

    private var disjuncts: ConditionList {
        if case .or(let list) = self { list } else { [self] }
    }
}

/// One comparison of two operands.
package struct Comparison: Hashable, Sendable {
    package enum Operation: String, Hashable, Sendable, CaseIterable {
        case equal = "=="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        case between = "BETWEEN"
        case `in` = "IN"
        case contains = "CONTAINS"
        case beginsWith = "BEGINSWITH"
        case endsWith = "ENDSWITH"
        case like = "LIKE"
        case matches = "MATCHES"

        /// Whether NOT may stand before the operator itself.
        var isWord: Bool { rawValue.first?.isLetter == true }
    }

    /// How the elements of a to-many on the left are asked.
    package enum Quantifier: Hashable, Sendable {
        case none, any, all, noneOf
    }

    package var quantifier: Quantifier
    package var left: Operand
    package var operation: Operation
    package var right: Operand
    package var options: TextOptions

    package init(
        _ left: Operand, _ operation: Operation, _ right: Operand, options: TextOptions = [],
        quantifier: Quantifier = .none
    ) {
        self.left = left
        self.operation = operation
        self.right = right
        self.options = options
        self.quantifier = quantifier
    }
}

/// The differences that a comparison of texts ignores.
package struct TextOptions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let caseInsensitive = TextOptions(rawValue: 1)
    package static let diacriticInsensitive = TextOptions(rawValue: 2)
    /// By bytes, whatever else is said.
    package static let normalized = TextOptions(rawValue: 4)
    package static let widthInsensitive = TextOptions(rawValue: 8)
    package static let localized = TextOptions(rawValue: 16)
}

/// A side of a comparison.
package indirect enum Operand: Hashable, Sendable {
    package enum Arithmetic: String, Hashable, Sendable {
        case add = "+"
        case subtract = "-"
        case multiply = "*"
        case divide = "/"
        case power = "**"
        case bitAnd = "&"
        case bitOr = "|"
        case bitXor = "^"
        case leftShift = "<<"
        case rightShift = ">>"

        /// The higher binds tighter.
        var precedence: Int {
            switch self {
            case .bitOr: 0
            case .bitXor: 1
            case .bitAnd: 2
            case .leftShift, .rightShift: 3
            case .add, .subtract: 4
            case .multiply, .divide: 5
            case .power: 6
            }
        }
    }

    package enum ElementIndex: Hashable, Sendable {
        case first, last, size
        case at(Int)
    }

    case constant(Value)
    /// The object that an ID names.
    case object(ObjectReference)
    case list([Operand])
    /// Property names from the record on; `@count` and its like are segments.
    case keyPath([String])
    /// The record itself.
    case selfObject
    case arithmetic(Arithmetic, Operand, Operand)
    case negated(Operand)
    case function(String, [Operand])
    /// The elements of a to-many that fulfil a condition in which the variable names the element.
    /// The collection is a path, of the record or of the variable of a subquery around this one.
    case subquery(Operand, variable: String, Condition)
    /// A variable, and a path from the object that it stands for.
    case variable(String, [String])
    case element(Operand, ElementIndex)
    case ternary(Condition, Operand, Operand)
    case cast(Operand, String)
}

extension Operand {
    /// The operand with a minus before it: of a constant the negative constant.
    var negation: Operand {
        guard case .constant(let value) = self else { return .negated(self) }
        switch value {
        // The one whole number that has a sign in 64 bits and no positive peer, both ways.
        case .int(.min): return .constant(.uint(1 << 63))
        case .uint(1 << 63): return .constant(.int(.min))
        case .int(let number): return .constant(.int(0 &- number))
        case .uint(let number): return .constant(.double(-Double(number)))
        case .double(let number): return .constant(.double(-number))
        default: return .negated(self)
        }
    }
}

/// The fault of a condition or a query: a sentence for the person who wrote it.
package struct QueryError: Error, Hashable, Sendable, CustomStringConvertible {
    package var message: String

    package init(_ message: String) { self.message = message }

    package var description: String { message }
}
