import PageStore

/// Which tag each entity of a file has and which slot each of its properties: spec/07-catalog.md.
///
/// The catalog has it beside the schema, so that the order of declarations means nothing: entities
/// and properties are found by name. Nothing of it is trusted until a ``Schema`` was built by it.
struct StoredLayout {
    struct Entity {
        /// Empty for a tag whose entity is gone.
        var name: String
        var tag: UInt16
        /// The counts of slots that records may have, ascending.
        var slotCounts: [UInt16] = []
        /// The entity's own properties that have slots, in the order of those.
        var properties: [Property] = []
        /// Slots whose properties are gone, and what they held: nil for a link.
        var retired: [(slot: UInt16, type: AttributeType?)] = []

        var isGone: Bool { name.isEmpty }
    }

    struct Property {
        var name: String
        var slot: UInt16
        /// The value of records that are older than the property: its slot's bytes or its heap's.
        var initialValue: [UInt8]?
    }

    /// In the order of their tags.
    var entities: [Entity]

    // MARK: Bytes

    /// The version of the layout's own form.
    static let form = 1
    /// In the place of a length: there is no initial value, so it is nil.
    static let noValue = 0xFFFF
    /// Of an initial value that is given to a property.
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

    /// The layout of a resolved schema in its saved form.
    static func bytes(of schema: Schema) -> [UInt8] {
        (schema.storedLayout ?? StoredLayout(declaredBy: schema)).bytes
    }

    /// The layout of a schema whose records have one slot count, and no slot free.
    init(declaredBy schema: Schema) {
        entities = schema.entities.map { entity in
            var stored = Entity(name: entity.name, tag: entity.tag)
            stored.slotCounts = [UInt16(entity.slotCount)]
            stored.properties = entity.ownFields
                .map { Property(name: $0.name, slot: UInt16($0.slot)) }
                .sorted { $0.slot < $1.slot }
            return stored
        }
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

/// Takes numbers, texts and bytes off a layout, none of which need be there.
private struct LayoutReader {
    private let content: [UInt8]
    private let page: PageID
    private var offset = 0

    init(_ content: [UInt8], page: PageID) {
        self.content = content
        self.page = page
    }

    var isAtEnd: Bool { offset == content.count }

    func damage(_ message: String) -> StoreError { .corrupt(page, "the layout \(message)") }

    /// Two bytes, little-endian.
    mutating func number() throws(StoreError) -> Int {
        let bytes = try bytes(2)
        return Int(bytes[0]) | Int(bytes[1]) << 8
    }

    mutating func bytes(_ count: Int) throws(StoreError) -> [UInt8] {
        guard count <= content.count - offset else { throw damage("ends inside an entry") }
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
