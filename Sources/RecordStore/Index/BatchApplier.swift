import PageStore

/// Turns a batch into edits of trees: records, secondary indexes, to-one indexes and link pairs.
struct BatchApplier {
    private let transaction: RecordTransaction
    private let schema: Schema
    private let blobSizeMin: Int
    private var records: [UInt16: TreeEdits] = [:]
    private var indexes: [Int: TreeEdits] = [:]
    private var links: [Int: TreeEdits] = [:]
    private var encoders: [Int: KeyEncoder] = [:]
    private(set) var countChanges: [UInt16: Int] = [:]
    /// By the tag of the hierarchy's root.
    private var deleted: [UInt16: [ObjectNumber: ObjectNumber?]] = [:]

    init(_ transaction: RecordTransaction) {
        self.transaction = transaction
        schema = transaction.schema
        // A larger value leaves its record, which then stays short to scan.
        blobSizeMin = transaction.view.pageSizeInBytes / 4
    }

    mutating func apply(_ batch: RecordBatch) throws(StoreError) {
        for change in batch.changes {
            switch change {
            case .insert(let entity, let number, let row): try insert(entity, number, row)
            case .update(let hierarchy, let number, let row): try update(hierarchy, number, row)
            case .delete(let hierarchy, let number, let replacement):
                try delete(number, hierarchy)
                deleted[hierarchy.rootTag, default: [:]][number] = .some(replacement)
            }
        }
        try applyEdits()
        var linker = LinkApplier(transaction)
        for change in batch.linkChanges { try linker.apply(change) }
        try linker.removeLinks(to: deleted)
    }

    private mutating func applyEdits() throws(StoreError) {
        let editor = transaction.editor
        for tag in records.keys.sorted() {
            let tree = transaction.trees.records(HierarchyID(rootTag: tag))
            try records[tag]?.apply(to: tree, of: editor)
        }
        for id in indexes.keys.sorted() {
            try indexes[id]?.apply(to: transaction.trees.indexes[id], of: editor)
        }
        for id in links.keys.sorted() {
            let tree = transaction.trees.links(schema.relationship(id: id))
            try links[id]?.apply(to: tree, of: editor)
        }
    }

    // MARK: One record

    private mutating func insert(
        _ entity: EntityLayout, _ number: ObjectNumber, _ bytes: [UInt8]
    ) throws(StoreError) {
        var bytes = bytes
        try bytes.withView { view throws(StoreError) in
            let row = RowView(checked: view)
            for index in entity.indexes { try addKey(index, of: row, number, isRemoval: false) }
        }
        try moveBlobs(&bytes, entity, old: nil)
        bytes.withView { view in
            let row = RowView(checked: view)
            for relationship in entity.relationships {
                guard let field = relationship.field, let target = row.link(at: field.byteOffset)
                else { continue }
                addLink(relationship, target, number, isRemoval: false)
            }
            records[entity.hierarchy.rootTag, default: TreeEdits()]
                .insert(RecordKey.bytes(number), value: view)
        }
        countChanges[entity.tag, default: 0] += 1
    }

    private mutating func update(
        _ hierarchy: HierarchyID, _ number: ObjectNumber, _ bytes: [UInt8]
    ) throws(StoreError) {
        guard let stored = try storedRow(number, hierarchy) else {
            throw StoreError(
                .notFound, "object \(number.rawValue) was changed and is not in the store")
        }
        var bytes = bytes
        let entity = schema.knownEntity(tag: stored.entityTag)
        try stored.bytes.withView { old throws(StoreError) in
            let before = RowView(checked: old)
            // While the old blobs can still be read.
            try bytes.withView { view throws(StoreError) in
                try diffIndexes(entity, number, before, RowView(checked: view))
            }
            try moveBlobs(&bytes, entity, old: before)
            bytes.withView { view in
                let after = RowView(checked: view)
                diffLinks(entity, number, before, after)
                records[hierarchy.rootTag, default: TreeEdits()]
                    .insert(RecordKey.bytes(number), value: view)
            }
        }
    }

    private mutating func delete(
        _ number: ObjectNumber, _ hierarchy: HierarchyID
    ) throws(StoreError) {
        guard let stored = try storedRow(number, hierarchy) else { return }
        let entity = schema.knownEntity(tag: stored.entityTag)
        // The ordered side of a to-one keeps pairs of its own, which go with the object.
        var orderedOwners: [(id: Int, target: ObjectNumber)] = []
        try stored.bytes.withView { old throws(StoreError) in
            let row = RowView(checked: old)
            for index in entity.indexes { try addKey(index, of: row, number, isRemoval: true) }
            for relationship in entity.relationships {
                guard let field = relationship.field, let target = row.link(at: field.byteOffset)
                else { continue }
                addLink(relationship, target, number, isRemoval: true)
                if let inverse = relationship.inverseID, schema.relationship(id: inverse).hasEdges {
                    orderedOwners.append((inverse, target))
                }
            }
            for offset in entity.variableOffsets where row.isBlob(at: offset) {
                try transaction.editor.deleteBlob(
                    try BlobName.read(row.heapBytes(at: offset)))
            }
        }
        records[hierarchy.rootTag, default: TreeEdits()].remove(RecordKey.bytes(number))
        countChanges[entity.tag, default: 0] -= 1
        var linker = LinkApplier(transaction)
        for (id, target) in orderedOwners {
            try linker.apply(.remove(schema.relationship(id: id), target, number))
        }
        for relationship in entity.relationships where relationship.hasEdges {
            try linker.apply(.set(relationship, number, []))
        }
    }

