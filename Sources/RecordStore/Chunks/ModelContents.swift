import PageStore

/// A summary of a column's values that does not depend on their order.
struct ColumnSum: Equatable {
    private var values = Fingerprint()
    private(set) var nilCount = 0

    mutating func addNil() { nilCount += 1 }
    mutating func add(_ bytes: ByteView) { values.add(bytes, ObjectNumber(0)) }
    mutating func add(_ word: UInt64) { values.add(ObjectNumber(word), ObjectNumber(0)) }

    mutating func add(_ other: ColumnSum) {
        nilCount += other.nilCount
        values.add(other.values)
    }
}

/// The counts and sums of a model's records, to be compared with those of another.
struct ModelContents: Sendable {
    private struct Entity {
        var count: Int
        var sums: [String: ColumnSum]
    }

    /// By the tags of exactly their entities.
    private var entities: [UInt16: Entity] = [:]
    /// By index ID: the entries that the records should have.
    private(set) var indexed: [Int: Fingerprint] = [:]
    /// By relationship ID: the to-one links of the records.
    private(set) var linked: [Int: Fingerprint] = [:]

    /// Those of no record.
    init() {}

    /// Reads a hierarchy, and compares it with its counters.
    ///
    /// - Parameters:
    ///   - root: its root entity.
    ///   - fields: the attributes whose values are summed, by entity tag.
    ///   - count: called with each record.
    init(
        _ reader: RecordReader, _ root: EntityLayout, _ fields: [UInt16: [FieldLayout]],
        _ count: () throws(StoreError) -> Void
    ) throws(StoreError) {
        var summary = RecordSummary(reader, fields)
        try summary.read(root, count)
        let schema = reader.schema
        for index in schema.indexes where root.tags.contains(index.entityTag) {
            indexed[index.id] = summary.indexed[index.id]
        }
        for relationship in schema.relationships where root.tags.contains(relationship.sourceTag) {
            linked[relationship.id] = summary.linked[relationship.id]
        }
        for entity in summary.entities.compactMap({ $0 }) {
            let sums = entity.columns.map { ($0.name, $0.sum) }
            entities[entity.tag] = Entity(
                count: entity.count, sums: Dictionary(sums) { first, _ in first })
        }
    }

    /// Adds the contents of another hierarchy.
    mutating func add(_ other: ModelContents) {
        entities.merge(other.entities) { first, _ in first }
        indexed.merge(other.indexed) { first, _ in first }
        linked.merge(other.linked) { first, _ in first }
    }

    /// The number of records of exactly one entity.
    func count(_ tag: UInt16) -> Int { entities[tag]?.count ?? 0 }

    /// The sum of an attribute's values in records of exactly one entity.
    func sum(_ name: String, of tag: UInt16) -> ColumnSum {
        entities[tag]?.sums[name] ?? ColumnSum()
    }
}

/// Sums up records while they are read.
private struct RecordSummary {
    private let reader: RecordReader
    private let fields: [UInt16: [FieldLayout]]
    /// By entity tag; nil until a record of exactly that entity is read.
    private(set) var entities: [EntityContents?]
    private(set) var indexed: [Fingerprint]
    private(set) var linked: [Fingerprint]

    init(_ reader: RecordReader, _ fields: [UInt16: [FieldLayout]]) {
        self.reader = reader
        self.fields = fields
        entities = Array(repeating: nil, count: reader.schema.tagMax + 1)
        indexed = Array(repeating: Fingerprint(), count: reader.schema.indexes.count)
        linked = Array(repeating: Fingerprint(), count: reader.schema.relationships.count)
    }

