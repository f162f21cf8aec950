import ObjectGraph
import Testing

/// `.recreateStoreOnModelMismatch` erases a file of another model, and nothing else.
@Suite struct RecreationTests {
    private final class Pot: CoreStoreObject {
        @Field.Stored("label") var label: String = ""
    }

    /// Has the pot's property with another type, to which no migration leads.
    private final class Jar: CoreStoreObject {
        @Field.Stored("label") var litres: Double = 0
    }

    /// Lacks the pot's property and has none of its own, as an older program's class may.
    private final class Lid: CoreStoreObject {}

    /// Has another property and none of the pot's.
    private final class Spoon: CoreStoreObject {
        @Field.Stored("size") var size: Int = 0
    }

    /// A migration to this class must write the objects.
    private final class Counter: CoreStoreObject {
        @Field.Stored("count") var count: Int = 0
    }
    private final class Meter: CoreStoreObject {
        @Field.Stored("count") var count: Double = 0
    }

    private final class Broken: CoreStoreObject {
        @Field.Stored("label") var label: String = ""
        @Field.Stored("a/b") var odd: Int = 0
    }

    private let queue = DispatchQueue(label: "view")

    private func stack(_ entity: DynamicEntity) -> DataStack {
        DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [entity]), viewContext: .queue(queue))
    }

    private func fill(_ url: URL) throws {
        let stack = stack(Entity<Pot>("Pot"))
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        try stack.perform(synchronous: { $0.create(Into<Pot>()).label = "kept" })
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    private func labels(_ url: URL) throws -> [String] {
        let stack = stack(Entity<Pot>("Pot"))
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        defer { stack.unsafeRemoveAllPersistentStoresAndWait() }
        return try queue.sync { try stack.fetchAll(From<Pot>()).map(\.label) }
    }

    private func recreate(
        _ url: URL, _ entity: DynamicEntity, _ options: EngineOptions = EngineOptions()
    ) -> StoreError.Code? {
        let stack = stack(entity)
        defer { stack.unsafeRemoveAllPersistentStoresAndWait() }
        do throws(CoreStoreError) {
            try stack.addStorageAndWait(
                LocalStore(
                    fileURL: url, localStorageOptions: .recreateStoreOnModelMismatch,
                    engineOptions: options))
            return nil
        } catch {
            return error.storeError?.code
        }
    }

    @Test func `a model that contradicts itself erases nothing`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        try fill(url)
        #expect(recreate(url, Entity<Broken>("Pot")) == .invalidModel)
        #expect(try labels(url) == ["kept"])
    }

    @Test func `an opening for reading erases nothing`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        try fill(url)
        var options = EngineOptions()
        options.isReadOnly = true
        #expect(recreate(url, Entity<Jar>("Pot"), options) == .schemaMismatch)
        #expect(try labels(url) == ["kept"])
    }

    @Test func `an opening of the previous generation erases nothing`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        try fill(url)
        let stack = stack(Entity<Pot>("Pot"))
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        for _ in 0..<2 {
            try stack.perform(synchronous: { $0.create(Into<Pot>()).label = "kept" })
            try stack.checkpoint()
        }
        stack.unsafeRemoveAllPersistentStoresAndWait()
        var options = EngineOptions()
        options.opensPreviousGeneration = true
        #expect(recreate(url, Entity<Jar>("Pot"), options) == .schemaMismatch)
        #expect(try labels(url) == ["kept", "kept", "kept"])
    }

    @Test func `a store that another process may be writing is read and left alone`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        try fill(url)
        let writer = stack(Entity<Pot>("Pot"))
        try writer.addStorageAndWait(LocalStore(fileURL: url))
        var options = EngineOptions()
        options.isReadOnly = true
        #expect(recreate(url, Entity<Jar>("Pot"), options) == .schemaMismatch)
        #expect(recreate(url, Entity<Jar>("Pot")) == .alreadyOpen)
        try writer.perform(synchronous: { $0.create(Into<Pot>()).label = "later" })
        writer.unsafeRemoveAllPersistentStoresAndWait()
        #expect(try labels(url).sorted() == ["kept", "later"])
    }

    @Test func `recreating a file for another model leaves no second file`() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("recreation-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("pots.trellis")
        try fill(url)
        #expect(recreate(url, Entity<Jar>("Pot")) == nil)
        let stack = stack(Entity<Jar>("Pot"))
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        #expect(try queue.sync { try stack.fetchCount(From<Jar>()) } == 0)
        stack.unsafeRemoveAllPersistentStoresAndWait()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names == ["pots.trellis"])
    }

    /// A folder with a store of pots; the body gets the store's URL.
    private func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("recreation-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("pots.trellis")
        try fill(url)
        try body(url)
    }

    @Test func `a file of the program's own beside the store was removed`() throws {
        try withFolder { url in
            for ending in ["new", "tmp", "old"] {
                try Data("mine".utf8).write(to: url.appendingPathExtension(ending))
            }
            #expect(recreate(url, Entity<Jar>("Pot")) == nil)
            for ending in ["new", "tmp", "old"] {
                let kept = try? Data(contentsOf: url.appendingPathExtension(ending))
                #expect(kept == Data("mine".utf8), "\(ending)")
            }
            let names = try FileManager.default.contentsOfDirectory(
                atPath: url.deletingLastPathComponent().path)
            #expect(names.count == 4)
        }
    }

    @Test(arguments: [0o600, 0o640, 0o664])
    func `a recreated store could be read by all and had another owner`(mode: Int) throws {
        try withFolder { url in
            var access: [FileAttributeKey: Any] = [.posixPermissions: mode]
            // Only the system's administrator gives files away.
            if NSUserName() == "root" {
                access[.ownerAccountID] = 12_345
                access[.groupOwnerAccountID] = 12_346
            }
            try FileManager.default.setAttributes(access, ofItemAtPath: url.path)
            #expect(recreate(url, Entity<Jar>("Pot")) == nil)
            let found = try FileManager.default.attributesOfItem(atPath: url.path)
            for key in access.keys {
                #expect(found[key] as? Int == access[key] as? Int, "\(key)")
            }
        }
    }

    @Test func `a symbolic link was replaced by the new store, and the old store stayed`() throws {
        try withFolder { url in
            let folder = url.deletingLastPathComponent()
            let links = folder.appendingPathComponent("links")
            try FileManager.default.createDirectory(at: links, withIntermediateDirectories: true)
            let link = links.appendingPathComponent("link.trellis")
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: url)
            #expect(recreate(link, Entity<Jar>("Pot")) == nil)
            let kept = try? FileManager.default.destinationOfSymbolicLink(atPath: link.path)
            #expect(kept == url.path)
            // If replacing is not allowed, the store opens by the new model alone.
            let stack = stack(Entity<Jar>("Pot"))
            try stack.addStorageAndWait(LocalStore(fileURL: url))
            try stack.perform(synchronous: { $0.create(Into<Jar>()).litres = 2 })
            stack.unsafeRemoveAllPersistentStoresAndWait()
            #expect(throws: CoreStoreError.self) { try labels(url) }
            let names = try FileManager.default.contentsOfDirectory(atPath: links.path)
            #expect(names == ["link.trellis"])
        }
    }

    // MARK: Where a migration exists

    @Test func `a store was erased by a model that only lacks what the store has`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        try fill(url)
        let before = try Data(contentsOf: url)
        #expect(recreate(url, Entity<Lid>("Pot")) == .schemaMismatch)
        #expect(try Data(contentsOf: url) == before)
        #expect(try labels(url) == ["kept"])
    }

    @Test func `a store of an unrelated model is recreated, or loses permitted values`() throws {
        for (options, count) in [
            (LocalStorageOptions.recreateStoreOnModelMismatch, 0),
            ([.recreateStoreOnModelMismatch, .allowDataLoss], 1),
        ] {
            let url = Zoo.temporaryURL()
            defer { try? FileManager.default.removeItem(at: url) }
            try fill(url)
            let stack = stack(Entity<Spoon>("Pot"))
            try stack.addStorageAndWait(LocalStore(fileURL: url, localStorageOptions: options))
            #expect(try queue.sync { try stack.fetchCount(From<Spoon>()) } == count)
            stack.unsafeRemoveAllPersistentStoresAndWait()
        }
    }

    @Test func `a store was erased although a migration was possible with an option`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let stack = stack(Entity<Counter>("Pot"))
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        try stack.perform(synchronous: { $0.create(Into<Counter>()).count = 3 })
        stack.unsafeRemoveAllPersistentStoresAndWait()
        let before = try Data(contentsOf: url)
        #expect(recreate(url, Entity<Meter>("Pot")) == .schemaMismatch)
        #expect(try Data(contentsOf: url) == before)
        let later = self.stack(Entity<Meter>("Pot"))
        try later.addStorageAndWait(
            LocalStore(
                fileURL: url,
                localStorageOptions: [
                    .recreateStoreOnModelMismatch, .allowSynchronousLightweightMigration,
                ]))
        #expect(try queue.sync { try later.fetchAll(From<Meter>()).map(\.count) } == [3])
        later.unsafeRemoveAllPersistentStoresAndWait()
    }

    private class Animal: CoreStoreObject {
        @Field.Stored("name") var name: String = ""
    }
    private final class Dog: Animal {}
    private final class Owner: CoreStoreObject {
        @Field.Relationship("pet") var pet: Animal?
    }
    /// Allows fewer pets, and has something new.
    private final class DogOwner: CoreStoreObject {
        @Field.Relationship("pet") var pet: Dog?
        @Field.Stored("since") var since: Int = 2001
    }

    private func stack(_ version: ModelVersion, _ owner: DynamicEntity) -> DataStack {
        DataStack(
            CoreStoreSchema(
                modelVersion: version,
                entities: [Entity<Animal>("Animal"), Entity<Dog>("Dog"), owner]),
            viewContext: .queue(queue))
    }

    private func petNames(_ url: URL) throws -> [String?] {
        let stack = stack("V1", Entity<Owner>("Owner"))
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        defer { stack.unsafeRemoveAllPersistentStoresAndWait() }
        return try queue.sync { try stack.fetchAll(From<Owner>()).map { $0.pet?.name } }
    }

    /// The number of owners that an opening finds; nil if it is refused.
    private func ownerCount(
        _ url: URL, _ options: LocalStorageOptions, backup: URL? = nil
    ) throws -> Int? {
        let stack = stack("V2", Entity<DogOwner>("Owner"))
        let storage = LocalStore(
            fileURL: url, localStorageOptions: options, migrationBackupURL: backup)
        guard (try? stack.addStorageAndWait(storage)) != nil else { return nil }
        defer { stack.unsafeRemoveAllPersistentStoresAndWait() }
        return try queue.sync {
            #expect(try stack.fetchAll(From<DogOwner>()).allSatisfy { $0.pet == nil })
            return try stack.fetchCount(From<DogOwner>())
        }
    }

    /// The link is met only while links are written.
    @Test func `a store whose migration would drop a link was not recreated`() async throws {
        let url = Zoo.temporaryURL()
        let backup = url.appendingPathExtension("backup")
        defer {
            try? FileManager.default.removeItem(at: url)
            try? FileManager.default.removeItem(at: backup)
        }
        let old = stack("V1", Entity<Owner>("Owner"))
        try old.addStorageAndWait(LocalStore(fileURL: url))
        try old.perform(synchronous: { transaction in
            let animal = transaction.create(Into<Animal>())
            animal.name = "Cat"
            transaction.create(Into<Owner>()).pet = animal
        })
        old.unsafeRemoveAllPersistentStoresAndWait()
        let migrating = LocalStorageOptions.allowSynchronousLightweightMigration
        let recreating = LocalStorageOptions.recreateStoreOnModelMismatch
        for options in [recreating, migrating] {
            #expect(try ownerCount(url, options) == nil)
            #expect(try petNames(url) == ["Cat"])
        }
        // An upgrade alone never erases.
        let upgrading = stack("V2", Entity<DogOwner>("Owner"))
        let (results, sink) = AsyncStream<Bool>.makeStream()
        _ = try upgrading.upgradeStorageIfNeeded(
            LocalStore(fileURL: url, localStorageOptions: [recreating, migrating])
        ) { result in
            if case .failure = result { sink.yield(true) } else { sink.yield(false) }
            sink.finish()
        }
        for await isRefused in results { #expect(isRefused) }
        #expect(try petNames(url) == ["Cat"])
        #expect(try ownerCount(url, [recreating, migrating], backup: backup) == 0)
        #expect(try petNames(backup) == ["Cat"])
        #expect(try ownerCount(backup, [recreating, migrating, .allowDataLoss]) == 1)
    }

    private struct Refusal: Error {}

    /// The error of adding a store in the background, with a mapping from pots to spoons.
    private func failure(
        _ url: URL, _ options: LocalStorageOptions, isCancelled: Bool,
        _ transform: @escaping CustomSchemaMappingProvider.CustomMapping.Transformer
    ) async -> CoreStoreError? {
        let stack = DataStack(
            CoreStoreSchema(modelVersion: "V2", entities: [Entity<Spoon>("Pot")]),
            viewContext: .queue(queue))
        defer { stack.unsafeRemoveAllPersistentStoresAndWait() }
        let provider = CustomSchemaMappingProvider(
            from: "V1", to: "V2",
            entityMappings: [
                .transformEntity(
                    sourceEntity: "Pot", destinationEntity: "Pot", transformer: transform)
            ])
        let (failures, sink) = AsyncStream<CoreStoreError?>.makeStream()
        let progress = stack.addStorage(
            LocalStore(
                fileURL: url, migrationMappingProviders: [provider], localStorageOptions: options)
        ) { result in
            if case .failure(let error) = result { sink.yield(error) } else { sink.yield(nil) }
        }
        if isCancelled { progress?.cancel() }
        for await failure in failures { return failure }
        return nil
    }

    @Test(arguments: [
        LocalStorageOptions.recreateStoreOnModelMismatch,
        [.recreateStoreOnModelMismatch, .allowDataLoss],
    ])
    func `a mapping that throws and a migration that is cancelled erase nothing`(
        options: LocalStorageOptions
    ) async throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let old = stack(Entity<Pot>("Pot"))
        try old.addStorageAndWait(LocalStore(fileURL: url))
        try old.perform { transaction in
            for _ in 0..<3000 { transaction.create(Into<Pot>()).label = "kept" }
        }
        old.unsafeRemoveAllPersistentStoresAndWait()
        let thrown = await failure(url, options, isCancelled: false) { _, _ in throw Refusal() }
        guard case .userError(let cause)? = thrown, cause is Refusal else {
            Issue.record("\(thrown.map { "\($0)" } ?? "nothing was thrown")")
            return
        }
        // Even if the error equals that of a model without a migration.
        let mismatch = CoreStoreError(StoreError(.schemaMismatch, "refused"))
        let own = await failure(url, options, isCancelled: false) { _, _ in throw mismatch }
        #expect(own == mismatch)
        let cancelled = await failure(url, options, isCancelled: true) { _, create in _ = create() }
        #expect(cancelled == .userCancelled)
        #expect(try labels(url) == Array(repeating: "kept", count: 3000))
    }
}
