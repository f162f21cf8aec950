import RecordStore

/// A relationship that an import fills from a source. A class lists its own in
/// ``ImportableObject/importableRelationships``.
///
/// Links are set when the objects of all sources exist, so that a source may name one that comes
/// later; see ``BaseDataTransaction/importRelatedObjects(_:)``.
public struct ImportableRelationship<ImportSource> {
    /// The slot of the relationship in an owner; nil for an object of another class.
    let slot: (CoreStoreObject) -> UInt16?
    /// Adds the targets that a source names to a batch; nil leaves the relationship as it is.
    let targets: (ImportSource, ImportBatch) throws -> [ImportBatch.Target]?
    let isToOne: Bool

    /// A relationship whose targets a closure finds in the source.
    ///
    /// - Parameters:
    ///   - keyPath: the relationship with its class, such as `\Person.$pets`.
    ///   - targets: the new targets of the relationship, in order; nil leaves the relationship
    ///     unchanged. An error ends the import.
    public init<O: CoreStoreObject, B: CoreStoreObject, V: FieldRelationshipType>(
        _ keyPath: KeyPath<O, FieldContainer<B>.Relationship<V>>,
        targets: @escaping (ImportSource) throws -> [ImportTarget<V.DestinationObjectType>]?
    ) where V.DestinationObjectType: ImportableObject {
        slot = { owner in (owner as? O)?[keyPath: keyPath].slot }
        self.targets = { source, batch in try targets(source)?.compactMap { try $0.add(batch) } }
        isToOne = V.self is any FieldRelationshipToOneType.Type
    }

    /// A relationship whose targets a source has for a key: nested sources or unique IDs, one or an
    /// array of them. Without the key the relationship stays unchanged; null clears it. Any other
    /// value ends the import with an error.
    public init<O: CoreStoreObject, B: CoreStoreObject, V: FieldRelationshipType>(
        _ keyPath: KeyPath<O, FieldContainer<B>.Relationship<V>>, key: String
    )
    where
        V.DestinationObjectType: ImportableUniqueObject,
        V.DestinationObjectType.ImportSource == [String: Any], ImportSource == [String: Any]
    {
        self.init(keyPath) { source in
            try Self.values(source, key)?.map { value -> ImportTarget<V.DestinationObjectType> in
                if let nested = value as? [String: Any] { return .source(nested) }
                if let id: V.DestinationObjectType.UniqueIDType = Self.id(value) {
                    return .uniqueID(id)
                }
                throw CoreStoreError.malformedTarget(value, key)
            }
        }
    }

    /// A relationship to objects without unique IDs, whose sources are nested in a source. Each
    /// import creates new objects.
    public init<O: CoreStoreObject, B: CoreStoreObject, V: FieldRelationshipType>(
        _ keyPath: KeyPath<O, FieldContainer<B>.Relationship<V>>, key: String
    )
    where
        V.DestinationObjectType: ImportableObject,
        V.DestinationObjectType.ImportSource == [String: Any], ImportSource == [String: Any]
    {
        self.init(keyPath) { source in
            try Self.values(source, key)?.map { value -> ImportTarget<V.DestinationObjectType> in
                if let nested = value as? [String: Any] { return .source(nested) }
                throw CoreStoreError.malformedTarget(value, key)
            }
        }
    }

    /// Integers are one ID whatever their types are, and a type of the program's own is made from
    /// the text or the integer that it is kept as.
    private static func id<ID: ImportableAttributeType>(_ value: Any) -> ID? {
        // A flag of JSON is a number to casts.
        if ID.self != Bool.self, isFlag(value) { return nil }
        if let id = value as? ID { return id }
        let stored: Value
        if let text = value as? String {
            stored = .string(text)
        } else if let number = integer(value) {
            stored = .int(number)
        } else {
            return nil
        }
        guard let id = ID.cs_value(of: ValueBridge.native(stored) ?? value) else { return nil }
        let kept = ValueBridge.value(queryable: id)
        // A UUID is spelled in several ways.
        if case (.uuid, .string) = (kept, stored) { return id }
        return kept == stored ? id : nil
    }

    private static func isFlag(_ value: Any) -> Bool {
        guard type(of: value) is NSNumber.Type, let number = value as? NSNumber else {
            return type(of: value) == Bool.self
        }
        return number.kindValue == nil && value is Bool
    }

    private static func integer(_ value: Any) -> Int64? {
        if let number = value as? any BinaryInteger { return Int64(exactly: number) }
        return value as? Int64
    }

    private static func values(_ source: [String: Any], _ key: String) -> [Any]? {
        switch source[key] {
        case nil: nil
        case is NSNull: []
        case let list as [Any]: list
        case let value?: [value]
        }
    }
}

/// A target of a relationship in a source: the source of an object, or its unique ID.
public struct ImportTarget<O: CoreStoreObject & ImportableObject> {
    /// Adds the target to a batch; nil for a source that the class declines.
    let add: (ImportBatch) throws -> ImportBatch.Target?

    /// A new object, created from a nested source.
    public static func source(_ source: O.ImportSource) -> Self {
        Self { batch in .nested(try batch.add(source, try batch.into(O.self))) }
    }
}

extension ImportTarget where O: ImportableUniqueObject {
    /// The object with a nested source's identity. It is updated or created, as if its source were
    /// imported after the one around it.
    public static func source(_ source: O.ImportSource) -> Self {
        Self { batch in
            try batch.addUnique(source, try batch.into(O.self)).map { .nested($0) }
        }
    }

    /// The object with an ID. It exists already, or a source of the same pass creates it; otherwise
    /// the pass ends with an error whose ``CoreStoreError/storeError`` is `notFound`.
    public static func uniqueID(_ id: O.UniqueIDType) -> Self {
        Self { batch in
            let objects = batch.objects.objects(of: O.self)
            return .reference(objects, objects.ask(for: id))
        }
    }
}

extension CoreStoreError {
    static func malformedTarget(_ value: Any, _ key: String) -> CoreStoreError {
        .failure(
            .coding,
            "“\(key)” of a source is neither a source nor a unique ID: it is of the type "
                + "\(type(of: value))")
    }
}
