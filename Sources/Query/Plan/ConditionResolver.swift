import Foundation
import RecordStore

/// Resolves the properties that a condition names, once, and rejects meaningless conditions before
/// the first record is read, so that an empty store and a full one give the same answer: unknown
/// names and variables, collections where one value is needed, and invalid patterns.
struct ConditionResolver {
    /// Whether an operand has one value or several for a record.
    private enum Shape {
        case one, many
    }

    private struct Side {
        var operand: ResolvedOperand
        var shape: Shape
        /// The hierarchy of the operand's objects; nil for values.
        var hierarchy: HierarchyID?
        /// Whether it is a list of which an element has several values.
        var hasCollections = false

        init(_ operand: ResolvedOperand, _ shape: Shape, objectsIn hierarchy: HierarchyID? = nil) {
            self.operand = operand
            self.shape = shape
            self.hierarchy = hierarchy
        }

        init(_ path: ResolvedPath) {
            self.init(.path(path), path.isSingle ? .one : .many, objectsIn: path.hierarchy)
        }
    }

    private let entity: EntityLayout
    private let store: StoreIdentity
    private let paths: PathResolver
    /// The entities of the elements bound to variables.
    private var variables: [String: EntityLayout] = [:]
    /// How many to-many relationships the SUBQUERYs around cross.
    private var crossingCount = 0

    init(_ entity: EntityLayout, _ paths: PathResolver, store: StoreIdentity) {
        self.entity = entity
        self.paths = paths
        self.store = store
    }

    func resolve(_ condition: Condition) throws(QueryError) -> ResolvedCondition {
        switch condition {
        case .constant(let flag): return .constant(flag)
        case .equality(let name, let value):
            return .comparison(
                try resolve(Comparison(.keyPath([name]), .equal, .constant(value))))
        case .comparison(let comparison): return .comparison(try resolve(comparison))
        case .and(let list): return .and(try resolve(list))
        case .or(let list): return .or(try resolve(list))
        case .not(let inner): return .not(try resolve(inner))
        case .unreadable(let error): throw error
        }
    }

    private func resolve(_ list: ConditionList) throws(QueryError) -> [ResolvedCondition] {
        var parts: [ResolvedCondition] = []
        parts.reserveCapacity(list.count)
        for part in list.parts { parts.append(try resolve(part)) }
        return parts
    }

    // MARK: Comparisons

    private func resolve(_ comparison: Comparison) throws(QueryError) -> ResolvedComparison {
        var (left, right) = try sides(comparison)
        if comparison.quantifier != .none {
            guard left.shape == .many else {
                throw QueryError(
                    "ANY, ALL and NONE apply to the elements of a to-many relationship, and "
                        + "“\(ConditionText.text(comparison.left))” has one value")
            }
            left.shape = .one
        }
        guard Self.fits(comparison, left.shape, right.shape) else {
            throw misfit(comparison, left.shape)
        }
        if comparison.operation == .between, right.hasCollections {
            throw QueryError(
                "a bound of “\(ConditionText.text(comparison.right))” has several values, and "
                    + "BETWEEN needs one")
        }
        if case .matches = comparison.operation, case .constant(let value) = comparison.right,
            let pattern = value.text
        {
            _ = try TextPattern.expression(pattern, comparison.options)
        }
        return ResolvedComparison(
            left.operand, comparison.operation, right.operand, options: comparison.options,
            quantifier: comparison.quantifier)
    }

    /// Both sides. Objects of another hierarchy than those on the other side are marked, because
    /// only numbers are compared.
    private func sides(
        _ comparison: Comparison
    ) throws(QueryError) -> (left: Side, right: Side) {
        if case .list = comparison.left {
            let right = try side(comparison.right)
            return (try side(comparison.left, with: right.hierarchy), right)
        }
        let left = try side(comparison.left)
        return (left, try side(comparison.right, with: left.hierarchy))
    }

