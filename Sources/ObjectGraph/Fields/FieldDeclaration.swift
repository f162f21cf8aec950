import Primitives
import RecordStore

/// The kind of a property, with the declarations that only that kind has.
enum FieldKind {
    /// An attribute whose value lies in the record as it is.
    case stored(AttributeDeclaration)
    /// An attribute whose bytes a coder of the program writes and reads.
    case coded(AttributeDeclaration)
    /// A value that is computed and never stored.
    case virtual
    /// Links to other objects.
    case relationship(RelationshipDeclaration)

    /// The column of a property that is an attribute.
    var attribute: AttributeDeclaration? {
        switch self {
        case .stored(let attribute), .coded(let attribute): attribute
        case .virtual, .relationship: nil
        }
    }
}

/// The column of an attribute.
struct AttributeDeclaration {
    var type: NSAttributeType
    var isOptional: Bool
    /// Asked for when a schema is built.
    var defaultValue: () -> Value
    /// Makes the first value of each new object, in place of the default.
    var initialValue: (() throws(StoreError) -> Value)?
}

/// The two ends of a relationship.
struct RelationshipDeclaration {
    var kind: RelationshipLayout.Kind
    var destination: CoreStoreObject.Type
    /// The name of the inverse; found only when the schema is built, because two classes may name
    /// each other.
    var inverseName: (() -> String)?
    var deleteRule: RelationshipDescription.DeleteRule
    var minCount: Int
    var maxCount: Int
}

/// The declarations that properties of every kind have.
@usableFromInline
struct FieldTerms {
    let keyPath: KeyPathString
    /// The class that declares the property.
    let owner: ObjectIdentifier
    let versionHashModifier: String?
    let previousName: String?
    let affectedByKeyPaths: () -> Set<KeyPathString>

    @usableFromInline
    init<O: CoreStoreObject>(
        _ owner: O.Type, _ keyPath: KeyPathString, _ versionHashModifier: String?,
        _ previousName: String?, _ affectedByKeyPaths: @escaping () -> Set<KeyPathString>
    ) {
        self.keyPath = keyPath
        self.owner = ObjectIdentifier(owner)
        self.versionHashModifier = versionHashModifier
        self.previousName = previousName
        self.affectedByKeyPaths = affectedByKeyPaths
    }
}

/// A value of whatever type, made once for a property and never changed.
private struct ValueForUnknown: @unchecked Sendable {
    let value: Any?
}

/// The declaration of a property wrapper, as the meta object of its class collected it.
class FieldDeclaration: @unchecked Sendable {
    let terms: FieldTerms
    let kind: FieldKind
    /// The index by which wrappers name the declaration, set when it is registered.
    var index: UInt16 = 0
    /// The index by which objects keep values of the property, the same for the class that declares
    /// it and those below.
    var keptIndex: UInt16 = 0
    private let valueForUnknown = Mutex<ValueForUnknown?>(nil)

    init(_ terms: FieldTerms, _ kind: FieldKind) {
        self.terms = terms
        self.kind = kind
    }

    var keyPath: KeyPathString { terms.keyPath }

    /// A value without the optionals around it; nil for a nil among them.
    static func unwrapped(_ value: Any) -> Any? {
        func content(_ optional: some FieldOptionalType) -> Any? {
            optional.cs_wrappedValue.flatMap { unwrapped($0) }
        }
        return (value as? any FieldOptionalType).map { content($0) } ?? value
    }

    /// The value of the property where its type does not know the stored one: an equal value at
    /// every read. The first read logs it.
    func valueForUnknown<V>(_ first: () -> V?) -> V? {
        if let known = valueForUnknown.withLock({ $0 }) { return known.value as? V }
        let made = ValueForUnknown(value: first())
        let (value, isFirst) = valueForUnknown.withLock { known in
            if let known { return (known, false) }
            known = made
            return (made, true)
        }
        if isFirst {
            Log.error(
                CoreStoreError(
                    StoreError(
                        .corrupt, "a stored value of “\(keyPath)” is none that its type knows")),
                "a property reads as its first value.")
        }
        return value.value as? V
    }

    /// The value that an object has, custom getter included; nil for a relationship.
    func anyValue(of object: CoreStoreObject) -> Any? { nil }

    /// The property's type, where its values lie in the record as they are.
    var storedType: (any FieldStorableType.Type)? { nil }

    /// The value that names the section of an object: of a stored property with a getter the stored
    /// form of what the getter returns.
    func sectionValue(of object: CoreStoreObject) -> Any? { anyValue(of: object) }

    /// Whether reading and writing take no more than the offset of the column.
    var isPlain: Bool { false }

    /// Whether objects may keep values of the property that are in no record.
    var isTransient: Bool { false }
    /// Whether a getter of the program makes the value, or the object alone keeps it.
    var isComputed: Bool { false }
}
