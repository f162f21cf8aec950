import PageStore

/// Prepares records before the catalog changes, while they are still read by the earlier schema. It
/// empties removed properties, so that a retired slot is nil in every record and no blob, index
/// entry or link of it remains, and replaces nil where a value becomes required.
struct LayoutPreparation {
    private let plan: LayoutPlan
    private let run: MigrationRun

    private var schema: Schema { plan.stored }

    /// - Parameter run: uses the earlier schema.
    init(_ plan: LayoutPlan, _ run: MigrationRun) {
        self.plan = plan
        self.run = run
    }

    /// The tags of all entities whose records the passes read, once for each pass.
    var passedTags: [UInt16] {
        let removed = plan.removedEntities.compactMap { schema.entity(named: $0) }
        var hierarchies = Array(Set(removed.map(\.hierarchy)))
        hierarchies += relationshipsToRemoved(Set(removed.map(\.tag)))
            .filter { $0.field != nil }
            .map { schema.knownEntity(tag: $0.sourceTag).hierarchy }
        hierarchies += RemovedFields(plan, schema).hierarchies
        hierarchies += FilledFields(plan, schema).hierarchies
        return hierarchies.flatMap { schema.knownEntity(tag: $0.rootTag).tags }
    }

    func perform() throws(StoreError) {
        try removeEntities()
        let names = try run.catalog.treeNames(run.editor)
        try run.withoutMaintaining(plan.endingTrees(among: names)) { () throws(StoreError) in
            try emptyProperties()
            try replaceNil()
        }
    }

    private func removeEntities() throws(StoreError) {
        var tagsByRoot: [HierarchyID: Set<UInt16>] = [:]
        for entity in plan.removedEntities.compactMap({ schema.entity(named: $0) })
        where try mayHaveRecords(entity) {
            tagsByRoot[entity.hierarchy, default: []].insert(entity.tag)
        }
        for (hierarchy, tags) in tagsByRoot.sorted(by: { $0.key.rootTag < $1.key.rootTag }) {
            if isAlone(hierarchy) {
                try freeBlobs(of: hierarchy)
            } else {
                try RecordRewrite(run, hierarchy).delete(tags)
            }
        }
        let removed = Set(tagsByRoot.values.joined())
        for relationship in relationshipsToRemoved(removed) {
            try run.clearDanglingLinks(relationship, of: schema)
        }
    }

    /// The relationships that stay, and may lead to objects of removed entities.
    private func relationshipsToRemoved(_ removed: Set<UInt16>) -> [RelationshipLayout] {
        schema.relationships.filter { relationship in
            let destination = schema.knownEntity(tag: relationship.destinationTag)
            return !isRemoved(relationship) && !destination.tags.isDisjoint(with: removed)
        }
    }

    /// A resumed run must repeat the same sequence of passes, whose results therefore cannot decide
    /// which passes there are.
    private func mayHaveRecords(_ entity: EntityLayout) throws(StoreError) -> Bool {
        guard !run.isChunked else { return true }
        return try run.transaction.recordCount(of: entity, includesSubentities: false) > 0
    }

    private func isRemoved(_ relationship: RelationshipLayout) -> Bool {
        let source = schema.knownEntity(tag: relationship.sourceTag).name
        return plan.removedEntities.contains(source)
            || plan.removed.contains(PropertyPath(source, relationship.name))
    }