    private func storedRow(
        _ number: ObjectNumber, _ hierarchy: HierarchyID
    ) throws(StoreError) -> (entityTag: UInt16, bytes: [UInt8])? {
        try transaction.withRow(number, in: hierarchy) { ($0.entityTag, $0.bytes.array()) }
    }

    // MARK: Indexes

    private mutating func diffIndexes(
        _ entity: EntityLayout, _ number: ObjectNumber, _ before: RowView, _ after: RowView
    ) throws(StoreError) {
        for index in entity.indexes {
            let isChanged = index.columns.contains { !isEqual($0, before, after) }
            guard isChanged else { continue }
            try addKey(index, of: before, number, isRemoval: true)
            try addKey(index, of: after, number, isRemoval: false)
        }
    }

    private func isEqual(_ field: FieldLayout, _ left: RowView, _ right: RowView) -> Bool {
        let offset = field.byteOffset
        guard left.isNull(at: offset) == right.isNull(at: offset) else { return false }
        if left.isNull(at: offset) { return true }
        guard field.isVariable else { return left.uint(at: offset) == right.uint(at: offset) }
        return left.isBlob(at: offset) == right.isBlob(at: offset)
            && left.heapBytes(at: offset) == right.heapBytes(at: offset)
    }

    private mutating func addKey(
        _ index: IndexLayout, of row: RowView, _ number: ObjectNumber, isRemoval: Bool
    ) throws(StoreError) {
        var key =
            encoders[index.columns.count]
            ?? transaction.keyEncoder(columnCount: index.columns.count)
        key.removeAll()
        try transaction.append(index.columns, of: row, to: &key)
        key.append(number)
        if isRemoval {
            indexes[index.id, default: TreeEdits()].remove(key.bytes)
        } else {
            indexes[index.id, default: TreeEdits()].insert(key.bytes)
        }
        encoders[index.columns.count] = key
    }

    // MARK: To-one links

    private mutating func diffLinks(
        _ entity: EntityLayout, _ number: ObjectNumber, _ before: RowView, _ after: RowView
    ) {
        for relationship in entity.relationships {
            guard let field = relationship.field else { continue }
            let (old, new) = (
                before.link(at: field.byteOffset), after.link(at: field.byteOffset)
            )
            guard old != new else { continue }
            if let old { addLink(relationship, old, number, isRemoval: true) }
            if let new { addLink(relationship, new, number, isRemoval: false) }
        }
    }

    private mutating func addLink(
        _ relationship: RelationshipLayout, _ target: ObjectNumber, _ source: ObjectNumber,
        isRemoval: Bool
    ) {
        let key = RecordKey.bytes(target.rawValue, source.rawValue)
        if isRemoval {
            links[relationship.id, default: TreeEdits()].remove(key)
        } else {
            links[relationship.id, default: TreeEdits()].insert(key)
        }
    }

    // MARK: Blobs

    /// Moves large values out of a record, and frees the old record's blobs that it does not keep.
    private func moveBlobs(
        _ bytes: inout [UInt8], _ entity: EntityLayout, old: RowView?
    ) throws(StoreError) {
        let hasLarge = bytes.withView { view in
            entity.variableOffsets.contains {
                Int(view.uint32(at: $0 + 4) & 0x7FFF_FFFF) > blobSizeMin
            }
        }
        let hasOld = old.map { old in entity.variableOffsets.contains { old.isBlob(at: $0) } }
        guard hasLarge || hasOld == true else { return }
        var row = bytes.withView { RowBuffer(copying: $0) }
        defer { row.deallocate() }
        for offset in entity.variableOffsets {
            try moveBlob(&row, at: offset, old: old)
        }
        bytes = row.compacted(
            variableOffsets: entity.variableOffsets, fixedSize: entity.fixedSize)
    }

    private func moveBlob(
        _ row: inout RowBuffer, at offset: Int, old: RowView?
    ) throws(StoreError) {
        let content = row.view.heapBytes(at: offset)
        var kept: BlobID?
        if let old, old.isBlob(at: offset) { kept = try BlobName.read(old.heapBytes(at: offset)) }
        let isLarge = !row.view.isNull(at: offset) && content.count > blobSizeMin
        if row.view.isBlob(at: offset) {
            // A row whose owner never loaded the value names it as the stored one does.
            let named = try BlobName.read(content)
            guard let kept, kept.page == named.page, kept.sizeInBytes == named.sizeInBytes else {
                throw StoreError(.invalidArgument, "a row names a blob that is not its own")
            }
            return
        }
        if let blob = kept {
            if isLarge, blob.sizeInBytes == UInt64(content.count) {
                let stored = try transaction.view.readBlob(blob)
                let isSame = stored.withView { $0 == content }
                if isSame {
                    BlobName.bytes(blob).withView { row.set($0, isBlob: true, at: offset) }
                    return
                }
            }
            try transaction.editor.deleteBlob(blob)
        }
        guard isLarge else { return }
        let blob = try transaction.editor.createBlob(content)
        BlobName.bytes(blob).withView { row.set($0, isBlob: true, at: offset) }
    }
}
