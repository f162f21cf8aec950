import RecordStore
import SampleSchemas
import Testing

/// Descriptions that contradict themselves.
@Suite struct SchemaCheckTests {
    private static let schema = SchemaDescription([
        EntityDescription("Animal", required: ["species": .string]),
        EntityDescription("Dog", below: "Animal", required: ["age": .int64]),
    ])

    @Test(arguments: ["a/b", "a,b", ""])
    func `a property name that no tree can bear is refused`(name: String) {
        var other = Self.schema
        other.entities[0].attributes[0].name = name
        let error = #expect(throws: StoreError.self) { _ = try Schema(other) }
        #expect(error?.code == .invalidModel)
    }

    @Test func `an entity above itself is refused`() {
        var other = Self.schema
        other.entities[0].superentityName = "Dog"
        let error = #expect(throws: StoreError.self) { _ = try Schema(other) }
        #expect(error?.message.contains("above itself") == true)
    }
}
