import RecordStore

/// Values whose bytes a coder of the program writes and reads: written when the property is
/// assigned, and read when it is first asked for.
struct CodedValues<V>: FieldStorage {
    let coding: FieldCoding<V>
    /// The default; nil where each object's first value is made for it.
    let initial: V?
    /// The value of a column whose bytes are none, or are damaged.
    let fallback: () -> V

    var isPlain: Bool { false }

    /// The value of some bytes, kept until they are others.
    private final class Decoded {
        let bytes: [UInt8]?
        let value: V?
        /// Of bytes that cannot be decoded.
        let failure: CoreStoreError?

        init(_ bytes: [UInt8]?, _ value: V?, _ failure: CoreStoreError?) {
            self.bytes = bytes
            self.value = value
            self.failure = failure
        }
    }

    func primitive(_ field: FieldDeclaration, of object: CoreStoreObject) -> V? {
        guard let column = object.storedField(field.keyPath) else { return initial }
        object.loadRow()
        let offset = column.byteOffset
        let bytes = object.row.isNull(offset) ? nil : object.row.bytes(offset)
        // Other objects' changes, refreshes and rollbacks change a row without asking here, so
        // that the bytes themselves say whether the value is still theirs.
        if let known = object.transients?[object, field.keptIndex] as? Decoded, known.bytes == bytes
        {
            if let failure = known.failure {
                _ = FaultTrap.take(failure, of: object.raw?.context)
            }
            return known.value
        }
        if bytes == nil && !column.isOptional { return nil }
        let (value, failure) = decoded(bytes, field, object)
        if Self.isKept(value) {
            object.transients?[object, field.keptIndex] = Decoded(bytes, value, failure)
        }
        return value
    }

    func load(_ field: FieldDeclaration, of object: CoreStoreObject) -> V {
        primitive(field, of: object) ?? fallback()
    }

    private func decoded(
        _ bytes: [UInt8]?, _ field: FieldDeclaration, _ object: CoreStoreObject
    ) -> (value: V?, failure: CoreStoreError?) {
        do {
            return (try coding.decode(bytes.map { Data($0) }), nil)
        } catch {
            let failure = Self.failure(error, field, object.raw?.entity.name, "decoded")
            if !FaultTrap.take(failure, of: object.raw?.context) {
                Log.error(failure, "a coded property could not be read.")
            }
            return (nil, failure)
        }
    }

    /// A class's object could be changed by the program, and would then look stored.
    private static func isKept(_ value: V?) -> Bool {
        guard let value else { return true }
        return !(wrappedType(V.self) is AnyClass || type(of: value as Any) is AnyClass)
    }

    private static func wrappedType(_ type: Any.Type) -> Any.Type {
        func wrapped<Optional: FieldOptionalType>(_ type: Optional.Type) -> Any.Type {
            Optional.Wrapped.self
        }
        return (type as? any FieldOptionalType.Type).map { wrapped($0) } ?? type
    }

    func store(_ value: V?, _ field: FieldDeclaration, of object: CoreStoreObject) {
        guard let column = object.storedField(field.keyPath), let raw = object.raw else {
            Log.abort("“\(field.keyPath)” belongs to no entity of the schema")
        }
        do {
            let bytes = try value.flatMap { try coding.encode($0) }
            guard object.willWrite(UInt16(column.byteOffset)) else { return }
            if let bytes {
                object.row.set([UInt8](bytes), column.byteOffset)
            } else {
                object.row.clear(column.byteOffset)
            }
            object.didWrite(UInt16(column.byteOffset))
        } catch {
            // The transaction must not be committed without what was assigned.
            raw.context.fail(
                Self.encodingFailure(error, field, raw.entity.name),
                "a coded property could not be assigned.")
        }
    }

    private static func failure(
        _ error: any Error, _ field: FieldDeclaration, _ entityName: String?, _ verb: String
    ) -> CoreStoreError {
        .failure(
            .coding,
            "\(entityName ?? "").\(field.keyPath) could not be \(verb): \(error)")
    }

    private static func encodingFailure(
        _ error: any Error, _ field: FieldDeclaration, _ entityName: String?
    ) -> StoreError {
        StoreError(
            .invalidArgument,
            "\(entityName ?? "").\(field.keyPath) could not be encoded: \(error)")
    }
}

extension CodedValues {
    /// The column's default, or nothing where the default cannot be encoded.
    func defaultValue(_ field: FieldTerms) -> Value {
        do {
            return try encoded(initial)
        } catch {
            Log.assert(false, "the default of “\(field.keyPath)” could not be encoded: \(error)")
            return .null
        }
    }

    /// A value as its column holds it.
    func encoded(_ value: V?) throws -> Value {
        try value.flatMap { try coding.encode($0) }.map { .data([UInt8]($0)) } ?? .null
    }

    /// The first value of a new object.
    func initialValue(_ make: () -> V, _ field: FieldTerms) throws(StoreError) -> Value {
        do {
            return try encoded(make())
        } catch {
            throw StoreError(
                .invalidArgument,
                "the first value of “\(field.keyPath)” could not be encoded: \(error)")
        }
    }
}
