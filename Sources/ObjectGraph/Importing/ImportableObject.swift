/// A class whose objects are created from source values of the program's; each import creates a new
/// one.
public protocol ImportableObject: DynamicObject {
    /// The type of the sources, such as `[String: Any]`.
    associatedtype ImportSource

    /// Whether a source is imported at all. True unless the class implements it.
    static func shouldInsert(from source: ImportSource, in transaction: BaseDataTransaction) -> Bool

    /// Fills a new object from its source.
    ///
    /// - Throws: any error. It ends the import; if it leaves the transaction's closure, it discards
    ///   the transaction.
    func didInsert(from source: ImportSource, in transaction: BaseDataTransaction) throws

    /// The relationships that an import fills, with the objects that a source names or contains;
    /// none unless the class implements it. They are set after the objects were filled.
    static var importableRelationships: [ImportableRelationship<ImportSource>] { get }
}

extension ImportableObject {
    /// Imports every source.
    public static func shouldInsert(
        from source: ImportSource, in transaction: BaseDataTransaction
    ) -> Bool {
        true
    }

    /// Fills no relationships.
    public static var importableRelationships: [ImportableRelationship<ImportSource>] { [] }
}

/// A class whose objects have an identity of their own: an import updates the object with that
/// identity, and creates one only when there is none.
public protocol ImportableUniqueObject: ImportableObject, Hashable {
    /// The type of the identity.
    associatedtype UniqueIDType: ImportableAttributeType & FieldStorableType

    /// The name of the attribute that holds the identity. Declare it unique, or index it.
    static var uniqueIDKeyPath: String { get }
    /// The identity of this object.
    var uniqueIDValue: UniqueIDType { get set }

    /// Whether a source creates an object where there is none with its identity.
    /// ``shouldUpdate(from:in:)`` decides unless the class implements it.
    static func shouldInsert(from source: ImportSource, in transaction: BaseDataTransaction) -> Bool
    /// Whether a source updates the object with its identity. True unless the class implements it.
    static func shouldUpdate(from source: ImportSource, in transaction: BaseDataTransaction) -> Bool
    /// The identity that a source has; nil skips the source.
    ///
    /// - Throws: any error, which ends the import.
    static func uniqueID(
        from source: ImportSource, in transaction: BaseDataTransaction
    ) throws -> UniqueIDType?
    /// Fills a new object, whose identity is set already. It calls ``update(from:in:)`` unless the
    /// class implements it.
    ///
    /// - Throws: any error, which ends the import.
    func didInsert(from source: ImportSource, in transaction: BaseDataTransaction) throws
    /// Fills an existing object from a source.
    ///
    /// - Throws: any error, which ends the import.
    func update(from source: ImportSource, in transaction: BaseDataTransaction) throws
}

extension ImportableUniqueObject {
    /// Creates an object where a source could also update one.
    public static func shouldInsert(
        from source: ImportSource, in transaction: BaseDataTransaction
    ) -> Bool {
        shouldUpdate(from: source, in: transaction)
    }

    /// Updates an object from every source.
    public static func shouldUpdate(
        from source: ImportSource, in transaction: BaseDataTransaction
    ) -> Bool {
        true
    }

    /// Fills a new object as an existing one.
    public func didInsert(
        from source: ImportSource, in transaction: BaseDataTransaction
    ) throws {
        try update(from: source, in: transaction)
    }
}

extension ImportableUniqueObject where Self: CoreStoreObject {
    /// The stored attribute that ``uniqueIDKeyPath`` names. The attribute may be of another type
    /// that has a form for each ID: an `Int` may be stored as an `Int32`. An import throws for a
    /// number that the attribute has no room for; setting one here stops the program.
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
