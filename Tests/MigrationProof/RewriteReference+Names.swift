import PageStore
import RecordStore

/// Earlier names that a migration refuses.
extension RewriteReference {
    /// Whether the later model states an earlier name that the objects of an entity do not tell
    /// what it means: they have two properties now, one with the former name of the other, and had
    /// only one of them. A version between the two may have renamed it and used its name again.
    var isUncertain: Bool {
        later.contains { before, after in
            transform(of: before) == nil
                && (hasUncertain(before, after, \.attributes, \.name, \.previousName) {
                    source(ofAttribute: $0, before, after)?.name
                }
                    || hasUncertain(before, after, \.relationships, \.name, \.previousName) {
                        source(ofRelationship: $0, before, after)?.name
                    })
        }
    }

    private func hasUncertain<Property>(
        _ before: String, _ after: String, _ properties: (EntityDescription) -> [Property],
        _ nameOf: (Property) -> String, _ previousNameOf: (Property) -> String?,
        source: (Property) -> String?
    ) -> Bool {
        let former = Set(old.line(before).flatMap(properties).map(nameOf))
        let line = new.line(after)
        let sources = Dictionary(line.flatMap(properties).map { (nameOf($0), source($0)) }) { $1 }
        for entity in line {
            for property in properties(entity) {
                let name = nameOf(property)
                guard let earlier = previousNameOf(property), earlier != name,
                    former.contains(earlier), let other = sources[earlier],
                    let own = sources[name], own != earlier, own != name || other != earlier
                else { continue }
                // What any of its objects had by this name stated the same before.
                let isOld = old.entities.contains { below in
                    later[below.name].map { new.isKind($0, of: entity.name) } ?? false
                        && old.line(below.name).flatMap(properties).contains {
                            nameOf($0) == name && previousNameOf($0) == earlier
                        }
                }
                if !isOld { return true }
            }
        }
        return false
    }
}
