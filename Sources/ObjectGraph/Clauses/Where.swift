import Query
import RecordStore

/// A condition: `\.$age > 30 && \.$city == "Oslo"`, or a format: `Where("%K > %d", "age", 30)`.
///
/// Conditions are two-valued: `!=` and `!` also find objects whose property is nil. Texts are
/// equal when their UTF-8 bytes are.
public struct Where<O: DynamicObject>: WhereClauseType, Hashable, Sendable {
    public typealias ObjectType = O

    let condition: Condition

    init(condition: Condition) { self.condition = condition }

    /// Every object.
    public init() { self.init(true) }

    /// Every object, or none.
    public init(_ value: Bool) { self.init(condition: .constant(value)) }

    /// The condition itself, for code that is generic over clauses.
    public init(_ clause: Where<O>) { self = clause }

    /// The condition that a predicate states. With one that this library did not make, a block for
    /// one, every fetch throws.
    public init(_ predicate: NSPredicate) { self.init(condition: .stated(by: predicate)) }

    /// A condition in the predicate language. With one that cannot be read every fetch throws and
    /// logs `.internalError`, whose message describes the fault.
    public init(_ format: String, _ args: Any...) {
        self.init(format, argumentArray: args)
    }

    /// A condition in the predicate language, with its arguments in an array.
    public init(_ format: String, argumentArray: [Any]?) {
        self.init(condition: PredicateFormat.condition(format, argumentArray ?? []))
    }

    /// A condition of a class's properties: `Where<Dog> { $0.$age > 3 }`.
    public init(_ condition: (O) -> Where<O>) where O: CoreStoreObject {
        self = condition(ClassMeta.object(O.self))
    }

    // MARK: By name

    /// The property is nil.
    public init(_ keyPath: KeyPathString, isEqualTo value: Void?) {
        self = Self.equality(keyPath, .null)
    }

    /// The property has this value; none when it is nil.
    @_disfavoredOverload
    public init<U: QueryableAttributeType>(_ keyPath: KeyPathString, isEqualTo value: U?) {
        self.init(
            condition: Self.comparison(
                keyPath, .equal, value.map { .queryable($0) } ?? .constant(.null)))
    }

    /// The property has this value; none when it is nil.
    public init<V: FieldStorableType>(_ keyPath: KeyPathString, isEqualTo value: V) {
        self = Self.equality(keyPath, ValueBridge.value(compared: value))
    }

    /// The relationship leads to this object; to none when it is nil.
    public init<D: DynamicObject>(_ keyPath: KeyPathString, isEqualTo object: D?) {
        guard let object else {
            self = Self.equality(keyPath, .null)
            return
        }
        self.init(keyPath, isEqualTo: object.objectID())
    }

    /// The relationship leads to the object with this ID.
    public init(_ keyPath: KeyPathString, isEqualTo objectID: NSManagedObjectID) {
        self.init(condition: Self.comparison(keyPath, .equal, .object(objectID.reference)))
    }

    /// The property has one of these values; no value is in an empty list.
    @_disfavoredOverload
    public init<S: Sequence>(_ keyPath: KeyPathString, isMemberOf list: S)
    where S.Element: QueryableAttributeType {
        self.init(condition: Self.member(keyPath, list.map { .queryable($0) }))
    }

    /// The property has one of these values; no value is in an empty list.
    public init<S: Sequence>(_ keyPath: KeyPathString, isMemberOf list: S)
    where S.Element: FieldStorableType {
        self.init(
            condition: Self.member(
                keyPath, list.map { .constant(ValueBridge.value(compared: $0)) }))
    }

    /// The relationship leads to one of these objects; to none of an empty list.
    public init<S: Sequence>(_ keyPath: KeyPathString, isMemberOf list: S)
    where S.Element: DynamicObject {
        self.init(keyPath, isMemberOf: list.map { $0.objectID() })
    }

    /// The relationship leads to one of the objects with these IDs.
    public init<S: Sequence>(_ keyPath: KeyPathString, isMemberOf list: S)
    where S.Element == NSManagedObjectID {
        self.init(condition: Self.member(keyPath, list.map { .object($0.reference) }))
    }

    // MARK: As others see it

