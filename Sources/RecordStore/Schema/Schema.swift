import PageStore
import Synchronization

/// A schema with every offset resolved, by which rows, indexes and queries are read.
package final class Schema: Sendable {
    package let description: SchemaDescription
    /// In the order of their tags.
    package let entities: [EntityLayout]
    /// Nil for the tag of a removed entity.
    private let entityByTag: [EntityLayout?]
    /// By ID, which is valid only within this schema.
    package let relationships: [RelationshipLayout]
    package let indexes: [IndexLayout]
    /// The root tags of the hierarchies that lists without an inverse lead to.
    let listedHierarchies: Set<UInt16>
    /// The file's layout by which it was resolved; nil if it was resolved by the declarations.
    let storedLayout: StoredLayout?
    private let entityByName: [String: EntityLayout]
    /// Unique among the schemas of the process.
    let serial: UInt64

    private static let serials = Atomic<UInt64>(0)

    /// The schema of a new file, whose tags and slots follow from the order of declarations.
    ///
    /// Throws `invalidModel` for a description that contradicts itself, naming the contradiction.
    package convenience init(_ description: SchemaDescription) throws(StoreError) {
        try SchemaCheck.validate(description)
        self.init(checked: description, SchemaBuilder(description), storedLayout: nil)
    }

    /// The schema of a file with a layout, which defines the tags and slots.
    ///
    /// Also throws `invalidModel`, and with the page of the catalog `corrupt` for a layout of
    /// another schema and `newerFormat` for one by which this version cannot read records.
    convenience init(
        _ description: SchemaDescription, layout: [UInt8], page: PageID
    ) throws(StoreError) {
        try SchemaCheck.validate(description)
        try self.init(checked: description, layout: layout, page: page)
    }

    /// The schema of a new file, for a description that has been checked.
    convenience init(declared builder: SchemaBuilder) {
        self.init(checked: builder.description, builder, storedLayout: nil)
    }

    /// The schema of a file, for a description that has been checked.
    convenience init(
        checked description: SchemaDescription, layout: [UInt8], page: PageID
    ) throws(StoreError) {
        let stored = try StoredLayout(layout, page: page)
        try stored.check(description, page: page)
        self.init(
            checked: description, SchemaBuilder(description, stored), storedLayout: stored)
    }

    private init(
        checked description: SchemaDescription, _ plan: SchemaBuilder, storedLayout: StoredLayout?
    ) {
        var builder = plan
        builder.build()
        self.storedLayout = storedLayout
        self.description = description
        entities = builder.layouts
        relationships = builder.relationships
        indexes = builder.indexes
        serial = Self.serials.add(1, ordering: .relaxed).newValue
        let layouts = builder.layouts
        var byTag = [EntityLayout?](repeating: nil, count: Int(layouts.last?.tag ?? 0) + 1)
        for layout in layouts { byTag[Int(layout.tag)] = layout }
        entityByTag = byTag
        listedHierarchies = Set(
            builder.relationships.filter { $0.hasEdges && $0.inverseID == nil }
                .compactMap { byTag[Int($0.destinationTag)]?.hierarchy.rootTag })
        entityByName = Dictionary(uniqueKeysWithValues: layouts.map { ($0.name, $0) })
    }

    package func entity(named name: String) -> EntityLayout? { entityByName[name] }

    package func entity(tag: UInt16) -> EntityLayout? {
        Int(tag) < entityByTag.count ? entityByTag[Int(tag)] : nil
    }

    /// The largest tag of an entity; smaller ones may be unused.
    package var tagMax: Int { entityByTag.count - 1 }

    /// The entity of a tag that has been validated.
    package func knownEntity(tag: UInt16) -> EntityLayout {
        guard let entity = entity(tag: tag) else {
            preconditionFailure("a resolved schema names its own entities")
        }
        return entity
    }

    package func relationship(id: Int) -> RelationshipLayout { relationships[id] }

    /// The relationships whose destination is an entity or one of its ancestors.
    package func relationships(to entity: EntityLayout) -> [RelationshipLayout] {
        relationships.filter { entity.isKind(of: $0.destinationTag) }
    }
}

