/// Maps the earlier names of renamed entities and properties to their later names.
struct LaterNames {
    private var entities: [String: String] = [:]
    /// By the entity's later name and the property's earlier one.
    private var properties: [PropertyPath: String] = [:]

    init(_ edits: [SchemaEdit]) {
        for edit in edits {
            switch edit {
            case .entityRenamed(let old, let new): entities[old] = new
            case .propertyRenamed(let old, let new):
                properties[PropertyPath(new.entityName, old.name)] = new.name
            default: break
            }
        }
    }

    private var isEmpty: Bool { entities.isEmpty && properties.isEmpty }

    /// The later name of an entity, by its earlier one.
    func entity(_ name: String) -> String { entities[name] ?? name }

    /// The later name of a property, by its entity's later name and its own earlier one.
    func property(_ path: PropertyPath) -> String { properties[path] ?? path.name }

    /// The trees of a schema whose names differ in the later schema.
    func renamedTrees(of schema: Schema) -> [(old: String, new: String)] {
        guard !isEmpty else { return [] }
        func name(_ tag: UInt16) -> String { entity(schema.knownEntity(tag: tag).name) }
        var trees: [(old: String, new: String)] = []
        for root in schema.entities where root.superentityTag == nil {
            trees.append((TreeTable.recordsName(root.name), TreeTable.recordsName(name(root.tag))))
        }
        for relationship in schema.relationships where !relationship.mirrorsToOne {
            let source = name(relationship.sourceTag)
            let later = property(PropertyPath(source, relationship.name))
            trees.append((relationship.treeName, TreeTable.linksName(source, later)))
        }
        for index in schema.indexes {
            let line = schema.knownEntity(tag: index.entityTag).ancestorTags.map(name)
            // A column is declared by the entity or by one of its ancestors.
            let columns = index.columns.map { column in
                line.lazy.map { property(PropertyPath($0, column.name)) }
                    .first { !$0.hasSameBytes(as: column.name) } ?? column.name
            }
            let later = IndexLayout.treeName(
                name(index.entityTag), columns, isUnique: index.isUnique)
            trees.append((index.treeName, later))
        }
        return trees.filter { !$0.old.hasSameBytes(as: $0.new) }
    }
}
