import RecordStore
import SampleSchemas
import Testing

@testable import ObjectGraph

/// Classes that are printed of a model and would not compile, or would be another model.
@Suite struct SchemaSourceTests {
    private func source(_ entities: [EntityDescription]) -> String {
        SchemaSource(
            SchemaDescription(modelVersion: "V1", entities: entities), configurations: [:]
        ).text
    }

    @Test func `a class of the name of a type that the source uses hid that type`() {
        var workout = EntityDescription("Workout", required: ["made": .date])
        workout.relationships = [
            RelationshipDescription(
                name: "sets", destinationEntityName: "Set", kind: .toManyUnordered)
        ]
        var set = EntityDescription("Set", required: ["count": .int64])
        set.className = "Set"
        var other = EntityDescription("Other", required: ["count": .int64])
        other.className = "SetObject"
        let text = source([workout, set, other])
        #expect(text.contains("class SetObject_: CoreStoreObject"), "\(text)")
        #expect(text.contains("var sets: Set<SetObject_>"), "\(text)")
        #expect(text.contains("Entity<SetObject_>(\"Set\")"), "\(text)")
    }

    @Test func `the lock of a printed model covered constraints that the classes lack`() throws {
        let animal = EntityDescription("Animal", required: ["name": .string])
        var dog = EntityDescription("Dog", required: ["tag": .string])
        dog.superentityName = "Animal"
        let lock = VersionLock(
            SchemaDescription(modelVersion: "V1", entities: [animal, dog]))
        dog.uniqueConstraints = [["tag"]]
        let text = source([animal, dog])
        let hashes = "\(lock)".matches(of: /0x[0-9a-f]+/).map { String($0.0) }
        #expect(!hashes.isEmpty)
        #expect(text.matches(of: /0x[0-9a-f]+/).map { String($0.0) } == hashes, "\(text)")
        #expect(text.contains("// uniqueConstraints: [[\\.$tag]]"), "\(text)")
    }
}
