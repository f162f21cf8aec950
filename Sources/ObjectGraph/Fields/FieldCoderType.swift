/// Encodes values of a type as bytes and decodes them; see ``FieldCoders``.
///
/// A change of a coder is no change of the model: it must decode the bytes that earlier versions of
/// the program stored.
public protocol FieldCoderType {
    /// The type of the values.
    associatedtype FieldStoredValue
    /// The bytes of a value; nil for nil, and for a value that cannot be encoded.
    static func encodeToStoredData(_ fieldValue: FieldStoredValue?) -> Data?
    /// The value of bytes; nil for nil, and for bytes that encode no value.
    static func decodeFromStoredData(_ data: Data?) -> FieldStoredValue?
}

/// A coder that says why it failed.
protocol ThrowingFieldCoder: FieldCoderType {
    static func encode(_ value: FieldStoredValue) throws -> Data
    static func decode(_ data: Data) throws -> FieldStoredValue
}

extension ThrowingFieldCoder {
    static func encoded(_ value: FieldStoredValue?) -> Data? {
        guard let value else { return nil }
        do {
            return try encode(value)
        } catch {
            Log.error(CoreStoreError(error), "\(Self.self) could not encode a value.")
            return nil
        }
    }

    static func decoded(_ data: Data?) -> FieldStoredValue? {
        guard let data else { return nil }
        do {
            return try decode(data)
        } catch {
            Log.error(CoreStoreError(error), "\(Self.self) could not decode a value.")
            return nil
        }
    }
}

/// Why a value could not be encoded or decoded.
struct FieldCodingError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// How the values of one coded property become bytes and come back.
@usableFromInline
struct FieldCoding<V> {
    /// Nil is stored as nil.
    let encode: (V) throws -> Data?
    let decode: (Data?) throws -> V

    /// A pair of closures, which are asked about nil too.
    @usableFromInline
    init(_ coder: (encode: (V) -> Data?, decode: (Data?) -> V)) {
        encode = coder.encode
        decode = coder.decode
    }

    @usableFromInline
    init<Coder: FieldCoderType>(_ coder: Coder.Type) where Coder.FieldStoredValue == V {
        encode = { value in try Self.data(value, coder) }
        decode = { data in
            guard let data else { throw FieldCodingError("there are no bytes") }
            return try Self.value(data, coder)
        }
    }

    @usableFromInline
    init<Coder: FieldCoderType>(optional coder: Coder.Type)
    where V: FieldOptionalType, Coder.FieldStoredValue == V.Wrapped {
        encode = { value in
            try value.cs_wrappedValue.map { try FieldCoding<V.Wrapped>.data($0, coder) }
        }
        decode = { data in
            guard let data else { return nil }
            return V(try FieldCoding<V.Wrapped>.value(data, coder))
        }
    }

    private static func data<Coder: FieldCoderType>(
        _ value: V, _ coder: Coder.Type
    ) throws -> Data where Coder.FieldStoredValue == V {
        func exact<Exact: ThrowingFieldCoder>(_ coder: Exact.Type) throws -> Data? {
            try (value as? Exact.FieldStoredValue).map { try coder.encode($0) }
        }
        let data =
            if let coder = coder as? any ThrowingFieldCoder.Type {
                try exact(coder)
            } else {
                coder.encodeToStoredData(value)
            }
        guard let data else { throw FieldCodingError("\(coder) gave no bytes for it") }
        return data
    }

    private static func value<Coder: FieldCoderType>(
        _ data: Data, _ coder: Coder.Type
    ) throws -> V where Coder.FieldStoredValue == V {
        func exact<Exact: ThrowingFieldCoder>(_ coder: Exact.Type) throws -> V? {
            try coder.decode(data) as? V
        }
        let value =
            if let coder = coder as? any ThrowingFieldCoder.Type {
                try exact(coder)
            } else {
                coder.decodeFromStoredData(data)
            }
        guard let value else {
            throw FieldCodingError("\(coder) gave no value for \(data.count) bytes")
        }
        return value
    }
}
