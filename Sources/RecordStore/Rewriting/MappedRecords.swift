import PageStore

/// An object of an earlier version, as a mapper reads it. Valid only during the mapper's call.
package final class SourceRecord {
    /// The entity's name in the earlier version.
    package let entityName: String
    package let number: ObjectNumber

    private let fields: MappedFields
    private let reader: RecordReader
    private var row: RowView?

    init(_ fields: MappedFields, _ number: ObjectNumber, _ row: RowView, _ reader: RecordReader) {
        entityName = fields.entityName
        self.fields = fields
        self.number = number
        self.reader = reader
        self.row = row
    }

    /// The entity's attributes in the earlier version, those of superentities first.
    package var attributes: [AttributeDescription] { fields.attributes }

    /// The value of an attribute; nil if none has the name, and after the mapper's call.
    package func value(_ name: String) throws(StoreError) -> Value? {
        guard let row, let field = fields[name] else { return nil }
        return try reader.value(field, of: row)
    }

    /// Invalidates the record: its row is not valid after the mapper's call.
    func end() { row = nil }
}

/// An object of a later version that a mapper makes. It starts with defaults; links are migrated
/// too.
package final class DestinationRecord {
    /// The entity's name in the later version.
    package let entityName: String

    private let fields: MappedFields
    private(set) var values: [String: Value]

    init(_ fields: MappedFields, _ values: [String: Value]) {
        entityName = fields.entityName
        self.fields = fields
        self.values = values
    }

    /// The entity's attributes in the later version, those of superentities first.
    package var attributes: [AttributeDescription] { fields.attributes }

    /// The earlier attribute that an attribute comes from; nil if it is new.
    package func source(of name: String) -> AttributeDescription? { fields.sources[name] }

    package func value(_ name: String) -> Value? { values[name] }

    /// Sets an attribute. Returns false and sets nothing if no attribute has the name or its type
    /// cannot hold the value.
    package func set(_ value: Value, for name: String) -> Bool {
        guard let attribute = fields.attributes.first(where: { $0.name == name }),
            let value = ValueConversion.value(value, as: attribute.type)
        else { return false }
        values[name] = value
        return true
    }
}

/// The attributes of an entity in one version, and their fields in the records that are written.
struct MappedFields {
    let entityName: String
    let attributes: [AttributeDescription]
    /// The earlier declarations of the attributes, except new ones.
    var sources: [String: AttributeDescription] = [:]
    private let fields: [String: FieldLayout]

    init(
        _ entityName: String, _ attributes: [(AttributeDescription, FieldLayout)]
    ) {
        self.entityName = entityName
        self.attributes = attributes.map(\.0)
        fields = Dictionary(attributes.map { ($0.name, $1) }) { first, _ in first }
    }

    subscript(name: String) -> FieldLayout? { fields[name] }
}
