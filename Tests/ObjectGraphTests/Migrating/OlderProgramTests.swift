import Foundation
import ObjectGraph
import Testing

/// A program that is older than a file leaves the file alone and says why; planning errors reach
/// every form of adding a storage.
@Suite struct OlderProgramTests {
    private enum V1 {
        final class Pot: CoreStoreObject {
            @Field.Stored("label") var label: String = ""
        }
    }
    private enum V2 {
        final class Pot: CoreStoreObject {
            @Field.Stored("label") var label: String = ""
            @Field.Stored("size") var size: Int?
        }
    }
    private enum V3 {
        final class Pot: CoreStoreObject {
            @Field.Stored("label") var label: String = ""
            @Field.Stored("size") var size: Int?
            @Field.Stored("colour") var colour: String?
        }
    }
    /// No migration leads to it from the others.
    private enum Other {
        final class Pot: CoreStoreObject {
            @Field.Stored("label") var label: Double = 0
        }
    }

    private static let first = CoreStoreSchema(
        modelVersion: "V1", entities: [Entity<V1.Pot>("Pot")])
    private static let second = CoreStoreSchema(
        modelVersion: "V2", entities: [Entity<V2.Pot>("Pot")])
    private static let third = CoreStoreSchema(
        modelVersion: "V3", entities: [Entity<V3.Pot>("Pot")])
    private static let other = CoreStoreSchema(
        modelVersion: "other", entities: [Entity<Other.Pot>("Pot")])

    private let queue = DispatchQueue(label: "view")
    private let url = FileManager.default.temporaryDirectory
        .appendingPathComponent("older-\(UUID().uuidString).trellis")

    /// A stack of the last version, with a chain of all where there are several.
    private func makeStack(_ schemas: CoreStoreSchema...) -> DataStack {
        let chain = schemas.count == 1 ? [] : schemas.map(\.modelVersion)
        return DataStack(
            schemaHistory: SchemaHistory(allSchema: schemas, migrationChain: MigrationChain(chain)),
            viewContext: .queue(queue))
    }

