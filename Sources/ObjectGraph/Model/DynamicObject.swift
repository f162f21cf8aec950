/// The protocol of all classes of objects. ``CoreStoreObject`` is the only base class.
public protocol DynamicObject: AnyObject, SendableMetatype {
    /// The identity of an object in every context.
    typealias ObjectID = NSManagedObjectID

    /// The object's identity, which never changes.
    func objectID() -> ObjectID
}

extension DynamicObject where Self: CoreStoreObject {
    /// The property wrappers of the class: `@Field.Stored`, `@Field.Coded`, `@Field.Virtual` and
    /// `@Field.Relationship`.
    public typealias Field = FieldContainer<Self>
}

/// The property wrappers of a class of objects.
public enum FieldContainer<O: CoreStoreObject> {}

/// A value that has the name of a property.
public protocol AnyKeyPathStringConvertible {
    /// The property's name in the store.
    var cs_keyPathString: String { get }
}

/// The name of a property, with the types at both of its ends.
public protocol KeyPathStringConvertible: AnyKeyPathStringConvertible {
    /// The class that has the property.
    associatedtype ObjectType: DynamicObject
    /// The type of the property's value; of a relationship, the class that it leads to.
    associatedtype DestinationValueType
}

/// The name of an attribute.
public protocol AttributeKeyPathStringConvertible: KeyPathStringConvertible {
    /// The type of the attribute's value.
    associatedtype ReturnValueType
}

/// The name of a relationship.
public protocol RelationshipKeyPathStringConvertible: KeyPathStringConvertible {}

/// The name of a to-many relationship.
public protocol ToManyRelationshipKeyPathStringConvertible: RelationshipKeyPathStringConvertible {}
