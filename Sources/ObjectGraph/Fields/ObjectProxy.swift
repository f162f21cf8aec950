/// An object as a custom getter or setter sees it: `object.$name.value`.
@dynamicMemberLookup
public struct ObjectProxy<O: CoreStoreObject> {
    private let object: O
    /// Whether a getter has it: what that keeps is no change of the object.
    private let isReading: Bool

    init(_ object: O, isReading: Bool = false) {
        self.object = object
        self.isReading = isReading
    }

    /// A stored property of the object.
    public subscript<B: CoreStoreObject, V>(
        dynamicMember member: KeyPath<O, FieldContainer<B>.Stored<V>>
    ) -> FieldProxy<V> {
        proxy(ClassMeta.object(O.self)[keyPath: member].slot)
    }

    /// A virtual property of the object.
    public subscript<B: CoreStoreObject, V>(
        dynamicMember member: KeyPath<O, FieldContainer<B>.Virtual<V>>
    ) -> FieldProxy<V> {
        proxy(ClassMeta.object(O.self)[keyPath: member].slot)
    }

    /// A coded property of the object.
    public subscript<B: CoreStoreObject, V>(
        dynamicMember member: KeyPath<O, FieldContainer<B>.Coded<V>>
    ) -> FieldProxy<V> {
        proxy(ClassMeta.object(O.self)[keyPath: member].slot)
    }

    private func proxy<V>(_ slot: UInt16) -> FieldProxy<V> {
        FieldProxy(
            object: object, field: FieldRegistry.field(slot, of: V.self), isReading: isReading)
    }

    /// One property of an object.
    public struct FieldProxy<V> {
        private let object: O
        private let field: ValueField<V>
        private let isReading: Bool

        init(object: O, field: ValueField<V>, isReading: Bool = false) {
            self.object = object
            self.field = field
            self.isReading = isReading
        }

        /// The value without any custom getter or setter; nil when there is none.
        ///
        /// A getter may cache its result here. Outside of a transaction only this object has it
        /// then, until it is refreshed.
        public var primitiveValue: V? {
            get { field.primitive(of: object) }
            nonmutating set {
                if isReading {
                    field.cache(newValue, of: object)
                } else {
                    field.setPrimitive(newValue, of: object)
                }
            }
        }

        /// The property's value, by its custom getter and setter.
        public var value: V {
            get { field.value(of: object) }
            nonmutating set { field.setValue(newValue, of: object) }
        }
    }
}
