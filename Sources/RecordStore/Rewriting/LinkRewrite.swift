import PageStore

/// Converts the links of one earlier relationship to a later one, by the union schema. To-one links
/// that remain to-one are written with their records.
struct LinkRewrite {
    let source: RelationshipLayout
    let destination: RelationshipLayout
    /// The entity tags of the records that own the links.
    private(set) var ownerTags: Set<UInt16> = []
    let owners: NumberMap
    let targets: NumberMap
    /// The later inverse, if it has no earlier relationship as its source.
    let derived: RelationshipLayout?
    /// Whether the links are written from this side.
    let isForward: Bool

    /// Whether the links are built as trees from the pairs that they are: a to-one that becomes a
    /// list without an order on both sides. Lists with an order get their links one by one.
    func isBuilt(in both: Schema) -> Bool {
        guard isForward, source.kind == .toOne, destination.kind == .toManyUnordered,
            destination.hasEdges, derived == nil
        else { return false }
        guard let inverse = destination.inverseID.map({ both.relationship(id: $0) }) else {
            return true
        }
        return inverse != destination && inverse.hasEdges && inverse.kind == .toManyUnordered
    }

    /// All pairs of an earlier and a later relationship between which links must be written.
    static func all(
        _ lineage: SchemaLineage, _ both: Schema, _ numbers: NumberMaps
    ) -> [LinkRewrite] {
        var links: [Way: LinkRewrite] = [:]
        for entity in lineage.stored.entities {
            guard let later = lineage.pairs.later[entity.name],
                let owner = both.entity(named: lineage.bothName(entity.name)),
                let successor = both.entity(named: later)
            else { continue }
            for (path, relationship) in lineage.after.relationships(of: later) {
                guard let earlier = lineage.source(ofRelationship: path, in: later),
                    lineage.kept(earlier) != path,
                    let former = lineage.before.relationship(earlier),
                    let source = owner.relationship(named: lineage.bothName(earlier)),
                    let destination = successor.relationship(named: path.name)
                else { continue }
                let way = Way(
                    before: source.id, after: destination.id, owner: owner.hierarchy.rootTag)
                if links[way] == nil {
                    links[way] = LinkRewrite(
                        source: source, destination: destination,
                        owners: numbers.map(from: later, to: later),
                        targets: numbers.map(
                            from: former.destinationEntityName,
                            to: relationship.destinationEntityName),
                        derived: derived(path, lineage, both),
                        isForward: isForward(path, former, relationship, lineage))
                }
                links[way]?.ownerTags.insert(owner.tag)
            }
        }
        return links.sorted { $0.key < $1.key }.map(\.value)
            .filter { $0.isForward || $0.derived != nil }
    }

    private struct Way: Hashable, Comparable {
        var before: Int
        var after: Int
        var owner: UInt16

        static func < (left: Way, right: Way) -> Bool {
            (left.before, left.after, left.owner) < (right.before, right.after, right.owner)
        }
    }

    private static func hasSource(_ path: PropertyPath, _ lineage: SchemaLineage) -> Bool {
        lineage.pairedKinds(of: path.entityName).contains {
            lineage.source(ofRelationship: path, in: $0) != nil
        }
    }

    private static func derived(
        _ path: PropertyPath, _ lineage: SchemaLineage, _ both: Schema
    ) -> RelationshipLayout? {
        guard let inverse = lineage.after.inverse(of: path), !hasSource(inverse, lineage),
            let layout = both.entity(named: inverse.entityName)?
                .relationship(named: inverse.name)
        else { return nil }
        let isMirror =
            layout.mirrorsToOne
            || (layout.hasEdges && lineage.after.relationship(path)?.kind != .toOne)
        return isMirror ? nil : layout
    }

    private static func isForward(
        _ path: PropertyPath, _ former: RelationshipDescription,
        _ relationship: RelationshipDescription, _ lineage: SchemaLineage
    ) -> Bool {
        if relationship.kind == .toOne { return former.kind != .toOne }
        guard let inverse = lineage.after.inverse(of: path),
            let other = lineage.after.relationship(inverse)
        else { return true }
        if other.kind == .toOne { return relationship.kind == .toManyOrdered }
        // Both directions of a link are written together: the other side matters only for its
        // order.
        guard relationship.kind == .toManyUnordered, inverse != path, hasSource(inverse, lineage)
        else { return true }
        return other.kind == .toManyUnordered && path.description < inverse.description
    }
}
