import RecordStore

extension TransformableContainer {
    /// A required object that archives itself.
    public final class Required<V: NSObject & NSCoding & NSCopying>: LegacyProperty,
        AttributeKeyPathStringConvertible
    {
        /// The class of the object.
        public typealias ObjectType = O
        /// The type of the value.
        public typealias DestinationValueType = V
        /// The type of the property.
        public typealias ReturnValueType = V

        /// An archived property; see ``ValueContainer/Required``.
        ///
        /// - Parameters:
        ///   - keyPath: the name in the store.
        ///   - initial: the value of new objects.
        ///   - isTransient: whether only the object keeps the value, and no store.
        ///   - allowsExternalBinaryDataStorage: accepted for compatibility; large values have
        ///     pages of their own in any case.
        ///   - versionHashModifier: makes the model another one though nothing else differs.
        ///   - renamingIdentifier: the name in the model version before.
        ///   - customGetter: replaces reading.
        ///   - customSetter: replaces writing; sets the primitive value itself.
        ///   - affectedByKeyPaths: properties whose change changes this one.
        public init(
            _ keyPath: @autoclosure () -> KeyPathString,
            initial: @autoclosure () -> V,
            isTransient: @autoclosure () -> Bool = false,
            allowsExternalBinaryDataStorage: @autoclosure () -> Bool = false,
            versionHashModifier: @autoclosure () -> String? = nil,
            renamingIdentifier: @autoclosure () -> String? = nil,
            customGetter: ((_ partialObject: PartialObject<O>) -> V)? = nil,
            customSetter: ((_ partialObject: PartialObject<O>, _ newValue: V) -> Void)? = nil,
            affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = []
        ) {
            super.init(
                slot: FieldPlan.next()
                    ?? TransformableContainer.declare(
                        FieldTerms(
                            O.self, keyPath(), versionHashModifier(), renamingIdentifier(),
                            affectedByKeyPaths),
                        FieldCoding(FieldCoders.NSCoding<V>.self), initial: initial(),
                        isOptional: false, isTransient: isTransient(), customGetter,
                        customSetter))
        }

        /// The object. Assign it again after changing it in place, or the change is not stored.
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

    /// An object that archives itself, or nil.
    public final class Optional<V: NSObject & NSCoding & NSCopying>: LegacyProperty,
        AttributeKeyPathStringConvertible
    {
        public typealias ObjectType = O
        public typealias DestinationValueType = V
        public typealias ReturnValueType = V?

        /// An archived property that may be nil; see ``Required``.
        public init(
            _ keyPath: @autoclosure () -> KeyPathString,
            initial: @autoclosure () -> V? = nil,
            isTransient: @autoclosure () -> Bool = false,
            allowsExternalBinaryDataStorage: @autoclosure () -> Bool = false,
            versionHashModifier: @autoclosure () -> String? = nil,
            renamingIdentifier: @autoclosure () -> String? = nil,
            customGetter: ((_ partialObject: PartialObject<O>) -> V?)? = nil,
            customSetter: ((_ partialObject: PartialObject<O>, _ newValue: V?) -> Void)? = nil,
            affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = []
        ) {
            super.init(
                slot: FieldPlan.next()
                    ?? TransformableContainer.declare(
                        FieldTerms(
                            O.self, keyPath(), versionHashModifier(), renamingIdentifier(),
                            affectedByKeyPaths),
                        FieldCoding<V?>(optional: FieldCoders.NSCoding<V>.self),
                        initial: initial(), isOptional: true, isTransient: isTransient(),
                        customGetter, customSetter))
        }

        /// The object. Assign it again after changing it in place, or the change is not stored.
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

    static func declare<V>(
        _ terms: FieldTerms, _ coding: FieldCoding<V>, initial: V, isOptional: Bool,
        isTransient: Bool, _ getter: ((PartialObject<O>) -> V)?,
        _ setter: ((PartialObject<O>, V) -> Void)?
    ) -> UInt16 {
        guard !isTransient else {
            return FieldContainer<O>.register(
                terms, .virtual, VirtualValues(empty: initial), partial: getter, setter)
        }
        let values = CodedValues(coding: coding, initial: initial, fallback: { initial })
        let attribute = AttributeDeclaration(
            type: .binaryDataAttributeType, isOptional: isOptional,
            defaultValue: { values.defaultValue(terms) }, initialValue: nil)
        return FieldContainer<O>.register(
            terms, .coded(attribute), values, partial: getter, setter)
    }
}
