import RecordStore

/// The attribute that holds the unique IDs of a class. Its type may be another one than the ID's:
/// an `Int` may be kept as an `Int32`.
struct IDColumn<O: CoreStoreObject & ImportableUniqueObject> {
    typealias ID = O.UniqueIDType

    private let entity: EntityLayout
    private let field: FieldLayout
    /// Whether the attribute is of the ID's type, so that rows are read and written as they are.
    private let isOfIDType: Bool

    init(of object: CoreStoreObject) { self.init(object.raw?.entity) }

    init(_ entity: EntityLayout?) {
        guard let entity, let field = entity.field(named: O.uniqueIDKeyPath) else {
            Log.abort("\(O.self) has no attribute “\(O.uniqueIDKeyPath)”")
        }
        self.entity = entity
        self.field = field
        let type: any FieldStorableType.Type = ID.self
        isOfIDType = field.type == type.cs_rawAttributeType.attributeType
    }

    var byteOffset: UInt16 { UInt16(field.byteOffset) }

    /// The ID of an object whose row is loaded; nil for a stored value that is no ID.
    func known(_ object: CoreStoreObject) -> ID? {
        if isOfIDType { return ID.cs_known(object.row, field.byteOffset) }
        return ValueBridge.native(storedValue(object)).flatMap { ID.cs_value(of: $0) }
    }

    /// The ID of an object, or the property's fallback where the stored value is no ID.
    func id(_ object: CoreStoreObject) -> ID {
        if let id = known(object) ?? ClassMeta.of(O.self).unknownValue(O.uniqueIDKeyPath) {
            return id
        }
        guard isOfIDType else { abort(storedValue(object)) }
        return ID.cs_load(object.row, field.byteOffset)
    }

    /// Throws for a number that the attribute has no room for: sources may have it. An ID of
    /// another kind than the attribute, such as a text for a number, is a mistake of the class.
    func check(_ id: ID) throws(CoreStoreError) {
        guard !isOfIDType, let type = field.type, type.isNumber else { return }
        let value = ValueBridge.value(id)
        guard value.approximation != nil, !hasForm(of: value, type) else { return }
        throw .failure(
            .coding,
            "the unique ID of a source of \(O.self) is \(id), and its attribute “\(field.name)” of "
                + "the type \(type.name) has no room for it")
    }

    private func hasForm(of number: Value, _ type: AttributeType) -> Bool {
        if let range = type.integerRange {
            guard range.contains(number.decimal) else { return false }
            switch number {
            case .int, .uint: return true
            default: break
            }
        }
        var row = entity.emptyRow()
        defer { row.deallocate() }
        row.setValue(number, field)
        return NativeForm.value(FieldRow(row), field.byteOffset, type) == number
    }

    func store(_ id: ID, _ object: CoreStoreObject) {
        if isOfIDType { return object.store(id, in: field) }
        let value = ValueBridge.value(id)
        if let range = field.type?.integerRange, !range.contains(value.decimal) { abort(value) }
        object.row.buffer.setValue(value, field)
        // A value that the attribute has no form for was not written.
        guard storedValue(object) == value else { abort(value) }
    }

    private func storedValue(_ object: CoreStoreObject) -> Value {
        field.type.map { NativeForm.value(object.row, field.byteOffset, $0) } ?? .null
    }

    private func abort(_ value: Value) -> Never {
        Log.abort(
            "the unique ID of \(O.self) is a \(ID.self), and its attribute “\(field.name)” of the "
                + "type \(field.type.map { "\($0)" } ?? "none") has no form for \(value)")
    }
}

/// Notices an object that got another ID than its source named: a later source of the import may
/// name that ID.
struct RenamedIDs<O: CoreStoreObject & ImportableUniqueObject> {
    private var entity: EntityLayout?
    private var column: IDColumn<O>?

    /// Whether an object has an ID, by the values of the store: two texts that Swift takes for
    /// equal may be two IDs.
    mutating func hasID(_ id: O.UniqueIDType, _ object: O) -> Bool {
        guard let raw = object.raw else { return true }
        if raw.entity !== entity { (entity, column) = (raw.entity, IDColumn(of: object)) }
        object.loadRow()
        guard let known = column?.known(object), known == id else { return false }
        return isExact || ValueBridge.value(known) == ValueBridge.value(id)
    }

    private var isExact: Bool { O.UniqueIDType.self is any FixedWidthInteger.Type }
}