    mutating func read(
        _ root: EntityLayout, _ count: () throws(StoreError) -> Void
    ) throws(StoreError) {
        let last = try reader.catalog.counter(Catalog.numberKey(root.hierarchy), of: reader.view)
        let cursor = reader.recordCursor(root.hierarchy, isScan: true)
        while try cursor.next() {
            try count()
            let (row, number) = (try cursor.row(), cursor.number)
            guard number.rawValue > 0, number.rawValue <= last else {
                throw .corrupt(nil, "\(root.name) \(number.rawValue) was never given out")
            }
            let tag = row.entityTag
            let entity =
                entities[Int(tag)]
                ?? EntityContents(reader.schema.knownEntity(tag: tag), fields[tag] ?? [], reader)
            entities[Int(tag)] = entity
            try entity.add(row, reader)
            for index in entity.indexes { try indexed[index.id].add(index, row, number, reader) }
            for link in entity.links {
                guard let target = row.link(at: link.byteOffset) else { continue }
                linked[link.id].add(target, number)
            }
        }
        for tag in root.tags {
            let entity = reader.schema.knownEntity(tag: tag)
            let counted = try reader.recordCount(of: entity, includesSubentities: false)
            let found = entities[Int(tag)]?.count ?? 0
            guard counted == found else {
                throw .corrupt(
                    nil, "the counter of \(entity.name) is \(counted), and there are \(found)")
            }
        }
    }
}

/// The sums of the records of exactly one entity, with its columns, indexes and links resolved
/// once.
private final class EntityContents {
    struct Column {
        let name: String
        let byteOffset: Int
        let isVariable: Bool
        let isDecimal: Bool
        var sum = ColumnSum()

        init(_ field: FieldLayout) {
            (name, byteOffset, isVariable) = (field.name, field.byteOffset, field.isVariable)
            isDecimal = field.type == .decimal
        }
    }

    let tag: UInt16
    private(set) var count = 0
    private(set) var columns: [Column]
    let indexes: [IndexEntries]
    let links: [(id: Int, byteOffset: Int)]

    init(_ entity: EntityLayout, _ fields: [FieldLayout], _ reader: RecordReader) {
        tag = entity.tag
        columns = fields.map { Column($0) }
        indexes = entity.indexes.map { IndexEntries($0, reader) }
        links = entity.relationships.compactMap { relationship in
            relationship.field.map { (relationship.id, $0.byteOffset) }
        }
    }

    func add(_ row: RowView, _ reader: RecordReader) throws(StoreError) {
        count += 1
        // Moved to a local variable while it changes: each access to the property checks
        // exclusivity.
        var columns: [Column] = []
        swap(&columns, &self.columns)
        defer { swap(&columns, &self.columns) }
        for index in columns.indices { try columns[index].add(row, reader) }
    }
}

extension EntityContents.Column {
    fileprivate mutating func add(_ row: RowView, _ reader: RecordReader) throws(StoreError) {
        guard !row.isNull(at: byteOffset) else { return sum.addNil() }
        // Equal decimals may have different bytes.
        guard !isDecimal else { return }
        guard isVariable else { return sum.add(row.uint(at: byteOffset)) }
        let bytes = row.heapBytes(at: byteOffset)
        let blob = row.isBlob(at: byteOffset) ? try BlobName.read(bytes) : nil
        let size = blob?.sizeInBytes ?? UInt64(bytes.count)
        // The size is enough for a value that may be a blob, because blobs are not copied.
        guard size < UInt64(reader.view.pageSizeInBytes / 4) else { return sum.add(size) }
        guard let blob else { return sum.add(bytes) }
        try reader.view.readBlob(blob).withView { sum.add($0) }
    }
}

/// The entries of an index, as its records make them.
private final class IndexEntries {
    let id: Int
    private let columns: [KeyColumn]
    private let encoder: KeyEncoder
    /// Reused for its memory; nil while in use.
    private var key: KeyEncoder?

    init(_ index: IndexLayout, _ reader: RecordReader) {
        id = index.id
        columns = index.columns.map { KeyColumn($0) }
        encoder = reader.keyEncoder(columnCount: index.columns.count)
    }

    func withKey(
        of row: RowView, _ reader: RecordReader, _ body: (ByteView) -> Void
    ) throws(StoreError) {
        var key = key.take() ?? encoder
        defer { self.key = key }
        key.removeAll()
        for column in columns { try reader.append(column, of: row, to: &key) }
        key.bytes.withView(body)
    }
}

extension Fingerprint {
    fileprivate mutating func add(
        _ index: IndexEntries, _ row: RowView, _ number: ObjectNumber, _ reader: RecordReader
    ) throws(StoreError) {
        try index.withKey(of: row, reader) { add($0, number) }
    }
}
