import Query
import RecordStore

// Conditions from key paths: `\.$age > 30`. The second type parameter is the class that declares
// the property, so that inherited properties are accepted too.

extension Where where O: CoreStoreObject {
    static func name<K: AnyKeyPathStringConvertible>(_ keyPath: KeyPath<O, K>) -> KeyPathString {
        KeyPathNames.shared.name(of: keyPath) {
            ClassMeta.object(O.self)[keyPath: keyPath].cs_keyPathString
        }
    }

    static func compare<K: AnyKeyPathStringConvertible, V: FieldStorableType>(
        _ keyPath: KeyPath<O, K>, _ operation: Comparison.Operation, _ value: V
    ) -> Where<O> {
        let name = name(keyPath)
        let value = ValueBridge.value(compared: value)
        return operation == .equal
            ? equality(name, value)
            : Where(condition: comparison(name, operation, .constant(value)))
    }

    static func compare<D: DynamicObject, K: AnyKeyPathStringConvertible>(
        _ keyPath: KeyPath<O, K>, object: D?
    ) -> Where<O> {
        Where(name(keyPath), isEqualTo: object)
    }

    /// The property has a value.
    public init<B: CoreStoreObject, V: FieldStorableType>(
        _ keyPath: KeyPath<O, FieldContainer<B>.Stored<V>>, isEqualTo value: V
    ) {
        self = Self.compare(keyPath, .equal, value)
    }

    /// The property is nil.
    @_disfavoredOverload
    public init<B: CoreStoreObject, V: FieldOptionalType>(
        _ keyPath: KeyPath<O, FieldContainer<B>.Stored<V>>, isEqualTo value: Void?
    ) {
        self = Self.equality(Self.name(keyPath), .null)
    }

    /// The property has one of these values.
    public init<B: CoreStoreObject, V: FieldStorableType, S: Sequence>(
        _ keyPath: KeyPath<O, FieldContainer<B>.Stored<V>>, isMemberOf list: S
    ) where S.Element == V {
        self.init(Self.name(keyPath), isMemberOf: list)
    }

    /// The relationship leads to this object; to none when it is nil.
    public init<B: CoreStoreObject, D: CoreStoreObject>(
        _ keyPath: KeyPath<O, FieldContainer<B>.Relationship<D?>>, isEqualTo object: D?
    ) {
        self = Self.compare(keyPath, object: object)
    }

    /// The relationship leads to the object with this ID.
    public init<B: CoreStoreObject, D: CoreStoreObject>(
        _ keyPath: KeyPath<O, FieldContainer<B>.Relationship<D?>>,
        isEqualTo objectID: NSManagedObjectID
    ) {
        self.init(Self.name(keyPath), isEqualTo: objectID)
    }

    /// The relationship leads to one of the objects with these IDs.
    public init<B: CoreStoreObject, D: CoreStoreObject, S: Sequence>(
        _ keyPath: KeyPath<O, FieldContainer<B>.Relationship<D?>>, isMemberOf objectIDs: S
    ) where S.Element == NSManagedObjectID {
        self.init(Self.name(keyPath), isMemberOf: objectIDs)
    }

    /// The relationship leads to one of these objects.
    public init<B: CoreStoreObject, D: CoreStoreObject, S: Sequence>(
        _ keyPath: KeyPath<O, FieldContainer<B>.Relationship<D?>>, isMemberOf objects: S
    ) where S.Element == D {
        self.init(Self.name(keyPath), isMemberOf: objects)
    }
}

/// The property has this value; none when it is nil.
public func == <O: CoreStoreObject, B: CoreStoreObject, V: FieldStorableType>(
    left: KeyPath<O, FieldContainer<B>.Stored<V>>, right: V
) -> Where<O> {
    Where.compare(left, .equal, right)
}

/// The property does not have this value. An object whose property is nil fulfils it too, unless
/// the value is nil.
public func != <O: CoreStoreObject, B: CoreStoreObject, V: FieldStorableType>(
    left: KeyPath<O, FieldContainer<B>.Stored<V>>, right: V
) -> Where<O> {
    !Where.compare(left, .equal, right)
}

/// The property is less than a value.
public func < <O: CoreStoreObject, B: CoreStoreObject, V: FieldStorableType & Comparable>(
    left: KeyPath<O, FieldContainer<B>.Stored<V>>, right: V
) -> Where<O> {
    Where.compare(left, .less, right)
}

