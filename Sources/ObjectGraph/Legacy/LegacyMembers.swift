// Publishers and snapshots by the classes for properties: `publisher.name`, `snapshot.name`.

extension ObjectPublisher where O: CoreStoreObject {
    /// The value of a property of the object; nil when it was deleted.
    public subscript<A: LegacyProperty & AttributeKeyPathStringConvertible>(
        dynamicMember member: KeyPath<O, A>
    ) -> A.ReturnValueType? {
        value(member)
    }

    /// The value of a property of the object that may be nil; nil when it was deleted, too.
    public subscript<A: LegacyProperty & AttributeKeyPathStringConvertible, V>(
        dynamicMember member: KeyPath<O, A>
    ) -> V? where A.ReturnValueType == V? {
        let value: V?? = value(member)
        return value ?? nil
    }

    /// The publishers of the objects that a relationship leads to; nil when the object was deleted.
    public subscript<B: CoreStoreObject, V: FieldRelationshipType, R: LegacyRelationship<B, V>>(
        dynamicMember member: KeyPath<O, R>
    ) -> V.PublishedType? {
        publishers(Where<O>.name(member), of: V.self)
    }
}

extension ObjectSnapshot where O: CoreStoreObject {
    /// The value of a property. Assigning changes this copy only.
    public subscript<A: LegacyProperty & AttributeKeyPathStringConvertible>(
        dynamicMember member: KeyPath<O, A>
    ) -> A.ReturnValueType {
        get { known(Where<O>.name(member)) }
        set { setComputed(newValue, Where<O>.name(member)) }
    }

    /// The publishers of the objects that a relationship led to. Use it where the stack's view
    /// lives.
    public subscript<B: CoreStoreObject, V: FieldRelationshipType, R: LegacyRelationship<B, V>>(
        dynamicMember member: KeyPath<O, R>
    ) -> V.PublishedType {
        get { publishers(Where<O>.name(member), of: V.self) }
        set { setPublishers(newValue, Where<O>.name(member), of: V.self) }
    }
}
