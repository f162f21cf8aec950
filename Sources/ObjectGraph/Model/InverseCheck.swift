import RecordStore

/// What a program must declare of the two sides of a relationship: the inverse, on exactly one.
enum InverseCheck {
    private struct Side: Hashable, CustomStringConvertible {
        var entity: String
        var name: String

        var description: String { "\(entity).\(name)" }
    }

    /// One sentence for each relationship whose inverse is missing, or declared once too often.
    static func faults(of schema: SchemaDescription) -> [String] {
        let parents = Dictionary(schema.entities.map { ($0.name, $0.superentityName) }) {
            first, _ in first
        }
        var destinations: [Side: String] = [:]
        for entity in schema.entities {
            for relationship in entity.relationships {
                let side = Side(entity: entity.name, name: relationship.name)
                destinations[side] = relationship.destinationEntityName
            }
        }
        func lineage(_ entity: String) -> [String] {
            var names = [entity]
            while let above = parents[names[names.count - 1]] ?? nil, !names.contains(above) {
                names.append(above)
            }
            return names
        }
        var faults: [String] = []
        var inverses: [Side: Side] = [:]
        for entity in schema.entities {
            for relationship in entity.relationships {
                guard let name = relationship.inverseName else { continue }
                let side = Side(entity: entity.name, name: relationship.name)
                let inverse = lineage(relationship.destinationEntityName)
                    .map { Side(entity: $0, name: name) }.first { destinations[$0] != nil }
                guard let inverse else {
                    faults.append(
                        "the inverse relationship of \(side) could not be found: "
                            + "\(relationship.destinationEntityName) has no relationship \(name)")
                    continue
                }
                inverses[side] = inverse
            }
        }
        for (side, inverse) in inverses.sorted(by: { "\($0.key)" < "\($1.key)" }) {
            guard side != inverse, inverses[inverse] == side, "\(side)" < "\(inverse)" else {
                continue
            }
            faults.append(
                "\(side) and \(inverse) each declare the other as inverse: one of them is to")
        }
        let paired = Set(inverses.keys).union(inverses.values)
        let open = destinations.keys.filter { !paired.contains($0) }
            .sorted { "\($0)" < "\($1)" }
        for side in open {
            let back = open.first { other in
                guard other != side, let there = destinations[side],
                    let here = destinations[other]
                else { return false }
                return "\(side)" < "\(other)" && lineage(there).contains(other.entity)
                    && lineage(side.entity).contains(here)
            }
            guard let back else { continue }
            faults.append(
                "the inverse relationship of \(side) could not be found: \(back) leads back, so "
                    + "one of the two declares the other as its inverse")
        }
        return faults
    }
}
