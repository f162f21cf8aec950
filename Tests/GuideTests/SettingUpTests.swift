import ObjectGraph
import Testing

/// The guide's chapter on setting up.
@MainActor @Suite(.serialized) struct SettingUpTests {
    private struct Cargo {
        static func schema() -> CoreStoreSchema {
            CoreStoreSchema(
                modelVersion: "V1",
                entityConfigurations: [
                    Entity<Sailor>("Sailor"): ["Crew"],
                    Entity<Vessel>("Vessel", isAbstract: true): ["Crew"],
                    Entity<Ferry>("Ferry"): ["Crew"],
                    Entity<LogLine>("LogLine"): ["Books"],
                ]
            )
        }
    }

    @Test func `the default stack takes the program's own store`() throws {
        CoreStoreDefaults.dataStack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Vessel>("Vessel", isAbstract: true),
                    Entity<Ferry>("Ferry"),
                    Entity<Sailor>("Sailor"),
                ]
            )
        )
        let own = LocalStore()
        #expect(own.fileURL.lastPathComponent == "\(DataStack.applicationName).trellis")
        try? FileManager.default.removeItem(at: own.fileURL)
        defer { try? FileManager.default.removeItem(at: own.fileURL) }

        let storage = try CoreStoreDefaults.dataStack.addStorageAndWait()

        #expect(storage.fileURL == own.fileURL)
        #expect(FileManager.default.fileExists(atPath: own.fileURL.path))
        #expect(try CoreStoreDefaults.dataStack.fetchCount(From<Sailor>()) == 0)
        CoreStoreDefaults.dataStack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `a store is set up with a file, a configuration and options`() async throws {
        let url = Harbour.temporaryURL()
        defer { Harbour.remove(url) }
        let dataStack = DataStack(Cargo.schema(), migrationChain: ["V1"])

        let outcome: String? = await withCheckedContinuation { done in
            let migrationProgress: Progress? = dataStack.addStorage(
                LocalStore(
                    fileURL: url,  // where the file is
                    configuration: "Crew",  // whose entities it keeps
                    localStorageOptions: .recreateStoreOnModelMismatch
                ),
                completion: { (result) -> Void in
                    switch result {
                    case .success(let storage): done.resume(returning: storage.configuration)
                    case .failure: done.resume(returning: nil)
                    }
                }
            )
            #expect(migrationProgress == nil)
        }
        #expect(outcome == "Crew")

        CoreStoreDefaults.dataStack = dataStack
        #expect(CoreStoreDefaults.dataStack === dataStack)
    }

    @Test func `an object of the program's holds the stack`() throws {
        final class Screen {
            let dataStack = DataStack(Harbour.schema())

            func load() throws -> [Sailor] {
                try self.dataStack.addStorageAndWait(InMemoryStore.self)
                return try self.dataStack.fetchAll(From<Sailor>())
            }
        }

        #expect(try Screen().load().isEmpty)
    }

    @Test func `a store in memory keeps a configuration`() async throws {
        let dataStack = DataStack(Cargo.schema())
        try dataStack.addStorageAndWait(
            InMemoryStore(
                configuration: "Crew"
            )
        )
        let isAdded = await withCheckedContinuation { done in
            dataStack.addStorage(
                InMemoryStore(
                    configuration: "Books"
                ),
                completion: { storage in
                    if case .success = storage {
                        done.resume(returning: true)
                    } else {
                        done.resume(returning: false)
                    }
                }
            )
        }
        #expect(isAdded)

        try dataStack.perform(
            synchronous: { (transaction) -> Void in
                _ = transaction.create(Into<Sailor>("Crew"))
                _ = transaction.create(Into<LogLine>("Books"))
            }
        )
        #expect(try dataStack.fetchCount(From<Sailor>("Crew")) == 1)
        #expect(try dataStack.fetchCount(From<LogLine>("Crew", "Books")) == 1)
        #expect(throws: CoreStoreError.persistentStoreNotFound(entity: LogLine.self)) {
            try dataStack.fetchCount(From<LogLine>("Crew"))
        }
    }

    @Test func `an object was taken for the one of the same number in another store`() throws {
        let both: Set<String> = ["Crew", "Guests"]
        let dataStack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entityConfigurations: [
                    Entity<Vessel>("Vessel"): both, Entity<Ferry>("Ferry"): both,
                    Entity<Sailor>("Sailor"): both,
                ]))
        for name in both { try dataStack.addStorageAndWait(InMemoryStore(configuration: name)) }
        try dataStack.perform(
            synchronous: { (transaction) -> Void in
                for name in both {
                    let sailor = transaction.create(Into<Sailor>(name))
                    sailor.name = name
                    let ferry = transaction.create(Into<Ferry>(name))
                    (ferry.registry, ferry.captain) = (name, sailor)
                }
            }
        )
        let sailor = try #require(try dataStack.fetchOne(From<Sailor>("Crew")))
        let id = sailor.objectID()
        func ferries(_ clause: Where<Ferry>) throws -> [String] {
            try dataStack.fetchAll(From<Ferry>().where(clause)).map(\.registry)
        }

        #expect(try ferries(\.$captain == sailor) == ["Crew"])
        #expect(try ferries(\.$captain != sailor) == ["Guests"])
        #expect(try ferries(Where<Ferry> { $0.$captain == sailor }) == ["Crew"])
        #expect(try ferries(Where("captain", isEqualTo: id)) == ["Crew"])
        #expect(try ferries(Where("captain", isEqualTo: id as NSManagedObjectID?)) == ["Crew"])
        #expect(try ferries([sailor] ~= \.$captain) == ["Crew"])
        #expect(try ferries(Where("captain", isMemberOf: [id])) == ["Crew"])
        #expect(try ferries(Where("captain == %@", sailor)) == ["Crew"])
        #expect(try ferries(Where("captain IN %@ OR age == %d", [sailor], 9)) == ["Crew"])
        let template = NSPredicate(format: "captain == $c AND registry != $r")
        let named = template.withSubstitutionVariables(["c": sailor, "r": "none"])
        #expect(try ferries(Where(named)) == ["Crew"])
        let listed = NSPredicate(format: "captain IN $c OR captain == %@", sailor)
            .withSubstitutionVariables(["c": [id]])
        #expect(try ferries(Where(listed)) == ["Crew"])
        #expect(try ferries(\.$captain == sailor || \.$registry == "Guests").count == 2)
        #expect(try ferries(!(\.$captain == sailor && \.$age == 0)) == ["Guests"])
        #expect(try ferries(Where(Where<Ferry>(\.$captain == sailor).predicate)) == ["Crew"])
        #expect(
            try dataStack.fetchAll(
                From<Sailor>().where(format: "ANY ferries.captain IN %@", [id])
            ).map(\.name) == ["Crew"])
        #expect(
            try dataStack.fetchCount(From<Ferry>("Guests").where(\.$captain == sailor)) == 0)
        #expect((\Ferry.$captain == sailor) == Where("captain == %@", id))
    }

    @Test func `a local store with a file name is in the program's data folder`() throws {
        let store = LocalStore(
            fileName: "Harbour.trellis",
            configuration: "Config2",
            localStorageOptions: .recreateStoreOnModelMismatch
        )

        #expect(store.fileURL.lastPathComponent == "Harbour.trellis")
        #expect(
            store.fileURL.deletingLastPathComponent()
                == LocalStore().fileURL.deletingLastPathComponent())
        #expect(store.configuration == "Config2")
        #expect(store.localStorageOptions == .recreateStoreOnModelMismatch)
    }

    @Test func `a stack is made with several versions and their migration chain`() {
        let dataStack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Vessel>("Vessel", isAbstract: true),
                    Entity<Ferry>("Ferry"),
                    Entity<Sailor>("Sailor"),
                ]
            ),
            CoreStoreSchema(
                modelVersion: "V2",
                entities: [
                    Entity<Vessel>("Vessel", isAbstract: true),
                    Entity<Ferry>("Ferry"),
                    Entity<Sailor>("Sailor"),
                    Entity<LogLine>("LogLine"),
                ]
            ),
            migrationChain: ["V1", "V2"]
        )

        #expect(dataStack.modelVersion == "V2")
        #expect(dataStack.entityTypesByName(for: LogLine.self).keys.sorted() == ["LogLine"])
    }

    @Test func `a stack is made for a schema history`() {
        let dataStack = DataStack(
            schemaHistory: SchemaHistory(
                Harbour.schema(),
                migrationChain: ["V1"]
            )
        )

        #expect(dataStack.schemaHistory.currentModelVersion == "V1")
    }

    private final class Tide: CoreStoreObject {
        @Field.Stored("height") var height: Double = 0
    }

    @Test func `a file of another model is refused unless recreating it is allowed`() throws {
        let url = Harbour.temporaryURL()
        defer { Harbour.remove(url) }
        // Its objects would be dropped.
        let older = DataStack(
            CoreStoreSchema(
                modelVersion: "V0",
                entities: [Entity<LogLine>("LogLine"), Entity<Tide>("Tide")]))
        try older.addStorageAndWait(LocalStore(fileURL: url))
        try older.perform(synchronous: { _ = $0.create(Into<Tide>()) })
        older.unsafeRemoveAllPersistentStoresAndWait()
        let dataStack = DataStack(Harbour.schema())

        #expect(throws: CoreStoreError.self) {
            try dataStack.addStorageAndWait(
                LocalStore(
                    fileURL: url,
                    localStorageOptions: .allowSynchronousLightweightMigration
                )
            )
        }
        try dataStack.addStorageAndWait(
            LocalStore(fileURL: url, localStorageOptions: .recreateStoreOnModelMismatch))
        #expect(try dataStack.fetchCount(From<Sailor>()) == 0)
        dataStack.unsafeRemoveAllPersistentStoresAndWait()
    }
}
