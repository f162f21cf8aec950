import Query
import RecordStore

/// A condition: `\.$age > 30 && \.$city == "Oslo"`, or a format: `Where("%K > %d", "age", 30)`.
///
/// Conditions are two-valued: `!=` and `!` also find objects whose property is nil. Texts are
/// equal when their UTF-8 bytes are.
public struct Where<O: DynamicObject>: WhereClauseType, Hashable, Sendable {
    public typealias ObjectType = O

    let condition: WhereCondition

    init(condition: Condition) { self.condition = .of(condition) }
    init(_ condition: WhereCondition) { self.condition = condition }

    /// Every object.
    public init() { self.init(true) }

    /// Every object, or none.
    public init(_ value: Bool) { self.init(condition: .constant(value)) }

    public init(_ clause: Where<O>) { self = clause }

    public init(_ predicate: NSPredicate) { self.init(WhereCondition.of(predicate)) }

    /// A condition in the predicate language. One that cannot be read is reported to the logger,
    /// and every fetch with it throws `.internalError` that says where it went wrong.
    public init(_ format: String, _ args: Any...) {
        self.init(format, argumentArray: args)
    }

    public init(_ format: String, argumentArray: [Any]?) {
        self.init(PredicateFormat.condition(format, argumentArray ?? []))
    }

    /// A condition of a class's properties: `Where<Dog> { $0.$age > 3 }`.
    public init(_ condition: (O) -> Where<O>) where O: CoreStoreObject {
        self = condition(ClassMeta.object(O.self))
    }

    // MARK: By name

    /// The property is nil.
    public init(_ keyPath: KeyPathString, isEqualTo value: Void?) {
        self.init(condition: Self.comparison(keyPath, .equal, .null))
    }

    @_disfavoredOverload
    public init<U: QueryableAttributeType>(_ keyPath: KeyPathString, isEqualTo value: U?) {
        if let id = value as? NSManagedObjectID {
            self.init(keyPath, isEqualTo: id)
            return
        }
        self.init(
            condition: Self.comparison(
                keyPath, .equal, value.map { ValueBridge.value(queryable: $0) } ?? .null))
    }

    public init<V: FieldStorableType>(_ keyPath: KeyPathString, isEqualTo value: V) {
        self.init(condition: Self.comparison(keyPath, .equal, ValueBridge.value(value)))
    }

    public init<D: DynamicObject>(_ keyPath: KeyPathString, isEqualTo object: D?) {
        guard let object else {
            self = Self.equality(keyPath, .null)
            return
        }
        self.init(keyPath, isEqualTo: object.objectID())
    }

    public init(_ keyPath: KeyPathString, isEqualTo objectID: NSManagedObjectID) {
        self.init(
            .naming(CollectionOfOne(objectID)) { Self.equality(keyPath, $0(objectID)).condition })
    }

    @_disfavoredOverload
    public init<S: Sequence>(_ keyPath: KeyPathString, isMemberOf list: S)
    where S.Element: QueryableAttributeType {
        self.init(condition: Self.member(keyPath, list.map { ValueBridge.value(queryable: $0) }))
    }

    public init<S: Sequence>(_ keyPath: KeyPathString, isMemberOf list: S)
    where S.Element: FieldStorableType {
        self.init(condition: Self.member(keyPath, list.map { ValueBridge.value($0) }))
    }

    public init<S: Sequence>(_ keyPath: KeyPathString, isMemberOf list: S)
    where S.Element: DynamicObject {
        self.init(keyPath, isMemberOf: list.map { $0.objectID() })
    }

    public init<S: Sequence>(_ keyPath: KeyPathString, isMemberOf list: S)
    where S.Element == NSManagedObjectID {
        self.init(.naming(list: Array(list)) { .of(Self.member(keyPath, $0)) })
    }

    // MARK: As others see it

    public var predicate: NSPredicate { ConditionPredicate(condition) }

    public func applyToFetchRequest<Result>(_ fetchRequest: NSFetchRequest<Result>) {
        if let known = fetchRequest.terms.condition, known != condition {
            Log.message(
                .warning, "a second Where clause replaces the first; combine them with && instead")
        }
        fetchRequest.terms.condition = condition
    }

    // MARK: Building

