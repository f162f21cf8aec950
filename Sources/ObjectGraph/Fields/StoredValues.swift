import RecordStore

/// Values that lie in the record as they are.
struct StoredValues<V: FieldStorableType>: FieldStorage {
    /// The default; nil where each object's first value is made for it.
    let initial: V?
    /// Makes each object's first value, where it has no default.
    let first: (() -> V)?

    /// A number of Foundation's does not tell its class, so that the column's type does.
    var isPlain: Bool { !(V.self is NSDecimalNumber.Type || V.self is NSDecimalNumber?.Type) }

    func primitive(_ field: FieldDeclaration, of object: CoreStoreObject) -> V? {
        guard let column = object.storedField(field.keyPath) else { return initial }
        object.loadRow()
        if !V.cs_isOptional && object.row.isNull(column.byteOffset) { return nil }
        return V.cs_known(object.row, column.byteOffset) ?? unknownValue(field)
    }

    func load(_ field: FieldDeclaration, of object: CoreStoreObject) -> V {
        guard let column = object.storedField(field.keyPath) else {
            // A meta object answers with the default.
            return initial ?? empty
        }
        object.loadRow()
        return V.cs_known(object.row, column.byteOffset)
            ?? unknownValue(field) ?? V.cs_load(object.row, column.byteOffset)
    }

    func unknownValue(_ field: FieldDeclaration) -> V? {
        field.valueForUnknown { initial ?? first?() }
    }

    /// The value that a column without one reads as.
    private var empty: V {
        let row = RowBuffer.scratch()
        defer { row.deallocate() }
        row.clear(at: RowBuffer.scratchField.byteOffset)
        return V.cs_known(FieldRow(row), RowBuffer.scratchField.byteOffset)
            ?? first?() ?? V.cs_load(FieldRow(row), RowBuffer.scratchField.byteOffset)
    }

    func store(_ value: V?, _ field: FieldDeclaration, of object: CoreStoreObject) {
        guard let column = object.storedField(field.keyPath) else {
            Log.abort("“\(field.keyPath)” belongs to no entity of the schema")
        }
        guard object.willWrite(UInt16(column.byteOffset)) else { return }
        if let value {
            object.store(value, in: column)
        } else {
            object.row.clear(column.byteOffset)
        }
        object.didWrite(UInt16(column.byteOffset))
    }
}
