import PageStore

/// The trees of a resolved schema by number, so that loops need no lookup by name.
struct TreeTable: Sendable {
    /// By entity tag; nil for entities that are not the root of a hierarchy.
    private(set) var records: [TreeID?] = []
    private(set) var indexes: [TreeID] = []
    /// By relationship ID; nil for a to-many that mirrors a to-one.
    private(set) var links: [TreeID?] = []
    /// Whether records may have slots that the schema does not know, after those that it knows.
    var hasLaterSlots = false

    static func isIndex(_ name: String) -> Bool {
        name.hasBytePrefix("index/") || name.hasBytePrefix("unique/")
    }

    static func isRecords(_ name: String) -> Bool { name.hasBytePrefix("records/") }

    static func recordsName(_ entity: String) -> String { "records/\(entity)" }

    static func linksName(_ entity: String, _ relationship: String) -> String {
        "links/\(entity)/\(relationship)"
    }

    func records(_ hierarchy: HierarchyID) -> TreeID {
        let tag = Int(hierarchy.rootTag)
        guard tag < records.count, let tree = records[tag] else {
            preconditionFailure("a hierarchy belongs to the schema that it is used with")
        }
        return tree
    }

    func links(_ relationship: RelationshipLayout) -> TreeID {
        guard let tree = links[relationship.id] else {
            preconditionFailure("a mirrored relationship has no links of its own")
        }
        return tree
    }

    /// Replaces a missing tree: no store has a page of this ID.
    private static let unknown = TreeID(root: PageID(.max))

    /// Looks up every tree of the schema; returns the names of missing ones too.
    ///
    /// - Parameter storedNames: the names that the trees have in the file. Trees without such a
    ///   name are empty. Nil if the file has the names of the schema.
    static func open(
        _ schema: Schema, _ catalog: Catalog, _ view: PageView,
        storedNames: [String: String]? = nil
    ) throws(StoreError) -> (table: TreeTable, missing: [String]) {
        var table = TreeTable()
        var missing: [String] = []
        func find(_ name: String) throws(StoreError) -> TreeID {
            let storedName = storedNames.map { $0[name] } ?? name
            guard let storedName else { return .empty }
            if let tree = try catalog.tree(storedName, of: view) { return tree }
            missing.append(name)
            return unknown
        }
        // Tags start at 1.
        table.records = Array(repeating: nil, count: schema.tagMax + 1)
        for entity in schema.entities where entity.superentityTag == nil {
            table.records[Int(entity.tag)] = try find(recordsName(entity.name))
        }
        for index in schema.indexes { table.indexes.append(try find(index.treeName)) }
        for relationship in schema.relationships {
            table.links.append(
                relationship.mirrorsToOne ? nil : try find(relationship.treeName))
        }
        return (table, missing)
    }
}
