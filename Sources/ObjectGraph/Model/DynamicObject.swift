/// What an entity's class is: ``CoreStoreObject`` is the only base class.
public protocol DynamicObject: AnyObject, SendableMetatype {
    /// What names an object in every context.
    typealias ObjectID = NSManagedObjectID

    /// The object's identity.
    func objectID() -> ObjectID
}

extension DynamicObject where Self: CoreStoreObject {
    /// The property wrappers of the class: `@Field.Stored`, `@Field.Relationship`.
    public typealias Field = FieldContainer<Self>
}

/// The property wrappers of a class of objects.
public enum FieldContainer<O: CoreStoreObject> {}

/// Something that has the name of a property.
public protocol AnyKeyPathStringConvertible {
    /// The property's name in the store.
    var cs_keyPathString: String { get }
}

/// The name of a property with the types on both of its ends.
public protocol KeyPathStringConvertible: AnyKeyPathStringConvertible {
    associatedtype ObjectType: DynamicObject
    associatedtype DestinationValueType
}

/// The name of an attribute.
public protocol AttributeKeyPathStringConvertible: KeyPathStringConvertible {
    associatedtype ReturnValueType
}

/// The name of a relationship.
public protocol RelationshipKeyPathStringConvertible: KeyPathStringConvertible {}

/// The name of a to-many relationship.
public protocol ToManyRelationshipKeyPathStringConvertible: RelationshipKeyPathStringConvertible {}
