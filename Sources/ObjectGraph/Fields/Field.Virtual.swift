extension FieldContainer {
    /// A computed property, which is never stored:
    ///
    /// ```swift
    /// @Field.Virtual("displayName", customGetter: { object, field in
    ///     object.$title.value + " " + object.$name.value
    /// })
    /// var displayName: String
    /// ```
    ///
    /// Conditions and sort orders run on stored values, so they cannot name it: filter the objects
    /// that a fetch returned. A getter may cache its result in `field.primitiveValue`. Only this
    /// object has the cached value, until it reads its record again: when it is refreshed, and when
    /// another transaction changed it.
    @frozen @propertyWrapper
    public struct Virtual<V>: AttributeKeyPathStringConvertible {
        public typealias ObjectType = O
        public typealias DestinationValueType = V
        public typealias ReturnValueType = V

        /// The index of the declaration.
        @usableFromInline let slot: UInt16

        @available(*, unavailable, message: "@Field.Virtual belongs to a class of CoreStoreObject")
        public var wrappedValue: V {
            get { preconditionFailure("a field is read through its object") }
            set { preconditionFailure("a field is written through its object") }
        }

        public var projectedValue: Self { self }

        /// The property's name.
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
    }
}

extension FieldContainer.Virtual {
    /// A property that is computed by its getter.
    ///
    /// - Parameters:
    ///   - keyPath: the property's name.
    ///   - customGetter: computes the value.
    ///   - customSetter: what assigning does; without one the object keeps the value in
    ///     `field.primitiveValue`.
    ///   - affectedByKeyPaths: properties whose change changes this one.
    @inlinable
    public init(
        _ keyPath: @autoclosure () -> KeyPathString,
        customGetter: @autoclosure () -> FieldContainer.Getter<V>,
        customSetter: @autoclosure () -> FieldContainer.Setter<V>? = nil,
        affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = []
    ) {
        if let slot = FieldPlan.next() {
            self.slot = slot
        } else {
            self.slot = Self.declare(
                FieldTerms(O.self, keyPath(), nil, nil, affectedByKeyPaths), empty: nil,
                customGetter(), customSetter())
        }
    }

    /// Unavailable: a virtual property has no initial value.
    @available(*, unavailable, message: "a virtual property has no initial value")
    public init(
        wrappedValue initial: @autoclosure () -> V, _ keyPath: @autoclosure () -> KeyPathString,
        customGetter: @autoclosure () -> FieldContainer.Getter<V>? = nil,
        customSetter: @autoclosure () -> FieldContainer.Setter<V>? = nil,
        affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = []
    ) {
        preconditionFailure("a virtual property has no initial value")
    }

    @usableFromInline
    static func declare(
        _ terms: FieldTerms, empty: V?,
        _ getter: FieldContainer.Getter<V>?, _ setter: FieldContainer.Setter<V>?
    ) -> UInt16 {
        FieldContainer.register(terms, .virtual, VirtualValues(empty: empty), getter, setter)
    }
}

extension FieldContainer.Virtual where V: FieldOptionalType {
    /// A property that is nil until it is assigned, unless a getter computes it.
    @inlinable
    public init(
        _ keyPath: @autoclosure () -> KeyPathString,
        customGetter: @autoclosure () -> FieldContainer.Getter<V>? = nil,
        customSetter: @autoclosure () -> FieldContainer.Setter<V>? = nil,
        affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = []
    ) {
        if let slot = FieldPlan.next() {
            self.slot = slot
        } else {
            self.slot = Self.declare(
                FieldTerms(O.self, keyPath(), nil, nil, affectedByKeyPaths),
                empty: .some(nil), customGetter(), customSetter())
        }
    }
}

/// Values that the object alone has.
struct VirtualValues<V>: FieldStorage {
    /// The value before any is assigned; nil where a getter always computes one.
    let empty: V?

    var isPlain: Bool { false }

    /// The value without one that the object keeps, which was looked for before.
    func primitive(_ field: FieldDeclaration, of object: CoreStoreObject) -> V? { empty }

    func load(_ field: FieldDeclaration, of object: CoreStoreObject) -> V {
        let own = object.transients?[object, field.keptIndex] as? TransientValue<V>
        guard let value = own?.value ?? empty else {
            Log.abort("“\(field.keyPath)” is computed by its getter, and has none")
        }
        return value
    }

    func store(_ value: V?, _ field: FieldDeclaration, of object: CoreStoreObject) {
        object.transients?[object, field.keptIndex] = value.map { TransientValue($0) }
    }
}
