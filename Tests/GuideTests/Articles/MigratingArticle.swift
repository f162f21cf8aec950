import Foundation
import ObjectGraph
import Testing

/// The code of the article Migrating.
@MainActor @Suite struct MigratingArticle {
    private enum V1 {
        final class Person: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
        }
    }

    private enum V2 {
        final class Person: CoreStoreObject {
            @Field.Stored("givenName") var givenName: String?
            @Field.Stored("familyName") var familyName: String?
        }
    }

    private enum V3 {
        final class Person: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Stored("townName") var townName: String = "Oslo"
            @Field.Relationship("town", inverse: \.$people) var town: Town?
        }
        final class Town: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Relationship("people") var people: Set<Person>
        }
    }

    private func firstVersion(_ url: URL) throws {
        let stack = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [Entity<V1.Person>("Person")]))
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        try stack.perform(synchronous: { transaction in
            transaction.create(Into<V1.Person>()).name = "Ada Lovelace"
        })
        try stack.close()
    }

    private func chained() -> DataStack {
        DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [Entity<V1.Person>("Person")]),
            CoreStoreSchema(modelVersion: "V2", entities: [Entity<V2.Person>("Person")]),
            migrationChain: ["V1", "V2"])
    }

    private func storage(_ url: URL) -> LocalStore {
        LocalStore(
            fileURL: url,
            migrationMappingProviders: [
                CustomSchemaMappingProvider(
                    from: "V1", to: "V2",
                    entityMappings: [
                        .transformEntity(
                            sourceEntity: "Person", destinationEntity: "Person",
                            transformer: { source, createDestination in
                                let names = (source["name"] as? String ?? "").split(separator: " ")
                                let person = createDestination()
                                person["givenName"] = names.first.map(String.init)
                                person["familyName"] = names.last.map(String.init)
                            })
                    ])
            ])
    }

    @Test func `a mapping splits a name`() async throws {
        let url = Harbour.temporaryURL()
        defer { Harbour.remove(url) }
        try firstVersion(url)
        let dataStack = chained()
        let storage = storage(url)

        #expect(try dataStack.requiredMigrationsForStorage(storage).count == 1)
        _ = try await dataStack.async.addStorage(storage) as LocalStore

        let person = try #require(try dataStack.fetchOne(From<V2.Person>()))
        #expect(person.givenName == "Ada" && person.familyName == "Lovelace")
        try dataStack.close()
    }

    @Test func `a transaction finishes a step`() async throws {
        let url = Harbour.temporaryURL()
        defer { Harbour.remove(url) }
        try firstVersion(url)
        let dataStack = DataStack(
            CoreStoreSchema(
                modelVersion: "V3",
                entities: [Entity<V3.Person>("Person"), Entity<V3.Town>("Town")]))
        let storage = LocalStore(
            fileURL: url,
            migrationMappingProviders: [
                CustomSchemaMappingProvider(
                    from: "V1", to: "V3",
                    finishing: { transaction in
                        for person in try transaction.fetchAll(From<V3.Person>()) {
                            let name = person.townName
                            let town = try transaction.fetchOne(
                                From<V3.Town>().where(\.$name == name))
                            person.town = town ?? transaction.create(Into<V3.Town>())
                            person.town?.name = name
                        }
                    })
            ])
        _ = try await dataStack.async.addStorage(storage) as LocalStore
        let town = try #require(try dataStack.fetchOne(From<V3.Town>()))
        #expect(town.name == "Oslo" && town.people.map(\.name) == ["Ada Lovelace"])
        try dataStack.close()
    }

    @Test func `a store is written into another file before it is migrated`() throws {
        let url = Harbour.temporaryURL()
        defer { Harbour.remove(url) }
        try firstVersion(url)
        let backupURL = url.appendingPathExtension("backup")
        let storage = LocalStore(fileURL: url, migrationBackupURL: backupURL)
        let dataStack = DataStack(
            CoreStoreSchema(
                modelVersion: "V3",
                entities: [Entity<V3.Person>("Person"), Entity<V3.Town>("Town")]))
        try dataStack.addStorageAndWait(storage)
        try dataStack.close()

        let earlier = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [Entity<V1.Person>("Person")]))
        try earlier.addStorageAndWait(LocalStore(fileURL: backupURL))
        #expect(try earlier.fetchOne(From<V1.Person>())?.name == "Ada Lovelace")
        try earlier.close()
    }

    @Test func `the progress of a migration is followed`() throws {
        let url = Harbour.temporaryURL()
        defer { Harbour.remove(url) }
        let dataStack = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [Entity<V1.Person>("Person")]))
        let progress = dataStack.addStorage(LocalStore(fileURL: url)) { result in
            print(result)
        }
        progress?.setProgressHandler { progress in
            print(progress.fractionCompleted)
        }
        // A new file needs no migration.
        #expect(progress == nil)
    }
}
