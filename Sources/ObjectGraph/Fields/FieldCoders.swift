import RecordStore

/// The coders of `@Field.Coded`: `@Field.Coded("info", coder: FieldCoders.Json.self)`.
public enum FieldCoders {
    /// Any `Codable` value as JSON.
    public enum Json<V: Codable>: FieldCoderType {
        public static func encodeToStoredData(_ fieldValue: V?) -> Data? { encoded(fieldValue) }
        public static func decodeFromStoredData(_ data: Data?) -> V? { decoded(data) }
    }

    /// Any `Codable` value as a binary property list.
    public enum Plist<V: Codable>: FieldCoderType {
        public static func encodeToStoredData(_ fieldValue: V?) -> Data? { encoded(fieldValue) }
        public static func decodeFromStoredData(_ data: Data?) -> V? { decoded(data) }
    }

    /// A class that conforms to `NSCoding`, as a keyed archive.
    public enum NSCoding<V: NSObject & Foundation.NSCoding>: FieldCoderType {
        public static func encodeToStoredData(_ fieldValue: V?) -> Data? { encoded(fieldValue) }
        public static func decodeFromStoredData(_ data: Data?) -> V? { decoded(data) }
    }

    /// Foundation's classes for values and collections, as a secure keyed archive.
    public enum DefaultNSSecureCoding<V: DefaultNSSecureCodable>: FieldCoderType {
        public static func encodeToStoredData(_ fieldValue: V?) -> Data? { encoded(fieldValue) }
        public static func decodeFromStoredData(_ data: Data?) -> V? { decoded(data) }
    }
}

// Not every value may stand alone in JSON or in a property list, but in a list it may.

extension FieldCoders.Json: ThrowingFieldCoder {
    static func encode(_ value: V) throws -> Data { try JSONEncoder().encode([value]) }

    static func decode(_ data: Data) throws -> V {
        try sole(JSONDecoder().decode([V].self, from: data))
    }
}

extension FieldCoders.Plist: ThrowingFieldCoder {
    static func encode(_ value: V) throws -> Data {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return SealedBytes.sealed(try encoder.encode([value]))
    }

    static func decode(_ data: Data) throws -> V {
        try sole(PropertyListDecoder().decode([V].self, from: SealedBytes.opened(data)))
    }
}

private func sole<V>(_ values: [V]) throws -> V {
    guard values.count == 1 else {
        throw FieldCodingError("there are \(values.count) values, where one was stored")
    }
    return values[0]
}

extension FieldCoders.NSCoding: ThrowingFieldCoder {
    static func encode(_ value: V) throws -> Data {
        try KeyedArchive.data(value, isSecure: isSecure)
    }

    static func decode(_ data: Data) throws -> V {
        try KeyedArchive.object(data, of: isSecure ? classes : nil)
    }

    /// Foundation's collections hold values of their own kin.
    private static var classes: [AnyClass] {
        V.self is any DefaultNSSecureCodable.Type
            ? [V.self] + KeyedArchive.defaultClasses : [V.self]
    }

    private static var isSecure: Bool {
        (V.self as? any NSSecureCoding.Type)?.supportsSecureCoding == true
    }
}

extension FieldCoders.DefaultNSSecureCoding: ThrowingFieldCoder {
    static func encode(_ value: V) throws -> Data {
        try KeyedArchive.data(value, isSecure: true)
    }

    static func decode(_ data: Data) throws -> V {
        try KeyedArchive.object(data, of: KeyedArchive.defaultClasses)
    }
}

/// Foundation's keyed archives of one object.
private enum KeyedArchive {
    /// The classes that a default archive may hold, at every depth.
    static var defaultClasses: [AnyClass] {
        [
            NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self,
            NSDate.self, NSData.self, NSURL.self, NSUUID.self, NSNull.self,
        ]
    }

    static func data(_ object: NSObject, isSecure: Bool) throws -> Data {
        SealedBytes.sealed(
            try NSKeyedArchiver.archivedData(
                withRootObject: object, requiringSecureCoding: isSecure))
    }

    /// - Parameter classes: what the archive may hold; nil for any class.
    static func object<V: NSObject>(_ data: Data, of classes: [AnyClass]?) throws -> V {
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: SealedBytes.opened(data))
        unarchiver.requiresSecureCoding = classes != nil
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        let root = NSKeyedArchiveRootObjectKey
        let object: Any? =
            if let classes {
                unarchiver.decodeObject(of: classes, forKey: root)
            } else {
                unarchiver.decodeObject(forKey: root)
            }
        if let error = unarchiver.error { throw error }
        unarchiver.finishDecoding()
        guard let object = object as? V else {
            throw FieldCodingError("the archive holds no \(V.self)")
        }
        return object
    }
}

/// Bytes with their hash before them. Foundation's readers of archives and of binary property
/// lists trust their bytes, and would end the program over damaged ones.
private enum SealedBytes {
    private static let hashSize = 8

    static func sealed(_ data: Data) -> Data {
        let hash = ContentHash.hash([UInt8](data))
        return Data((0..<UInt64(hashSize)).map { UInt8(truncatingIfNeeded: hash >> (8 * $0)) })
            + data
    }

    static func opened(_ data: Data) throws -> Data {
        let bytes = [UInt8](data)
        guard bytes.count >= hashSize else {
            throw FieldCodingError("\(bytes.count) bytes are too few")
        }
        let stored = bytes.prefix(hashSize).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let content = Array(bytes.dropFirst(hashSize))
        guard ContentHash.hash(content) == stored else {
            throw FieldCodingError("the bytes are damaged")
        }
        return Data(content)
    }
}

/// A class that ``FieldCoders/DefaultNSSecureCoding`` accepts.
public protocol DefaultNSSecureCodable: NSObject, NSSecureCoding {}

extension NSArray: DefaultNSSecureCodable {}
extension NSDictionary: DefaultNSSecureCodable {}
extension NSSet: DefaultNSSecureCodable {}
extension NSString: DefaultNSSecureCodable {}
extension NSNumber: DefaultNSSecureCodable {}
extension NSDate: DefaultNSSecureCodable {}
extension NSData: DefaultNSSecureCodable {}
extension NSURL: DefaultNSSecureCodable {}
extension NSUUID: DefaultNSSecureCodable {}
extension NSNull: DefaultNSSecureCodable {}
