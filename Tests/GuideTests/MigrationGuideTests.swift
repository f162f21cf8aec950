import Foundation
import ObjectGraph
import Testing

private protocol Account: CoreStoreObject {
    var name: String { get set }
    var isVeryOldAccount: Bool? { get set }
}

/// The samples of the guide's chapter on migrations that ``MigrationTests`` has not, in its order.
@MainActor @Suite struct MigrationGuideTests {
    private enum V1 {
        class Person: CoreStoreObject, Account {
            @Field.Stored("name") var name: String = ""
            @Field.Stored("isVeryOldAccount") var isVeryOldAccount: Bool?
        }
    }
    private enum V2 {
        class Person: CoreStoreObject, Account {
            @Field.Stored("name") var name: String = ""
            @Field.Stored("isVeryOldAccount") var isVeryOldAccount: Bool?
            @Field.Stored("age") var age: Int?
        }
    }
    private enum V3 {
        class Person: CoreStoreObject, Account {
            @Field.Stored("name") var name: String = ""
            @Field.Stored("isVeryOldAccount") var isVeryOldAccount: Bool?
            @Field.Stored("age") var age: Int?
            @Field.Stored("city") var city: String = "Oslo"
        }
    }
    private enum V4 {
        class Person: CoreStoreObject, Account {
            @Field.Stored("name") var name: String = ""
            @Field.Stored("isVeryOldAccount") var isVeryOldAccount: Bool?
            @Field.Stored("age") var age: Int?
            @Field.Stored("city") var city: String = "Oslo"
            @Field.Stored("zone") var zone: String = "UTC"
        }
    }

    private static let versions = [
        "MyAppModel": schema("MyAppModel", V1.Person.self),
        "MyAppModelV2": schema("MyAppModelV2", V2.Person.self),
        "MyAppModelV3": schema("MyAppModelV3", V3.Person.self),
        "MyAppModelV4": schema("MyAppModelV4", V4.Person.self),
    ]

    private static func schema<O: CoreStoreObject>(
        _ version: String, _ type: O.Type
    ) -> CoreStoreSchema {
        CoreStoreSchema(
            modelVersion: version,
            entityConfigurations: [Entity<O>("Person"): ["Config2"]])
    }

    private func stack(_ migrationChain: MigrationChain) -> DataStack {
        DataStack(
            schemaHistory: SchemaHistory(
                allSchema: Array(Self.versions.values), migrationChain: migrationChain))
    }

    private static let linear: MigrationChain =
        ["MyAppModel", "MyAppModelV2", "MyAppModelV3", "MyAppModelV4"]

    /// A file that the program of one version left, with two persons.
    private func withFile<O: Account>(
        of version: String, _ type: O.Type, configuration: String? = nil,
        _ body: (URL) async throws -> Void
    ) async throws {
        let url = Harbour.temporaryURL()
        defer { Harbour.remove(url) }
        let dataStack = DataStack(try #require(Self.versions[version]))
        try dataStack.addStorageAndWait(LocalStore(fileURL: url, configuration: configuration))
        try dataStack.perform(synchronous: { transaction in
            for (name, isOld) in [("Ada", false), ("Bob", true)] {
                let person = transaction.create(Into<O>())
                (person.name, person.isVeryOldAccount) = (name, isOld)
            }
        })
        try dataStack.close()
        try await body(url)
    }

    private func checkPersons(_ dataStack: DataStack, _ names: [String] = ["Ada", "Bob"]) throws {
        let persons = try dataStack.fetchAll(
            From<V4.Person>().where(\.$zone == "UTC" && \.$city == "Oslo")
                .orderBy(.ascending(\.$name)))
        #expect(persons.map(\.name) == names)
        try dataStack.close()
    }

    // MARK: Starting migrations

    @Test func `a model mismatch is thrown where the storage is added synchronously`() async throws
    {
        try await withFile(of: "MyAppModelV2", V2.Person.self) { sqliteFileURL in
            class Other: CoreStoreObject {
                @Field.Stored("name") var name: Int = 0
            }
            let dataStack = DataStack(
                CoreStoreSchema(modelVersion: "Other", entities: [Entity<Other>("Person")]))
            let error = #expect(throws: CoreStoreError.self) {
                try dataStack.addStorageAndWait(
                    LocalStore(
                        fileURL: sqliteFileURL,
                        localStorageOptions: .allowSynchronousLightweightMigration
                    )
                )
            }
            #expect(error?.storeError?.code == .schemaMismatch)
        }
    }