/// The property is less than a value. False where either is nil.
public func < <O: CoreStoreObject, B: CoreStoreObject, V: FieldStorableType & FieldOptionalType>(
    left: KeyPath<O, FieldContainer<B>.Stored<V>>, right: V
) -> Where<O> where V.Wrapped: Comparable {
    Where.compare(left, .less, right)
}

/// The property is less than a value or equal to it.
public func <= <O: CoreStoreObject, B: CoreStoreObject, V: FieldStorableType & Comparable>(
    left: KeyPath<O, FieldContainer<B>.Stored<V>>, right: V
) -> Where<O> {
    Where.compare(left, .lessOrEqual, right)
}

/// The property is less than a value or equal to it. Nil is equal to nil alone.
public func <= <O: CoreStoreObject, B: CoreStoreObject, V: FieldStorableType & FieldOptionalType>(
    left: KeyPath<O, FieldContainer<B>.Stored<V>>, right: V
) -> Where<O> where V.Wrapped: Comparable {
    Where.compare(left, .lessOrEqual, right)
}

/// The property is greater than a value.
public func > <O: CoreStoreObject, B: CoreStoreObject, V: FieldStorableType & Comparable>(
    left: KeyPath<O, FieldContainer<B>.Stored<V>>, right: V
) -> Where<O> {
    Where.compare(left, .greater, right)
}

/// The property is greater than a value. False where either is nil.
public func > <O: CoreStoreObject, B: CoreStoreObject, V: FieldStorableType & FieldOptionalType>(
    left: KeyPath<O, FieldContainer<B>.Stored<V>>, right: V
) -> Where<O> where V.Wrapped: Comparable {
    Where.compare(left, .greater, right)
}

/// The property is greater than a value or equal to it.
public func >= <O: CoreStoreObject, B: CoreStoreObject, V: FieldStorableType & Comparable>(
    left: KeyPath<O, FieldContainer<B>.Stored<V>>, right: V
) -> Where<O> {
    Where.compare(left, .greaterOrEqual, right)
}

/// The property is greater than a value or equal to it. Nil is equal to nil alone.
public func >= <O: CoreStoreObject, B: CoreStoreObject, V: FieldStorableType & FieldOptionalType>(
    left: KeyPath<O, FieldContainer<B>.Stored<V>>, right: V
) -> Where<O> where V.Wrapped: Comparable {
    Where.compare(left, .greaterOrEqual, right)
}

/// The property has one of these values.
public func ~= <O: CoreStoreObject, B: CoreStoreObject, V: FieldStorableType, S: Sequence>(
    sequence: S, keyPath: KeyPath<O, FieldContainer<B>.Stored<V>>
) -> Where<O> where S.Element == V {
    Where(keyPath, isMemberOf: sequence)
}

/// The relationship leads to this object; to none when it is nil.
public func == <O: CoreStoreObject, B: CoreStoreObject, D: CoreStoreObject>(
    left: KeyPath<O, FieldContainer<B>.Relationship<D?>>, right: D?
) -> Where<O> {
    Where.compare(left, object: right)
}

/// The relationship does not lead to this object; to any when it is nil.
public func != <O: CoreStoreObject, B: CoreStoreObject, D: CoreStoreObject>(
    left: KeyPath<O, FieldContainer<B>.Relationship<D?>>, right: D?
) -> Where<O> {
    !Where.compare(left, object: right)
}

/// The relationship leads to one of these objects.
public func ~= <O: CoreStoreObject, B: CoreStoreObject, D: CoreStoreObject, S: Sequence>(
    sequence: S, keyPath: KeyPath<O, FieldContainer<B>.Relationship<D?>>
) -> Where<O> where S.Element == D {
    Where(keyPath, isMemberOf: sequence)
}

/// The relationship leads to the object that a publisher, a snapshot or a monitor stands for; to
/// none when that is nil.
public func == <
    O: CoreStoreObject, B: CoreStoreObject, D: CoreStoreObject, R: ObjectRepresentation
>(
    left: KeyPath<O, FieldContainer<B>.Relationship<D?>>, right: R?
) -> Where<O> where R.ObjectType == D {
    guard let right else { return Where.equality(Where.name(left), .null) }
    return Where(Where.name(left), isEqualTo: right.objectID())
}

/// The relationship does not lead to the object that a publisher, a snapshot or a monitor stands
/// for; to any when that is nil.
public func != <
    O: CoreStoreObject, B: CoreStoreObject, D: CoreStoreObject, R: ObjectRepresentation
>(
    left: KeyPath<O, FieldContainer<B>.Relationship<D?>>, right: R?
) -> Where<O> where R.ObjectType == D {
    !(left == right)
}