    /// Whether `ValueComparison` defines the operation for one value or several on each side.
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
            return QueryError("IN needs a list, a to-many relationship or a text on its right")
        default: break
        }
        let side = left == .many ? comparison.left : comparison.right
        return QueryError(
            "“\(ConditionText.text(side))” has several values for \(entity.name): say ANY, ALL "
                + "or NONE before it, or compare its @count")
    }

    // MARK: Operands

    /// - Parameter hierarchy: the hierarchy of the objects that it is compared with, if any.
    private func side(
        _ operand: Operand, with hierarchy: HierarchyID? = nil
    ) throws(QueryError) -> Side {
        switch operand {
        case .list(let operands): return try list(operands, with: hierarchy)
        case .ternary(let condition, let yes, let no):
            return try ternary(condition, yes, no, with: hierarchy)
        case .object(let reference):
            let object = store.resolve(reference)
            let own = object.flatMap { paths.schema.entity(named: $0.entity) }?.hierarchy
            guard let object, let own, hierarchy == nil || own == hierarchy else {
                return Side(.constant(.noObject), .one, objectsIn: hierarchy)
            }
            return Side(.constant(.object(object.number)), .one, objectsIn: own)
        default:
            var side = try plainSide(operand)
            if let own = side.hierarchy, let hierarchy, own != hierarchy {
                side.operand = .foreign(side.operand)
            }
            return side
        }
    }

    private func plainSide(_ operand: Operand) throws(QueryError) -> Side {
        switch operand {
        case .constant(.object):
            throw QueryError("a condition names an object by its ID, not by its number alone")
        case .constant(let value): return Side(.constant(value), .one)
        case .selfObject: return Side(.selfObject, .one, objectsIn: entity.hierarchy)
        case .keyPath(let path): return Side(try bounded(paths.resolve(path, from: entity)))
        case .variable(let name, let path): return try variable(name, path)
        case .arithmetic(let operation, let left, let right):
            let (left, right) = (try single(left), try single(right))
            guard case .constant(let first) = left, case .constant(let second) = right else {
                return Side(.arithmetic(operation, left, right), .one)
            }
            return Side(.constant(Arithmetic.apply(operation, first, second)), .one)
        case .negated(let inner): return Side(.negated(try single(inner)), .one)
        case .cast(let inner, let name):
            guard let type = Functions.CastType(name: name) else {
                throw QueryError("CAST knows no type “\(name)”")
            }
            let operand = try single(inner)
            guard case .constant(let value) = operand else {
                return Side(.cast(operand, type), .one)
            }
            return Side(.constant(Functions.cast(value, type)), .one)
        // One time for all records.
        case .function("now", let operands) where operands.isEmpty:
            return Side(.constant(.date(Date().timeIntervalSinceReferenceDate)), .one)
        case .function(let name, let operands): return Side(try function(name, operands), .one)
        case .element(let inner, let index):
            let collection = try side(inner)
            guard collection.shape == .many else {
                throw QueryError(
                    "“\(ConditionText.text(inner))” has one value, so it has no elements")
            }
            let hierarchy = index == .size ? nil : collection.hierarchy
            return Side(.element(collection.operand, index), .one, objectsIn: hierarchy)
        case .subquery(let collection, let variable, let condition):
            return try subquery(collection, variable, condition)
        case .list, .ternary, .object: return try side(operand)
        }
    }

    /// Throws for a path that crosses too many to-many relationships, with the SUBQUERYs around it.
    private func bounded(_ path: ResolvedPath) throws(QueryError) -> ResolvedPath {
        guard crossingCount + path.crossingCount <= PathResolver.crossingCountMax else {
            throw PathResolver.tooManyCrossings
        }
        return path
    }

    private func single(_ operand: Operand) throws(QueryError) -> ResolvedOperand {
        let side = try side(operand)
        guard side.shape == .one else {
            throw QueryError(
                "“\(ConditionText.text(operand))” has several values, and a calculation needs one")
        }
        return side.operand
    }

    private func function(
        _ name: String, _ operands: [Operand]
    ) throws(QueryError) -> ResolvedOperand {
        var resolved: [ResolvedOperand] = []
        for operand in operands {
            let isCollecting = Functions.collecting.contains(name)
            resolved.append(isCollecting ? try side(operand).operand : try single(operand))
        }
        return .function(name, resolved)
    }

    private func list(
        _ operands: [Operand], with hierarchy: HierarchyID?
    ) throws(QueryError) -> Side {
        var sides: [Side] = []
        sides.reserveCapacity(operands.count)
        for operand in operands { sides.append(try side(operand, with: hierarchy)) }
        let own = sides.lazy.compactMap(\.hierarchy).first
        var values: [Value] = []
        values.reserveCapacity(operands.count)
        for side in sides {
            guard case .constant(let value) = side.operand else {
                var list = Side(.list(sides.map(\.operand)), .many, objectsIn: own)
                list.hasCollections = sides.contains { $0.shape == .many }
                return list
            }
            values.append(value)
        }
        return Side(.values(values), .many, objectsIn: own)
    }

    private func ternary(
        _ condition: Condition, _ yes: Operand, _ no: Operand, with hierarchy: HierarchyID?
    ) throws(QueryError) -> Side {
        let test = try resolve(condition)
        let (first, second) = (try side(yes, with: hierarchy), try side(no, with: hierarchy))
        guard first.shape == second.shape else {
            throw QueryError("TERNARY chooses between two values or between two collections")
        }
        guard
            hierarchy != nil || first.hierarchy == nil || second.hierarchy == nil
                || first.hierarchy == second.hierarchy
        else { throw QueryError("TERNARY chooses between objects of one hierarchy of entities") }
        return Side(
            .ternary(test, first.operand, second.operand), first.shape,
            objectsIn: hierarchy ?? first.hierarchy ?? second.hierarchy)
    }

    // MARK: Variables

    private func element(_ name: String) throws(QueryError) -> EntityLayout {
        guard let element = variables[name] else {
            throw QueryError("the variable $\(name) has no value")
        }
        return element
    }

    private func variable(_ name: String, _ path: [String]) throws(QueryError) -> Side {
        let element = try element(name)
        guard !path.isEmpty else {
            return Side(.variable(name), .one, objectsIn: element.hierarchy)
        }
        var side = Side(try bounded(paths.resolve(path, from: element)))
        if case .path(let path) = side.operand {
            side.operand = .variablePath(name, element.hierarchy, path)
        }
        return side
    }

    private func subquery(
        _ collection: Operand, _ variable: String, _ condition: Condition
    ) throws(QueryError) -> Side {
        let operand: ResolvedOperand
        let path: ResolvedPath
        switch collection {
        case .keyPath(let names):
            path = try paths.resolve(names, from: entity)
            operand = .path(path)
        case .variable(let name, let names):
            let element = try element(name)
            path = try paths.resolve(names, from: element)
            operand = .variablePath(name, element.hierarchy, path)
        default: throw QueryError("SUBQUERY begins with a to-many relationship")
        }
        let element = try paths.elementEntity(of: path, ConditionText.text(collection))
        var inner = self
        inner.variables[variable] = element
        inner.crossingCount += try bounded(path).crossingCount
        return Side(
            .subquery(operand, variable: variable, try inner.resolve(condition)), .many,
            objectsIn: element.hierarchy)
    }
}
