import RecordStore

extension String: ImportableAttributeType, FieldStorableType {
    public typealias FieldStoredNativeType = String
    public static var cs_rawAttributeType: NSAttributeType { .stringAttributeType }

    @inlinable @inline(__always)
    public static func cs_load(_ row: FieldRow, _ offset: Int) -> String { row.string(offset) }

    @inlinable
    public func cs_store(_ row: inout FieldRow, _ offset: Int) { row.set(self, offset) }

    public func cs_toFieldStoredNativeType() -> Any? { self }
    public func cs_toQueryableNativeType() -> Any { self }

    public static func cs_fromQueryableNativeType(_ value: Any) -> String? {
        switch value {
        case let text as String: text
        case let url as URL: url.absoluteString
        case let uuid as UUID: uuid.uuidString.lowercased()
        default: nil
        }
    }
}

extension Data: ImportableAttributeType, FieldStorableType {
    public typealias FieldStoredNativeType = Data
    public static var cs_rawAttributeType: NSAttributeType { .binaryDataAttributeType }

    public static func cs_load(_ row: FieldRow, _ offset: Int) -> Data { Data(row.bytes(offset)) }
    public func cs_store(_ row: inout FieldRow, _ offset: Int) { row.set([UInt8](self), offset) }
    public func cs_toFieldStoredNativeType() -> Any? { self }
    public func cs_toQueryableNativeType() -> Any { self }
    public static func cs_fromQueryableNativeType(_ value: Any) -> Data? { value as? Data }
}

extension Date: ImportableAttributeType, FieldStorableType {
    public typealias FieldStoredNativeType = Date
    public static var cs_rawAttributeType: NSAttributeType { .dateAttributeType }

    @inlinable @inline(__always)
    public static func cs_load(_ row: FieldRow, _ offset: Int) -> Date {
        Date(timeIntervalSinceReferenceDate: row.double(offset))
    }

    @inlinable @inline(__always)
    public func cs_store(_ row: inout FieldRow, _ offset: Int) {
        row.set(timeIntervalSinceReferenceDate, offset)
    }

    public func cs_toFieldStoredNativeType() -> Any? { self }
    public func cs_toQueryableNativeType() -> Any { self }
    public static func cs_fromQueryableNativeType(_ value: Any) -> Date? { value as? Date }
}

extension UUID: ImportableAttributeType, FieldStorableType {
    public typealias FieldStoredNativeType = UUID
    public static var cs_rawAttributeType: NSAttributeType { .UUIDAttributeType }

    public static func cs_load(_ row: FieldRow, _ offset: Int) -> UUID {
        row.uuid(offset) ?? UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    }

    public func cs_store(_ row: inout FieldRow, _ offset: Int) { row.set(self, offset) }
    public func cs_toFieldStoredNativeType() -> Any? { self }
    public func cs_toQueryableNativeType() -> Any { self }

    public static func cs_fromQueryableNativeType(_ value: Any) -> UUID? {
        if let text = value as? String { return UUID(uuidString: text) }
        return value as? UUID
    }
}

extension URL: ImportableAttributeType, FieldStorableType {
    public typealias FieldStoredNativeType = URL
    public static var cs_rawAttributeType: NSAttributeType { .URIAttributeType }

    public static func cs_load(_ row: FieldRow, _ offset: Int) -> URL {
        cs_known(row, offset) ?? URL(fileURLWithPath: "/")
    }

    /// Nil for a text that is no URL: a migration may have put it there.
    public static func cs_known(_ row: FieldRow, _ offset: Int) -> URL? {
        URL(string: row.string(offset))
    }

    public func cs_store(_ row: inout FieldRow, _ offset: Int) { row.set(absoluteString, offset) }
    public func cs_toFieldStoredNativeType() -> Any? { self }
    public func cs_toQueryableNativeType() -> Any { self }

    public static func cs_fromQueryableNativeType(_ value: Any) -> URL? {
        if let text = value as? String { return URL(string: text) }
        return value as? URL
    }
}

extension NSManagedObjectID: QueryableAttributeType {
    public static var cs_rawAttributeType: NSAttributeType { .objectIDAttributeType }

    public func cs_toQueryableNativeType() -> Any { self }

    public static func cs_fromQueryableNativeType(_ value: Any) -> Self? { value as? Self }
}