    /// The condition as a predicate, for code that takes one. Only a store can evaluate it.
    public var predicate: NSPredicate { ConditionPredicate(condition) }

    public func applyToFetchRequest<Result>(_ fetchRequest: NSFetchRequest<Result>) {
        if let known = fetchRequest.terms.request.condition, known != condition {
            Log.message(
                .warning, "a second Where clause replaces the first; combine them with && instead")
        }
        fetchRequest.terms.request.condition = condition
    }

    // MARK: Building

    static func equality(_ keyPath: KeyPathString, _ value: Value) -> Where<O> {
        Where(
            condition: hasSeveralSteps(keyPath)
                ? comparison(keyPath, .equal, .constant(value)) : .equality(keyPath, value))
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
        _ keyPath: KeyPathString, _ operation: Comparison.Operation, _ value: Operand
    ) -> Condition {
        .comparing(Comparison(.keyPath(path(keyPath)), operation, value))
    }

    static func member(_ keyPath: KeyPathString, _ values: [Operand]) -> Condition {
        .comparison(Comparison(.keyPath(path(keyPath)), .in, .list(values)))
    }

    // MARK: Logic

    /// Both conditions.
    public static func && (left: Where<O>, right: Where<O>) -> Where<O> {
        Where(condition: .both(left.condition, right.condition))
    }

    /// Either condition, or both.
    public static func || (left: Where<O>, right: Where<O>) -> Where<O> {
        Where(condition: .either(left.condition, right.condition))
    }

    /// Every object that does not fulfil the condition; those whose property is nil too.
    public static prefix func ! (clause: Where<O>) -> Where<O> {
        Where(condition: .negation(of: clause.condition))
    }
}

extension Operand {
    static func queryable<V: QueryableAttributeType>(_ value: V) -> Operand {
        if let id = value as? NSManagedObjectID { return .object(id.reference) }
        return .constant(ValueBridge.value(queryable: value))
    }
}

extension NSManagedObjectID {
    /// The object as a condition names it.
    var reference: ObjectReference {
        ObjectReference(
            storeID: storeID, entityName: storeEntity.name.entity, number: number,
            generation: storeEntity.name.generation)
    }
}

// MARK: Conditions of different classes

// A property that a class inherits makes a condition of the class that declares it. Joined with
// one of a class below, the result is a condition of whichever class is asked for.

/// Both conditions, one of a class and one of a class that it inherits from.
@_disfavoredOverload
public func && <L: DynamicObject, R: DynamicObject>(
    left: Where<L>, right: Where<R>
) -> Where<L> {
    left && Where<L>(condition: right.condition)
}

/// Both conditions, one of a class and one of a class that it inherits from.
@_disfavoredOverload
public func && <L: DynamicObject, R: DynamicObject>(
    left: Where<L>, right: Where<R>
) -> Where<R> {
    Where<R>(condition: left.condition) && right
}

/// Either condition, one of a class and one of a class that it inherits from.
@_disfavoredOverload
public func || <L: DynamicObject, R: DynamicObject>(
    left: Where<L>, right: Where<R>
) -> Where<L> {
    left || Where<L>(condition: right.condition)
}

/// Either condition, one of a class and one of a class that it inherits from.
@_disfavoredOverload
public func || <L: DynamicObject, R: DynamicObject>(
    left: Where<L>, right: Where<R>
) -> Where<R> {
    Where<R>(condition: left.condition) || right
}

infix operator &&? : LogicalConjunctionPrecedence
infix operator ||? : LogicalConjunctionPrecedence

/// Both conditions; one that is nil does not count.
public func &&? <O: DynamicObject>(left: Where<O>, right: Where<O>?) -> Where<O> {
    right.map { left && $0 } ?? left
}

/// Both conditions; one that is nil does not count.
public func &&? <O: DynamicObject>(left: Where<O>?, right: Where<O>) -> Where<O> {
    left.map { $0 && right } ?? right
}

/// Either condition; one that is nil does not count.
public func ||? <O: DynamicObject>(left: Where<O>, right: Where<O>?) -> Where<O> {
    right.map { left || $0 } ?? left
}

/// Either condition; one that is nil does not count.
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
