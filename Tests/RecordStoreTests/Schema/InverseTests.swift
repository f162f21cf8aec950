import PageStore
import RecordStore
import SampleSchemas
import TestSupport
import Testing

/// The rule of spec/07-catalog.md, 7.4: `Sub` is below `Base`.
@Suite struct InverseTests {
    private typealias Relationship = RelationshipDescription

    private func schema(base: [Relationship], sub: [Relationship] = []) throws -> Schema {
        try Schema(
            SchemaDescription([
                EntityDescription("Base", relationships: base),
                EntityDescription("Sub", below: "Base", relationships: sub),
            ]))
    }

    /// The name of each relationship's inverse.
    private func pairs(_ schema: Schema) -> [String: String] {
        var pairs: [String: String] = [:]
        for relationship in schema.relationships {
            guard let inverse = relationship.inverseID else { continue }
            pairs[relationship.name] = schema.relationship(id: inverse).name
        }
        return pairs
    }

    private func expectRefusal(_ words: String, base: [Relationship], sub: [Relationship] = []) {
        let error = #expect(throws: StoreError.self) { _ = try schema(base: base, sub: sub) }
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test func `either side may name the other, or both`() throws {
        for (down, up) in [("up", nil), (nil, "downs"), ("up", "downs")] {
            let schema = try schema(base: [
                .toManyUnordered("downs", to: "Base", inverse: down),
                .toOne("up", to: "Base", inverse: up),
            ])
            #expect(pairs(schema) == ["downs": "up", "up": "downs"])
            #expect(schema.relationships.map(\.mirrorsToOne) == [true, false])
        }
        let none = try schema(base: [
            .toManyUnordered("downs", to: "Base"), .toOne("up", to: "Base"),
        ])
        #expect(pairs(none).isEmpty)
    }

    @Test func `an inverse may be declared below the destination of what it names`() throws {
        let schema = try schema(
            base: [.toManyUnordered("downs", to: "Base")],
            sub: [.toOne("up", to: "Sub", inverse: "downs")])
        #expect(pairs(schema) == ["downs": "up", "up": "downs"])
        #expect(schema.relationships.map(\.mirrorsToOne) == [true, false])
    }

    @Test func `an inherited relationship may be named`() throws {
        let schema = try schema(base: [
            .toManyUnordered("downs", to: "Sub", inverse: "up"), .toOne("up", to: "Base"),
        ])
        #expect(pairs(schema) == ["downs": "up", "up": "downs"])
    }

    @Test func `an inverse whose destination lacks the relationship is refused`() {
        expectRefusal(
            "Base.up names the inverse Base.downs, which leads elsewhere",
            base: [
                .toManyUnordered("downs", to: "Sub"), .toOne("up", to: "Base", inverse: "downs"),
            ])
    }

    @Test func `an inverse declared below the destination is not found by its name`() {
        expectRefusal(
            "Base.downs names the inverse up, which does not exist",
            base: [.toManyUnordered("downs", to: "Base", inverse: "up")],
            sub: [.toOne("up", to: "Base")])
    }

    @Test func `a relationship is the inverse of one`() throws {
        expectRefusal(
            "is the inverse of two relationships",
            base: [
                .toManyUnordered("downs", to: "Base"), .toOne("up", to: "Base", inverse: "downs"),
                .toOne("other", to: "Base", inverse: "downs"),
            ])
        expectRefusal(
            "is the inverse of two relationships",
            base: [
                .toManyUnordered("downs", to: "Base", inverse: "other"),
                .toOne("other", to: "Base"), .toOne("up", to: "Base", inverse: "downs"),
            ])
        let peers = try schema(base: [.toManyUnordered("peers", to: "Base", inverse: "peers")])
        #expect(pairs(peers) == ["peers": "peers"])
    }

    // MARK: Random schemas

    /// An independent implementation of the rule: nil for a schema that fails.
    private func reading(_ entities: [EntityDescription]) -> [PropertyPath: PropertyPath]? {
        let byName = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0) })
        func line(_ name: String) -> [EntityDescription] {
            guard let entity = byName[name] else { return [] }
            return [entity] + (entity.superentityName.map(line) ?? [])
        }
        var pairs: [PropertyPath: PropertyPath] = [:]
        for entity in entities {
            for relationship in entity.relationships {
                guard let name = relationship.inverseName else { continue }
                let owner = line(relationship.destinationEntityName)
                    .first { $0.relationships.contains { $0.name == name } }
                guard let owner,
                    let back = owner.relationships.first(where: { $0.name == name }),
                    line(entity.name).contains(where: { $0.name == back.destinationEntityName })
                else { return nil }
                let sides = [
                    PropertyPath(entity.name, relationship.name), PropertyPath(owner.name, name),
                ]
                for (side, other) in [(sides[0], sides[1]), (sides[1], sides[0])] {
                    if let known = pairs[side], known != other { return nil }
                    pairs[side] = other
                }
            }
        }
        return pairs
    }

    private func randomEntities(_ random: inout SeededRandom) -> [EntityDescription] {
        let above: [String: String?] = ["A": nil, "B": "A", "C": "B", "D": nil]
        var entities = above.keys.shuffled(using: &random).map { name in
            EntityDescription(name, below: above[name] ?? nil)
        }
        let names = (0..<(2 + random.below(4))).map { "r\($0)" }
        for name in names {
            let inverse = random.below(2) == 0 ? names[random.below(names.count)] : nil
            let target = entities[random.below(4)].name
            entities[random.below(4)].relationships.append(
                random.below(2) == 0
                    ? .toManyUnordered(name, to: target, inverse: inverse)
                    : .toOne(name, to: target, inverse: inverse))
        }
        return entities
    }

    @Test func `two implementations of the inverse rule pair the same relationships`() throws {
        var random = SeededRandom(for: "inverses")
        var (accepted, refused, paired) = (0, 0, 0)
        for _ in 0..<2000 {
            let entities = randomEntities(&random)
            let description = SchemaDescription(entities)
            let expected = reading(entities)
            let table = InverseTable(description)
            #expect(table.faults.isEmpty == (expected != nil), "\(entities)")
            guard let expected else {
                refused += 1
                #expect(throws: StoreError.self) { try Schema(description) }
                continue
            }
            let schema = try Schema(description)
            accepted += 1
            paired += expected.count
            for relationship in schema.relationships {
                let path = PropertyPath(
                    schema.knownEntity(tag: relationship.sourceTag).name, relationship.name)
                let inverse = relationship.inverseID.map { id in
                    let inverse = schema.relationship(id: id)
                    return PropertyPath(
                        schema.knownEntity(tag: inverse.sourceTag).name, inverse.name)
                }
                #expect(inverse == expected[path], "\(path) of \(entities)")
                #expect(table.inverse(of: path) == expected[path], "\(path) of \(entities)")
            }
        }
        #expect(accepted > 100 && refused > 100 && paired > 100)
    }
}
