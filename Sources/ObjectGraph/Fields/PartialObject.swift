/// An object with its properties by name: `partial.value(for: { $0.$name })`.
public struct PartialObject<O: CoreStoreObject> {
    private let object: O

    init(_ object: O) { self.object = object }

    /// The object itself.
    public func completeObject() -> O { object }

    /// A stored property, custom getter included.
    public func value<B: CoreStoreObject, V>(
        for property: (O) -> FieldContainer<B>.Stored<V>
    ) -> V {
        field(property(ClassMeta.object(O.self)).slot).value(of: object)
    }

    /// A virtual property, custom getter included.
    public func value<B: CoreStoreObject, V>(
        for property: (O) -> FieldContainer<B>.Virtual<V>
    ) -> V {
        field(property(ClassMeta.object(O.self)).slot).value(of: object)
    }

    /// A stored property without its custom getter; nil when nothing is stored.
    public func primitiveValue<B: CoreStoreObject, V>(
        for property: (O) -> FieldContainer<B>.Stored<V>
    ) -> V? {
        field(property(ClassMeta.object(O.self)).slot).primitive(of: object)
    }

    /// The value that the object keeps for a virtual property; nil when there is none.
    public func primitiveValue<B: CoreStoreObject, V>(
        for property: (O) -> FieldContainer<B>.Virtual<V>
    ) -> V? {
        field(property(ClassMeta.object(O.self)).slot).primitive(of: object)
    }

    /// A coded property without its custom getter; nil when nothing is stored.
    public func primitiveValue<B: CoreStoreObject, V>(
        for property: (O) -> FieldContainer<B>.Coded<V>
    ) -> V? {
        field(property(ClassMeta.object(O.self)).slot).primitive(of: object)
    }

    /// Sets a stored property without its custom setter.
    public func setPrimitiveValue<B: CoreStoreObject, V>(
        _ value: V?, for property: (O) -> FieldContainer<B>.Stored<V>
    ) {
        field(property(ClassMeta.object(O.self)).slot).setPrimitive(value, of: object)
    }

    /// Sets the value that the object keeps for a virtual property.
    public func setPrimitiveValue<B: CoreStoreObject, V>(
        _ value: V?, for property: (O) -> FieldContainer<B>.Virtual<V>
    ) {
        field(property(ClassMeta.object(O.self)).slot).setPrimitive(value, of: object)
    }

    private func field<V>(_ slot: UInt16) -> ValueField<V> {
        FieldRegistry.field(slot, of: V.self)
    }
}

extension DynamicObject where Self: CoreStoreObject {
    /// The object with its properties by name.
    public func partialObject() -> PartialObject<Self> {
        Log.assert(raw != nil, "an object that only answers key paths has no values")
        return PartialObject(self)
    }
}
