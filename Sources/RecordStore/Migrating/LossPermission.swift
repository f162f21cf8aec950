/// Which stored data a migration may drop if the later version has no entity or property for it.
package enum LossPermission: Sendable, Equatable {
    case none
    case all
    /// The objects of some entities, and the values of some properties as `Entity.property`, by the
    /// names that either the file or the later version uses. A property may be named for the entity
    /// that declares it or for a subentity.
    case only(Set<String>)

    func allows(entity name: String) -> Bool {
        switch self {
        case .none: false
        case .all: true
        case .only(let names): names.contains(name)
        }
    }

    func allows(_ property: String, of entity: String) -> Bool {
        allows(entity: "\(entity).\(property)")
    }

    /// - Parameter entity: an entity that has the property; permission for an ancestor counts too.
    func allows(_ property: String, of entity: EntityLayout, in schema: Schema) -> Bool {
        entity.ancestorTags.contains { allows(property, of: schema.knownEntity(tag: $0).name) }
    }

    /// Distinguishes permissions in the fingerprint of a plan.
    var words: String {
        switch self {
        case .none: "no loss"
        case .all: "loss"
        case .only(let names): "loss of \(names.sorted().joined(separator: ", "))"
        }
    }
}

extension StoredLoss {
    /// The part of the loss that is not permitted.
    func without(_ allowed: LossPermission) -> StoredLoss {
        var rest = StoredLoss(schema)
        guard allowed != .all else { return rest }
        rest.lostTargets = lostTargets
        rest.entities = entities.filter { !allowed.allows(entity: $0) }
        for (tag, fields) in fields {
            let entity = schema.knownEntity(tag: tag)
            let refused = fields.filter { !allowed.allows($0.name, of: entity, in: schema) }
            if !refused.isEmpty { rest.fields[tag] = refused }
        }
        for (relationship, tags) in links {
            let source = schema.knownEntity(tag: relationship.sourceTag)
            if !allowed.allows(relationship.name, of: source, in: schema) {
                rest.links[relationship] = tags
            }
        }
        return rest
    }
}
