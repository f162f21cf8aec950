/// Compares schemas for what decides how records are read. Defaults, indexes, unique constraints,
/// class names and earlier names do not.
package enum SchemaDifference {
    /// One sentence about the first difference, nil when a program with the second schema can use
    /// a file with the first.
    package static func first(
        from stored: SchemaDescription, to wanted: SchemaDescription
    ) -> String? {
        let (before, after) = (stored.entities.map(\.name), wanted.entities.map(\.name))
        if before != after {
            if let lost = before.first(where: { !after.contains($0) }) {
                return "the model has no entity \(lost)"
            }
            if let new = after.first(where: { !before.contains($0) }) {
                return "the file has no entity \(new)"
            }
            return "the entities are declared in another order"
        }
        for (old, new) in zip(stored.entities, wanted.entities) {
            if let difference = first(from: old, to: new) { return difference }
        }
        return nil
    }

    private static func first(from old: EntityDescription, to new: EntityDescription) -> String? {
        if old.superentityName != new.superentityName {
            return "\(new.name) has another superentity"
        }
        if old.isAbstract != new.isAbstract { return "\(new.name) is abstract in one of them" }
        if old.versionHashModifier != new.versionHashModifier {
            return "\(new.name) has another version modifier"
        }
        let attributes = old.attributes.map(\.identity)
        let wanted = new.attributes.map(\.identity)
        for (left, right) in zip(attributes, wanted) where left != right {
            return "\(new.name).\(right.name) is not what the file has there, \(left.name)"
        }
        if attributes.count != wanted.count {
            return "\(new.name) has \(wanted.count) attributes, and \(attributes.count) in the file"
        }
        let links = old.relationships.map(\.identity)
        let wantedLinks = new.relationships.map(\.identity)
        for (left, right) in zip(links, wantedLinks) where left != right {
            return "the relationship \(new.name).\(right.name) is another one than in the file"
        }
        if links.count != wantedLinks.count {
            return "\(new.name) has other relationships than in the file"
        }
        return nil
    }
}

extension AttributeDescription {
    /// What decides how the attribute is read.
    fileprivate var identity: AttributeDescription {
        var copy = self
        copy.defaultValue = .null
        copy.previousName = nil
        return copy
    }
}

extension RelationshipDescription {
    fileprivate var identity: RelationshipDescription {
        var copy = self
        copy.previousName = nil
        // Declared on one side only: either may be the one.
        copy.inverseName = nil
        return copy
    }
}
