import Dispatch
import RecordStore
import Testing

@testable import ObjectGraph

private class Vehicle: CoreStoreObject {
    @Field.Stored("plate") var plate: String = ""
    @Field.Relationship("garage") var garage: Garage?
}

private final class Car: Vehicle {
    @Field.Stored("doors") var doors: Int = 4
}

private final class Garage: CoreStoreObject {
    @Field.Stored("name") var name: String = ""
    @Field.Relationship("vehicles", inverse: \.$garage) var vehicles: Set<Vehicle>
}

/// A configuration that has a subentity, and neither its superentity nor what that leads to.
@Suite struct ConfigurationTests {
    private let queue = DispatchQueue(label: "view")

    private func stack(_ policy: UniqueConflictPolicy) throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entityConfigurations: [
                    Entity<Vehicle>(
                        "Vehicle", indexes: [[\.$garage], [\.$plate]],
                        uniqueConstraints: [[\.$plate]], conflictPolicies: [policy]): ["All"],
                    Entity<Car>("Car", indexes: [[\.$garage, \.$doors], [\.$doors]]): ["Cars"],
                    Entity<Garage>("Garage"): ["All"],
                ]), viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore(configuration: "Cars"))
        return stack
    }

    private func create(_ doors: [Int], in stack: DataStack) throws {
        for count in doors {
            try stack.perform(synchronous: { transaction in
                let car = transaction.create(Into<Car>("Cars"))
                (car.plate, car.doors) = ("A 1", count)
            })
        }
    }

    @Test func `an index over a relationship that a configuration lacks closed its store`() throws {
        let schema = try #require(stack(.error).modelSchema as? CoreStoreSchema)
        let model = schema.description(for: "Cars")
        #expect(model.entities.map(\.name) == ["Car"])
        #expect(model.entities[0].relationships.isEmpty)
        #expect(Set(model.entities[0].indexes) == [["doors"], ["plate"]])
        #expect(model.entities[0].uniqueConstraints == [["plate"]])
    }

    private class Boat: CoreStoreObject {
        @Field.Stored("name") var name: String = ""
        @Field.Relationship("harbour", inverse: \.$boats) var harbour: Harbour?
    }

    private final class Ferry: Boat {}

    private final class Harbour: CoreStoreObject {
        @Field.Relationship("boats") var boats: Set<Boat>
    }

    /// A bug: the configuration was refused, for it has no relationship of the inverse's name.
    @Test func `a superentity's relationship keeps no inverse that a configuration lacks`() throws {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entityConfigurations: [
                    Entity<Boat>("Boat"): ["All"], Entity<Ferry>("Ferry"): ["All", "Ferries"],
                    Entity<Harbour>("Harbour"): ["All", "Ferries"],
                ]), viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore(configuration: "Ferries"))
        try stack.perform(synchronous: { transaction in
            let ferry = transaction.create(Into<Ferry>("Ferries"))
            ferry.harbour = transaction.create(Into<Harbour>("Ferries"))
        })
        let harbour = try queue.sync { try stack.fetchOne(From<Ferry>())?.harbour }
        #expect(harbour != nil)
    }

    @Test func `a superentity's unique constraint did not hold in another configuration`() throws {
        let refusing = try stack(.error)
        let error = #expect(throws: CoreStoreError.self) { try create([2, 5], in: refusing) }
        #expect(error?.violations.first?.keyPaths == ["plate"])
        let replacing = try stack(.replace)
        try create([2, 5], in: replacing)
        #expect(try queue.sync { try replacing.fetchAll(From<Car>()).map(\.doors) } == [5])
    }

    @Test func `a printed schema lost configurations, defaults and names`() {
        let plain = CoreStoreSchema(modelVersion: "V1", entities: [Entity<Odd>("Odd")])
        #expect(plain.printCoreStoreSchema().contains("    entities: [\n"))
        let text = CoreStoreSchema(
            modelVersion: "V1",
            entityConfigurations: [Entity<Odd>("Odd", indexes: [[\.$name]]): ["b", "a"]]
        ).printCoreStoreSchema()
        for part in [
            "    entityConfigurations: [\n        Entity<Odd>(\"Odd\", indexes: [[\\.$first_name]])"
                + ": [\"a\", \"b\"],\n",
            "@Field.Stored(\"first-name\")\n    var first_name: String = \"\"",
            "var _2nd: Double = .nan", "var much: Double = .infinity",
            "var little: Float = -.infinity", "var none: Decimal = Decimal.nan",
            "var bytes: Data = Data(base64Encoded: \"AQI=\")!",
        ] { #expect(text.contains(part), "\(part) in \(text)") }
    }

    private final class Odd: CoreStoreObject {
        @Field.Stored("first-name") var name: String = ""
        @Field.Stored("2nd") var second: Double = .nan
        @Field.Stored("much") var much: Double = .infinity
        @Field.Stored("little") var little: Float = -.infinity
        @Field.Stored("none") var none: Decimal = .nan
        @Field.Stored("bytes") var bytes: Data = Data([1, 2])
    }
}
