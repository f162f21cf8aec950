import PageStore

/// The trees of a file that a migration may change, derived from the plan alone: never too few.
struct TouchedTrees {
    /// The hierarchies whose records and indexes change, by the tags of their roots, which are
    /// equal in all versions.
    private var records: Set<UInt16> = []
    /// Those of which passes over records of other hierarchies, or over links, change records.
    private var written: Set<UInt16> = []
    /// The hierarchies at both ends of links that change, or with objects that are removed.
    private var linked: Set<UInt16> = []

    init(_ steps: some Sequence<VersionPlan>) throws(StoreError) {
        for step in steps {
            switch step {
            case .layout(let plan): add(plan, in: plan.stored)
            case .rewrite(let plan): try add(plan)
            }
        }
    }

    /// Whether records of a hierarchy may change.
    func contains(_ hierarchy: HierarchyID) -> Bool { records.contains(hierarchy.rootTag) }

    /// The names of the trees that may change, among those of a file's schema.
    func names(of schema: Schema) -> Set<String> {
        func hierarchy(_ tag: UInt16) -> UInt16 { schema.knownEntity(tag: tag).hierarchy.rootTag }
        var names: Set<String> = []
        for entity in schema.entities
        where entity.superentityTag == nil && records.contains(entity.tag) {
            names.insert(TreeTable.recordsName(entity.name))
        }
        for index in schema.indexes where records.contains(hierarchy(index.entityTag)) {
            names.insert(index.treeName)
        }
        for relationship in schema.relationships where !relationship.mirrorsToOne {
            let ends = [relationship.sourceTag, relationship.destinationTag].map(hierarchy)
            if !linked.isDisjoint(with: ends) { names.insert(relationship.treeName) }
        }
        return names
    }

    /// The entities of a file's schema whose records may change.
    func entities(of schema: Schema) -> [EntityLayout] {
        schema.entities.filter { records.contains($0.hierarchy.rootTag) }
    }

    /// The names of the trees, among those of a file's schema, that the passes which change them
    /// copy, if any does: of records, their indexes, and their to-one links.
    func namesCopiedLater(of schema: Schema) -> Set<String> {
        func isLater(_ tag: UInt16) -> Bool {
            let root = schema.knownEntity(tag: tag).hierarchy.rootTag
            return records.contains(root) && !written.contains(root)
        }
        let roots = schema.entities.filter { $0.superentityTag == nil && isLater($0.tag) }
        let indexes = schema.indexes.filter { isLater($0.entityTag) }
        let links = schema.relationships.filter { $0.field != nil && isLater($0.sourceTag) }
        return Set(
            roots.map { TreeTable.recordsName($0.name) } + indexes.map(\.treeName)
                + links.map(\.treeName))
    }

    // MARK: One step

    private mutating func add(_ plan: LayoutPlan, in schema: Schema) {
        var changed: Set<UInt16> = []
        for path in plan.removed + plan.fills.map(\.0) {
            guard let entity = schema.entity(named: path.entityName) else { continue }
            if let relationship = entity.relationship(named: path.name) {
                add(relationship, in: schema)
            } else {
                changed.insert(entity.hierarchy.rootTag)
            }
        }
        for name in plan.removedEntities {
            if let entity = schema.entity(named: name) { changed.insert(entity.hierarchy.rootTag) }
        }
        add(changed, isLinked: !plan.removedEntities.isEmpty, schema)
    }

    /// A relationship whose links are removed or written, in both directions. Only a to-one is a
    /// part of records.
    private mutating func add(_ relationship: RelationshipLayout, in schema: Schema) {
        let inverse = relationship.inverseID.map { schema.relationship(id: $0) }
        for relationship in [relationship, inverse].compactMap({ $0 }) {
            let source = schema.knownEntity(tag: relationship.sourceTag).hierarchy.rootTag
            let destination = schema.knownEntity(tag: relationship.destinationTag).hierarchy.rootTag
            linked.formUnion([source, destination])
            if relationship.field != nil { records.insert(source) }
        }
    }

    private mutating func add(_ plan: RewritePlan) throws(StoreError) {
        let (lineage, both) = (plan.lineage, plan.both)
        let numbers = try NumberMaps(lineage, both) { _ in 0 }
        var changed: Set<UInt16> = []
        for (hierarchy, entities) in plan.rewrites(numbers) {
            changed.insert(hierarchy.rootTag)
            changed.formUnion(entities.map(\.destination.hierarchy.rootTag))
            for entity in entities where !entity.isInPlace {
                written.insert(entity.destination.hierarchy.rootTag)
            }
        }
        let links = LinkRewrite.all(lineage, both, numbers)
        for link in links {
            add(link.source, in: both)
            add(link.destination, in: both)
            let inverse = link.destination.inverseID.map { both.relationship(id: $0) }
            for relationship in [link.destination, inverse, link.derived].compactMap({ $0 })
            where relationship.field != nil {
                written.insert(both.knownEntity(tag: relationship.sourceTag).hierarchy.rootTag)
            }
        }
        // Otherwise every object stays in its place.
        let mayLoseObjects =
            !lineage.pairs.mappers.isEmpty || !lineage.movedRoots.before.isEmpty
            || lineage.stored.entities.contains { lineage.pairs.later[$0.name] == nil }
        for path in lineage.replaced {
            guard
                let relationship = both.entity(named: path.entityName)?
                    .relationship(named: path.name)
            else { continue }
            add(relationship, in: both)
        }
        add(changed, isLinked: mayLoseObjects, both)
        add(plan.last, in: both)
    }

    private mutating func add(_ changed: Set<UInt16>, isLinked: Bool, _ schema: Schema) {
        records.formUnion(changed)
        guard isLinked else { return }
        // If an object is removed, everything linked with it may change too.
        var reached = changed
        var hasGrown = true
        while hasGrown {
            hasGrown = false
            for relationship in schema.relationships {
                let ends = [relationship.sourceTag, relationship.destinationTag]
                    .map { schema.knownEntity(tag: $0).hierarchy.rootTag }
                guard !reached.isDisjoint(with: ends), !reached.isSuperset(of: ends) else {
                    continue
                }
                reached.formUnion(ends)
                hasGrown = true
            }
        }
        records.formUnion(reached)
        linked.formUnion(reached)
    }
}

/// The names of a file's trees that a migration in chunks copies.
struct CopiedTrees {
    /// Before the first step.
    let first: Set<String>
    /// By the passes that change them, if any does.
    let later: Set<String>
    /// The indexes that the first step drops instead.
    let dropped: Set<String>
}

extension MigrationPlan {
    /// The trees that are copied or may be: those that the plan may change, except indexes that the
    /// first step drops before it writes any record.
    func copiedTrees(of stored: Schema) throws(StoreError) -> CopiedTrees {
        let touched = try TouchedTrees(steps)
        var names = touched.names(of: stored)
        let layout: LayoutPlan? =
            switch steps.first {
            case .layout(let plan): plan
            case .rewrite(let plan): plan.first.first
            case nil: nil
            }
        var dropped: Set<String> = []
        if let layout, !layout.writesRecords {
            let indexes = names.filter { TreeTable.isIndex($0) }
            dropped = layout.endingTrees(among: Array(indexes)).intersection(indexes)
            names.subtract(dropped)
        }
        let later = names.intersection(touched.namesCopiedLater(of: stored))
        return CopiedTrees(first: names.subtracting(later), later: later, dropped: dropped)
    }
}