/// The hierarchy that an entity belongs to: the tag of its root. Its records share one tree.
package struct HierarchyID: Hashable, Sendable {
    package let rootTag: UInt16

    package init(rootTag: UInt16) { self.rootTag = rootTag }
}

/// A stored property of an entity, and its position in a record.
package struct FieldLayout: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        case attribute(AttributeType)
        /// The number of the object that a to-one relationship leads to.
        case link(relationshipID: Int)
    }

    package var name: String
    package var slot: Int
    /// The offset of the slot from the record's start.
    package var byteOffset: Int
    package var content: Content
    package var isOptional: Bool
    package var defaultValue: Value
    package var isCoded: Bool

    package var isVariable: Bool {
        if case .attribute(let type) = content { return type.isVariable }
        return false
    }

    /// The attribute's type, nil for a link.
    package var type: AttributeType? {
        if case .attribute(let type) = content { return type }
        return nil
    }
}

/// A relationship as its source entity declares it. A class, so that loops over links pass it on
/// without copying names.
package final class RelationshipLayout: Hashable, Sendable {
    package typealias Kind = RelationshipDescription.Kind

    package let id: Int
    package let name: String
    package let kind: Kind
    package let sourceTag: UInt16
    package let destinationTag: UInt16
    package let inverseID: Int?
    package let deleteRule: RelationshipDescription.DeleteRule
    package let minCount: Int
    package let maxCount: Int
    /// The slot of the target's number; nil for a to-many.
    package let field: FieldLayout?
    /// The offset of that slot from the record's start.
    package let byteOffset: Int?
    /// Whether this is a to-many that mirrors a to-one, whose tree holds the links.
    package let mirrorsToOne: Bool
    /// Whether the inverse is declared below one of the ends, so that it does not allow every
    /// object there.
    package let isNarrowed: Bool
    /// The name of the tree that holds the links, unique in the file.
    package let treeName: String

    init(
        _ description: RelationshipDescription, id: Int, treeName: String, sourceTag: UInt16,
        destinationTag: UInt16, field: FieldLayout?, inverseID: Int?, mirrorsToOne: Bool,
        isNarrowed: Bool
    ) {
        self.id = id
        name = description.name
        kind = description.kind
        self.sourceTag = sourceTag
        self.destinationTag = destinationTag
        self.inverseID = inverseID
        deleteRule = description.deleteRule
        minCount = description.minCount
        maxCount = description.maxCount
        self.field = field
        byteOffset = field?.byteOffset
        self.mirrorsToOne = mirrorsToOne
        self.isNarrowed = isNarrowed
        self.treeName = treeName
    }

    /// Whether the links have a tree of pairs of their own.
    package var hasEdges: Bool { kind != .toOne && !mirrorsToOne }

    package static func == (left: RelationshipLayout, right: RelationshipLayout) -> Bool {
        left === right
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// An index: ordered columns of an entity and its subentities. A class, so that lookups pass it on
/// without copying names.
package final class IndexLayout: Hashable, Sendable {
    package let id: Int
    package let entityTag: UInt16
    package let columns: [FieldLayout]
    package let isUnique: Bool
    package let treeName: String

    init(id: Int, entityTag: UInt16, columns: [FieldLayout], isUnique: Bool, treeName: String) {
        self.id = id
        self.entityTag = entityTag
        self.columns = columns
        self.isUnique = isUnique
        self.treeName = treeName
    }

    /// The name of the tree in the catalog: spec/07-catalog.md.
    static func treeName(_ entityName: String, _ columns: [String], isUnique: Bool) -> String {
        "\(isUnique ? "unique" : "index")/\(entityName)/\(columns.joined(separator: ","))"
    }

    package static func == (left: IndexLayout, right: IndexLayout) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// One entity with its inherited properties.
package final class EntityLayout: Sendable, Hashable {
    package let name: String
    package let className: String
    package let tag: UInt16
    package let superentityTag: UInt16?
    package let hierarchy: HierarchyID
    package let isAbstract: Bool
    /// The tags of this entity and its subentities.
    package let tags: Set<UInt16>
    /// The tags from this entity up to its root.
    package let ancestorTags: [UInt16]
    /// Inherited properties first, at the offsets of the superentity, then the own ones; each in
    /// the order of declaration, whatever their slots.
    package let fields: [FieldLayout]
    private let inheritedFieldCount: Int
    package let relationships: [RelationshipLayout]
    package let indexes: [IndexLayout]
    /// The properties that are computed and never stored, inherited ones included.
    package let virtualNames: Set<String>
    package let uniqueIndexes: [IndexLayout]
    /// The offsets of the attributes that may not be nil.
    package let requiredOffsets: [Int]
    /// Whether a relationship has a minimum or a maximum count.
    package let hasLinkBounds: Bool

    /// Whether a record with a tag is one of the entity or of a subentity.
    package func includes(_ tag: UInt16) -> Bool { tag == self.tag || tags.contains(tag) }

    /// The slot count of a new record.
    package let slotCount: Int
    package let fixedSize: Int
    package let variableOffsets: [Int]
    /// For each index, the slot of its first column.
    package let leadingSlots: [Int]
    /// For each index, the name of its only column; nil if it has several.
    private let soleColumnNames: [String?]
    /// A new record with its defaults.
    private let blank: [UInt8]
    /// Converts records of older layouts to this one; nil if there are none.
    let widening: RecordWidening?
    /// The offsets of slots of removed properties, which are nil in every record.
    let retiredOffsets: [Int]
    private let fieldByName: [String: Int]
    private let relationshipByName: [String: Int]

    init(
        name: String, className: String, tag: UInt16, superentityTag: UInt16?, rootTag: UInt16,
        isAbstract: Bool, tags: Set<UInt16>, ancestorTags: [UInt16], fields: [FieldLayout],
        inheritedFieldCount: Int, relationships: [RelationshipLayout], indexes: [IndexLayout],
        virtualNames: Set<String>,
        stored: StoredSlots?
    ) {
        self.name = name
        self.className = className
        self.tag = tag
        self.superentityTag = superentityTag
        self.hierarchy = HierarchyID(rootTag: rootTag)
        self.isAbstract = isAbstract
        self.tags = tags
        self.ancestorTags = ancestorTags
        self.fields = fields
        self.inheritedFieldCount = inheritedFieldCount
        self.relationships = relationships
        self.indexes = indexes
        self.virtualNames = virtualNames
        soleColumnNames = indexes.map { $0.columns.count == 1 ? $0.columns[0].name : nil }
        leadingSlots = indexes.map { $0.columns.first?.slot ?? -1 }
        slotCount = stored?.counts.last ?? fields.count
        blank = Self.blank(tag, fields, slotCount)
        uniqueIndexes = indexes.filter(\.isUnique)
        requiredOffsets = fields.filter { !$0.isOptional }.map(\.byteOffset)
        hasLinkBounds = relationships.contains { $0.minCount > 0 || $0.maxCount > 0 }
        fixedSize = RowLayout.fixedSize(slotCount: slotCount)
        widening = stored.flatMap { RecordWidening($0, fields) }
        retiredOffsets = (stored?.retired ?? []).map { RowLayout.byteOffset(slot: $0) }
        variableOffsets = fields.filter(\.isVariable).map(\.byteOffset).sorted()
        fieldByName = Dictionary(
            uniqueKeysWithValues: fields.enumerated().map { ($1.name, $0) })
        relationshipByName = Dictionary(
            uniqueKeysWithValues: relationships.enumerated().map { ($1.name, $0) })
    }

    /// The properties with slots that the entity itself declares.
    var ownFields: ArraySlice<FieldLayout> { fields[inheritedFieldCount...] }

    package func field(named name: String) -> FieldLayout? {
        fieldByName[name].map { fields[$0] }
    }

    package func relationship(named name: String) -> RelationshipLayout? {
        relationshipByName[name].map { relationships[$0] }
    }

    /// The index on exactly this property.
    package func index(on name: String) -> IndexLayout? {
        for (position, column) in soleColumnNames.enumerated() where column == name {
            return indexes[position]
        }
        return nil
    }

    package func isKind(of tag: UInt16) -> Bool { ancestorTags.contains(tag) }

    package static func == (left: EntityLayout, right: EntityLayout) -> Bool { left === right }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    // MARK: Records

    /// A new record with its defaults.
    ///
    /// - Parameter sizeInBytes: the size that the record will have, as far as known.
    package func emptyRow(sizeInBytes: Int = 0) -> RowBuffer {
        let spare = max(64, sizeInBytes - blank.count)
        return blank.withView { RowBuffer(copying: $0, spare: spare) }
    }

    private static func blank(
        _ tag: UInt16, _ fields: [FieldLayout], _ slotCount: Int
    ) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: RowLayout.fixedSize(slotCount: slotCount))
        bytes[RowLayout.entityTag] = UInt8(tag & 0xFF)
        bytes[RowLayout.entityTag + 1] = UInt8(tag >> 8)
        bytes[RowLayout.layoutVersion] = 1
        bytes[RowLayout.slotCount] = UInt8(slotCount & 0xFF)
        bytes[RowLayout.slotCount + 1] = UInt8(slotCount >> 8)
        var row = bytes.withView { RowBuffer(copying: $0, spare: 64) }
        defer { row.deallocate() }
        // A slot without a property of this entity is nil.
        if fields.count < slotCount {
            for slot in 0..<slotCount { row.clear(at: RowLayout.byteOffset(slot: slot)) }
        }
        // The heap is in the order of the slots.
        for field in fields.sorted(by: { $0.slot < $1.slot }) {
            row.setValue(field.defaultValue, field)
        }
        return row.view.bytes.array()
    }

    /// Whether any of a record's values is stored as a blob.
    func hasBlob(_ row: RowView) -> Bool {
        for offset in variableOffsets where row.isBlob(at: offset) { return true }
        return false
    }

    /// How the values of a record lie in it.
    struct HeapForm {
        /// Whether they follow the slots and each other, so that each can be changed in place.
        /// Another writer may store them otherwise (spec/05, 5.2), also behind nil.
        var isInOrder: Bool
        var hasBlob: Bool
    }

    func heapForm(of row: RowView) -> HeapForm {
        var (end, slots) = (UInt64(fixedSize), UInt64(0))
        var isInOrder = true
        for offset in variableOffsets {
            let slot = row.uint(at: offset)
            slots |= slot
            let (start, count) = (slot & 0xFFFF_FFFF, slot >> 32 & 0x7FFF_FFFF)
            if count == 0 { continue }
            if start < end { isInOrder = false }
            end = start + count
        }
        return HeapForm(isInOrder: isInOrder, hasBlob: slots >> 63 != 0)
    }

    /// The size of a record's values if each has bytes of its own, slots included; nil if that is
    /// more than a reader must accept (spec/08).
    func sizeApart(_ row: RowView) -> Int? {
        var size = fixedSize
        for offset in variableOffsets where !row.isNull(at: offset) {
            size += row.heap(at: offset).count
        }
        return size <= max(2 * row.bytes.count, 16 << 20) ? size : nil
    }

    /// Validates bytes from a file against the newest layout, once; afterwards reading a property
    /// is a plain load. A record that fails may be valid in an older layout: see ``widened(_:)``.
    package func check(_ bytes: ByteView) -> Bool {
        Self.check(bytes, slotCount: slotCount, fixedSize: fixedSize, variableOffsets)
    }

    @inline(__always)
    static func check(
        _ bytes: ByteView, slotCount: Int, fixedSize: Int, _ variableOffsets: [Int]
    ) -> Bool {
        guard bytes.count >= fixedSize, bytes.count < 1 << 31,
            Int(bytes.uint16(at: RowLayout.slotCount)) == slotCount,
            bytes.uint16(at: RowLayout.layoutVersion) == 1
        else { return false }
        for offset in variableOffsets {
            let start = Int(bytes.uint32(at: offset))
            let length = bytes.uint32(at: offset + 4)
            let count = Int(length & 0x7FFF_FFFF)
            guard count <= bytes.count, start <= bytes.count - count else { return false }
            if length & RowLayout.blobBit != 0 {
                guard count == RowLayout.blobNameSize, bytes.uint64(at: start) > 0 else {
                    return false
                }
            }
        }
        return true
    }
}
