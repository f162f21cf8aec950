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

        /// The property's name in the store.
        public var cs_keyPathString: String { FieldRegistry.declaration(slot).keyPath }

        /// The property's value in an object; the compiler calls this for each access.
        public static subscript(
            _enclosingInstance object: O, wrapped wrapped: ReferenceWritableKeyPath<O, V>,
            storage storage: ReferenceWritableKeyPath<O, Self>
        ) -> V {
            @inlinable @inline(__always) get {
                let slot = object[keyPath: storage].slot
                if slot < 0x8000 && object.isRowLoaded {
                    if let value = V.cs_known(object.row, Int(slot)) { return value }
                }
                return Self.slowLoad(object, slot)
            }
            @inlinable @inline(__always) set {
                let slot = object[keyPath: storage].slot
                if slot < 0x8000 {
                    guard object.willWrite(slot) else { return }
                    newValue.cs_store(&object.row, Int(slot))
                    if !object.isOpen { object.didWrite(slot) }
                } else {
                    FieldContainer.setValue(newValue, slot, of: object)
                }
            }
        }

        @usableFromInline
        static func slowLoad(_ object: O, _ slot: UInt16) -> V {
            guard slot < FieldRegistry.declarationBit else {
                return FieldContainer.value(slot, of: object)
            }
            object.loadRow()
            return V.cs_known(object.row, Int(slot)) ?? unknownValue(object, Int(slot))
        }

        /// The value of the property where the type does not know the stored form.
        private static func unknownValue(_ object: O, _ offset: Int) -> V {
            let column = object.raw?.entity.fields.first { $0.byteOffset == offset }
            return column.flatMap { ClassMeta.of(type(of: object)).unknownValue($0.name) }
                ?? V.cs_load(object.row, offset)
        }
    }
}

extension FieldContainer.Stored {
    /// A property that begins with a default.
    ///
    /// - Parameters:
    ///   - initial: the default, evaluated once for the whole schema.
    ///   - keyPath: the name in the store, which stays when the Swift property is renamed.
    ///   - versionHashModifier: makes the model another one though nothing else differs.
    ///   - previousVersionKeyPath: the name in the model version before.
    ///   - customGetter: replaces reading; conditions still see what is stored.
    ///   - customSetter: replaces writing; sets `field.primitiveValue` itself.
    ///   - affectedByKeyPaths: properties whose change changes this one; asked for when the schema
    ///     is complete, so that key paths of the class itself may be named.
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
        affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = []
    ) {
        if let slot = FieldPlan.next() {
            self.slot = slot
        } else {
            self.slot = Self.declare(
                keyPath(), versionHashModifier(), previousVersionKeyPath(), affectedByKeyPaths,
                initial: initial(), dynamic: nil, customGetter(), customSetter())
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
        affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = [],
        dynamicInitialValue: @autoclosure () -> (() -> V)
    ) {
        if let slot = FieldPlan.next() {
            self.slot = slot
        } else {
            self.slot = Self.declare(
                keyPath(), versionHashModifier(), previousVersionKeyPath(), affectedByKeyPaths,
                initial: nil, dynamic: dynamicInitialValue(), customGetter(), customSetter())
        }
    }

    // With all parts of the terms one by one: the initialisers are inlined in each class, where
    // putting the terms together would make them too large for it.
    @usableFromInline
    static func declare(
        _ keyPath: KeyPathString, _ versionHashModifier: String?, _ previousName: String?,
        _ affectedByKeyPaths: @escaping () -> Set<KeyPathString>,
        initial: V?, dynamic: (() -> V)?,
        _ getter: ((ObjectProxy<O>, ObjectProxy<O>.FieldProxy<V>) -> V)?,
        _ setter: ((ObjectProxy<O>, ObjectProxy<O>.FieldProxy<V>, V) -> Void)?
    ) -> UInt16 {
        let terms = FieldTerms(
            O.self, keyPath, versionHashModifier, previousName, affectedByKeyPaths)
        let attribute = AttributeDeclaration(
            type: V.cs_rawAttributeType, isOptional: V.cs_isOptional,
            defaultValue: { initial.map { ValueBridge.value($0) } ?? .null },
            initialValue: dynamic.map { make in { ValueBridge.value(make()) } })
        return FieldContainer.register(
            terms, .stored(attribute), StoredValues(initial: initial, first: dynamic), getter,
            setter)
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
        affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = []
    ) {
        if let slot = FieldPlan.next() {
            self.slot = slot
        } else {
            self.slot = Self.declare(
                keyPath(), versionHashModifier(), previousVersionKeyPath(), affectedByKeyPaths,
                initial: initial(), dynamic: nil, customGetter(), customSetter())
        }
    }
}
