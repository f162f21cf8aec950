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
            try RecordRewrite(transaction, hierarchy).delete(tags)
        }
        let removed = Set(tagsByRoot.values.joined())
        for relationship in schema.relationships {
            let destination = schema.knownEntity(tag: relationship.destinationTag)
            guard !destination.tags.isDisjoint(with: removed) else { continue }
            try transaction.clearDanglingLinks(relationship)
        }
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

/// Looks for what a plan would drop. Reads counters, and the records of hierarchies that lose a
/// property.
struct LossCheck {
    private let plan: LayoutPlan
    private let reader: RecordReader

    private var schema: Schema { reader.schema }

    /// - Parameter reader: one by the earlier schema.
    init(_ plan: LayoutPlan, _ reader: RecordReader) {
        self.plan = plan
        self.reader = reader
    }

    /// Throws `schemaMismatch` where values are stored that would be lost, unless the plan allows
    /// it.
    func run() throws(StoreError) {
        guard !plan.allowsLoss else { return }
        for entity in plan.removedEntities.compactMap({ schema.entity(named: $0) }) {
            let count = try reader.recordCount(of: entity, includesSubentities: false)
            guard count == 0 else {
                throw Self.refusal(
                    "the entity \(entity.name) is gone, and \(count) objects are stored")
            }
        }
        for path in plan.removed {
            if let relationship = schema.entity(named: path.entityName)?
                .relationship(named: path.name), relationship.hasEdges
            {
                try checkLinks(relationship)
            }
        }
        let removed = RemovedFields(plan, schema)
        for hierarchy in removed.hierarchies {
            let cursor = reader.recordCursor(hierarchy, isScan: true)
            while try cursor.next() {
                let row = try cursor.row()
                guard let lost = removed.stored(in: row).first else { continue }
                throw Self.refusal(
                    "\(schema.knownEntity(tag: row.entityTag).name).\(lost.name) is gone, and "
                        + "object \(cursor.number.rawValue) has a value")
            }
        }
    }

    static func refusal(_ message: String) -> StoreError {
        StoreError(
            .schemaMismatch,
            message + "; allow the loss of data, or name the model versions in a migration chain")
    }

    /// Of links with a tree of their own, which goes as a whole. Those that an inverse keeps are
    /// not lost.
    private func checkLinks(_ relationship: RelationshipLayout) throws(StoreError) {
        if let inverse = relationship.inverseID.map({ schema.relationship(id: $0) }),
            !plan.removed.contains(
                PropertyPath(schema.knownEntity(tag: inverse.sourceTag).name, inverse.name))
        {
            return
        }
        let cursor = Cursor(reader.view, tree: reader.trees.links(relationship))
        _ = try cursor.seekFirst()
        guard cursor.isValid else { return }
        let source = schema.knownEntity(tag: relationship.sourceTag)
        throw Self.refusal(
            "\(source.name).\(relationship.name) is gone, and links of it are stored")
    }
}

extension RecordTransaction {
    /// Makes to-one links nil that lead to no object any more, or to one of another kind than the
    /// relationship has.
    func clearDanglingLinks(_ relationship: RelationshipLayout) throws(StoreError) {
        guard let field = relationship.field else { return }
        let source = schema.knownEntity(tag: relationship.sourceTag)
        let destination = schema.knownEntity(tag: relationship.destinationTag)
        try RecordRewrite(self, source.hierarchy).update {
            _, entity, row throws(StoreError) in
            guard source.tags.contains(entity.tag), let target = row.link(at: field.byteOffset)
            else { return nil }
            let isThere = try withRow(target, in: destination.hierarchy) {
                destination.tags.contains($0.entityTag)
            }
            guard isThere != true else { return nil }
            let changed = RowBuffer(copying: row)
            changed.setLink(nil, at: field.byteOffset)
            return changed
        }
    }
}
