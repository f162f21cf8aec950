import RecordStore

extension FieldContainer {
    /// A persisted value of any type, as the bytes that a coder makes of it:
    ///
    /// ```swift
    /// @Field.Coded("info", coder: FieldCoders.Json.self)
    /// var info: Info?
    /// ```
    ///
    /// Assigning encodes the value, so that changing a class's object in place changes nothing:
    /// assign it again. A value that cannot be encoded makes the transaction throw. Reading decodes
    /// the bytes once, or at each read where the value is a class's object. Bytes that cannot be
    /// decoded are logged; the property then reads as nil, or as its default. Conditions see bytes:
    /// compare with nil only.
    @frozen @propertyWrapper
    public struct Coded<V>: AttributeKeyPathStringConvertible {
        public typealias ObjectType = O
        public typealias DestinationValueType = V
        public typealias ReturnValueType = V

        /// The index of the declaration.
        @usableFromInline let slot: UInt16

        @available(*, unavailable, message: "@Field.Coded belongs to a class of CoreStoreObject")
        public var wrappedValue: V {
            get { preconditionFailure("a field is read through its object") }
            set { preconditionFailure("a field is written through its object") }
        }

        public var projectedValue: Self { self }

        /// The property's name in the store.
        public var cs_keyPathString: String { FieldRegistry.declaration(slot).keyPath }

        /// The property's value in an object; the compiler calls this for each access.
        public static subscript(
            _enclosingInstance object: O, wrapped wrapped: ReferenceWritableKeyPath<O, V>,
            storage storage: ReferenceWritableKeyPath<O, Self>
        ) -> V {
            @inlinable get { FieldContainer.value(object[keyPath: storage].slot, of: object) }
            @inlinable set {
                FieldContainer.setValue(newValue, object[keyPath: storage].slot, of: object)
            }
        }

        @usableFromInline init(slot: UInt16) { self.slot = slot }

        @usableFromInline
        static func declare(
            _ keyPath: KeyPathString, _ versionHashModifier: String?, _ previousName: String?,
            _ affectedByKeyPaths: @escaping () -> Set<KeyPathString>, _ coding: FieldCoding<V>,
            initial: V?, dynamic: (() -> V)?, _ getter: Getter<V>?, _ setter: Setter<V>?
        ) -> UInt16 {
            let terms = FieldTerms(
                O.self, keyPath, versionHashModifier, previousName, affectedByKeyPaths)
            let values = CodedValues(
                coding: coding, initial: initial, fallback: fallback(terms, initial, dynamic))
            var attribute = AttributeDeclaration(
                type: .binaryDataAttributeType, isOptional: V.self is any FieldOptionalType.Type,
                defaultValue: { values.defaultValue(terms) })
            if let dynamic {
                attribute.initialValue = { () throws(StoreError) -> Value in
                    try values.initialValue(dynamic, terms)
                }
            }
            return FieldContainer.register(terms, .coded(attribute), values, getter, setter)
        }

        private static func fallback(
            _ terms: FieldTerms, _ initial: V?, _ dynamic: (() -> V)?
        ) -> () -> V {
            if let type = V.self as? any FieldOptionalType.Type, let none = none(type) {
                return { none }
            }
            if let initial { return { initial } }
            if let dynamic { return dynamic }
            Log.abort("“\(terms.keyPath)” has neither a default nor a first value")
        }

        private static func none<Optional: FieldOptionalType>(_ type: Optional.Type) -> V? {
            (nil as Optional) as? V
        }
    }
}
