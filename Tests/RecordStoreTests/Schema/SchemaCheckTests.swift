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

    /// A file of a few hundred kilobytes took gigabytes: each entity has its own table of what it
    /// inherits.
    @Test func `a schema whose entities inherit too much is refused`() throws {
        func schema(_ count: Int) -> SchemaDescription {
            var root = EntityDescription("Root")
            root.attributes = (0..<3000).map { .optional("a\($0)", .double) }
            return SchemaDescription(
                [root] + (1..<count).map { EntityDescription("E\($0)", below: "Root") })
        }
        let clock = ContinuousClock()
        let start = clock.now
        let error = #expect(throws: StoreError.self) { _ = try Schema(schema(9000)) }
        #expect(error?.code == .invalidModel && error?.message.contains("in all") == true)
        #expect(clock.now - start < .seconds(60))
        #expect(try Schema(schema(10)).entities.last?.fields.count == 3000)
    }

    @Test func `a schema of many entities is resolved in time`() throws {
        let many = (0..<9000).map { index in
            EntityDescription(
                "E\(index)", below: index == 0 ? nil : "E\((index - 1) / 2)",
                optional: index % 90 == 0 ? ["a\(index)": .int64] : [:])
        }
        let schema = try Schema(SchemaDescription(many))
        let root = try #require(schema.entity(named: "E0"))
        #expect(root.tags.count == 9000)
        let last = try #require(schema.entity(named: "E8999"))
        #expect(last.tags == [last.tag] && last.ancestorTags.count == 14)
    }

    @Test func `an entity above itself is refused`() {
        var other = Self.schema
        other.entities[0].superentityName = "Dog"
        let error = #expect(throws: StoreError.self) { _ = try Schema(other) }
        #expect(error?.message.contains("above itself") == true)
    }
}
