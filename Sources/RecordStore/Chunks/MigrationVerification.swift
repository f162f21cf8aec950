import PageStore

/// Compares the later model with the file's before it replaces it: the number of objects of each
/// entity, the values that were carried over, and indexes and links against the records. Reads once
/// all that the migration has written, and the records that it was made from. Its memory does not
/// grow with their number.
///
/// It uses none of the passes' counts, so that a pass that omits or repeats records is detected,
/// and the file keeps the earlier model.
struct MigrationVerification {
    private let run: MigrationRun
    /// Readers of the file's model and of the shadow copy.
    private let before: RecordSnapshot
    private let after: RecordSnapshot
    private let columns: CarriedColumns
    /// The trees of the shadow copy that the earlier model does not share.
    private let own: Set<TreeID>
    /// The hierarchies with such trees of records, indexes or to-one links, by the tags of their
    /// roots in the later model.
    private let changed: Set<UInt16>

    init(
        _ run: MigrationRun, _ live: Catalog, _ stored: Schema, _ steps: [VersionPlan]
    ) throws(StoreError) {
        self.run = run
        let view = try run.editor.before
        func reader(
            _ schema: Schema, _ catalog: Catalog, needsIndexes: Bool
        ) throws(StoreError) -> RecordSnapshot {
            let (trees, missing) = try TreeTable.open(schema, catalog, view)
            if let name = missing.first(where: { needsIndexes || !TreeTable.isIndex($0) }) {
                throw .corrupt(catalog.root.root, "the catalog does not name the tree \(name)")
            }
            return RecordSnapshot(schema: schema, snapshot: view, catalog: catalog, trees: trees)
        }
        // A writer builds the indexes that a file lacks: spec/07-catalog.md, 7.1.
        before = try reader(stored, live, needsIndexes: false)
        after = try reader(steps.last?.schema ?? stored, run.catalog, needsIndexes: true)
        columns = CarriedColumns(stored, steps)
        var own: Set<TreeID> = []
        for name in try run.catalog.treeNames(view) {
            if let tree = try run.catalog.tree(name, of: view) { own.insert(tree) }
        }
        self.own = own.subtracting(run.catalog.lentTrees)
        changed = Self.changed(after, self.own)
    }

    private static func changed(_ reader: RecordReader, _ own: Set<TreeID>) -> Set<UInt16> {
        let (schema, trees) = (reader.schema, reader.trees)
        var tags: Set<UInt16> = []
        for entity in schema.entities
        where entity.superentityTag == nil && own.contains(trees.records(entity.hierarchy)) {
            tags.insert(entity.tag)
        }
        for index in schema.indexes where own.contains(trees.indexes[index.id]) {
            tags.insert(schema.knownEntity(tag: index.entityTag).hierarchy.rootTag)
        }
        for relationship in schema.relationships
        where relationship.field != nil && own.contains(trees.links(relationship)) {
            tags.insert(schema.knownEntity(tag: relationship.sourceTag).hierarchy.rootTag)
        }
        return tags
    }

    /// Throws `corrupt` if anything differs.
    func verify() throws(StoreError) {
        let schema = after.schema
        let copied = schema.entities.filter { own.contains(after.trees.records($0.hierarchy)) }
        let names = Set(copied.map(\.name))
        let sources = columns.sources.filter { names.contains($0.entityName) }
        let roots = before.schema.entities.filter { root in
            root.superentityTag == nil && !root.tags.isDisjoint(with: sources.map(\.tag))
        }
        let sums = VerificationSums()
        let fields = fields(of: schema, columns: nil).filter { tag, _ in
            copied.contains { $0.tag == tag }
        }
        for root in schema.entities where changed.contains(root.tag) {
            sums.add(root, fields, after, to: \.found)
        }
        let formerFields = self.fields(of: before.schema, columns: sources)
        for root in roots { sums.add(root, formerFields, before, to: \.expected) }
        for relationship in schema.relationships where isCompared(relationship) {
            sums.add(relationship, after)
        }
        for index in schema.indexes where own.contains(after.trees.indexes[index.id]) {
            sums.add(index, after)
        }
        _ = try run.engine.run { () throws(StoreError) in
            try sums.read { () throws(StoreError) in try run.count() }
        } beside: { [report = run.progress.standingReport] isGivenUp throws(StoreError) in
            // The migrating thread may be waiting for this one.
            var readCount = 0
            try sums.read { () throws(StoreError) in
                if isGivenUp() { throw StoreError(.closed, "the comparison has ended") }
                readCount += 1
                if readCount.isMultiple(of: MigrationProgress.reportInterval) { try report() }
            }
        }
        let values = sums.values
        for entity in copied { try compare(entity, sources, values.found, values.expected) }
        try compareTrees(values)
    }

    // MARK: Columns

