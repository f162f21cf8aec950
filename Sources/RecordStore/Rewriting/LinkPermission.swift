/// Which links a rewriting migration may drop: those of permitted relationships, and those to
/// objects of permitted entities that the later version lacks.
struct LinkPermission {
    /// By the names of the union schema too.
    private let allowed: LossPermission
    /// The union schema.
    private let schema: Schema
    /// The tags of removed entities whose objects may go.
    private let goingTags: Set<UInt16>

    init(_ lineage: SchemaLineage, _ both: Schema, _ step: MigrationStep) {
        let allowed = lineage.permission(step.droppedLoss)
        (self.allowed, schema) = (allowed, both)
        let going = both.entities.filter { entity in
            lineage.after[entity.name] == nil && allowed.allows(entity: entity.name)
        }
        goingTags = Set(going.map(\.tag))
    }

    /// Whether all links of a relationship may go.
    func allows(_ relationship: RelationshipLayout) -> Bool {
        allows(relationship.name, of: schema.knownEntity(tag: relationship.sourceTag))
    }

    /// - Parameter entity: the object's own; permission for one above it counts too.
    func allows(_ name: String, of entity: EntityLayout) -> Bool {
        allowed.allows(name, of: entity, in: schema)
    }

    /// Whether links to objects of an entity may go, because the objects may.
    func allows(target tag: UInt16) -> Bool { goingTags.contains(tag) }
}
