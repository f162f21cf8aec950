import RecordStore

extension TransformableContainer {
    /// A required object that archives itself.
    public final class Required<V: NSObject & NSCoding & NSCopying>: LegacyProperty,
        AttributeKeyPathStringConvertible
    {
        public typealias ObjectType = O
        public typealias DestinationValueType = V
        public typealias ReturnValueType = V

        /// See ``ValueContainer/Required``.
        ///
        /// - Parameters:
        ///   - isTransient: whether the object alone keeps the value, and no store.
        ///   - allowsExternalBinaryDataStorage: accepted for its name; large values have pages of
        ///     their own in any case.
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

        /// The object. One that is changed in place is stored when it is assigned again.
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

        /// See ``Required``.
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

        /// The object. One that is changed in place is stored when it is assigned again.
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