    @Test func `a storage of a configuration is added with a completion`() async throws {
        // In the program's data folder, as the guide's file name is.
        let fileName = "MyStore-\(UUID().uuidString).trellis"
        let url = LocalStore(fileName: fileName).fileURL
        defer { try? FileManager.default.removeItem(at: url) }
        let first = DataStack(try #require(Self.versions["MyAppModel"]))
        try first.addStorageAndWait(LocalStore(fileName: fileName, configuration: "Config2"))
        try first.perform(synchronous: { $0.create(Into<V1.Person>("Config2")).name = "Ada" })
        try first.close()

        let dataStack = stack(Self.linear)
        let (events, continuation) = AsyncStream<String>.makeStream()
        let migrationProgress: Progress? = dataStack.addStorage(
            LocalStore(
                fileName: fileName,
                configuration: "Config2"
            ),
            completion: { (result) -> Void in
                switch result {
                case .success(let storage):
                    continuation.yield("Successfully added store: \(storage.configuration ?? "")")
                case .failure(let error):
                    continuation.yield("Failed adding store with error: \(error)")
                }
                continuation.finish()
            }
        )
        var lines: [String] = []
        for await line in events { lines.append(line) }
        #expect(lines == ["Successfully added store: Config2"])
        #expect(migrationProgress?.totalUnitCount == 300)
        try checkPersons(dataStack, ["Ada"])
    }

    /// The guide's labels, which the handler fills.
    @MainActor private final class Labels {
        var fraction: Float = 0
        var percent: String?
        var step: String?

        func follow(_ migrationProgress: Progress?) {
            // The guide's closure is not `@Sendable`; it runs on the main thread here as there.
            migrationProgress?.setProgressHandler { [weak self] (progress) -> Void in
                MainActor.assumeIsolated {
                    self?.fraction = Float(progress.fractionCompleted)
                    self?.percent = progress.localizedDescription
                    self?.step = progress.localizedAdditionalDescription
                }
            }
        }
    }

    @Test func `a handler fills labels on the main thread`() async throws {
        try await withFile(of: "MyAppModel", V1.Person.self) { url in
            let dataStack = stack(Self.linear)
            let labels = Labels()
            let _: LocalStore = try await withCheckedThrowingContinuation { continuation in
                let migrationProgress = dataStack.addStorage(LocalStore(fileURL: url)) { result in
                    continuation.resume(with: result)
                }
                labels.follow(migrationProgress)
            }
            #expect(labels.fraction == 1)
            #expect(labels.percent == "100% completed")
            #expect(labels.step == "300 of 300")
            try checkPersons(dataStack)
        }
    }

    // MARK: Progressive migrations

    @Test func `a version tree leads from each version by its own path`() async throws {
        let chain: MigrationChain = [
            "MyAppModel": "MyAppModelV3",
            "MyAppModelV2": "MyAppModelV4",
            "MyAppModelV3": "MyAppModelV4",
        ]
        func check<O: Account>(_ version: String, _ type: O.Type, _ path: [String]) async throws {
            try await withFile(of: version, type) { url in
                let dataStack = stack(chain)
                let storage = LocalStore(fileURL: url)
                let steps = try dataStack.requiredMigrationsForStorage(storage)
                #expect(steps.map(\.sourceVersion) == [version] + path.dropLast())
                #expect(steps.map(\.destinationVersion) == path)
                try dataStack.addStorageAndWait(storage)
                try checkPersons(dataStack)
            }
        }
        try await check("MyAppModel", V1.Person.self, ["MyAppModelV3", "MyAppModelV4"])
        try await check("MyAppModelV2", V2.Person.self, ["MyAppModelV4"])
        try await check("MyAppModelV3", V3.Person.self, ["MyAppModelV4"])
    }

    @Test func `an empty chain migrates to the current version in one step`() async throws {
        let chains: [MigrationChain] = [nil, [], [:]]
        for chain in chains {
            try await withFile(of: "MyAppModel", V1.Person.self) { url in
                let dataStack = DataStack(
                    try #require(Self.versions["MyAppModelV4"]), migrationChain: chain)
                let storage = LocalStore(
                    fileURL: url, localStorageOptions: .preventProgressiveMigration)
                #expect(
                    try dataStack.requiredMigrationsForStorage(storage) == [
                        .lightweight(
                            sourceVersion: "MyAppModel", destinationVersion: "MyAppModelV4")
                    ])
                try dataStack.addStorageAndWait(storage)
                try checkPersons(dataStack)
            }
        }
    }

    // Release builds check no assertions.
    #if DEBUG
        @Test func `a version twice in an array fails an assertion`() async {
            await #expect(processExitsWith: .failure) {
                _ = MigrationChain(["MyAppModel", "MyAppModelV2", "MyAppModel"])
            }
        }

