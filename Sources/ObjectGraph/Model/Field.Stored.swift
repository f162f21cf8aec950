import RecordStore

extension FieldContainer {
    /// A persisted attribute: `@Field.Stored("name") var name: String = ""`.
    ///
    /// A value that follows `=` is evaluated once, when the schema is built, and every new object
    /// begins with it; for a value of each object's own use `dynamicInitialValue:`. Reading costs a
    /// load at a fixed offset; writing is possible inside a transaction only.
    @frozen @propertyWrapper
    public struct Stored<V: FieldStorableType>: AttributeKeyPathStringConvertible {
        public typealias ObjectType = O
        public typealias DestinationValueType = V
        public typealias ReturnValueType = V

        /// The byte offset of the value in the object's row, or the index of a declaration.
        @usableFromInline let slot: UInt16

        @available(*, unavailable, message: "@Field.Stored belongs to a class of CoreStoreObject")
        public var wrappedValue: V {
            get { preconditionFailure("a field is read through its object") }
            set { preconditionFailure("a field is written through its object") }
        }

        public var projectedValue: Self { self }

        public var cs_keyPathString: String { FieldRegistry.declaration(slot).keyPath }

        public static subscript(
            _enclosingInstance object: O, wrapped wrapped: ReferenceWritableKeyPath<O, V>,
            storage storage: ReferenceWritableKeyPath<O, Self>
        ) -> V {
            @inlinable @inline(__always) get {
                let slot = object[keyPath: storage].slot
                if slot < 0x8000 && object.isRowLoaded {
                    return V.cs_load(object.row, Int(slot))
                }
                return Self.slowLoad(object, slot)
            }
            @inlinable @inline(__always) set {
                let slot = object[keyPath: storage].slot
                if slot < 0x8000 {
                    object.willWrite(slot)
                    newValue.cs_store(&object.row, Int(slot))
                } else {
                    Self.slowStore(object, slot, newValue)
                }
            }
        }

        @usableFromInline
        static func slowLoad(_ object: O, _ slot: UInt16) -> V {
            guard slot < FieldRegistry.declarationBit else {
                return customLoad(object, FieldRegistry.declaration(slot))
            }
            object.loadRow()
            return V.cs_load(object.row, Int(slot))
        }

        /// A meta object answers with the default; a property with a getter of its own asks it.
        private static func customLoad(_ object: O, _ declaration: FieldDeclaration) -> V {
            ObjectProxy<O>.FieldProxy<V>(object: object, declaration: declaration).value
        }

        @usableFromInline
        static func slowStore(_ object: O, _ slot: UInt16, _ value: V) {
            let declaration = FieldRegistry.declaration(slot)
            ObjectProxy<O>.FieldProxy<V>(object: object, declaration: declaration).value = value
        }
    }
}

extension FieldContainer.Stored {
    /// A property that begins with a default.
    ///
    /// - Parameters:
    ///   - wrappedValue: the default, evaluated once for the whole schema.
    ///   - keyPath: the name in the store, which stays when the Swift property is renamed.
    ///   - versionHashModifier: makes the model another one though nothing else differs.
    ///   - previousVersionKeyPath: the name in the model version before.
    ///   - customGetter: replaces reading; conditions still see what is stored.
    ///   - customSetter: replaces writing; sets `field.primitiveValue` itself.
    ///   - affectedByKeyPaths: properties whose change changes this one.
    @inlinable
    public init(
        wrappedValue initial: @autoclosure () -> V, _ keyPath: @autoclosure () -> KeyPathString,
        versionHashModifier: @autoclosure () -> String? = nil,
        previousVersionKeyPath: @autoclosure () -> String? = nil,
        customGetter:
            @autoclosure () -> (
                (ObjectProxy<O>, ObjectProxy<O>.FieldProxy<V>) -> V
            )? = nil,
        customSetter:
            @autoclosure () -> (
                (ObjectProxy<O>, ObjectProxy<O>.FieldProxy<V>, V) -> Void
            )? = nil,
        affectedByKeyPaths: @autoclosure () -> Set<KeyPathString> = []
    ) {
        if let slot = FieldPlan.next() {
            self.slot = slot
        } else {
            self.slot = Self.declare(
                keyPath(), initial: initial(), dynamic: nil, versionHashModifier(),
                previousVersionKeyPath(), customGetter(), customSetter(), affectedByKeyPaths())
        }
    }