    /// The attributes whose values are summed, by the tags of exactly their entities.
    ///
    /// - Parameter columns: those of the file's model; nil for all attributes of the later one that
    ///   any object of the file provides.
    private func fields(
        of schema: Schema, columns sources: [CarriedColumns.Source]?
    ) -> [UInt16: [FieldLayout]] {
        var fields: [UInt16: [FieldLayout]] = [:]
        for source in sources ?? columns.sources {
            let isLater = sources == nil
            let later = after.schema.entity(named: source.entityName)?.tag
            guard let tag = isLater ? later : source.tag, let entity = schema.entity(tag: tag)
            else { continue }
            let (laterNames, names) = (source.attributes.keys, source.attributes.values)
            let wanted = isLater ? Set(laterNames) : Set(names)
            let known = Set(fields[tag, default: []].map(\.name))
            fields[tag, default: []] += entity.fields.filter {
                wanted.contains($0.name) && !known.contains($0.name)
            }
        }
        return fields
    }

    private func compare(
        _ entity: EntityLayout, _ all: [CarriedColumns.Source], _ found: ModelContents,
        _ expected: ModelContents
    ) throws(StoreError) {
        let sources = all.filter { $0.entityName == entity.name }
        let count = found.count(entity.tag)
        let formerCount = sources.reduce(0) { $0 + expected.count($1.tag) }
        let isComplete = sources.allSatisfy(\.isComplete)
        guard isComplete ? count == formerCount : count <= formerCount else {
            throw difference(
                "has \(count) objects of \(entity.name), and the file has \(formerCount)")
        }
        guard isComplete else { return }
        for field in entity.fields {
            var sum = ColumnSum()
            var (isCarried, isFilled) = (!sources.isEmpty, false)
            for source in sources {
                guard let name = source.attributes[field.name],
                    let former = before.schema.knownEntity(tag: source.tag).field(named: name),
                    former.type == field.type, former.isCoded == field.isCoded
                else {
                    isCarried = false
                    break
                }
                sum.add(expected.sum(name, of: source.tag))
                if source.filled.contains(field.name) { isFilled = true }
            }
            // Where a step replaced nil by a default the sums differ.
            guard isCarried, !isFilled || sum.nilCount == 0 else { continue }
            guard found.sum(field.name, of: entity.tag) == sum else {
                throw difference("has other values of \(entity.name).\(field.name) than the file")
            }
        }
    }

    // MARK: Indexes and links

    private func compareTrees(_ values: VerificationSums.Values) throws(StoreError) {
        let schema = after.schema
        for index in schema.indexes {
            let entries = values.entries[index.id] ?? formerEntries(index, values)
            guard entries == nil || entries == values.found.indexed[index.id] else {
                throw difference("has a tree \(index.treeName) that contradicts its records")
            }
        }
        for relationship in schema.relationships {
            let links =
                values.links[relationship.id]?.forward ?? formerLinks(relationship, values)
            if relationship.field != nil, isRead(relationship.sourceTag), let links,
                links != values.found.linked[relationship.id]
            {
                throw difference("has a tree \(relationship.treeName) that contradicts its records")
            }
            guard let one = values.links[relationship.id],
                let inverse = relationship.inverseID.map({ schema.relationship(id: $0) }),
                let other = values.links[inverse.id]
            else { continue }
            // The tree of a to-one is sorted by target, that of a list by owner.
            let isTurned = relationship.hasEdges == inverse.hasEdges
            guard one.forward == (isTurned ? other.backward : other.forward) else {
                throw difference(
                    "has links of \(relationship.name) that the inverse \(inverse.name) has not")
            }
        }
    }

    /// The entries of an index that the copied records share with those of the file, as the latter
    /// make them; nil if it has none.
    private func formerEntries(
        _ index: IndexLayout, _ values: VerificationSums.Values
    ) -> Fingerprint? {
        let tree = after.trees.indexes[index.id]
        guard isRead(index.entityTag),
            let former = before.schema.indexes.first(where: { before.trees.indexes[$0.id] == tree })
        else { return nil }
        return values.expected.indexed[former.id]
    }

    /// The same of a tree of to-one links.
    private func formerLinks(
        _ relationship: RelationshipLayout, _ values: VerificationSums.Values
    ) -> Fingerprint? {
        guard relationship.field != nil else { return nil }
        let tree = after.trees.links(relationship)
        let former = before.schema.relationships.first { former in
            former.field != nil && before.trees.links(former) == tree
        }
        return former.flatMap { values.expected.linked[$0.id] }
    }

    /// Whether the copy has links of its own in one of the directions.
    private func isCompared(_ relationship: RelationshipLayout) -> Bool {
        let inverse = relationship.inverseID.map { after.schema.relationship(id: $0) }
        return !relationship.mirrorsToOne
            && [relationship, inverse].contains { side in
                guard let side, !side.mirrorsToOne else { return false }
                return own.contains(after.trees.links(side))
            }
    }

    private func isRead(_ tag: UInt16) -> Bool {
        changed.contains(after.schema.knownEntity(tag: tag).hierarchy.rootTag)
    }

    private func difference(_ message: String) -> StoreError {
        .corrupt(
            nil, "the migrated copy \(message); the file keeps its model, and the copy is dropped")
    }
}