    static func equality(_ keyPath: KeyPathString, _ value: Value) -> Where<O> {
        hasSeveralSteps(keyPath)
            ? Where(condition: comparison(keyPath, .equal, value))
            : Where(WhereCondition.equality(keyPath, value))
    }

    private static func hasSeveralSteps(_ keyPath: KeyPathString) -> Bool {
        let bytes = keyPath.utf8.span
        for index in bytes.indices where bytes[index] == UInt8(ascii: ".") { return true }
        return false
    }

    static func path(_ keyPath: KeyPathString) -> [String] {
        hasSeveralSteps(keyPath)
            ? keyPath.split(separator: ".").map(String.init) : [keyPath]
    }

    static func comparison(
        _ keyPath: KeyPathString, _ operation: Comparison.Operation, _ value: Value
    ) -> Condition {
        .comparison(Comparison(.keyPath(path(keyPath)), operation, .constant(value)))
    }

    static func member(_ keyPath: KeyPathString, _ values: [Value]) -> Condition {
        .comparison(
            Comparison(.keyPath(path(keyPath)), .in, .list(values.map { .constant($0) })))
    }

    // MARK: Logic

    public static func && (left: Where<O>, right: Where<O>) -> Where<O> {
        Where(WhereCondition.combine([left.condition, right.condition], Self.and))
    }

    public static func || (left: Where<O>, right: Where<O>) -> Where<O> {
        Where(WhereCondition.combine([left.condition, right.condition], Self.or))
    }

    public static prefix func ! (clause: Where<O>) -> Where<O> {
        Where(WhereCondition.combine([clause.condition]) { .not($0[0]) })
    }

    /// Long chains become one list, so that they print and run flat.
    private static func and(_ parts: [Condition]) -> Condition {
        .and(
            parts.flatMap { part -> [Condition] in
                if case .and(let inner) = part { inner } else { [part] }
            })
    }

    private static func or(_ parts: [Condition]) -> Condition {
        .or(
            parts.flatMap { part -> [Condition] in
                if case .or(let inner) = part { inner } else { [part] }
            })
    }
}

// MARK: Conditions of different classes

// A property that a class inherits makes a condition of the class that declares it. Joined with
// one of a class below, the result is a condition of whichever class is asked for.

@_disfavoredOverload
public func && <L: DynamicObject, R: DynamicObject>(
    left: Where<L>, right: Where<R>
) -> Where<L> {
    left && Where<L>(right.condition)
}

@_disfavoredOverload
public func && <L: DynamicObject, R: DynamicObject>(
    left: Where<L>, right: Where<R>
) -> Where<R> {
    Where<R>(left.condition) && right
}

@_disfavoredOverload
public func || <L: DynamicObject, R: DynamicObject>(
    left: Where<L>, right: Where<R>
) -> Where<L> {
    left || Where<L>(right.condition)
}

@_disfavoredOverload
public func || <L: DynamicObject, R: DynamicObject>(
    left: Where<L>, right: Where<R>
) -> Where<R> {
    Where<R>(left.condition) || right
}

infix operator &&? : LogicalConjunctionPrecedence
infix operator ||? : LogicalConjunctionPrecedence

/// Both conditions; one that is nil does not count.
public func &&? <O: DynamicObject>(left: Where<O>, right: Where<O>?) -> Where<O> {
    right.map { left && $0 } ?? left
}

public func &&? <O: DynamicObject>(left: Where<O>?, right: Where<O>) -> Where<O> {
    left.map { $0 && right } ?? right
}

/// Either condition; one that is nil does not count.
public func ||? <O: DynamicObject>(left: Where<O>, right: Where<O>?) -> Where<O> {
    right.map { left || $0 } ?? left
}

public func ||? <O: DynamicObject>(left: Where<O>?, right: Where<O>) -> Where<O> {
    left.map { $0 || right } ?? right
}

extension Sequence {
    /// All conditions at once; none is always true.
    public func combinedByAnd<O>() -> Where<O> where Element == Where<O> {
        reduce(nil as Where<O>?) { $0 &&? $1 } ?? Where(true)
    }

    /// Any of the conditions; none is never true.
    public func combinedByOr<O>() -> Where<O> where Element == Where<O> {
        reduce(nil as Where<O>?) { $0 ||? $1 } ?? Where(false)
    }
}
