// Conditions by the classes for properties, other than comparisons: `["a", "b"] ~= \.name`,
// `\.master == person`.

// An optional property is a member of a list of values, and of a list of values and nil.

/// The property has one of these values.
public func ~= <
    O: CoreStoreObject, B: CoreStoreObject, V: ImportableAttributeType & FieldStorableType,
    S: Sequence
>(
    sequence: S, keyPath: KeyPath<O, ValueContainer<B>.Required<V>>
) -> Where<O> where S.Element == V {
    Where(keyPath, isMemberOf: sequence)
}

/// The property has one of these values.
public func ~= <
    O: CoreStoreObject, B: CoreStoreObject, V: ImportableAttributeType & FieldStorableType,
    S: Sequence
>(
    sequence: S, keyPath: KeyPath<O, ValueContainer<B>.Optional<V>>
) -> Where<O> where S.Element == V {
    Where(keyPath, isMemberOf: sequence)
}

/// The property has one of these values, or is nil where that is among them.
@_disfavoredOverload
public func ~= <
    O: CoreStoreObject, B: CoreStoreObject, V: ImportableAttributeType & FieldStorableType,
    S: Sequence
>(
    sequence: S, keyPath: KeyPath<O, ValueContainer<B>.Optional<V>>
) -> Where<O> where S.Element == V? {
    Where(keyPath, isMemberOf: sequence)
}

/// The relationship leads to this object; to none when it is nil.
public func == <O: CoreStoreObject, B: CoreStoreObject, D: CoreStoreObject>(
    left: KeyPath<O, RelationshipContainer<B>.ToOne<D>>, right: D?
) -> Where<O> {
    Where.compare(left, object: right)
}

/// The relationship does not lead to this object; to any when it is nil.
public func != <O: CoreStoreObject, B: CoreStoreObject, D: CoreStoreObject>(
    left: KeyPath<O, RelationshipContainer<B>.ToOne<D>>, right: D?
) -> Where<O> {
    !Where.compare(left, object: right)
}

/// The relationship leads to one of these objects.
public func ~= <O: CoreStoreObject, B: CoreStoreObject, D: CoreStoreObject, S: Sequence>(
    sequence: S, keyPath: KeyPath<O, RelationshipContainer<B>.ToOne<D>>
) -> Where<O> where S.Element == D {
    Where(keyPath, isMemberOf: sequence)
}

/// The relationship leads to the object that a publisher, a snapshot or a monitor stands for; to
/// none when that is nil.
public func == <
    O: CoreStoreObject, B: CoreStoreObject, D: CoreStoreObject, R: ObjectRepresentation
>(
    left: KeyPath<O, RelationshipContainer<B>.ToOne<D>>, right: R?
) -> Where<O> where R.ObjectType == D {
    guard let right else { return Where.equality(Where.name(left), .null) }
    return Where(left, isEqualTo: right.objectID())
}

/// The relationship does not lead to the object that a publisher, a snapshot or a monitor stands
/// for; to any when that is nil.
public func != <
    O: CoreStoreObject, B: CoreStoreObject, D: CoreStoreObject, R: ObjectRepresentation
>(
    left: KeyPath<O, RelationshipContainer<B>.ToOne<D>>, right: R?
) -> Where<O> where R.ObjectType == D {
    !(left == right)
}

extension Where where O: CoreStoreObject {
    /// The property has this value; none when it is nil.
    public init<A: LegacyAttribute>(
        _ keyPath: KeyPath<O, A>, isEqualTo value: A.ReturnValueType
    ) {
        self = Self.compare(keyPath, .equal, value)
    }

    /// The property has one of these values.
    public init<
        B: CoreStoreObject, V: ImportableAttributeType & FieldStorableType, S: Sequence
    >(
        _ keyPath: KeyPath<O, ValueContainer<B>.Required<V>>, isMemberOf list: S
    ) where S.Element == V {
        self.init(Self.name(keyPath), isMemberOf: list)
    }

