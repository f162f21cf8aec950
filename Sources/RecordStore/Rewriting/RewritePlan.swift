import PageStore

/// A migration to a later version that must rewrite records: values of another type, properties
/// that move within their hierarchy, links of another kind, other superentities, and objects that
/// the program makes. Records and links are read and written by a union schema, which has both
/// versions; before and after it only the catalog changes.
struct RewritePlan {
    let lineage: SchemaLineage
    /// The layout plans up to the union schema.
    let first: [LayoutPlan]
    /// The layout plan from the union schema to the later version.
    let last: LayoutPlan
    /// The data that the later version cannot hold.
    let loss: StoredLoss
    let step: MigrationStep
    /// The earlier schema.
    let stored: Schema

    /// The union schema, which has both versions.
    var both: Schema { last.stored }

    /// Throws `schemaMismatch` if only a mapping could reach the version and the step has none.
    init(from stored: Schema, to step: MigrationStep) throws(StoreError) {
        self.step = step
        self.stored = stored
        lineage = try SchemaLineage(from: stored, to: step)
        let refused = Self.refused(lineage)
        guard refused.isEmpty else { throw LayoutPlan.mismatch(refused) }
        let union = SchemaUnion(lineage, filled: Self.filled(lineage, step))
        var schema = stored
        var first: [LayoutPlan] = []
        for description in [union.spared, union.both] {
            let plan = try LayoutPlan(
                from: schema, to: MigrationStep(description, allowedLoss: .all))
            // A constraint that the union lacks is dropped, to be built and checked anew.
            let indexNames = Set(plan.schema.indexes.map(\.treeName))
            let keepsIndexes = schema.indexes.allSatisfy { indexNames.contains($0.treeName) }
            guard !plan.isEmpty || !keepsIndexes else { continue }
            schema = plan.schema
            first.append(plan)
        }
        self.first = first
        var lastStep = MigrationStep(step.schema, allowedLoss: .all)
        // New properties have their values by then.
        lastStep.initialValues = step.initialValues.filter { [lineage] (path, _) in
            lineage.pairedKinds(of: path.entityName).contains {
                lineage.source(ofAttribute: path, in: $0) != nil
            }
        }
        last = try LayoutPlan(from: schema, to: lastStep, hasLaterNames: true)
        let allowed = step.droppedLoss
        loss =
            allowed == .all
            ? StoredLoss(stored) : Self.loss(lineage, stored).without(allowed)
    }

    /// The differences for which every entity concerned needs a mapping, and one has none.
    private static func refused(_ lineage: SchemaLineage) -> [SchemaEdit] {
        func isMapped(_ path: PropertyPath) -> Bool {
            lineage.pairedKinds(of: path.entityName).allSatisfy { name in
                lineage.isMapped(name) || lineage.before[name]?.isAbstract == true
            }
        }
        return unpaired(lineage)
            + lineage.impossible.filter { edit in
                switch edit {
                case .typeChanged(let path, let old, let new):
                    !ValueConversion.isInferred(from: old, to: new) && !isMapped(path)
                case .codingChanged(let path, _): !isMapped(path)
                default: false
                }
            }
    }

    /// Pairs of relationships that have become inverses: the links of one do not match the other's.
    private static func unpaired(_ lineage: SchemaLineage) -> [SchemaEdit] {
        var edits: [SchemaEdit] = []
        for entity in lineage.wanted.entities {
            for relationship in entity.relationships {
                let path = PropertyPath(entity.name, relationship.name)
                guard let inverse = lineage.after.inverse(of: path) else { continue }
                let own = sources(of: path, lineage)
                let others = sources(of: inverse, lineage)
                guard !own.isEmpty, !others.isEmpty else { continue }
                // The inverse only mirrors this side, and has no links to keep.
                let isMirrored =
                    relationship.kind == .toOne
                    && lineage.after.relationship(inverse)?.kind == .toManyUnordered
                let lost =
                    isMirrored
                    ? nil
                    : own.first { source in
                        lineage.before.inverse(of: source).map { !others.contains($0) } ?? true
                    }
                guard let lost else { continue }
                edits.append(
                    .inverseChanged(path, from: lineage.before.inverse(of: lost), to: inverse))
            }
        }
        return edits
    }

