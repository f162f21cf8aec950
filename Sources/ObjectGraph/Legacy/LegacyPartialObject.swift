// Accessors of the classes for properties: `partial.value(for: { $0.age })`.

extension PartialObject {
    // MARK: Values

    /// A required property, custom getter included.
    public func value<B: CoreStoreObject, V>(
        for property: (O) -> ValueContainer<B>.Required<V>
    ) -> V {
        legacy(property, V.self) { $0.value(of: $1) }
    }

    /// A property that may be nil, custom getter included.
    public func value<B: CoreStoreObject, V>(
        for property: (O) -> ValueContainer<B>.Optional<V>
    ) -> V? {
        legacy(property, V?.self) { $0.value(of: $1) }
    }

    /// Sets a required property, by its custom setter if it has one.
    public func setValue<B: CoreStoreObject, V>(
        _ value: V, for property: (O) -> ValueContainer<B>.Required<V>
    ) {
        legacy(property, V.self) { $0.setValue(value, of: $1) }
    }

    /// Sets a property that may be nil, by its custom setter if it has one.
    public func setValue<B: CoreStoreObject, V>(
        _ value: V?, for property: (O) -> ValueContainer<B>.Optional<V>
    ) {
        legacy(property, V?.self) { $0.setValue(value, of: $1) }
    }

    /// A required property without its custom getter; nil when nothing is stored.
    public func primitiveValue<B: CoreStoreObject, V>(
        for property: (O) -> ValueContainer<B>.Required<V>
    ) -> V? {
        legacy(property, V.self) { $0.primitive(of: $1) }
    }

    /// A required property without its custom getter; its first value when nothing is stored.
    @_disfavoredOverload
    public func primitiveValue<B: CoreStoreObject, V>(
        for property: (O) -> ValueContainer<B>.Required<V>
    ) -> V {
        legacy(property, V.self) { $0.valueWithoutGetter(of: $1) }
    }

    /// A property that may be nil, without its custom getter.
    public func primitiveValue<B: CoreStoreObject, V>(
        for property: (O) -> ValueContainer<B>.Optional<V>
    ) -> V? {
        legacy(property, V?.self) { $0.primitive(of: $1) } ?? nil
    }

    /// Sets a required property without its custom setter.
    public func setPrimitiveValue<B: CoreStoreObject, V>(
        _ value: V, for property: (O) -> ValueContainer<B>.Required<V>
    ) {
        legacy(property, V.self) { $0.setPrimitive(value, of: $1) }
    }

    /// Sets a property that may be nil, without its custom setter.
    public func setPrimitiveValue<B: CoreStoreObject, V>(
        _ value: V?, for property: (O) -> ValueContainer<B>.Optional<V>
    ) {
        legacy(property, V?.self) { $0.setPrimitive(.some(value), of: $1) }
    }

    // MARK: Objects that archive themselves

    /// A required property, custom getter included.
    public func value<B: CoreStoreObject, V: NSObject & NSCoding & NSCopying>(
        for property: (O) -> TransformableContainer<B>.Required<V>
    ) -> V {
        legacy(property, V.self) { $0.value(of: $1) }
    }

    /// A property that may be nil, custom getter included.
    public func value<B: CoreStoreObject, V: NSObject & NSCoding & NSCopying>(
        for property: (O) -> TransformableContainer<B>.Optional<V>
    ) -> V? {
        legacy(property, V?.self) { $0.value(of: $1) }
    }

    /// Sets a required property, by its custom setter if it has one.
    public func setValue<B: CoreStoreObject, V: NSObject & NSCoding & NSCopying>(
        _ value: V, for property: (O) -> TransformableContainer<B>.Required<V>
    ) {
        legacy(property, V.self) { $0.setValue(value, of: $1) }
    }

    /// Sets a property that may be nil, by its custom setter if it has one.
    public func setValue<B: CoreStoreObject, V: NSObject & NSCoding & NSCopying>(
        _ value: V?, for property: (O) -> TransformableContainer<B>.Optional<V>
    ) {
        legacy(property, V?.self) { $0.setValue(value, of: $1) }
    }

    /// A required property without its custom getter; nil when nothing is stored.
    public func primitiveValue<B: CoreStoreObject, V: NSObject & NSCoding & NSCopying>(
        for property: (O) -> TransformableContainer<B>.Required<V>
    ) -> V? {
        legacy(property, V.self) { $0.primitive(of: $1) }
    }

    /// A required property without its custom getter; its first value when nothing is stored.
    @_disfavoredOverload
    public func primitiveValue<B: CoreStoreObject, V: NSObject & NSCoding & NSCopying>(
        for property: (O) -> TransformableContainer<B>.Required<V>
    ) -> V {
        legacy(property, V.self) { $0.valueWithoutGetter(of: $1) }
    }

    /// A property that may be nil, without its custom getter.
    public func primitiveValue<B: CoreStoreObject, V: NSObject & NSCoding & NSCopying>(
        for property: (O) -> TransformableContainer<B>.Optional<V>
    ) -> V? {
        legacy(property, V?.self) { $0.primitive(of: $1) } ?? nil
    }

    /// Sets a required property without its custom setter.
    public func setPrimitiveValue<B: CoreStoreObject, V: NSObject & NSCoding & NSCopying>(
        _ value: V, for property: (O) -> TransformableContainer<B>.Required<V>
    ) {
        legacy(property, V.self) { $0.setPrimitive(value, of: $1) }
    }

    /// Sets a property that may be nil, without its custom setter.
    public func setPrimitiveValue<B: CoreStoreObject, V: NSObject & NSCoding & NSCopying>(
        _ value: V?, for property: (O) -> TransformableContainer<B>.Optional<V>
    ) {
        legacy(property, V?.self) { $0.setPrimitive(.some(value), of: $1) }
    }

    private func legacy<P: LegacyProperty, V, Result>(
        _ property: (O) -> P, _ type: V.Type, _ body: (ValueField<V>, O) -> Result
    ) -> Result {
        body(property(ClassMeta.object(O.self)).field(type), completeObject())
    }
}
