/// Which objects a link may have at its ends: spec/07-catalog.md, 7.4.
extension RelationshipLayout {
    /// The entity tags allowed at the two ends of a link: those of source and destination, each
    /// narrowed to what the inverse declares for that end.
    func kinds(in schema: Schema) -> (owners: Set<UInt16>, targets: Set<UInt16>) {
        let owners = schema.knownEntity(tag: sourceTag).tags
        let targets = schema.knownEntity(tag: destinationTag).tags
        guard isNarrowed, let inverse = inverseID.map({ schema.relationship(id: $0) }) else {
            return (owners, targets)
        }
        return (
            owners.intersection(schema.knownEntity(tag: inverse.destinationTag).tags),
            targets.intersection(schema.knownEntity(tag: inverse.sourceTag).tags)
        )
    }

    /// Whether the inverse, if there is one, allows a link between objects of two entities that
    /// source and destination allow.
    package func inverseAllows(
        owner: EntityLayout, target: EntityLayout, in schema: Schema
    ) -> Bool {
        guard isNarrowed, let inverse = inverseID.map({ schema.relationship(id: $0) }) else {
            return true
        }
        return owner.isKind(of: inverse.destinationTag) && target.isKind(of: inverse.sourceTag)
    }
}
