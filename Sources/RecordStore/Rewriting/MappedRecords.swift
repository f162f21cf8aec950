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
    package var attributes: [MappedAttribute] { fields.attributes }

    /// The value of an attribute; nil if none has the name, and after the mapper's call.
    package func value(_ name: String) throws(StoreError) -> Value? {
        guard let row, let position = fields.position(of: name) else { return nil }
        let place = fields.places[position]
        return try reader.value(place.type, at: place.byteOffset, of: row, named: name)
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
    /// By the positions of the attributes.
    private(set) var values: [Value]

    init(_ fields: MappedFields, _ values: [Value]) {
        entityName = fields.entityName
        self.fields = fields
        self.values = values
    }

    /// The entity's attributes in the later version, those of superentities first.
    package var attributes: [MappedAttribute] { fields.attributes }

    /// The earlier attributes that the attributes come from, in their order; nil for new ones.
    package var sources: [MappedAttribute?] { fields.sources }

    package func value(_ name: String) -> Value? {
        fields.position(of: name).map { values[$0] }
    }

    /// Sets an attribute. Returns false and sets nothing if no attribute has the name or its type
    /// cannot hold the value.
    package func set(_ value: Value, for name: String) -> Bool {
        guard let position = fields.position(of: name),
            let value = ValueConversion.assigned(value, as: fields.types[position])
        else { return false }
        values[position] = value
        return true
    }
}

/// An attribute as mappers see it: one for all records, because a mapper may look at each of them,
/// and a copy of the declaration has half a dozen references to count.
package final class MappedAttribute: Sendable {
    package let declaration: AttributeDescription

    package init(_ declaration: AttributeDescription) { self.declaration = declaration }
}

/// The attributes of an entity in one version, and their places in records. One serves all records
/// of the entity, in one thread.
final class MappedFields {
    let entityName: String
    let attributes: [MappedAttribute]
    /// The earlier declarations of the attributes; nil for new ones.
    let sources: [MappedAttribute?]
    let types: [AttributeType]
    /// Where records have the attributes. Not the fields, whose names each access would copy.
    let places: [(type: AttributeType?, byteOffset: Int)]
    private let names: [String]
    private let positions: [String: Int]
    /// The position after the last one that was looked up. Mappings mostly name attributes in the
    /// order of their declarations.
    private var next = 0

    init(
        _ entityName: String, _ attributes: [(AttributeDescription, FieldLayout)],
        sources: [AttributeDescription?] = []
    ) {
        self.entityName = entityName
        self.attributes = attributes.map { MappedAttribute($0.0) }
        self.sources = sources.map { $0.map { MappedAttribute($0) } }
        types = attributes.map(\.0.type)
        places = attributes.map { ($0.1.type, $0.1.byteOffset) }
        names = attributes.map(\.0.name)
        positions = Dictionary(zip(names, names.indices)) { first, _ in first }
    }

    /// The position of an attribute; nil if none has the name.
    func position(of name: String) -> Int? {
        var position = next
        if position >= names.count || names[position] != name {
            guard let found = positions[name] else { return nil }
            position = found
        }
        next = position + 1
        return position
    }
}
