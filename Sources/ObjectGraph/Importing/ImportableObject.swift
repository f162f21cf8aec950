/// A class whose objects are made from a program's source values; each import makes a new one.
public protocol ImportableObject: DynamicObject {
    /// What objects are made from, such as `[String: Any]`.
    associatedtype ImportSource

    /// Whether a source is imported at all.
    static func shouldInsert(from source: ImportSource, in transaction: BaseDataTransaction) -> Bool

    /// Fills a new object. An error ends the import and, thrown on, the transaction.
    func didInsert(from source: ImportSource, in transaction: BaseDataTransaction) throws

    /// The relationships that an import fills, with the objects that a source names or contains:
    /// none where a class does not say. They are set after the objects were filled.
    static var importableRelationships: [ImportableRelationship<ImportSource>] { get }
}

extension ImportableObject {
    public static func shouldInsert(
        from source: ImportSource, in transaction: BaseDataTransaction
    ) -> Bool {
        true
    }

    public static var importableRelationships: [ImportableRelationship<ImportSource>] { [] }
}

/// A class whose objects have an identity of their own: an import changes the object of that
/// identity, and makes one only when there is none.
public protocol ImportableUniqueObject: ImportableObject, Hashable {
    /// The type of the identity.
    associatedtype UniqueIDType: ImportableAttributeType & FieldStorableType

    /// The name of the attribute that holds the identity. Declare it unique, or index it.
    static var uniqueIDKeyPath: String { get }
    /// The identity of this object.
    var uniqueIDValue: UniqueIDType { get set }

    /// Whether a source without an object makes one.
    static func shouldInsert(from source: ImportSource, in transaction: BaseDataTransaction) -> Bool
    /// Whether a source with an object changes it.
    static func shouldUpdate(from source: ImportSource, in transaction: BaseDataTransaction) -> Bool
    /// The identity that a source names; nil leaves the source out.
    static func uniqueID(
        from source: ImportSource, in transaction: BaseDataTransaction
    ) throws -> UniqueIDType?
    /// Fills a new object, whose identity is set already.
    func didInsert(from source: ImportSource, in transaction: BaseDataTransaction) throws
    /// Fills an object.
    func update(from source: ImportSource, in transaction: BaseDataTransaction) throws
}

extension ImportableUniqueObject {
    public static func shouldInsert(
        from source: ImportSource, in transaction: BaseDataTransaction
    ) -> Bool {
        shouldUpdate(from: source, in: transaction)
    }

    public static func shouldUpdate(
        from source: ImportSource, in transaction: BaseDataTransaction
    ) -> Bool {
        true
    }

    public func didInsert(
        from source: ImportSource, in transaction: BaseDataTransaction
    ) throws {
        try update(from: source, in: transaction)
    }
}

extension ImportableUniqueObject where Self: CoreStoreObject {
    /// The stored attribute of ``uniqueIDKeyPath``. The attribute may be of another type that has a
    /// form for each ID: an `Int` may be kept as an `Int32`.
    public var uniqueIDValue: UniqueIDType {
        get {
            let column = IDColumn<Self>(of: self)
            loadRow()
            return column.id(self)
        }
        set {
            let column = IDColumn<Self>(of: self)
            guard willWrite(column.byteOffset) else { return }
            column.store(newValue, self)
            didWrite(column.byteOffset)
        }
    }
}
