import PageStore

/// Records, indexes and links as of one commit, or as a transaction has changed them.
package class RecordReader {
    package final let schema: Schema
    let view: PageView
    let catalog: Catalog
    final let trees: TreeTable

    init(schema: Schema, view: PageView, catalog: Catalog, trees: TreeTable) {
        self.schema = schema
        self.view = view
        self.catalog = catalog
        self.trees = trees
    }

    // MARK: Records

    /// Passes a record to the body; nil if there is none.
    package final func withRow<Result>(
        _ number: ObjectNumber, in hierarchy: HierarchyID,
        _ body: (RowView) throws(StoreError) -> Result
    ) throws(StoreError) -> Result? {
        let key = RecordKey.inline(number)
        return try view.withValue(for: key.span, in: trees.records(hierarchy)) {
            bytes throws(StoreError) in
            try self.withCheckedRow(bytes, number, hierarchy, body)
        }
    }

    /// Passes a record to a body that may throw any error. Returns false if there is none.
    @discardableResult
    package final func lendRow(
        _ number: ObjectNumber, in hierarchy: HierarchyID, _ body: (RowView) throws -> Void
    ) throws -> Bool {
        var failure: (any Error)?
        let found: Void? = try withRow(number, in: hierarchy) { row throws(StoreError) in
            do { try body(row) } catch { failure = error }
        }
        if let failure { throw failure }
        return found != nil
    }

    /// A copy of a record with its blobs in the heap, which the caller frees; nil if there is none.
    package final func row(
        _ number: ObjectNumber, in hierarchy: HierarchyID
    ) throws(StoreError) -> RowBuffer? {
        try withRow(number, in: hierarchy) { row throws(StoreError) in
            try self.ownedCopy(of: row, schema.knownEntity(tag: row.entityTag))
        }
    }

    /// A copy of an entity's record with its blobs in the heap, which the caller frees.
    package final func ownedCopy(
        of row: RowView, _ entity: EntityLayout
    ) throws(StoreError) -> RowBuffer {
        let form = entity.heapForm(of: row)
        var copy =
            form.isInOrder ? RowBuffer(copying: row) : try RowBuffer(copying: row, of: entity)
        guard form.hasBlob else { return copy }
        for offset in entity.variableOffsets
        where row.isBlob(at: offset) && !row.isNull(at: offset) {
            do throws(StoreError) {
                let bytes = try blob(of: row, at: offset)
                bytes.withView { copy.set($0, isBlob: false, at: offset) }
                if copy.isOverfull {
                    throw StoreError(.tooLarge, "a record of \(entity.name) is too long to read")
                }
            } catch {
                copy.deallocate()
                throw error
            }
        }
        return copy
    }

    /// The bytes of a property that is stored as a blob.
    package final func blob(of row: RowView, at byteOffset: Int) throws(StoreError) -> [UInt8] {
        try view.readBlob(BlobName.read(row.heapBytes(at: byteOffset)))
    }

    /// The value of a property, which may be a blob.
    package final func value(_ field: FieldLayout, of row: RowView) throws(StoreError) -> Value {
        try value(field.type, at: field.byteOffset, of: row, named: field.name)
    }

    /// - Parameter type: nil for the slot of a to-one relationship.
    final func value(
        _ type: AttributeType?, at offset: Int, of row: RowView,
        named name: @autoclosure () -> String
    ) throws(StoreError) -> Value {
        guard let type, type.isVariable, !row.isNull(at: offset), row.isBlob(at: offset)
        else { return row.value(type, at: offset) }
        let bytes = try blob(of: row, at: offset)
        switch type {
        case .string: return .string(String(decoding: bytes, as: UTF8.self))
        case .url: return .url(String(decoding: bytes, as: UTF8.self))
        case .decimal, .uuid: throw .corrupt(nil, "a value of \(name()) is a blob")
        default: return .data(bytes)
        }
    }

    /// The blob of a property; nil if its bytes are in the record, or if it is nil.
    package final func blob(
        _ field: FieldLayout, of row: RowView
    ) throws(StoreError) -> BlobID? {
        guard field.isVariable, !row.isNull(at: field.byteOffset),
            row.isBlob(at: field.byteOffset)
        else { return nil }
        return try BlobName.read(row.heapBytes(at: field.byteOffset))
    }

    /// Passes the bytes of a blob to the body, a page at a time.
    package final func forEachPiece(
        of blob: BlobID, _ body: (ByteView) throws(StoreError) -> Void
    ) throws(StoreError) {
        try view.forEachPiece(of: blob, body)
    }

    /// Checks that the value of a property, which may be a blob, can be read.
    final func checkValue(_ field: FieldLayout, of row: RowView) throws(StoreError) {
        if let blob = try blob(field, of: row) { try view.forEachPiece(of: blob) { _ in } }
    }

    package final func contains(
        _ number: ObjectNumber, in hierarchy: HierarchyID
    ) throws(StoreError) -> Bool {
        try view.contains(RecordKey.inline(number).span, in: trees.records(hierarchy))
    }

    /// Whether both readers have a record of a number, with the same values.
    package final func hasSameRow(
        _ number: ObjectNumber, in hierarchy: HierarchyID, as other: RecordReader
    ) throws(StoreError) -> Bool {
        try withRow(number, in: hierarchy) { row throws(StoreError) in
            try other.withRow(number, in: hierarchy) { otherRow throws(StoreError) in
                try self.hasSameValues(row, as: otherRow, of: other)
            } ?? false
        } ?? false
    }

    /// Whether a record has the same values as one of another reader. Equal bytes do not prove it
    /// for blobs, because freed page IDs are reused.
    package final func hasSameValues(
        _ row: RowView, as otherRow: RowView, of other: RecordReader
    ) throws(StoreError) -> Bool {
        guard row.bytes == otherRow.bytes else { return false }
        guard let entity = schema.entity(tag: row.entityTag), entity.hasBlob(row) else {
            return true
        }
        for offset in entity.variableOffsets
        where row.isBlob(at: offset) && !row.isNull(at: offset) {
            let blob = try BlobName.read(row.heapBytes(at: offset))
            if try view.readBlob(blob) != other.view.readBlob(blob) { return false }
        }
        return true
    }

    /// Passes a record, given by its bytes in a file, to the body in the newest layout of its
    /// entity.
    @inline(__always)
    final func withCheckedRow<Result>(
        _ bytes: ByteView, _ number: ObjectNumber, _ hierarchy: HierarchyID,
        _ body: (RowView) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        if isNewest(bytes, in: hierarchy) { return try body(RowView(checked: bytes)) }
        let widened = try widened(bytes, number, hierarchy)
        defer { withExtendedLifetime(widened) {} }
        return try body(RowView(checked: widened.view))
    }

    /// Whether a file's bytes are a valid record in the newest layout of their entity.
    @inline(__always)
    final func isNewest(_ bytes: ByteView, in hierarchy: HierarchyID) -> Bool {
        guard bytes.count >= RowLayout.headerSize,
            let entity = schema.entity(tag: bytes.uint16(at: RowLayout.entityTag))
        else { return false }
        return entity.hierarchy == hierarchy && entity.check(bytes)
    }

    /// Converts a record of an older layout to the newest, and one of a later layout if there may
    /// be some; throws `corrupt` for other bytes.
    @inline(never)
    final func widened(
        _ bytes: ByteView, _ number: ObjectNumber, _ hierarchy: HierarchyID
    ) throws(StoreError) -> ByteBuffer {
        guard let entity = entity(of: bytes, in: hierarchy),
            let converted = entity.widened(bytes)
                ?? (trees.hasLaterSlots ? entity.narrowed(bytes) : nil)
        else {
            throw contradiction(number, hierarchy)
        }
        return converted
    }

    /// The older layout of a record; nil for a later one, if there may be some. Throws `corrupt`
    /// for other bytes.
    @inline(never)
    final func olderLayout(
        of bytes: ByteView, _ number: ObjectNumber, _ hierarchy: HierarchyID
    ) throws(StoreError) -> RecordWidening.Older? {
        guard let entity = entity(of: bytes, in: hierarchy) else {
            throw contradiction(number, hierarchy)
        }
        if let older = entity.older(bytes) { return older }
        guard trees.hasLaterSlots, entity.checkLater(bytes) else {
            throw contradiction(number, hierarchy)
        }
        return nil
    }

    private func entity(of bytes: ByteView, in hierarchy: HierarchyID) -> EntityLayout? {
        guard bytes.count >= RowLayout.headerSize,
            let entity = schema.entity(tag: bytes.uint16(at: RowLayout.entityTag)),
            entity.hierarchy == hierarchy
        else { return nil }
        return entity
    }

    private func contradiction(_ number: ObjectNumber, _ hierarchy: HierarchyID) -> StoreError {
        .corrupt(
            page(of: number, in: hierarchy),
            "the record of object \(number.rawValue) contradicts its layout")
    }

    /// The leaf that has an object's record, which errors of the record name.
    package final func page(of number: ObjectNumber, in hierarchy: HierarchyID) -> PageID? {
        let cursor = Cursor(view, tree: trees.records(hierarchy))
        let isFound = try? cursor.seek(RecordKey.inline(number).span)
        return isFound == true ? cursor.pageID : nil
    }

    /// An entity's record count, including its subentities'. Reads only counters.
    package final func recordCount(
        of entity: EntityLayout, includesSubentities: Bool = true
    ) throws(StoreError) -> Int {
        var count: UInt64 = 0
        for tag in includesSubentities ? entity.tags : [entity.tag] {
            count &+= try catalog.counter(Catalog.countKey(tag), of: view)
        }
        return Int(clamping: count)
    }

    /// The records of a hierarchy in the order of their numbers.
    /// - Parameter isScan: whether most leaves will be visited in order.
    package final func recordCursor(
        _ hierarchy: HierarchyID, isScan: Bool = false
    ) -> RecordCursor {
        RecordCursor(
            self, Cursor(view, tree: trees.records(hierarchy), isScan: isScan), hierarchy)
    }

    /// Scans the records of a hierarchy, a leaf at a time.
    package final func recordScan(_ hierarchy: HierarchyID) -> RecordScan {
        RecordScan(self, Cursor(view, tree: trees.records(hierarchy), isScan: true), hierarchy)
    }

    // MARK: Indexes

    /// The entries of an index in a range of keys.
    package final func indexCursor(
        _ index: IndexLayout, _ range: KeyRange = .all, reversed: Bool = false
    ) -> IndexCursor {
        IndexCursor(Cursor(view, tree: trees.indexes[index.id]), range, reversed: reversed)
    }

    package final func keyEncoder(columnCount: Int) -> KeyEncoder {
        KeyEncoder(
            columnSizeMax: KeyEncoder.columnSizeMax(
                pageSizeInBytes: view.pageSizeInBytes, columnCount: columnCount))
    }

    /// Appends the columns of an index for a record, whose values may be blobs.
    final func append(
        _ columns: [FieldLayout], of row: RowView, to key: inout KeyEncoder
    ) throws(StoreError) {
        for column in columns { try append(KeyColumn(column), of: row, to: &key) }
    }

    /// Appends a property of a record, which may be a blob.
    package final func append(
        _ field: FieldLayout, of row: RowView, to key: inout KeyEncoder
    ) throws(StoreError) {
        try append(KeyColumn(field), of: row, to: &key)
    }

    @inline(__always)
    package final func append(
        _ column: KeyColumn, of row: RowView, to key: inout KeyEncoder
    ) throws(StoreError) {
        let offset = column.byteOffset
        guard column.isVariable, !row.isNull(at: offset), row.isBlob(at: offset) else {
            key.append(column, of: row)
            return
        }
        let blob = try BlobName.read(row.heapBytes(at: offset))
        let count = min(blob.sizeInBytes, UInt64(key.columnSizeMax) + 1)
        key.append(column, of: row, outside: try view.readBlob(blob, 0..<count))
    }

    // MARK: Links

    /// The targets of a relationship: in the user's order if it is ordered, else in the order of
    /// their numbers.
    package final func linkedNumbers(
        _ relationship: RelationshipLayout, of owner: ObjectNumber
    ) throws(StoreError) -> [ObjectNumber] {
        var numbers: [ObjectNumber] = []
        try forEachLink(relationship, of: owner) { numbers.append($0) }
        return numbers
    }

    package final func linkCount(
        _ relationship: RelationshipLayout, of owner: ObjectNumber
    ) throws(StoreError) -> Int {
        var count = 0
        try forEachLink(relationship, of: owner) { _ in count += 1 }
        return count
    }

    package final func forEachLink(
        _ relationship: RelationshipLayout, of owner: ObjectNumber,
        _ body: (ObjectNumber) throws(StoreError) -> Void
    ) throws(StoreError) {
        if relationship.kind == .toOne {
            try forTarget(of: relationship, owner, body)
            return
        }
        if relationship.mirrorsToOne, let inverse = relationship.inverseID {
            try forEachSource(of: schema.relationship(id: inverse), target: owner, body)
            return
        }
        try forEachEdge(relationship, of: owner) { edge throws(StoreError) in
            try body(edge.target)
        }
    }

    private func forTarget(
        of relationship: RelationshipLayout, _ owner: ObjectNumber,
        _ body: (ObjectNumber) throws(StoreError) -> Void
    ) throws(StoreError) {
        guard let field = relationship.field else { return }
        let source = schema.knownEntity(tag: relationship.sourceTag)
        let target = try withRow(owner, in: source.hierarchy) { row throws(StoreError) in
            guard source.tags.contains(row.entityTag) else {
                throw .corrupt(
                    self.page(of: owner, in: source.hierarchy),
                    "object \(owner.rawValue) has no \(relationship.name)")
            }
            return row.link(at: field.byteOffset)
        }
        if let target = target ?? nil { try body(target) }
    }

    /// The objects whose to-one relationship has this target.
    package final func forEachSource(
        of relationship: RelationshipLayout, target: ObjectNumber,
        _ body: (ObjectNumber) throws(StoreError) -> Void
    ) throws(StoreError) {
        let tree = trees.links(relationship)
        let prefix = RecordKey.inline(target)
        if let run = try view.suffixes(after: prefix.span, .numbered, in: tree) {
            for index in 0..<run.count { try body(run.number(index)) }
            return
        }
        let cursor = Cursor(view, tree: tree)
        _ = try cursor.seek(prefix.span)
        while cursor.isValid {
            let key = cursor.key
            guard key.count == 16 else {
                throw .corrupt(cursor.pageID, "a link of \(relationship.name) is not two numbers")
            }
            guard key.bigEndianUInt64(at: 0) == target.rawValue else { break }
            try body(ObjectNumber(key.bigEndianUInt64(at: 8)))
            _ = try cursor.next()
        }
    }

    struct Edge {
        var order: UInt64
        var target: ObjectNumber
    }

    /// The pairs of one owner, in the order of the relationship.
    final func forEachEdge(
        _ relationship: RelationshipLayout, of owner: ObjectNumber,
        _ body: (Edge) throws(StoreError) -> Void
    ) throws(StoreError) {
        let cursor = Cursor(view, tree: trees.links(relationship))
        _ = try cursor.seek(RecordKey.bytes(owner).span)
        while cursor.isValid {
            let (found, edge) = try edge(of: relationship, at: cursor)
            guard found == owner else { break }
            try body(edge)
            _ = try cursor.next()
        }
    }

    /// All pairs of a relationship.
    final func forEachEdge(
        _ relationship: RelationshipLayout,
        _ body: (ObjectNumber, Edge) throws(StoreError) -> Void
    ) throws(StoreError) {
        let cursor = Cursor(view, tree: trees.links(relationship))
        _ = try cursor.seekFirst()
        while cursor.isValid {
            let (owner, edge) = try edge(of: relationship, at: cursor)
            try body(owner, edge)
            _ = try cursor.next()
        }
    }

    private func edge(
        of relationship: RelationshipLayout, at cursor: Cursor
    ) throws(StoreError) -> (owner: ObjectNumber, edge: Edge) {
        let key = cursor.key
        guard key.count == 16 else {
            throw .corrupt(cursor.pageID, "a link of \(relationship.name) is not two numbers")
        }
        let owner = ObjectNumber(key.bigEndianUInt64(at: 0))
        let second = key.bigEndianUInt64(at: 8)
        guard relationship.kind == .toManyOrdered else {
            guard try cursor.value().isEmpty else {
                throw .corrupt(cursor.pageID, "a link of \(relationship.name) has a value")
            }
            return (owner, Edge(order: 0, target: ObjectNumber(second)))
        }
        let value = try cursor.value()
        guard value.count == 8 else {
            throw .corrupt(cursor.pageID, "a link of \(relationship.name) names no object")
        }
        return (owner, Edge(order: second, target: ObjectNumber(value.bigEndianUInt64(at: 0))))
    }
}