    private func open(_ stack: DataStack, _ options: LocalStorageOptions = .none) throws {
        try stack.addStorageAndWait(LocalStore(fileURL: url, localStorageOptions: options))
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    private func remove() { try? FileManager.default.removeItem(at: url) }

    private func fill() throws {
        let stack = makeStack(Self.first)
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        try stack.perform(synchronous: { $0.create(Into<V1.Pot>()).label = "kept" })
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    /// The errors of each form of adding, planning and upgrading, by its name.
    private func failures(
        _ stack: DataStack, _ options: LocalStorageOptions
    ) async -> [String: CoreStoreError] {
        let storage = { LocalStore(fileURL: url, localStorageOptions: options) }
        var failures: [String: CoreStoreError] = [:]
        do throws(CoreStoreError) {
            try stack.addStorageAndWait(storage())
        } catch { failures["addStorageAndWait"] = error }
        do throws(CoreStoreError) {
            _ = try stack.requiredMigrationsForStorage(storage())
        } catch { failures["requiredMigrationsForStorage"] = error }
        do throws(CoreStoreError) {
            try await stack.async.addStorage(storage())
        } catch { failures["async"] = error }
        let (results, sink) = AsyncStream<(String, CoreStoreError?)>.makeStream()
        _ = stack.addStorage(storage()) { sink.yield(("addStorage", $0.failure)) }
        do throws(CoreStoreError) {
            _ = try stack.upgradeStorageIfNeeded(storage()) {
                sink.yield(("upgradeStorageIfNeeded", $0.failure))
            }
        } catch { sink.yield(("upgradeStorageIfNeeded", error)) }
        var count = 0
        for await (name, error) in results {
            failures[name] = error
            count += 1
            if count == 2 { break }
        }
        stack.unsafeRemoveAllPersistentStoresAndWait()
        return failures
    }

    private func expectNoMapping(
        _ error: CoreStoreError?, _ code: StoreError.Code, _ version: ModelVersion, _ name: String
    ) {
        guard case .mappingModelNotFound(url, _, version)? = error else {
            Issue.record("\(name): \(error.map { "\($0)" } ?? "nothing was thrown")")
            return
        }
        #expect(error?.storeError?.code == code, "\(name)")
    }

    private static let forms = [
        "addStorageAndWait", "requiredMigrationsForStorage", "async", "addStorage",
        "upgradeStorageIfNeeded",
    ]

    @Test(arguments: [
        LocalStorageOptions.none, .recreateStoreOnModelMismatch,
        [.recreateStoreOnModelMismatch, .allowDataLoss, .allowSynchronousLightweightMigration],
    ])
    func `an older program erased a newer file, or migrated it backwards`(
        options: LocalStorageOptions
    ) async throws {
        defer { remove() }
        try fill()
        try open(makeStack(Self.second))
        try open(makeStack(Self.third))
        let before = try Data(contentsOf: url)
        for (stack, version) in [
            (makeStack(Self.first), "V1"), (makeStack(Self.second), "V2"),
            (makeStack(Self.first, Self.second), "V2"),
        ] {
            let failures = await failures(stack, options)
            for name in Self.forms {
                expectNoMapping(failures[name], .newerModel, version, name)
                let text = failures[name].map { "\($0)" } ?? ""
                #expect(text.contains("“V3”") && text.contains(" since 2"), "\(text)")
            }
        }
        #expect(try Data(contentsOf: url) == before)
        let stack = makeStack(Self.third)
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        #expect(try queue.sync { try stack.fetchAll(From<V3.Pot>()).map(\.label) } == ["kept"])
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `a file created by a chain's last version is newer than the others`() async throws {
        defer { remove() }
        try open(makeStack(Self.first, Self.second, Self.third))
        let before = try Data(contentsOf: url)
        for stack in [makeStack(Self.first), makeStack(Self.first, Self.second)] {
            let failures = await failures(stack, .recreateStoreOnModelMismatch)
            for name in Self.forms {
                expectNoMapping(failures[name], .newerModel, stack.modelVersion, name)
            }
        }
        #expect(try Data(contentsOf: url) == before)
    }

    @Test func `a version that undoes the preceding one is accepted in a chain`() throws {
        defer { remove() }
        try fill()
        let later = makeStack(Self.second)
        try later.addStorageAndWait(LocalStore(fileURL: url))
        try later.perform(synchronous: { $0.create(Into<V2.Pot>()).size = 3 })
        later.unsafeRemoveAllPersistentStoresAndWait()
        let again = CoreStoreSchema(modelVersion: "V3", entities: [Entity<V1.Pot>("Pot")])
        #expect(throws: CoreStoreError.self) { try open(makeStack(again)) }
        let chained = makeStack(Self.second, again)
        #expect(
            try chained.requiredMigrationsForStorage(LocalStore(fileURL: url))
                == [.lightweight(sourceVersion: "V2", destinationVersion: "V3")])
        try chained.addStorageAndWait(LocalStore(fileURL: url))
        let labels = try queue.sync { try chained.fetchAll(From<V1.Pot>()).map(\.label).sorted() }
        #expect(labels == ["", "kept"])
        chained.unsafeRemoveAllPersistentStoresAndWait()
        // The file's model is the one that it had first, so both programs with it open the file,
        // and the program between them is older now.
        try open(makeStack(again))
        try open(makeStack(Self.first))
        let error = #expect(throws: CoreStoreError.self) {
            try open(makeStack(Self.second), .recreateStoreOnModelMismatch)
        }
        #expect(error?.storeError?.code == .newerModel)
    }

    @Test func `a mapping from the file's model can lead back to an earlier model`() throws {
        defer { remove() }
        try fill()
        try open(makeStack(Self.second))
        let again = CoreStoreSchema(modelVersion: "V3", entities: [Entity<V1.Pot>("Pot")])
        let stack = makeStack(again)
        let names = [("V2", "V3"), ("V1", "V3")]
        let storages = names.map { source, destination in
            LocalStore(
                fileURL: url,
                migrationMappingProviders: [
                    CustomSchemaMappingProvider(
                        from: source, to: destination,
                        entityMappings: [
                            .copyEntity(sourceEntity: "Pot", destinationEntity: "Pot")
                        ])
                ])
        }
        let error = #expect(throws: CoreStoreError.self) {
            try stack.requiredMigrationsForStorage(storages[1])
        }
        #expect(error?.storeError?.code == .newerModel)
        #expect(
            try stack.requiredMigrationsForStorage(storages[0])
                == [.heavyweight(sourceVersion: "V2", destinationVersion: "V3")])
    }

    @Test func `a completion never got that there is no mapping`() async throws {
        defer { remove() }
        try fill()
        let before = try Data(contentsOf: url)
        for stack in [makeStack(Self.other), makeStack(Self.second, Self.third)] {
            let failures = await failures(stack, .none)
            for name in Self.forms where name != "addStorageAndWait" {
                expectNoMapping(failures[name], .schemaMismatch, stack.modelVersion, name)
            }
            // CoreStore reports the same error.
            guard case .internalError? = failures["addStorageAndWait"] else {
                Issue.record("\(failures)")
                continue
            }
        }
        let allowed = await failures(
            makeStack(Self.other), .allowSynchronousLightweightMigration)
        guard case .asynchronousMigrationRequired? = allowed["addStorageAndWait"] else {
            Issue.record("\(allowed)")
            return
        }
        #expect(try Data(contentsOf: url) == before)
        // The refusal of several steps reaches all of them.
        let chained = await failures(
            makeStack(Self.first, Self.second, Self.third),
            [.preventProgressiveMigration, .recreateStoreOnModelMismatch])
        for name in Self.forms {
            #expect(
                chained[name] == .progressiveMigrationRequired(localStoreURL: url), "\(name)")
        }
        #expect(try Data(contentsOf: url) == before)
    }

    @Test func `a file that cannot follow is erased in the background too where it may be`()
        async throws
    {
        defer { remove() }
        try fill()
        let stack = makeStack(Self.other)
        try await stack.async.addStorage(
            LocalStore(fileURL: url, localStorageOptions: .recreateStoreOnModelMismatch))
        #expect(try queue.sync { try stack.fetchCount(From<Other.Pot>()) } == 0)
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }
}

extension Result where Failure == CoreStoreError {
    fileprivate var failure: CoreStoreError? {
        if case .failure(let error) = self { error } else { nil }
    }
}
