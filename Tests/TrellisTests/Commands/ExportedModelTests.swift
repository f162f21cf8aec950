import Foundation
import ObjectGraph
import Testing

/// The tool and a program whose classes change.
@Suite struct ExportedModelTests {
    private enum V1 {
        final class Person: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Relationship("pets", inverse: \.$owner) var pets: Set<Pet>
        }
        final class Pet: CoreStoreObject {
            @Field.Relationship("owner") var owner: Person?
        }
        static let schema = CoreStoreSchema(
            modelVersion: "V1", entities: [Entity<Person>("Person"), Entity<Pet>("Pet")])
    }

    private enum V2 {
        final class Person: CoreStoreObject {
            @Field.Stored("fullName", previousVersionKeyPath: "name") var fullName: String = ""
            @Field.Stored("country") var country: String = "Sápmi"
            @Field.Stored("fee") var fee: Decimal = Decimal(
                sign: .plus, exponent: -2, significand: 5)
            @Field.Stored("seen") var seen = Date(timeIntervalSinceReferenceDate: 0.1)
            @Field.Coded("codes", coder: FieldCoders.Json.self) var codes: [Int] = [1, 2]
            @Field.Relationship("pets", inverse: \.$owner) var pets: Set<Pet>
        }
        final class Pet: CoreStoreObject {
            @Field.Relationship("owner") var owner: Person?
        }
        static let schema = CoreStoreSchema(
            modelVersion: "V2",
            entities: [Entity<Person>("Person", indexes: [[\.$country]]), Entity<Pet>("Pet")])
    }

    private func stack(_ schema: CoreStoreSchema) -> DataStack {
        DataStack(schema, viewContext: .queue(DispatchQueue(label: "view")))
    }

    @Test func `the tool brings a program's store to the model that its next version exports`()
        throws
    {
        let url = URL.temporaryDirectory.appending(path: "program-\(UUID().uuidString).trellis")
        let model = url.appendingPathExtension("json")
        defer { for file in [url, model] { try? FileManager.default.removeItem(at: file) } }
        let first = stack(V1.schema)
        try first.addStorageAndWait(LocalStore(fileURL: url))
        try first.perform(synchronous: { transaction in
            let person = transaction.create(Into<V1.Person>())
            person.name = "Ada"
            transaction.create(Into<V1.Pet>()).owner = person
        })
        first.unsafeRemoveAllPersistentStoresAndWait()
        let second = stack(V2.schema)
        try Data(second.modelSchema.printModelJSON().utf8).write(to: model)
        #expect(try Tool.run("schema", url.path, "--diff", model.path).exitCode == 1)

        let outcome = try Tool.run("migrate", url.path, "--to", model.path)

        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(try Tool.run("schema", url.path, "--diff", model.path).exitCode == 0)
        #expect(try second.requiredMigrationsForStorage(LocalStore(fileURL: url)).isEmpty)
        try second.addStorageAndWait(LocalStore(fileURL: url))
        try second.perform(synchronous: { transaction in
            let inSapmi = From<V2.Person>().where(\.$country == "Sápmi")
            let person = try #require(try transaction.fetchOne(inSapmi))
            #expect(person.fullName == "Ada")
            #expect(person.fee == Decimal(string: "0.05"))
            #expect(person.seen == Date(timeIntervalSinceReferenceDate: 0.1))
            #expect(person.codes == [1, 2])
            #expect(person.pets.count == 1)
        })
        second.unsafeRemoveAllPersistentStoresAndWait()
    }
}
