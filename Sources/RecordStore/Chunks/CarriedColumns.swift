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
        /// The later names of attributes that a step made required: nil was replaced by a default.
        fileprivate(set) var filled: Set<String> = []
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
        (next.attributes, next.filled) = ([:], [])
        let later = plan.schema.entity(named: next.entityName)
        for tag in entity.ancestorTags {
            let owner = plan.stored.knownEntity(tag: tag)
            for field in owner.ownFields
            where !removed.contains(PropertyPath(owner.name, field.name)) {
                let path = PropertyPath(plan.names.entity(owner.name), field.name)
                let name = plan.names.property(path)
                next.attributes[name] = source.attributes[field.name]
                let isRequired = later?.field(named: name)?.isOptional == false
                if source.filled.contains(field.name) || field.isOptional && isRequired {
                    next.filled.insert(name)
                }
            }
        }
        return next
    }

    private static func follow(_ plan: RewritePlan, _ source: Source) -> Source? {
        let lineage = plan.lineage
        guard let later = lineage.pairs.later[source.entityName] else { return nil }
        var next = source
        next.entityName = later
        (next.attributes, next.filled) = ([:], [])
        guard lineage.pairs.mappers[source.entityName] == nil else {
            next.isComplete = false
            return next
        }
        for (path, attribute) in lineage.after.attributes(of: later) {
            guard let earlier = lineage.source(ofAttribute: path, in: later),
                lineage.isInferred(earlier, path)
            else { continue }
            next.attributes[path.name] = source.attributes[earlier.name]
            let wasOptional = lineage.before.attribute(earlier)?.isOptional == true
            if source.filled.contains(earlier.name) || wasOptional && !attribute.isOptional {
                next.filled.insert(path.name)
            }
        }
        return next
    }
}