    /// Whether a hierarchy and all links to and from it are removed, so that whole trees are
    /// dropped.
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
        try RecordRewrite(run, hierarchy).read { row throws(StoreError) in
            run.progress.count()
            let entity = schema.knownEntity(tag: row.entityTag)
            for offset in entity.variableOffsets
            where row.isBlob(at: offset) && !row.isNull(at: offset) {
                try run.transaction.deleteBlob(BlobName.read(row.heapBytes(at: offset)))
            }
        }
    }

    private func emptyProperties() throws(StoreError) {
        let removed = RemovedFields(plan, schema)
        for hierarchy in removed.hierarchies.sorted(by: { $0.rootTag < $1.rootTag }) {
            // All trees in which the properties are, are about to be dropped.
            try RecordRewrite(run, hierarchy).replace { entity, row throws(StoreError) in
                run.progress.count()
                let offsets = removed.stored(in: row)
                guard !offsets.isEmpty else { return nil }
                for offset in offsets
                where entity.variableOffsets.contains(offset) && row.isBlob(at: offset) {
                    try run.transaction.deleteBlob(BlobName.read(row.heapBytes(at: offset)))
                }
                let changed = try RowBuffer(copying: row, of: entity)
                for offset in offsets { changed.clear(at: offset) }
                return changed
            }
        }
    }

    /// Replaces nil in properties that become required.
    private func replaceNil() throws(StoreError) {
        let filled = FilledFields(plan, schema)
        for hierarchy in filled.hierarchies.sorted(by: { $0.rootTag < $1.rootTag }) {
            try RecordRewrite(run, hierarchy).update { number, entity, row throws(StoreError) in
                run.progress.count()
                let missing = filled.missing(in: row)
                guard !missing.isEmpty else { return nil }
                var values: [Value] = []
                for (field, fill) in missing {
                    let value = try fill.value()
                    guard value != .null else {
                        throw StoreError(
                            .invalidArgument,
                            "\(entity.name).\(field.name) may not be nil, and object "
                                + "\(number.rawValue) has no value")
                    }
                    values.append(value)
                }
                var changed = try RowBuffer(copying: row, of: entity)
                for ((field, _), value) in zip(missing, values) {
                    changed.setValue(value, field)
                }
                return changed
            }
        }
    }
}

extension LayoutPlan {
    /// How many records would be deleted or written, capped at `countMax`. Records that only lose a
    /// link to a deleted object are not counted.
    ///
    /// - Parameter reader: uses the earlier schema.
    func writtenCount(_ reader: RecordReader, upTo countMax: Int) throws(StoreError) -> Int {
        var count = 0
        for entity in removedEntities.compactMap({ reader.schema.entity(named: $0) }) {
            count += try min(
                countMax, reader.recordCount(of: entity, includesSubentities: false))
        }
        let removed = RemovedFields(self, reader.schema)
        let filled = FilledFields(self, reader.schema)
        for hierarchy in removed.hierarchies.union(filled.hierarchies) {
            let cursor = reader.recordCursor(hierarchy, isScan: true)
            while count < countMax, try cursor.next() {
                let row = try cursor.row()
                if !removed.stored(in: row).isEmpty || !filled.missing(in: row).isEmpty {
                    count += 1
                }
            }
        }
        return min(count, countMax)
    }
}

/// The properties that become required, with what replaces nil, by entity tag.
private struct FilledFields {
    private typealias Fill = (field: FieldLayout, initialValue: any InitialValue)

    private var fills: [UInt16: [Fill]] = [:]
    private(set) var hierarchies: Set<HierarchyID> = []

    init(_ plan: LayoutPlan, _ schema: Schema) {
        for (path, initialValue) in plan.fills {
            guard let owner = schema.entity(named: path.entityName),
                let field = owner.field(named: path.name)
            else { continue }
            for tag in owner.tags { fills[tag, default: []].append((field, initialValue)) }
            hierarchies.insert(owner.hierarchy)
        }
    }

    /// The properties that are nil in a record.
    func missing(in row: RowView) -> [(field: FieldLayout, initialValue: any InitialValue)] {
        (fills[row.entityTag] ?? []).filter { row.isNull(at: $0.field.byteOffset) }
    }
}

/// The properties with slots that a plan removes, by entity tag.
private struct RemovedFields {
    /// The byte offsets of the properties.
    private var fields: [UInt16: [Int]] = [:]
    private(set) var hierarchies: Set<HierarchyID> = []

    init(_ plan: LayoutPlan, _ schema: Schema) {
        for path in plan.removed {
            guard let owner = schema.entity(named: path.entityName),
                let field = owner.field(named: path.name)
            else { continue }
            for tag in owner.tags { fields[tag, default: []].append(field.byteOffset) }
            hierarchies.insert(owner.hierarchy)
        }
    }

    /// The byte offsets of the removed properties that have a value in a record.
    func stored(in row: RowView) -> [Int] {
        (fields[row.entityTag] ?? []).filter { !row.isNull(at: $0) }
    }
}
