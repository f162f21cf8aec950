import Testing

@testable import ObjectGraph

private final class Clerk: CoreStoreObject {
    @Field.Stored("title") var title: String = ""
    @Field.Stored(
        "name", affectedByKeyPaths: [String(keyPath: \Clerk.$title), String(keyPath: \Desk.$room)])
    var name: String = ""
    @Field.Relationship("desk", affectedByKeyPaths: [String(keyPath: \Clerk.$title)])
    var desk: Desk?
}

private final class Desk: CoreStoreObject {
    @Field.Stored("room") var room: Int = 0
    @Field.Relationship(
        "clerks", inverse: \.$desk, affectedByKeyPaths: [String(keyPath: \Desk.$room)])
    var clerks: Set<Clerk>
}

/// `affectedByKeyPaths:` in the guide's form.
@Suite struct AffectedKeyPathTests {
    @Test func `key paths that name the property's own class overflowed the stack`() async {
        await #expect(processExitsWith: .success) {
            _ = CoreStoreSchema(
                modelVersion: "V1", entities: [Entity<Clerk>("Clerk"), Entity<Desk>("Desk")])
        }
    }

    @Test func `a property lists the key paths that affect it, also of other classes`() throws {
        let declarations = ClassMeta.of(Clerk.self).declarations
        #expect(declarations.map(\.keyPath) == ["title", "name", "desk"])
        let name = try #require(declarations.first { $0.keyPath == "name" })
        #expect(name.terms.affectedByKeyPaths() == ["title", "room"])
        let desk = try #require(declarations.first { $0.keyPath == "desk" })
        #expect(desk.terms.affectedByKeyPaths() == ["title"])
    }
}
