import RecordStore

/// Checks the declarations of both sides of a relationship: exactly one of them names the inverse.
enum InverseCheck {
    /// One sentence for each relationship whose inverse is missing, or declared once too often.
    static func faults(of schema: SchemaDescription) -> [String] {
        let table = InverseTable(schema)
        var faults: [String] = []
        for case .missing(let path, let name) in table.faults {
            let destination = destination(of: path, schema) ?? ""
            faults.append(
                "the inverse relationship of \(path) could not be found: "
                    + "\(destination) has no relationship \(name)")
        }
        let named = table.named.sorted { "\($0.key)" < "\($1.key)" }
        for (path, inverse) in named
        where table.named[inverse] == path && "\(path)" < "\(inverse)" {
            faults.append(
                "\(path) and \(inverse) each declare the other as inverse: one of them is to")
        }
        return faults + unnamed(schema, table)
    }

    private static func destination(of path: PropertyPath, _ schema: SchemaDescription) -> String? {
        schema.entities.first { $0.name == path.entityName }?
            .relationships.first { $0.name == path.name }?.destinationEntityName
    }

    /// Relationships that lead back to each other without one of them saying so.
    private static func unnamed(_ schema: SchemaDescription, _ table: InverseTable) -> [String] {
        let paired = Set(table.named.keys).union(table.named.values)
        var open: [Open] = []
        for entity in schema.entities {
            for relationship in entity.relationships {
                let path = PropertyPath(entity.name, relationship.name)
                guard !paired.contains(path) else { continue }
                open.append(Open(path: path, relationship: relationship, entity: entity))
            }
        }
        open.sort { "\($0.path)" < "\($1.path)" }
        var faults: [String] = []
        for (index, one) in open.enumerated() {
            let back = open[(index + 1)...].first { other in
                table.canName(
                    other.relationship, of: other.entity, asInverseOf: one.relationship,
                    of: one.entity)
            }
            guard let back else { continue }
            faults.append(
                "the inverse relationship of \(one.path) could not be found: \(back.path) leads "
                    + "back, so one of the two declares the other as its inverse")
        }
        return faults
    }

    private struct Open {
        var path: PropertyPath
        var relationship: RelationshipDescription
        var entity: EntityDescription
    }
}
