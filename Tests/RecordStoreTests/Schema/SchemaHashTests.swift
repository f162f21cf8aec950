import RecordStore
import Testing

@Suite struct SchemaHashTests {
    private static let schema = SchemaDescription(
        modelVersion: "V1",
        entities: [
            EntityDescription(
                name: "Animal", className: "Animal",
                attributes: [AttributeDescription(name: "species", type: .string)]),
            EntityDescription(
                name: "Dog", className: "Dog", superentityName: "Animal",
                attributes: [AttributeDescription(name: "age", type: .int64)]),
        ])

    @Test func `defaults indexes and earlier names leave the hashes alone`() {
        var other = Self.schema
        other.modelVersion = "V2"
        other.entities.reverse()
        other.entities[0].indexes = [["age"]]
        other.entities[0].attributes[0].defaultValue = .int(4)
        other.entities[0].attributes[0].previousName = "years"
        #expect(other.versionHashes == Self.schema.versionHashes)
        #expect(other.fingerprint == Self.schema.fingerprint)
    }

    @Test func `a change of the superentity changes the hashes below it`() {
        var other = Self.schema
        other.entities[0].attributes[0].isOptional = true
        #expect(other.versionHashes["Dog"] != Self.schema.versionHashes["Dog"])
        #expect(other.fingerprint != Self.schema.fingerprint)
        other = Self.schema
        other.entities[1].versionHashModifier = "2"
        #expect(other.versionHashes["Animal"] == Self.schema.versionHashes["Animal"])
        #expect(other.versionHashes["Dog"] != Self.schema.versionHashes["Dog"])
    }

    @Test(arguments: ["a/b", "a,b", ""])
    func `a property name that no tree can bear is refused`(name: String) {
        var other = Self.schema
        other.entities[0].attributes[0].name = name
        let error = #expect(throws: StoreError.self) { _ = try Schema(other) }
        #expect(error?.code == .schemaMismatch)
    }

    @Test func `an entity above itself is refused`() {
        var other = Self.schema
        other.entities[0].superentityName = "Dog"
        let error = #expect(throws: StoreError.self) { _ = try Schema(other) }
        #expect(error?.message.contains("above itself") == true)
    }
}
