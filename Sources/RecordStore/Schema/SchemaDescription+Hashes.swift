import PageStore

/// Hashes of the declarations that determine how an entity is stored. They are stable across
/// programs and machines, so that a program can contain them. The order of declarations, defaults,
/// indexes, previous names and classes are not included.
extension SchemaDescription {
    /// Four words for each entity, by its name. They include its superentities and unique
    /// constraints.
    package var versionHashes: [String: [UInt64]] {
        let byName = Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
        let inverses = InverseTable(self)
        return Dictionary(
            entities.map { ($0.name, Self.words(Self.text($0, byName, inverses, depth: 0))) }
        ) { first, _ in first }
    }

    /// Identifies a model: two have the same fingerprint if a file of the one is also a file of the
    /// other, except for indexes and unique constraints. Part of the format: spec/07-catalog.md,
    /// 7.7.
    package var fingerprint: SchemaFingerprint {
        let stored = entities.map { entity in
            var entity = entity
            entity.uniqueConstraints = []
            return entity
        }
        let byName = Dictionary(stored.map { ($0.name, $0) }) { first, _ in first }
        let inverses = InverseTable(self)
        let texts = Self.sorted(stored, by: \.name)
            .map { Self.text($0, byName, inverses, depth: 0) }
        let words = Self.words(Self.list(texts))
        return SchemaFingerprint(low: words[0], high: words[1])
    }

    /// Sorted by UTF-8 bytes, which is the same order in every program.
    private static func sorted<Element>(
        _ elements: [Element], by name: (Element) -> String
    ) -> [Element] {
        elements.sorted { name($0).utf8.lexicographicallyPrecedes(name($1).utf8) }
    }

    private static func text(
        _ entity: EntityDescription, _ byName: [String: EntityDescription],
        _ inverses: InverseTable, depth: Int
    ) -> String {
        var above: [String] = []
        // An unchecked description may have a cycle of superentities.
        if depth < 64, let superentity = entity.superentityName.flatMap({ byName[$0] }) {
            above = [text(superentity, byName, inverses, depth: depth + 1)]
        }
        return list([
            entity.name, "\(entity.isAbstract)", optional(entity.versionHashModifier),
            list(Set(entity.uniqueConstraints.map(list)).sorted()),
            list(sorted(entity.attributes, by: \.name).map(text)),
            list(
                sorted(entity.relationships, by: \.name).map { relationship in
                    text(
                        relationship,
                        inverses.inverse(of: PropertyPath(entity.name, relationship.name))
                    )
                }),
            list(above),
        ])
    }

    private static func text(_ attribute: AttributeDescription) -> String {
        list([
            attribute.name, attribute.type.name, "\(attribute.isOptional)",
            "\(attribute.isCoded)", optional(attribute.versionHashModifier),
        ])
    }

    private static func text(
        _ relationship: RelationshipDescription, _ inverse: PropertyPath?
    ) -> String {
        list([
            relationship.name, relationship.destinationEntityName,
            inverse.map { list([$0.entityName, $0.name]) } ?? list([]),
            relationship.kind.rawValue, relationship.deleteRule.rawValue,
            "\(relationship.minCount)", "\(relationship.maxCount)",
            optional(relationship.versionHashModifier),
        ])
    }

    private static func optional(_ text: String?) -> String { list(text.map { [$0] } ?? []) }

    /// Lengths precede the parts, so that different lists have different texts.
    private static func list(_ parts: [String]) -> String {
        parts.map { "\($0.utf8.count):\($0)" }.joined() + ";"
    }

    private static func words(_ text: String) -> [UInt64] {
        Array(text.utf8).withView { bytes in
            (1...4 as ClosedRange<UInt64>).map { Checksum.hash(bytes, seed: $0) }
        }
    }
}

/// 128 bits that identify a model.
package struct SchemaFingerprint: Hashable, Sendable, CustomStringConvertible {
    package var low: UInt64
    package var high: UInt64

    /// 32 hexadecimal digits, in the order of the bytes in the file.
    package var description: String {
        [low, high].map { word in
            (0..<8).map { index in
                let byte = word >> UInt64(8 * index) & 0xFF
                return (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }.joined()
        }.joined()
    }
}
