import RecordStore

extension ValueContainer {
    /// A required attribute: `let name = Value.Required<String>("name", initial: "")`.
    public final class Required<V: ImportableAttributeType & FieldStorableType>: LegacyProperty,
        LegacyAttribute
    {
        public typealias ObjectType = O
        public typealias DestinationValueType = V
        public typealias ReturnValueType = V

        /// A required attribute.
        ///
        /// - Parameters:
        ///   - keyPath: the name in the store.
        ///   - initial: the value of new objects.
        ///   - isTransient: whether only the object keeps the value, and no store.
        ///   - versionHashModifier: makes the model another one though nothing else differs.
        ///   - renamingIdentifier: the name in the model version before.
        ///   - customGetter: replaces reading.
        ///   - customSetter: replaces writing; sets the primitive value itself.
        ///   - affectedByKeyPaths: properties whose change changes this one.
        public init(
            _ keyPath: @autoclosure () -> KeyPathString,
            initial: @autoclosure () -> V,
            isTransient: @autoclosure () -> Bool = false,
            versionHashModifier: @autoclosure () -> String? = nil,
            renamingIdentifier: @autoclosure () -> String? = nil,
            customGetter: ((_ partialObject: PartialObject<O>) -> V)? = nil,
            customSetter: ((_ partialObject: PartialObject<O>, _ newValue: V) -> Void)? = nil,
            affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = []
        ) {
            super.init(
                slot: FieldPlan.next()
                    ?? ValueContainer.declare(
                        FieldTerms(
                            O.self, keyPath(), versionHashModifier(), renamingIdentifier(),
                            affectedByKeyPaths),
                        initial: initial(), isTransient: isTransient(), customGetter,
                        customSetter))
        }

        /// The value.
        public var value: ReturnValueType {
            get {
                field(V.self).value(of: ownObject(O.self))
            }
            set {
                field(V.self).setValue(newValue, of: ownObject(O.self))
            }
        }

        /// The property's name in the store.
        public var cs_keyPathString: String { keyPath }
    }

    /// An attribute that may be nil: `let nickname = Value.Optional<String>("nickname")`.
    public final class Optional<V: ImportableAttributeType & FieldStorableType>: LegacyProperty,
        LegacyAttribute
    {
        public typealias ObjectType = O
        public typealias DestinationValueType = V
        public typealias ReturnValueType = V?

        /// An attribute that may be nil; see ``Required``.
        public init(
            _ keyPath: @autoclosure () -> KeyPathString,
            initial: @autoclosure () -> V? = nil,
            isTransient: @autoclosure () -> Bool = false,
            versionHashModifier: @autoclosure () -> String? = nil,
            renamingIdentifier: @autoclosure () -> String? = nil,
            customGetter: ((_ partialObject: PartialObject<O>) -> V?)? = nil,
            customSetter: ((_ partialObject: PartialObject<O>, _ newValue: V?) -> Void)? = nil,
            affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = []
        ) {
            super.init(
                slot: FieldPlan.next()
                    ?? ValueContainer.declare(
                        FieldTerms(
                            O.self, keyPath(), versionHashModifier(), renamingIdentifier(),
                            affectedByKeyPaths),
                        initial: initial(), isTransient: isTransient(), customGetter,
                        customSetter))
        }

        /// The value.
        public var value: ReturnValueType {
            get {
                field(V?.self).value(of: ownObject(O.self))
            }
            set {
                field(V?.self).setValue(newValue, of: ownObject(O.self))
            }
        }

        /// The property's name in the store.
        public var cs_keyPathString: String { keyPath }
    }

    static func declare<V: FieldStorableType>(
        _ terms: FieldTerms, initial: V, isTransient: Bool,
        _ getter: ((PartialObject<O>) -> V)?, _ setter: ((PartialObject<O>, V) -> Void)?
    ) -> UInt16 {
        let storage: any FieldStorage<V> =
            isTransient ? VirtualValues(empty: initial) : DeclaredValues(initial: initial)
        let attribute = AttributeDeclaration(
            type: V.cs_rawAttributeType, isOptional: V.cs_isOptional,
            defaultValue: { ValueBridge.value(initial) }, initialValue: nil)
        return FieldContainer<O>.register(
            terms, isTransient ? .virtual : .stored(attribute), storage,
            partial: getter, setter)
    }
}

extension FieldContainer {
    /// Registers a property whose accessors take partial objects.
    static func register<V>(
        _ terms: FieldTerms, _ kind: FieldKind, _ storage: any FieldStorage<V>,
        partial getter: ((PartialObject<O>) -> V)?, _ setter: ((PartialObject<O>, V) -> Void)?
    ) -> UInt16 {
        func own(_ object: CoreStoreObject) -> PartialObject<O> {
            guard let object = object as? O else {
                Log.abort("\(type(of: object)) does not inherit “\(terms.keyPath)” of \(O.self)")
            }
            return PartialObject(object)
        }
        var accessors = ValueField<V>.Accessors()
        if let getter { accessors.getter = { object, _ in getter(own(object)) } }
        if let setter { accessors.setter = { object, _, value in setter(own(object), value) } }
        return FieldRegistry.register(ValueField(terms, kind, storage, accessors))
    }
}
