import RecordStore

// CoreStore's classes for properties, as they were before property wrappers: each is a thin form
// over the field of the same kind, and they may stand beside `@Field`s in a class.
//
// A wrapper learns its slot while its object is made. These are objects of their own, and learn
// whose they are when it is made.

/// The base class of the classes for properties.
public class LegacyProperty {
    let slot: UInt16
    /// The object whose property this is; nil until it is made, and when it is gone.
    private weak var owner: CoreStoreObject?
    /// Finds the object again: `a.b.value` may release `a` when it has `b`.
    private var raw: RawObject?

    init(slot: UInt16) { self.slot = slot }

    deinit { raw?.kind.shared?.endUse() }

    /// The object whose property this is.
    func ownObject<O: CoreStoreObject>(_ type: O.Type) -> O {
        guard let object = (owner ?? raw.map(found)) as? O else {
            Log.abort("a property of \(type) belongs to no object of the class")
        }
        return object
    }

    /// The object of the row, and where the row is gone one that reads as such an object does: the
    /// defaults, or the newest commit once its transaction has ended. No other caller has it.
    private func found(_ raw: RawObject) -> CoreStoreObject {
        do throws(StoreError) {
            if !raw.context.hasEnded, let object = try raw.context.existing(raw.id) {
                return object
            }
        } catch {
            raw.context.fail(error, "the object of a property could not be read.")
        }
        return raw.context.objectWithoutRow(raw)
    }

    /// The name of the property.
    public var keyPath: KeyPathString {
        if slot & FieldRegistry.declarationBit != 0 {
            return FieldRegistry.declaration(slot).keyPath
        }
        // A relationship's slot is its number, and the object's entity knows its name.
        let relationships = raw?.entity.relationships ?? []
        return relationships.first { $0.id == Int(slot) }?.name ?? ""
    }

    /// Tells the properties of an object whose they are; returns whether it has any.
    @discardableResult
    static func adopt(_ object: CoreStoreObject) -> Bool {
        var hasProperties = false
        var mirror: Mirror? = Mirror(reflecting: object)
        while let level = mirror, level.subjectType != CoreStoreObject.self {
            for case let property as LegacyProperty in level.children.map(\.value) {
                property.owner = object
                property.raw = object.raw
                object.raw?.kind.shared?.beginUse()
                hasProperties = true
            }
            mirror = level.superclassMirror
        }
        return hasProperties
    }

    /// The declaration of a property that has a value.
    func field<V>(_ type: V.Type) -> ValueField<V> { FieldRegistry.field(slot, of: type) }
}

/// Stored values that are found by the declaration, which the property of every object names.
struct DeclaredValues<V: FieldStorableType>: FieldStorage {
    private let values: StoredValues<V>

    init(initial: V) { values = StoredValues(initial: initial, first: nil) }

    var isPlain: Bool { false }

    func primitive(_ field: FieldDeclaration, of object: CoreStoreObject) -> V? {
        values.primitive(field, of: object)
    }

    func load(_ field: FieldDeclaration, of object: CoreStoreObject) -> V {
        values.load(field, of: object)
    }

    func unknownValue(_ field: FieldDeclaration) -> V? { values.unknownValue(field) }

    func store(_ value: V?, _ field: FieldDeclaration, of object: CoreStoreObject) {
        values.store(value, field, of: object)
    }
}

/// A property with a value, as conditions and orders name it.
public protocol LegacyAttribute: AttributeKeyPathStringConvertible
where ReturnValueType: FieldStorableType {}

/// The containers of the classes for attributes: a class declares `Value.Required<String>`.
public enum ValueContainer<O: CoreStoreObject> {}
/// The container of the classes for archived attributes.
public enum TransformableContainer<O: CoreStoreObject> {}
/// The container of the classes for relationships.
public enum RelationshipContainer<O: CoreStoreObject> {
    /// The fate of the objects that a deleted object leads to.
    public typealias DeleteRule = ObjectGraph.DeleteRule
}

extension DynamicObject where Self: CoreStoreObject {
    /// The classes by which CoreStore 9 declares attributes.
    @available(*, deprecated, message: "declare the property with @Field.Stored")
    public typealias Value = ValueContainer<Self>
    /// The classes by which CoreStore 9 declares archived attributes.
    @available(*, deprecated, message: "declare the property with @Field.Coded")
    public typealias Transformable = TransformableContainer<Self>
    /// The classes by which CoreStore 9 declares relationships.
    @available(*, deprecated, message: "declare the property with @Field.Relationship")
    public typealias Relationship = RelationshipContainer<Self>
}