    private static func sources(
        of path: PropertyPath, _ lineage: SchemaLineage
    ) -> Set<PropertyPath> {
        Set(
            lineage.pairedKinds(of: path.entityName).compactMap {
                lineage.source(ofRelationship: path, in: $0)
            })
    }

    /// New attributes of entities that stay in their tree, which some records are given one by one.
    private static func filled(
        _ lineage: SchemaLineage, _ step: MigrationStep
    ) -> Set<PropertyPath> {
        var filled: Set<PropertyPath> = []
        for entity in lineage.wanted.entities
        where lineage.isPaired(entity.name) && !lineage.isMoved(later: entity.name) {
            let kinds = lineage.pairedKinds(of: entity.name)
            for attribute in entity.attributes {
                let path = PropertyPath(entity.name, attribute.name)
                let isFilled =
                    step.initialValues[path] != nil || attribute.hasLongDefault
                    || kinds.contains { name in
                        lineage.isMapped(name)
                            || lineage.source(ofAttribute: path, in: name).map {
                                lineage.isInferred($0, path)
                            } == true
                    }
                if isFilled { filled.insert(path) }
            }
        }
        return filled
    }

    // MARK: Loss

    private static func loss(_ lineage: SchemaLineage, _ stored: Schema) -> StoredLoss {
        var loss = StoredLoss(stored)
        for entity in stored.entities {
            guard let later = lineage.pairs.later[entity.name] else {
                loss.entities.append(entity.name)
                continue
            }
            let sources = sources(of: later, lineage)
            var lost = entity.fields.filter { field in
                guard field.type != nil else { return false }
                let path = lineage.before.attributePath(field.name, of: later)
                return path.map { !sources.contains($0) } ?? true
            }
            for relationship in entity.relationships where !relationship.mirrorsToOne {
                let path = path(relationship, stored, lineage)
                guard !sources.contains(path) else { continue }
                let targets = lostTargets(path, of: later, lineage, stored)
                guard targets?.isEmpty != true else { continue }
                let links = LostLinks(relationshipID: relationship.id, ownerTag: entity.tag)
                loss.lostTargets[links] = targets
                if relationship.hasEdges {
                    loss.links[relationship, default: []].insert(entity.tag)
                } else {
                    lost += entity.fields.filter {
                        $0.content == .link(relationshipID: relationship.id)
                    }
                }
            }
            if !lost.isEmpty { loss.fields[entity.tag] = lost }
        }
        return loss
    }

    /// The tags of exactly the targets to which an entity's links are lost with a relationship,
    /// because their inverse does not keep them; nil if no inverse keeps any.
    private static func lostTargets(
        _ path: PropertyPath, of entity: String, _ lineage: SchemaLineage, _ stored: Schema
    ) -> Set<UInt16>? {
        guard let inverse = lineage.before.inverse(of: path) else { return nil }
        let targets = stored.entities.compactMap { target in
            lineage.pairs.later[target.name].map { (tag: target.tag, name: $0) }
        }.filter { target in
            lineage.isPaired(target.name)
                && lineage.before.isKind(target.name, of: inverse.entityName)
        }
        let lost = targets.filter { target in
            !lineage.after.relationships(of: target.name).contains { later, _ in
                lineage.source(ofRelationship: later, in: target.name) == inverse
                    && lineage.after.allows(owner: target.name, of: later)
                    && lineage.after.allows(target: entity, of: later)
            }
        }
        return lost.count == targets.count && !targets.isEmpty ? nil : Set(lost.map(\.tag))
    }

    private static func path(
        _ relationship: RelationshipLayout, _ stored: Schema, _ lineage: SchemaLineage
    ) -> PropertyPath {
        let source = stored.knownEntity(tag: relationship.sourceTag).name
        return PropertyPath(
            lineage.pairs.later[source] ?? lineage.spare + source, relationship.name)
    }

    /// The earlier properties whose values objects of an entity keep.
    private static func sources(
        of entity: String, _ lineage: SchemaLineage
    ) -> Set<PropertyPath> {
        var sources: Set<PropertyPath> = []
        for (path, _) in lineage.after.attributes(of: entity) {
            guard let source = lineage.source(ofAttribute: path, in: entity),
                lineage.isInferred(source, path)
            else { continue }
            sources.insert(source)
        }
        for (path, _) in lineage.after.relationships(of: entity) {
            guard let source = lineage.source(ofRelationship: path, in: entity) else { continue }
            sources.insert(source)
        }
        return sources
    }
}
