import PageStore

/// A file of an earlier model, as a reader with a later one sees it without a write
/// (decisions/047).
///
/// The later schema has the layout that a migration by the catalog would give the file, so that
/// stored records are read as older ones of it. Trees have their earlier names, those of new
/// entities and relationships are empty, and the indexes are the file's, except those whose keys
/// the later schema encodes differently.
struct UnmigratedFile {
    /// The later schema, with the indexes of the file.
    let schema: Schema
    let trees: TreeTable
    let identities: ObjectIdentities

    /// Nil if the migration would be more than an edit of the catalog.
    init?(
        _ plan: MigrationPlan, from stored: Schema, to wanted: SchemaDescription,
        _ catalog: Catalog, _ view: PageView
    ) throws(StoreError) {
        var steps: [LayoutPlan] = []
        for step in plan.steps {
            guard case .layout(let layout) = step, layout.needsNoRecords else { return nil }
            steps.append(layout)
        }
        guard let last = steps.last?.schema else { return nil }
        var later = LaterTrees(of: stored, steps, last)
        let description = later.withIndexes(wanted, among: Set(try catalog.treeNames(view)))
        let page = catalog.root.root
        schema = try Schema(description, layout: StoredLayout.bytes(of: last), page: page)
        let (table, missing) = try TreeTable.open(
            schema, catalog, view, storedNames: later.storedNames)
        if let lost = missing.first {
            throw .corrupt(page, "the catalog does not name the tree \(lost)")
        }
        trees = table
        identities = ObjectIdentities(
            of: stored, try catalog.movedObjects(view), adding: steps.map(\.moves))
    }
}

/// The trees of a file by the names that they would have in a later schema. Tags and slots stay the
/// same in a migration by the catalog, so that entities and columns are found by them.
private struct LaterTrees {
    /// The file's name of each tree that it has, by the later name.
    private(set) var storedNames: [String: String] = [:]
    private let stored: Schema
    private let last: Schema

    init(of stored: Schema, _ steps: [LayoutPlan], _ last: Schema) {
        self.stored = stored
        self.last = last
        for root in stored.entities where root.superentityTag == nil {
            let name = last.knownEntity(tag: root.tag).name
            storedNames[TreeTable.recordsName(name)] = TreeTable.recordsName(root.name)
        }
        for relationship in stored.relationships where !relationship.mirrorsToOne {
            var name = relationship.name
            for step in steps {
                let source = step.schema.knownEntity(tag: relationship.sourceTag).name
                name = step.names.property(PropertyPath(source, name))
            }
            let source = last.knownEntity(tag: relationship.sourceTag).name
            storedNames[TreeTable.linksName(source, name)] = relationship.treeName
        }
    }

    /// The later schema with the indexes of the file, as far as their keys stay valid and the
    /// catalog names their trees. Adds their names to ``storedNames``.
    mutating func withIndexes(
        _ wanted: SchemaDescription, among treeNames: Set<String>
    ) -> SchemaDescription {
        var indexes: [String: [[String]]] = [:]
        var constraints: [String: [[String]]] = [:]
        for index in stored.indexes where treeNames.contains(index.treeName) {
            let entity = last.knownEntity(tag: index.entityTag)
            let columns = index.columns.compactMap { laterName(of: $0, in: entity) }
            guard columns.count == index.columns.count else { continue }
            let name = IndexLayout.treeName(entity.name, columns, isUnique: index.isUnique)
            storedNames[name] = index.treeName
            if index.isUnique {
                constraints[entity.name, default: []].append(columns)
            } else {
                indexes[entity.name, default: []].append(columns)
            }
        }
        var description = wanted
        for number in description.entities.indices {
            let name = description.entities[number].name
            description.entities[number].indexes = indexes[name] ?? []
            description.entities[number].uniqueConstraints = constraints[name] ?? []
        }
        return description
    }

    /// Nil if an index encodes the column differently in the later schema.
    private func laterName(of column: FieldLayout, in entity: EntityLayout) -> String? {
        guard let field = entity.fields.first(where: { $0.slot == column.slot }) else { return nil }
        if let old = column.type, let new = field.type, !old.hasKeys(of: new) { return nil }
        return field.name
    }
}
