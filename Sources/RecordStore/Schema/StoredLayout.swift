import PageStore

/// The tag of each entity of a file, and the slot of each property: spec/07-catalog.md.
///
/// The catalog stores it beside the schema, so that the order of declarations does not matter:
/// entities and properties are found by name. It is untrusted until a ``Schema`` is built from it.
struct StoredLayout {
    struct Entity {
        /// Empty if the entity of the tag was removed.
        var name: String
        var tag: UInt16
        /// The slot counts that records may have, ascending.
        var slotCounts: [UInt16] = []
        /// The entity's own properties that have slots, in slot order.
        var properties: [Property] = []
        /// Slots of removed properties, and the types of their values: nil for a link.
        var retired: [(slot: UInt16, type: AttributeType?)] = []

        var isGone: Bool { name.isEmpty }
    }

    struct Property {
        var name: String
        var slot: UInt16
        /// The value that records older than the property have: the bytes of its slot or of the
        /// heap.
        var initialValue: [UInt8]?
    }

    /// In the order of their tags.
    var entities: [Entity]

    init(entities: [Entity]) { self.entities = entities }

    // MARK: Bytes

    /// The version of the layout's encoding.
    static let form = 1
    /// Replaces the length if there is no initial value, so that the property is nil.
    static let noValue = 0xFFFF
    /// The limit for an initial value.
    static let initialSizeInBytesMax = 1024

    /// Reads a layout; throws `corrupt` and `newerFormat` with the page of the catalog.
    init(_ bytes: [UInt8], page: PageID) throws(StoreError) {
        var reader = LayoutReader(bytes, page: page)
        let form = try reader.number()
        guard form == Self.form else {
            throw StoreError(
                .newerFormat,
                "the layout has version \(form); this program knows \(Self.form)",
                page: page.rawValue)
        }
        entities = []
        for _ in 0..<(try reader.number()) {
            var entity = Entity(name: "", tag: UInt16(try reader.number()))
            let nameSize = try reader.number()
            let counts = try (reader.number(), reader.number(), reader.number())
            entity.name = try reader.text(nameSize)
            for _ in 0..<counts.0 { entity.slotCounts.append(UInt16(try reader.number())) }
            for _ in 0..<counts.1 { entity.properties.append(try Self.property(&reader)) }
            for _ in 0..<counts.2 {
                let slot = UInt16(try reader.number())
                let number = try reader.number()
                let type = UInt8(exactly: number).flatMap { AttributeType(rawValue: $0) }
                guard type != nil || number == 0 else {
                    throw reader.damage("has a retired slot of type \(number)")
                }
                entity.retired.append((slot, type))
            }
            entities.append(entity)
        }
        guard reader.isAtEnd else { throw reader.damage("goes on after its last entity") }
    }

    private static func property(_ reader: inout LayoutReader) throws(StoreError) -> Property {
        let slot = UInt16(try reader.number())
        let nameSize = try reader.number()
        let valueSize = try reader.number()
        var property = Property(name: try reader.text(nameSize), slot: slot)
        if valueSize != noValue { property.initialValue = try reader.bytes(valueSize) }
        return property
    }

    /// The saved form of a resolved schema's layout.
    static func bytes(of schema: Schema) -> [UInt8] {
        (schema.storedLayout ?? StoredLayout(declaredBy: schema)).bytes
    }

    /// The layout of a new file with a schema.
    init(declaredBy schema: Schema) {
        var builder = SchemaBuilder(schema.description)
        builder.placeFields()
        entities = builder.declared
    }

    /// The saved form.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(1024)
        func append(_ number: Int) {
            bytes.append(UInt8(truncatingIfNeeded: number))
            bytes.append(UInt8(truncatingIfNeeded: number >> 8))
        }
        append(Self.form)
        append(entities.count)
        for entity in entities {
            append(Int(entity.tag))
            append(entity.name.utf8.count)
            append(entity.slotCounts.count)
            append(entity.properties.count)
            append(entity.retired.count)
            bytes += entity.name.utf8
            for count in entity.slotCounts { append(Int(count)) }
            for property in entity.properties {
                append(Int(property.slot))
                append(property.name.utf8.count)
                append(property.initialValue?.count ?? Self.noValue)
                bytes += property.name.utf8
                bytes += property.initialValue ?? []
            }
            for (slot, type) in entity.retired {
                append(Int(slot))
                append(Int(type?.rawValue ?? 0))
            }
        }
        return bytes
    }
}

/// Reads numbers, texts and bytes from an untrusted layout, checking its end.
private struct LayoutReader {
    private let content: [UInt8]
    private let page: PageID
    private var offset = 0

    init(_ content: [UInt8], page: PageID) {
        self.content = content
        self.page = page
    }

    var isAtEnd: Bool { offset == content.count }

    private var cutOff: StoreError { damage("ends inside an entry") }

    func damage(_ message: String) -> StoreError { .corrupt(page, "the layout \(message)") }

    /// Two bytes, little-endian.
    mutating func number() throws(StoreError) -> Int {
        guard content.count - offset >= 2 else { throw cutOff }
        defer { offset += 2 }
        return Int(content[offset]) | Int(content[offset + 1]) << 8
    }

    mutating func bytes(_ count: Int) throws(StoreError) -> [UInt8] {
        guard count <= content.count - offset else { throw cutOff }
        defer { offset += count }
        return Array(content[offset..<offset + count])
    }

    mutating func text(_ count: Int) throws(StoreError) -> String {
        guard let text = String(validating: try bytes(count), as: UTF8.self) else {
            throw damage("has a name that is no text")
        }
        return text
    }
}
