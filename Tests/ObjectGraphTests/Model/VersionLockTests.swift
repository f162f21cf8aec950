import RecordStore
import SampleSchemas
import Testing

@testable import ObjectGraph

/// The changes of an entity that change its version lock, and those that do not.
@Suite struct VersionLockTests {
    private static let schema = SampleSchema.animals()

    private typealias Change = @Sendable (inout SchemaDescription) -> Void

    private func changed(_ change: Change) -> Set<String> {
        var other = Self.schema
        change(&other)
        let (before, after) = (VersionLock(Self.schema), VersionLock(other))
        return Set(
            before.hashesByEntityName.filter { after.hashesByEntityName[$0.key] != $0.value }.keys)
    }

    @Test func `everything that decides how objects are stored changes the version lock`() {
        let animals: [Change] = [
            { $0.entities[0].isAbstract = true },
            { $0.entities[0].versionHashModifier = "2" },
            { $0.entities[0].uniqueConstraints = [] },
            { $0.entities[0].uniqueConstraints = [["species", "age"]] },
            { $0.entities[0].uniqueConstraints = [["species"], ["age"]] },
            { $0.entities[0].attributes[0].name = "kind" },
            { $0.entities[0].attributes[0].type = .data },
            { $0.entities[0].attributes[0].isOptional = true },
            { $0.entities[0].attributes[0].isCoded = true },
            { $0.entities[0].attributes[0].versionHashModifier = "2" },
            { $0.entities[0].attributes.removeLast() },
            { $0.entities[0].relationships[0].kind = .toManyOrdered },
            { $0.entities[0].relationships[0].deleteRule = .cascade },
            { $0.entities[0].relationships[0].minCount = 1 },
            { $0.entities[0].relationships[0].maxCount = 1 },
            { $0.entities[0].relationships[0].versionHashModifier = "2" },
        ]
        for (number, change) in animals.enumerated() {
            #expect(changed(change) == ["Animal", "Dog"], "change \(number)")
        }
        #expect(changed { $0.entities[1].superentityName = nil } == ["Dog"])
        #expect(changed { $0.entities[1].attributes[0].type = .int32 } == ["Dog"])
        // An inverse changes the hash of both of its entities.
        let inverses: [Change] = [
            { $0.entities[0].relationships[0].name = "house" },
            { $0.entities[0].relationships.removeLast() },
            { $0.entities[2].relationships[0].inverseName = nil },
            { $0.entities.removeLast() },
            // The destination changes, so that no inverse pair is left.
            { $0.entities[0].relationships[0].destinationEntityName = "Dog" },
        ]
        for (number, change) in inverses.enumerated() {
            #expect(changed(change) == ["Animal", "Dog", "Home"], "change \(number)")
        }
    }

    @Test func `order, defaults, indexes, earlier names and classes keep the version lock`() {
        let changes: [Change] = [
            { $0.modelVersion = "V2" },
            { $0.entities.reverse() },
            { $0.entities[0].attributes.reverse() },
            { $0.entities[0].className = "Beast" },
            { $0.entities[0].indexes = [["age"]] },
            { $0.entities[0].attributes[1].defaultValue = .int(4) },
            { $0.entities[0].attributes[1].previousName = "years" },
            { $0.entities[0].relationships[0].previousName = "house" },
            { $0.entities[0].uniqueConstraints = [["species"], ["species"]] },
            {
                $0.entities[0].relationships[0].inverseName = "animals"
                $0.entities[2].relationships[0].inverseName = nil
            },
        ]
        for (number, change) in changes.enumerated() {
            #expect(changed(change) == [], "change \(number)")
        }
    }

    @Test func `the order of unique constraints does not change the version lock`() {
        var (one, other) = (Self.schema, Self.schema)
        one.entities[0].uniqueConstraints = [["species"], ["age", "species"]]
        other.entities[0].uniqueConstraints = [["age", "species"], ["species"]]
        #expect(VersionLock(one) == VersionLock(other))
    }

    @Test func `the text of a hash modifier cannot imitate a property`() {
        var (one, other) = (Self.schema, Self.schema)
        one.entities[1].attributes = [
            .required("a", .int64, versionHashModifier: "1\nattribute b string false ")
        ]
        other.entities[1].attributes = [
            .required("a", .int64, versionHashModifier: "1"), .required("b", .string),
        ]
        #expect(VersionLock(one) != VersionLock(other))
    }
}
