import RecordStore

/// The condition of a request on a record. It is two-valued: true or false for every record, even
/// if a property is nil.
package enum Condition: Hashable, Sendable {
    case constant(Bool)
    /// The property of this name equals a value: the most frequent condition, without the two boxes
    /// of a comparison. ``comparing(_:)`` chooses it, so that equal conditions compare equal
    /// however they were written.
    case equality(String, Value)
    case comparison(Comparison)
    /// Always true if empty.
    case and(ConditionList)
    /// Always false if empty.
    case or(ConditionList)
    indirect case not(Condition)
    /// A condition that could not be parsed; a query with it throws the error.
    case unreadable(QueryError)

    /// The maximum nesting depth of AND, OR and NOT. Walking a condition, and freeing it, use stack
    /// in proportion.
    package static let depthMax = 200

    /// The nesting depth of AND, OR and NOT.
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

    /// Both conditions. A chain becomes one list, so that it is printed and evaluated flat.
    package static func both(_ left: Condition, _ right: Condition) -> Condition {
        join(left, right) {
            $0.conjuncts + $1.conjuncts
        } as: {
            .and($0)
        }
    }

    /// At least one of the conditions; a chain becomes one list.
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

    /// The condition, or ``tooDeep`` if it is nested too deeply.
    package var bounded: Condition { depth > Self.depthMax ? .tooDeep : self }

    package static let tooDeep = Condition.unreadable(
        QueryError("AND, OR and NOT are nested more than \(depthMax) deep"))

    private var conjuncts: ConditionList {
        if case .and(let list) = self { list } else { [self] }
    }

    private var disjuncts: ConditionList {
        if case .or(let list) = self { list } else { [self] }
    }
}

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

    /// How a comparison applies to the elements of a to-many on the left.
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
    /// Compares by bytes, and overrides the other options.
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
    /// Property names starting at the record; `@count` and the like are segments.
    case keyPath([String])
    /// The record itself.
    case selfObject
    case arithmetic(Arithmetic, Operand, Operand)
    case negated(Operand)
    case function(String, [Operand])
    /// The elements of a to-many that fulfil a condition, in which the variable names the element.
    /// The collection is a path of the record, or of the variable of an enclosing subquery.
    case subquery(Operand, variable: String, Condition)
    /// A variable, and a path from the object that it stands for.
    case variable(String, [String])
    case element(Operand, ElementIndex)
    case ternary(Condition, Operand, Operand)
    case cast(Operand, String)
}

extension Operand {
    /// Equal operands give the same result everywhere: constants are compared with their kinds,
    /// which calculations tell apart (`7 / 2` is 3, and `7 / 2.0` is 3.5).
    package static func == (left: Operand, right: Operand) -> Bool {
        switch (left, right) {
        case (.constant(let left), .constant(let right)): left.isIdentical(to: right)
        case (.object(let left), .object(let right)): left == right
        case (.list(let left), .list(let right)): left == right
        case (.keyPath(let left), .keyPath(let right)): left == right
        case (.selfObject, .selfObject): true
        case (.arithmetic(let first, let a, let b), .arithmetic(let second, let c, let d)):
            first == second && a == c && b == d
        case (.negated(let left), .negated(let right)): left == right
        case (.function(let first, let left), .function(let second, let right)):
            first == second && left == right
        case (.subquery(let left, let a, let first), .subquery(let right, let b, let second)):
            left == right && a == b && first == second
        case (.variable(let a, let left), .variable(let b, let right)): a == b && left == right
        case (.element(let left, let first), .element(let right, let second)):
            left == right && first == second
        case (.ternary(let first, let a, let b), .ternary(let second, let c, let d)):
            first == second && a == c && b == d
        case (.cast(let left, let first), .cast(let right, let second)):
            left == right && first == second
        default: false
        }
    }
}

extension Operand {
    /// The negated operand; a constant is negated at once.
    var negation: Operand {
        guard case .constant(let value) = self else { return .negated(self) }
        switch value {
        // 2⁶³ and -2⁶³ are each other's negatives, in different types.
        case .int(.min): return .constant(.uint(1 << 63))
        case .uint(1 << 63): return .constant(.int(.min))
        case .int(let number): return .constant(.int(0 &- number))
        case .uint(let number): return .constant(.double(-Double(number)))
        case .double(let number): return .constant(.double(-number))
        default: return .negated(self)
        }
    }
}

/// An error in a condition or a query, worded for the person who wrote it.
package struct QueryError: Error, Hashable, Sendable, CustomStringConvertible {
    package var message: String

    package init(_ message: String) { self.message = message }

    package var description: String { message }
}
