import PageStore

/// The state of a file's objects after all steps of a plan: which entity they belong to, and which
/// of their attributes keep their bytes.
struct CarriedColumns {
    /// The objects of exactly one entity of the file.
    struct Source {
        let tag: UInt16
        /// The later name of their entity.
        fileprivate(set) var entityName: String
        /// Whether every object still exists: the program's mappings may omit some.
        fileprivate(set) var isComplete = true
        /// Maps later names of attributes to their names in the file.
        fileprivate(set) var attributes: [String: String]
    }

    private(set) var sources: [Source]

    init(_ stored: Schema, _ steps: [VersionPlan]) {
        sources = stored.entities.map { entity in
            let names = entity.fields.filter { $0.type != nil }.map { ($0.name, $0.name) }
            return Source(
                tag: entity.tag, entityName: entity.name,
                attributes: Dictionary(names) { first, _ in first })
        }
        for step in steps {
            switch step {
            case .layout(let plan): sources = sources.compactMap { Self.follow(plan, $0) }
            case .rewrite(let plan): sources = sources.compactMap { Self.follow(plan, $0) }
            }
        }
    }

    /// Nil if the objects are removed.
    private static func follow(_ plan: LayoutPlan, _ source: Source) -> Source? {
        guard !plan.removedEntities.contains(source.entityName),
            let entity = plan.stored.entity(named: source.entityName)
        else { return nil }
        let removed = Set(plan.removed)
        var next = source
        next.entityName = plan.names.entity(source.entityName)
        next.attributes = [:]
        for tag in entity.ancestorTags {
            let owner = plan.stored.knownEntity(tag: tag)
            for field in owner.ownFields
            where !removed.contains(PropertyPath(owner.name, field.name)) {
                let path = PropertyPath(plan.names.entity(owner.name), field.name)
                next.attributes[plan.names.property(path)] = source.attributes[field.name]
            }
        }
        return next
    }

    private static func follow(_ plan: RewritePlan, _ source: Source) -> Source? {
        let lineage = plan.lineage
        guard let later = lineage.pairs.later[source.entityName] else { return nil }
        var next = source
        next.entityName = later
        next.attributes = [:]
        guard lineage.pairs.mappers[source.entityName] == nil else {
            next.isComplete = false
            return next
        }
        for (path, _) in lineage.after.attributes(of: later) {
            guard let earlier = lineage.source(ofAttribute: path, in: later),
                lineage.isInferred(earlier, path)
            else { continue }
            next.attributes[path.name] = source.attributes[earlier.name]
        }
        return next
    }
}
