import RecordStore

/// Reads the relationships of entities.
enum RelationshipReader {
    /// The relationship that an element declares. One to a single object may always be nil, as a
    /// class declares it.
    static func relationship(
        _ element: ModelElement, of entityName: String, isEntity: (String) -> Bool
    ) throws(XcodeModelError) -> RelationshipDescription {
        let name = try element.required("name")
        let place = "\(entityName).\(name)"
        guard try !element.flag("transient") else {
            throw element.failure(.unsupported, "the relationship \(place) is transient")
        }
        let destination = try element.required("destinationEntity")
        guard isEntity(destination) else {
            throw element.failure(
                .invalidModel, "\(place) leads to “\(destination)”, which is no entity")
        }
        let kind: RelationshipDescription.Kind
        switch (try element.flag("toMany"), try element.flag("ordered")) {
        case (false, _): kind = .toOne
        case (true, false): kind = .toManyUnordered
        case (true, true): kind = .toManyOrdered
        }
        let (minCount, maxCount) = (try element.count("minCount"), try element.count("maxCount"))
        guard maxCount == 0 || minCount <= maxCount else {
            throw element.failure(
                .invalidModel, "\(place) has at least \(minCount) and at most \(maxCount) objects")
        }
        return RelationshipDescription(
            name: name, destinationEntityName: destination, inverseName: element["inverseName"],
            kind: kind, deleteRule: try deleteRule(element, place),
            minCount: kind == .toOne ? 0 : minCount, maxCount: kind == .toOne ? 0 : maxCount,
            versionHashModifier: element["versionHashModifier"],
            previousName: element.previousName)
    }

    /// “No Action” is as nullify: a store has no links to objects that are gone.
    private static func deleteRule(
        _ element: ModelElement, _ place: String
    ) throws(XcodeModelError) -> RelationshipDescription.DeleteRule {
        switch element["deletionRule"] {
        case "Nullify", "No Action", nil: return .nullify
        case "Cascade": return .cascade
        case "Deny": return .deny
        case let rule?:
            throw element.failure(
                .invalidModel, "\(place) has the deletion rule “\(rule.prefix(100))”")
        }
    }
}