        @Test func `a version twice as a key fails an assertion`() async {
            await #expect(processExitsWith: .failure) {
                let chain: MigrationChain = [
                    "MyAppModel": "MyAppModelV2", "MyAppModel": "MyAppModelV3",
                ]
                _ = chain
            }
        }

        @Test func `a loop in a path fails an assertion`() async {
            await #expect(processExitsWith: .failure) {
                let chain: MigrationChain = [
                    "MyAppModel": "MyAppModelV2", "MyAppModelV2": "MyAppModel",
                ]
                _ = chain
            }
        }
    #endif

    @Test func `an exact current version outside of the chain was accepted`() async {
        await #expect(processExitsWith: .failure) {
            await MainActor.run {
                _ = SchemaHistory(
                    allSchema: Array(MigrationGuideTests.versions.values),
                    migrationChain: ["MyAppModel", "MyAppModelV2"],
                    exactCurrentModelVersion: "MyAppModelV4")
            }
        }
        await #expect(processExitsWith: .success) {
            await MainActor.run {
                _ = SchemaHistory(
                    allSchema: Array(MigrationGuideTests.versions.values),
                    migrationChain: ["MyAppModel", "MyAppModelV2"],
                    exactCurrentModelVersion: "MyAppModelV2")
            }
        }
    }

    // MARK: Forecasting migrations

    private enum Screen { case waiting, activity, none, failed }

    private func screen(_ dataStack: DataStack, _ storage: LocalStore) async -> Screen {
        do {
            let migrationTypes: [MigrationType] =
                try dataStack.requiredMigrationsForStorage(storage)
            let screen: Screen
            if migrationTypes.count > 1
                || (migrationTypes.filter { $0.isHeavyweightMigration }.count) > 0
            {
                // ... will migrate more than once. Show special waiting screen
                screen = .waiting
            } else if migrationTypes.count > 0 {
                // ... will migrate just once. Show simple activity indicator
                screen = .activity
            } else {
                // ... Do nothing
                screen = .none
            }
            let added = await withCheckedContinuation { continuation in
                dataStack.addStorage(storage, completion: { continuation.resume(returning: $0) })
            }
            #expect(throws: Never.self) { try added.get() }
            return screen
        } catch {
            // ... either inspection of the store failed, or if no mapping model was found/inferred
            return .failed
        }
    }

    @Test func `a program shows a screen for what it will do`() async throws {
        try await withFile(of: "MyAppModel", V1.Person.self) { url in
            #expect(await screen(stack(Self.linear), LocalStore(fileURL: url)) == .waiting)
            #expect(await screen(stack(Self.linear), LocalStore(fileURL: url)) == .none)
        }
        try await withFile(of: "MyAppModelV3", V3.Person.self) { url in
            #expect(await screen(stack(Self.linear), LocalStore(fileURL: url)) == .activity)
        }
        try await withFile(of: "MyAppModelV2", V2.Person.self) { url in
            let unknown = stack(["MyAppModelV3", "MyAppModelV4"])
            #expect(await screen(unknown, LocalStore(fileURL: url)) == .failed)
        }
    }

    // MARK: Custom migrations

    @Test func `steps without a provider are inferred between those that have one`() async throws {
        try await withFile(of: "MyAppModel", V1.Person.self) { url in
            let dataStack = stack(Self.linear)
            let storage = LocalStore(
                fileURL: url,
                migrationMappingProviders: [
                    InferredSchemaMappingProvider(),
                    CustomSchemaMappingProvider(
                        from: "MyAppModelV2", to: "MyAppModelV3",
                        entityMappings: [.deleteEntity("Person")]),
                ]
            )
            #expect(
                try dataStack.requiredMigrationsForStorage(storage) == [
                    .lightweight(sourceVersion: "MyAppModel", destinationVersion: "MyAppModelV2"),
                    .heavyweight(sourceVersion: "MyAppModelV2", destinationVersion: "MyAppModelV3"),
                    .lightweight(sourceVersion: "MyAppModelV3", destinationVersion: "MyAppModelV4"),
                ])
            let added: LocalStore = try await dataStack.async.addStorage(storage)
            #expect(added === storage)
            // The source was deleted by name, so the destination begins without objects.
            try checkPersons(dataStack, [])
        }
    }

    @Test func `a step that cannot be inferred fails, and its failure is reported`() async throws {
        class Changed: CoreStoreObject {
            @Field.Stored("name") var name: Date = .distantPast
            @Field.Stored("isVeryOldAccount") var isVeryOldAccount: Bool?
        }
        try await withFile(of: "MyAppModel", V1.Person.self) { url in
            let before = try Data(contentsOf: url)
            let dataStack = DataStack(
                try #require(Self.versions["MyAppModel"]),
                CoreStoreSchema(modelVersion: "Changed", entities: [Entity<Changed>("Person")]),
                migrationChain: ["MyAppModel", "Changed"])
            let result = await withCheckedContinuation { continuation in
                _ = dataStack.addStorage(
                    LocalStore(
                        fileURL: url,
                        migrationMappingProviders: [InferredSchemaMappingProvider()]),
                    completion: { (result) -> Void in continuation.resume(returning: result) }
                )
            }
            guard case .failure(.mappingModelNotFound(let place, _, let version)) = result else {
                Issue.record("the result is \(result)")
                return
            }
            #expect(place == url)
            #expect(version == "Changed")
            #expect(try Data(contentsOf: url) == before)
        }
    }

    @Test func `old accounts are not migrated`() async throws {
        let personV2ToV3Mapping = CustomSchemaMappingProvider(
            from: "MyAppModelV2",
            to: "MyAppModelV3",
            entityMappings: [
                .transformEntity(
                    sourceEntity: "Person",
                    destinationEntity: "Person",
                    transformer: {
                        (
                            sourceObject: UnsafeSourceObject,
                            createDestinationObject: () -> UnsafeDestinationObject
                        ) in

                        if (sourceObject["isVeryOldAccount"] as! Bool?) == true {
                            return  // this account is too old, don't migrate
                        }
                        // migrate the rest
                        let destinationObject = createDestinationObject()
                        destinationObject.enumerateAttributes { (attribute, sourceAttribute) in

                            if let sourceAttribute = sourceAttribute {
                                destinationObject[attribute] = sourceObject[sourceAttribute]
                            }
                        }
                    }
                )
            ]
        )
        try await withFile(of: "MyAppModel", V1.Person.self) { url in
            let dataStack = stack(Self.linear)
            let storage = LocalStore(
                fileURL: url,
                migrationMappingProviders: [personV2ToV3Mapping]
            )
            let _: LocalStore = try await dataStack.async.addStorage(storage)
            try checkPersons(dataStack, ["Ada"])
        }
    }
}
