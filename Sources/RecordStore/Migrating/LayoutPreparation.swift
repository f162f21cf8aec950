import PageStore

/// What a plan does to records before the catalog changes, while they are read by the earlier
/// schema: what is gone is emptied, so that a retired slot is nil in every record and no blob,
/// index entry or link of it is left, and required values that are nil get their defaults.
struct LayoutPreparation {
    private let plan: LayoutPlan
    private let transaction: RecordTransaction

    private var schema: Schema { transaction.schema }

    /// - Parameter transaction: one by the earlier schema.
    init(_ plan: LayoutPlan, _ transaction: RecordTransaction) {
        self.plan = plan
        self.transaction = transaction
    }

    func run() throws(StoreError) {
        try removeEntities()
        try emptyProperties()
        try fillDefaults()
    }

    private func removeEntities() throws(StoreError) {
        var tagsByRoot: [HierarchyID: Set<UInt16>] = [:]
        for entity in plan.removedEntities.compactMap({ schema.entity(named: $0) })
        where try transaction.recordCount(of: entity, includesSubentities: false) > 0 {
            tagsByRoot[entity.hierarchy, default: []].insert(entity.tag)
        }
        for (hierarchy, tags) in tagsByRoot {
            if isAlone(hierarchy) {
                try freeBlobs(of: hierarchy)
            } else {
                try RecordRewrite(transaction, hierarchy).delete(tags)
            }
        }
        let removed = Set(tagsByRoot.values.joined())
        for relationship in schema.relationships where !isRemoved(relationship) {
            let destination = schema.knownEntity(tag: relationship.destinationTag)
            guard !destination.tags.isDisjoint(with: removed) else { continue }
            try transaction.clearDanglingLinks(relationship)
        }
    }

    private func isRemoved(_ relationship: RelationshipLayout) -> Bool {
        let source = schema.knownEntity(tag: relationship.sourceTag).name
        return plan.removedEntities.contains(source)
            || plan.removed.contains(PropertyPath(source, relationship.name))
    }

    /// Whether all entities of a hierarchy go, and all links to and from it: their trees go whole.
    private func isAlone(_ hierarchy: HierarchyID) -> Bool {
        schema.entities.allSatisfy { entity in
            entity.hierarchy != hierarchy || plan.removedEntities.contains(entity.name)
        }
            && schema.relationships.allSatisfy { relationship in
                let ends = [relationship.sourceTag, relationship.destinationTag]
                return isRemoved(relationship)
                    || !ends.contains { schema.knownEntity(tag: $0).hierarchy == hierarchy }
            }
    }

    private func freeBlobs(of hierarchy: HierarchyID) throws(StoreError) {
        let cursor = transaction.recordCursor(hierarchy, isScan: true)
        var names: [BlobID] = []
        while try cursor.next() {
            let row = try cursor.row()
            let entity = schema.knownEntity(tag: row.entityTag)
            for offset in entity.variableOffsets
            where row.isBlob(at: offset) && !row.isNull(at: offset) {
                names.append(try BlobName.read(row.heapBytes(at: offset)))
            }
        }
        for name in names { try transaction.editor.deleteBlob(name) }
    }

    private func emptyProperties() throws(StoreError) {
        let removed = RemovedFields(plan, schema)
        for hierarchy in removed.hierarchies {
            try RecordRewrite(transaction, hierarchy).update { _, _, row in
                let stored = removed.stored(in: row)
                guard !stored.isEmpty else { return nil }
                var changed = RowBuffer(copying: row)
                for field in stored { changed.setValue(.null, field) }
                return changed
            }
        }
    }

    /// Of properties that may not be nil any more and have a default.
    private func fillDefaults() throws(StoreError) {
        var values: [UInt16: [(field: FieldLayout, value: Value)]] = [:]
        var hierarchies: Set<HierarchyID> = []
        for (path, value) in plan.fills {
            guard let owner = schema.entity(named: path.entityName),
                let field = owner.field(named: path.name)
            else { continue }
            for tag in owner.tags { values[tag, default: []].append((field, value)) }
            hierarchies.insert(owner.hierarchy)
        }
        for hierarchy in hierarchies {
            try RecordRewrite(transaction, hierarchy).update { _, entity, row in
                let missing = (values[entity.tag] ?? []).filter {
                    row.isNull(at: $0.field.byteOffset)
                }
                guard !missing.isEmpty else { return nil }
                var changed = RowBuffer(copying: row)
                for (field, value) in missing { changed.setValue(value, field) }
                return changed
            }
        }
    }
}

/// The properties with slots that a plan removes, by the entities that have them.
private struct RemovedFields {
    private var fields: [UInt16: [FieldLayout]] = [:]
    private(set) var hierarchies: Set<HierarchyID> = []

    init(_ plan: LayoutPlan, _ schema: Schema) {
        for path in plan.removed {
            guard let owner = schema.entity(named: path.entityName),
                let field = owner.field(named: path.name)
            else { continue }
            for tag in owner.tags { fields[tag, default: []].append(field) }
            hierarchies.insert(owner.hierarchy)
        }
    }

    /// Those that a record has a value of.
    func stored(in row: RowView) -> [FieldLayout] {
        (fields[row.entityTag] ?? []).filter { !row.isNull(at: $0.byteOffset) }
    }
}
