import PageStore

/// Hashes of what decides how an entity is stored: stable across programs and machines, so that
/// they can be written into a program. Defaults, indexes and earlier names do not count.
extension SchemaDescription {
    /// Four words an entity, by its name. The superentity's count, and unique constraints do.
    package var versionHashes: [String: [UInt64]] {
        let byName = Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
        return Dictionary(
            entities.map { ($0.name, Self.words(Self.text($0, byName, depth: 0))) }
        ) { first, _ in first }
    }

    /// One hash of all entities, whatever their order.
    package var fingerprint: [UInt8] {
        let text = versionHashes.sorted { $0.key < $1.key }
            .map { Self.list([$0.key] + $0.value.map(String.init)) }
        return Self.words(Self.list(text)).flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
        }
    }

    private static func text(
        _ entity: EntityDescription, _ byName: [String: EntityDescription], depth: Int
    ) -> String {
        var parts = [
            entity.name, "\(entity.isAbstract)", entity.versionHashModifier ?? "",
            list(entity.uniqueConstraints.map(list)),
        ]
        for attribute in entity.attributes.sorted(by: { $0.name < $1.name }) {
            parts.append(
                list([
                    attribute.name, attribute.type.name, "\(attribute.isOptional)",
                    attribute.versionHashModifier ?? "",
                ]))
        }
        for relationship in entity.relationships.sorted(by: { $0.name < $1.name }) {
            parts.append(
                list([
                    relationship.name, relationship.destinationEntityName,
                    relationship.kind.rawValue, relationship.deleteRule.rawValue,
                    "\(relationship.minCount)", "\(relationship.maxCount)",
                    relationship.versionHashModifier ?? "",
                ]))
        }
        // A description that nobody has checked may be above itself.
        if depth < 64, let above = entity.superentityName.flatMap({ byName[$0] }) {
            parts.append(text(above, byName, depth: depth + 1))
        }
        return list(parts)
    }

    /// Lengths before the parts, so that no two lists have one text.
    private static func list(_ parts: [String]) -> String {
        parts.map { "\($0.utf8.count):\($0)" }.joined() + ";"
    }

    private static func words(_ text: String) -> [UInt64] {
        Array(text.utf8).withView { bytes in
            (1...4 as ClosedRange<UInt64>).map { Checksum.hash(bytes, seed: $0) }
        }
    }
}