    /// The property has one of these values.
    public init<
        B: CoreStoreObject, V: ImportableAttributeType & FieldStorableType, S: Sequence
    >(
        _ keyPath: KeyPath<O, ValueContainer<B>.Optional<V>>, isMemberOf list: S
    ) where S.Element == V {
        self.init(Self.name(keyPath), isMemberOf: list)
    }

    /// The property has one of these values, or is nil where that is among them.
    @_disfavoredOverload
    public init<
        B: CoreStoreObject, V: ImportableAttributeType & FieldStorableType, S: Sequence
    >(
        _ keyPath: KeyPath<O, ValueContainer<B>.Optional<V>>, isMemberOf list: S
    ) where S.Element == V? {
        self.init(Self.name(keyPath), isMemberOf: list)
    }

    /// The relationship leads to this object; to none when it is nil.
    public init<B: CoreStoreObject, D: CoreStoreObject>(
        _ keyPath: KeyPath<O, RelationshipContainer<B>.ToOne<D>>, isEqualTo object: D?
    ) {
        self = Self.compare(keyPath, object: object)
    }

    /// The relationship leads to the object with this ID.
    public init<B: CoreStoreObject, D: CoreStoreObject>(
        _ keyPath: KeyPath<O, RelationshipContainer<B>.ToOne<D>>,
        isEqualTo objectID: NSManagedObjectID
    ) {
        self.init(Self.name(keyPath), isEqualTo: objectID)
    }

    /// The relationship leads to one of these objects.
    public init<B: CoreStoreObject, D: CoreStoreObject, S: Sequence>(
        _ keyPath: KeyPath<O, RelationshipContainer<B>.ToOne<D>>, isMemberOf objects: S
    ) where S.Element == D {
        self.init(Self.name(keyPath), isMemberOf: objects)
    }

    /// The relationship leads to one of the objects with these IDs.
    public init<B: CoreStoreObject, D: CoreStoreObject, S: Sequence>(
        _ keyPath: KeyPath<O, RelationshipContainer<B>.ToOne<D>>, isMemberOf objectIDs: S
    ) where S.Element == NSManagedObjectID {
        self.init(Self.name(keyPath), isMemberOf: objectIDs)
    }
}

// Conditions in closures: `Where<Dog> { [me, you] ~= $0.master }`.
extension ValueContainer.Required {
    /// The property has one of these values.
    public static func ~= <Result: CoreStoreObject, S: Sequence>(
        sequence: S, property: ValueContainer<O>.Required<V>
    ) -> Where<Result> where S.Element == V {
        Where(property.cs_keyPathString, isMemberOf: sequence)
    }
}

extension ValueContainer.Optional {
    /// The property has one of these values.
    public static func ~= <Result: CoreStoreObject, S: Sequence>(
        sequence: S, property: ValueContainer<O>.Optional<V>
    ) -> Where<Result> where S.Element == V {
        Where(property.cs_keyPathString, isMemberOf: sequence)
    }

    /// The property has one of these values, or is nil where that is among them.
    @_disfavoredOverload
    public static func ~= <Result: CoreStoreObject, S: Sequence>(
        sequence: S, property: ValueContainer<O>.Optional<V>
    ) -> Where<Result> where S.Element == V? {
        Where(property.cs_keyPathString, isMemberOf: sequence)
    }
}

extension RelationshipContainer.ToOne {
    /// The relationship leads to this object; to none when it is nil.
    public static func == <Result: CoreStoreObject>(
        relationship: RelationshipContainer<O>.ToOne<D>, object: D?
    ) -> Where<Result> {
        Where(relationship.cs_keyPathString, isEqualTo: object)
    }

    /// The relationship does not lead to this object; to any when it is nil.
    public static func != <Result: CoreStoreObject>(
        relationship: RelationshipContainer<O>.ToOne<D>, object: D?
    ) -> Where<Result> {
        !Where(relationship.cs_keyPathString, isEqualTo: object)
    }

    /// The relationship leads to one of these objects.
    public static func ~= <Result: CoreStoreObject, S: Sequence>(
        sequence: S, relationship: RelationshipContainer<O>.ToOne<D>
    ) -> Where<Result> where S.Element == D {
        Where(relationship.cs_keyPathString, isMemberOf: sequence)
    }
}