    /// A property whose first value is evaluated for each new object.
    @inlinable
    public init(
        _ keyPath: @autoclosure () -> KeyPathString,
        versionHashModifier: @autoclosure () -> String? = nil,
        previousVersionKeyPath: @autoclosure () -> String? = nil,
        customGetter:
            @autoclosure () -> (
                (ObjectProxy<O>, ObjectProxy<O>.FieldProxy<V>) -> V
            )? = nil,
        customSetter:
            @autoclosure () -> (
                (ObjectProxy<O>, ObjectProxy<O>.FieldProxy<V>, V) -> Void
            )? = nil,
        affectedByKeyPaths: @autoclosure () -> Set<KeyPathString> = [],
        dynamicInitialValue: @autoclosure () -> (() -> V)
    ) {
        if let slot = FieldPlan.next() {
            self.slot = slot
        } else {
            self.slot = Self.declare(
                keyPath(), initial: nil, dynamic: dynamicInitialValue(), versionHashModifier(),
                previousVersionKeyPath(), customGetter(), customSetter(), affectedByKeyPaths())
        }
    }

    @usableFromInline
    static func declare(
        _ keyPath: KeyPathString, initial: V?, dynamic: (() -> V)?,
        _ versionHashModifier: String?, _ previousVersionKeyPath: String?,
        _ customGetter: ((ObjectProxy<O>, ObjectProxy<O>.FieldProxy<V>) -> V)?,
        _ customSetter: ((ObjectProxy<O>, ObjectProxy<O>.FieldProxy<V>, V) -> Void)?,
        _ affectedByKeyPaths: Set<KeyPathString>
    ) -> UInt16 {
        FieldRegistry.register(
            FieldDeclaration(
                keyPath: keyPath, owner: ObjectIdentifier(O.self),
                content: .stored(V.cs_rawAttributeType, isOptional: V.cs_isOptional),
                defaultValue: initial.map { ValueBridge.value($0) } ?? .null,
                dynamicInitialValue: dynamic.map { make in
                    { make().cs_toFieldStoredNativeType() }
                },
                versionHashModifier: versionHashModifier, previousName: previousVersionKeyPath,
                affectedByKeyPaths: affectedByKeyPaths,
                customGetter: customGetter.map { erased($0) },
                customSetter: customSetter.map { erased($0) },
                isWrittenByType: V.self is NSDecimalNumber.Type
                    || V.self is NSDecimalNumber?.Type))
    }

    private static func erased(
        _ getter: @escaping (ObjectProxy<O>, ObjectProxy<O>.FieldProxy<V>) -> V
    ) -> FieldDeclaration.Getter<V> {
        { object, declaration in
            let (proxy, field) = proxies(object, declaration)
            return getter(proxy, field)
        }
    }

    private static func erased(
        _ setter: @escaping (ObjectProxy<O>, ObjectProxy<O>.FieldProxy<V>, V) -> Void
    ) -> FieldDeclaration.Setter<V> {
        { object, declaration, value in
            let (proxy, field) = proxies(object, declaration)
            setter(proxy, field, value)
        }
    }

    private static func proxies(
        _ object: CoreStoreObject, _ declaration: FieldDeclaration
    ) -> (ObjectProxy<O>, ObjectProxy<O>.FieldProxy<V>) {
        guard let object = object as? O else {
            Log.abort("\(type(of: object)) does not inherit “\(declaration.keyPath)” of \(O.self)")
        }
        return (ObjectProxy(object), .init(object: object, declaration: declaration))
    }
}

extension FieldContainer.Stored where V: FieldOptionalType {
    /// A property that begins as nil unless it is given a default.
    @inlinable
    public init(
        wrappedValue initial: @autoclosure () -> V = nil,
        _ keyPath: @autoclosure () -> KeyPathString,
        versionHashModifier: @autoclosure () -> String? = nil,
        previousVersionKeyPath: @autoclosure () -> String? = nil,
        customGetter:
            @autoclosure () -> (
                (ObjectProxy<O>, ObjectProxy<O>.FieldProxy<V>) -> V
            )? = nil,
        customSetter:
            @autoclosure () -> (
                (ObjectProxy<O>, ObjectProxy<O>.FieldProxy<V>, V) -> Void
            )? = nil,
        affectedByKeyPaths: @autoclosure () -> Set<KeyPathString> = []
    ) {
        if let slot = FieldPlan.next() {
            self.slot = slot
        } else {
            self.slot = Self.declare(
                keyPath(), initial: initial(), dynamic: nil, versionHashModifier(),
                previousVersionKeyPath(), customGetter(), customSetter(), affectedByKeyPaths())
        }
    }
}