/// Keys of records and links: big-endian numbers, so that new objects are appended at the right
/// edge.
enum RecordKey {
    static func bytes(_ number: ObjectNumber) -> [UInt8] { bytes(number.rawValue) }

    /// The key of a number, without an allocation.
    static func inline(_ number: ObjectNumber) -> InlineArray<8, UInt8> {
        InlineArray { index in
            UInt8(truncatingIfNeeded: number.rawValue >> UInt64(56 - 8 * index))
        }
    }

    static func bytes(_ first: UInt64, _ second: UInt64? = nil) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        for number in [first, second] {
            guard let number else { continue }
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
            }
        }
        return bytes
    }
}

/// The sixteen bytes by which a record refers to a blob.
enum BlobName {
    static func read(_ bytes: ByteView) throws(StoreError) -> BlobID {
        guard bytes.count == RowLayout.blobNameSize, bytes.uint64(at: 0) > 0 else {
            throw .corrupt(nil, "a record has an invalid name of a blob")
        }
        return BlobID(page: PageID(bytes.uint64(at: 0)), sizeInBytes: bytes.uint64(at: 8))
    }

    static func bytes(_ blob: BlobID) -> [UInt8] {
        [blob.page.rawValue, blob.sizeInBytes].flatMap { number in
            (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
        }
    }
}
