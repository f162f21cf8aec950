import Foundation
import ObjectGraph
import Testing

/// The guide's chapter on migrations.
@Suite struct MigrationTests {
    enum V1 {
        class Animal: CoreStoreObject {
            @Field.Stored("species") var species: String = "Swift"
        }
        class Dog: Animal {
            @Field.Stored("nickname") var nickname: String?
        }
        class Person: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
        }
    }

    enum V2 {
        class Animal: CoreStoreObject {
            @Field.Stored("species") var species: String = "Swift"
            @Field.Stored("legs") var legs: Int = 4
        }
        class Dog: Animal {
            @Field.Stored("nickname") var nickname: String?
        }
        class Person: CoreStoreObject {
            @Field.Stored("fullName", previousVersionKeyPath: "name") var fullName: String = ""
            @Field.Relationship("pets") var pets: Set<Animal>
        }
    }

    private static func first() -> CoreStoreSchema {
        CoreStoreSchema(
            modelVersion: "V1",
            entities: [
                Entity<V1.Animal>("Animal", isAbstract: true),
                Entity<V1.Dog>("Dog"),
                Entity<V1.Person>("Person"),
            ]
        )
    }

    private static func stack() -> DataStack {
        DataStack(
            first(),
            CoreStoreSchema(
                modelVersion: "V2",
                entities: [
                    Entity<V2.Animal>("Animal", isAbstract: true),
                    Entity<V2.Dog>("Dog"),
                    Entity<V2.Person>("Person"),
                ]
            ),
            migrationChain: ["V1", "V2"]
        )
    }

    private static func fill(_ url: URL) throws {
        let stack = DataStack(first())
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        try stack.perform(synchronous: { transaction in
            transaction.create(Into<V1.Person>()).name = "Ada"
            transaction.create(Into<V1.Dog>()).nickname = "Rex"
        })
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @MainActor
    private func check(_ dataStack: DataStack) throws {
        #expect(try dataStack.fetchOne(From<V2.Person>())?.fullName == "Ada")
        #expect(try dataStack.fetchOne(From<V2.Dog>().where(\.$legs == 4))?.nickname == "Rex")
        dataStack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test @MainActor func `a storage is added while the caller waits`() throws {
        let url = Harbour.temporaryURL()
        defer { Harbour.remove(url) }
        try Self.fill(url)
        let dataStack = Self.stack()
        try dataStack.addStorageAndWait(
            LocalStore(
                fileURL: url,
                localStorageOptions: .allowSynchronousLightweightMigration
            )
        )
        try check(dataStack)
    }

    @Test @MainActor func `a storage is added with a completion and a progress`() async throws {
        let url = Harbour.temporaryURL()
        defer { Harbour.remove(url) }
        try Self.fill(url)
        let dataStack = Self.stack()
        let (events, continuation) = AsyncStream<Double>.makeStream()
        let migrationProgress: Progress? = dataStack.addStorage(
            LocalStore(fileURL: url),
            completion: { (result) -> Void in
                switch result {
                case .success: continuation.yield(-1)
                case .failure(let error): Issue.record(error)
                }
                continuation.finish()
            }
        )
        migrationProgress?.setProgressHandler { (progress) -> Void in
            continuation.yield(progress.fractionCompleted)
        }
        var fractions: [Double] = []
        for await fraction in events { fractions.append(fraction) }
        #expect(migrationProgress != nil)
        #expect(fractions.last == -1)
        #expect(fractions.contains(1) || migrationProgress?.fractionCompleted == 1)
        try check(dataStack)
    }

    @Test @MainActor func `a storage is added as a sequence`() async throws {
        let url = Harbour.temporaryURL()
        defer { Harbour.remove(url) }
        try Self.fill(url)
        for isMigrated in [true, false] {
            let dataStack = Self.stack()
            var finished: [Bool] = []
            for try await migrationProgress in dataStack.async.addStorage(LocalStore(fileURL: url))
            {
                switch migrationProgress {
                case .migrating(_, let progressObject):
                    #expect(isMigrated)
                    #expect(progressObject.totalUnitCount == 100)
                case .finished(_, let migrationRequired):
                    finished.append(migrationRequired)
                    #expect(migrationProgress.fractionCompleted == 1)
                }
            }
            #expect(finished == [isMigrated])
            try check(dataStack)
        }
    }

    @Test @MainActor func `required migrations are known before they run`() throws {
        let url = Harbour.temporaryURL()
        defer { Harbour.remove(url) }
        try Self.fill(url)
        let dataStack = Self.stack()
        let storage = LocalStore(fileURL: url)
        let migrationTypes: [MigrationType] = try dataStack.requiredMigrationsForStorage(storage)
        #expect(migrationTypes.filter { $0.isHeavyweightMigration }.count == 0)
        #expect(
            migrationTypes == [.lightweight(sourceVersion: "V1", destinationVersion: "V2")])
        try dataStack.addStorageAndWait(storage)
        try check(dataStack)
    }

    // MARK: Custom migrations

    enum V3 {
        class Animal: CoreStoreObject {
            @Field.Stored("species") var species: String = "Swift"
            @Field.Stored("legs") var legs: Int = 4
        }
        class Dog: Animal {
            @Field.Stored("nickname") var nickname: String?
        }
        class Person: CoreStoreObject {
            @Field.Stored("fullName") var fullName: String = ""
            @Field.Stored("initial") var initial: String = ""
            @Field.Relationship("pets") var pets: Set<Animal>
        }
    }

    private static func lastStack() -> DataStack {
        DataStack(
            first(),
            CoreStoreSchema(
                modelVersion: "V2",
                entities: [
                    Entity<V2.Animal>("Animal", isAbstract: true),
                    Entity<V2.Dog>("Dog"),
                    Entity<V2.Person>("Person"),
                ]
            ),
            CoreStoreSchema(
                modelVersion: "V3",
                entities: [
                    Entity<V3.Animal>("Animal", isAbstract: true),
                    Entity<V3.Dog>("Dog"),
                    Entity<V3.Person>("Person"),
                ]
            ),
            migrationChain: ["V1", "V2", "V3"]
        )
    }

    @Test @MainActor func `a mapping ignores some objects and makes the rest`() async throws {
        let url = Harbour.temporaryURL()
        defer { Harbour.remove(url) }
        try Self.fill(url)
        let personV2ToV3Mapping = CustomSchemaMappingProvider(
            from: "V2",
            to: "V3",
            entityMappings: [
                .transformEntity(
                    sourceEntity: "Person",
                    destinationEntity: "Person",
                    transformer: {
                        (
                            sourceObject: UnsafeSourceObject,
                            createDestinationObject: () -> UnsafeDestinationObject
                        ) in
                        if (sourceObject["fullName"] as! String?) == "Bob" {
                            return  // this account is too old, don't migrate
                        }
                        // migrate the rest
                        let destinationObject = createDestinationObject()
                        destinationObject.enumerateAttributes { (attribute, sourceAttribute) in
                            if let sourceAttribute = sourceAttribute {
                                destinationObject[attribute] = sourceObject[sourceAttribute]
                            }
                        }
                        destinationObject["initial"] = "A"
                    }
                )
            ]
        )
        let dataStack = Self.lastStack()
        let storage = LocalStore(
            fileURL: url, migrationMappingProviders: [personV2ToV3Mapping])
        #expect(
            try dataStack.requiredMigrationsForStorage(storage) == [
                .lightweight(sourceVersion: "V1", destinationVersion: "V2"),
                .heavyweight(sourceVersion: "V2", destinationVersion: "V3"),
            ])
        for try await migrationProgress in dataStack.async.addStorage(storage) {
            if case .migrating(_, let progressObject) = migrationProgress {
                #expect(progressObject.totalUnitCount == 200)
            }
        }
        let person = try dataStack.fetchOne(From<V3.Person>())
        #expect(person?.fullName == "Ada")
        #expect(person?.initial == "A")
        #expect(try dataStack.fetchOne(From<V3.Dog>().where(\.$legs == 4))?.nickname == "Rex")
        dataStack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test @MainActor func `a storage whose file needs a mapping is added by await`() async throws {
        let url = Harbour.temporaryURL()
        defer { Harbour.remove(url) }
        try Self.fill(url)
        let mapping = CustomSchemaMappingProvider(
            from: "V2", to: "V3",
            entityMappings: [
                .transformEntity(
                    sourceEntity: "Person", destinationEntity: "Person",
                    transformer: { sourceObject, createDestinationObject in
                        createDestinationObject()["fullName"] = sourceObject["fullName"]
                    })
            ])
        let dataStack = Self.lastStack()
        let storage = LocalStore(fileURL: url, migrationMappingProviders: [mapping])

        let added: LocalStore = try await dataStack.async.addStorage(storage)
        #expect(added === storage)
        #expect(try dataStack.fetchOne(From<V3.Person>())?.fullName == "Ada")
        let again: LocalStore = try await dataStack.async.addStorage(storage)
        #expect(again === storage)
        let other = LocalStore(fileURL: url)
        let known: LocalStore = try await dataStack.async.addStorage(other)
        #expect(known === storage)
        dataStack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test @MainActor func `a storage that cannot be added by await throws a typed error`() async {
        let url = Harbour.temporaryURL()
        defer { Harbour.remove(url) }
        let dataStack = DataStack(Self.first())
        var options = EngineOptions()
        options.isReadOnly = true
        do throws(CoreStoreError) {
            let _: LocalStore = try await dataStack.async.addStorage(
                LocalStore(fileURL: url, engineOptions: options))
            Issue.record("a file that is not there was opened")
        } catch {
            #expect(error.storeError?.code == .notFound)
        }
    }
}
