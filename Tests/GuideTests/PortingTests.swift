import ObjectGraph
import Testing

/// Differences that the compiler reports in a program written for CoreStore 9: each test shows the
/// code to write. `ComingFromCoreStore.md` describes them in words.
@MainActor @Suite struct PortingTests {
    class Person: CoreStoreObject {
        @Field.Stored("name") var name: String = ""
        @Field.Stored("age") var age: Int = 0
        @Field.Virtual("title", customGetter: { object, _ in "Dr. " + object.$name.value })
        var title: String
        @Field.Coded("tags", coder: FieldCoders.Json.self) var tags: [String] = []
        @Field.Relationship("boss", inverse: \.$staff) var boss: Person?
        @Field.Relationship("staff") var staff: Set<Person>
    }

    private static var schema: CoreStoreSchema {
        CoreStoreSchema(modelVersion: "V1", entities: [Entity<Person>("Person")])
    }

    private func stack() throws -> DataStack {
        let dataStack = DataStack(Self.schema)
        try dataStack.addStorageAndWait(InMemoryStore())
        try dataStack.perform(synchronous: { transaction in
            for (name, age) in [("Ann", 3), ("Ben", 4)] {
                let person = transaction.create(Into<Person>())
                (person.name, person.age) = (name, age)
            }
        })
        return dataStack
    }

    // MARK: Storages and migrations

    /// The old names compile, with a warning that says what to write.
    private protocol OldStorage {
        static func storage(_ url: URL) -> LocalStore
    }

    private enum OldNames: OldStorage {
        @available(*, deprecated)
        static func storage(_ url: URL) -> LocalStore {
            SQLiteStore(
                fileURL: url, configuration: nil, migrationMappingProviders: [],
                localStorageOptions: .recreateStoreOnModelMismatch)
        }
    }

    @Test func `SQLiteStore is an old name of LocalStore`() throws {
        let url = Harbour.temporaryURL()
        defer { Harbour.remove(url) }
        let storage: LocalStore = (OldNames.self as any OldStorage.Type).storage(url)
        let dataStack = DataStack(Self.schema)
        try dataStack.addStorageAndWait(storage)
        #expect(storage.localStorageOptions.contains(.recreateStoreOnModelMismatch))
        #expect(storage.migrationMappingProviders.isEmpty)
        dataStack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `adding a storage is a sequence of progress`() async throws {
        let dataStack = DataStack(Self.schema)
        let url = Harbour.temporaryURL()
        defer { Harbour.remove(url) }
        let types: [MigrationType] = try dataStack.requiredMigrationsForStorage(
            LocalStore(fileURL: url))
        #expect(types.isEmpty)
        for try await progress in dataStack.async.addStorage(LocalStore(fileURL: url)) {
            guard case .finished(_, let migrationRequired) = progress else { continue }
            #expect(!migrationRequired)
        }
        dataStack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `a storage is made with mapping providers`() {
        let provider = CustomSchemaMappingProvider(
            from: "V1", to: "V2",
            entityMappings: [
                .transformEntity(sourceEntity: "A", destinationEntity: "B") { _, _ in }
            ]
        )
        let storage = LocalStore(
            fileURL: Harbour.temporaryURL(), migrationMappingProviders: [provider])
        #expect(storage.migrationMappingProviders.count == 1)
        #expect(MigrationChain(["V1": "V2"]) == ["V1", "V2"])
    }

    @Test func `a missing mapping has three payloads`() {
        let cause = NSError(domain: "cause", code: 1)
        let error = CoreStoreError.mappingModelNotFound(
            localStoreURL: URL(fileURLWithPath: "/a"), NSError: cause, targetModelVersion: "V2")
        guard case .mappingModelNotFound(let url, let model, let version) = error else {
            Issue.record("another case")
            return
        }
        #expect(url.path == "/a" && version == "V2")
        #expect(model == cause)
        #expect(CoreStoreError(error as NSError) == error)
    }

    // MARK: Objects

    @Test func `virtual and coded properties, proxies and partial objects are there`() throws {
        let dataStack = try stack()
        try dataStack.perform(synchronous: { transaction in
            let ann = try #require(
                try transaction.fetchOne(From<Person>().where(\.$name == "Ann")))
            ann.tags = ["x"]
            #expect(ann.title == "Dr. Ann")
            #expect(ann.tags == ["x"])
        })
    }

    @Test func `a deleted object says so and keeps values assigned to it, unsaved`() throws {
        let dataStack = try stack()
        try dataStack.perform(synchronous: { transaction in
            let ann = try #require(
                try transaction.fetchOne(From<Person>().where(\.$name == "Ann")))
            #expect(!ann.isDeleted)
            #expect(!ann.objectID().isTemporaryID)
            transaction.delete(ann)
            ann.name = "nobody"
            #expect(ann.isDeleted && ann.name == "nobody")
        })
        #expect(try dataStack.fetchCount(From<Person>()) == 1)
    }

    @Test func `entities are named by the stack and by IDs`() throws {
        let dataStack = try stack()
        #expect(dataStack.entityTypesByName(for: Person.self).keys.contains("Person"))
        let ann = try #require(try dataStack.fetchOne(From<Person>()))
        #expect(ann.objectID().entityName == "Person")
        #expect(ann.objectID().uriRepresentation().scheme == "trellis")
        #expect(dataStack.modelSchema.printCoreStoreSchema().contains("Person"))
    }

    // MARK: Transactions and threads

    @Test func `an unsafe transaction flushes, undoes and commits`() throws {
        let dataStack = try stack()
        let transaction = dataStack.beginUnsafe(supportsUndo: true)
        let person = transaction.create(Into<Person>())
        person.name = "Cid"
        transaction.flush()
        transaction.undo()
        #expect(try transaction.fetchCount(From<Person>()) == 2)
        transaction.redo()
        transaction.refreshAndMergeAllObjects()
        try transaction.commitAndWait()
        #expect(try dataStack.fetchCount(From<Person>()) == 3)
    }

    @Test func `objects are passed by ID, and completions run on the view's queue`() throws {
        let queue = DispatchQueue(label: "view")
        let dataStack = DataStack(Self.schema, viewContext: .queue(queue))
        try dataStack.addStorageAndWait(InMemoryStore())
        let id = try dataStack.perform(
            synchronous: { transaction in transaction.create(Into<Person>()).typedID },
            waitForAllObservers: false)
        let done = DispatchSemaphore(value: 0)
        dataStack.perform(
            asynchronous: { transaction in transaction.edit(id)?.name = "Dee" },
            completion: { _ in done.signal() })
        #expect(done.wait(timeout: .now() + 60) == .success)
        #expect(try dataStack.read { try $0.fetchOne(From<Person>())?.name } == "Dee")
        let added = DispatchSemaphore(value: 0)
        dataStack.addStorage(
            LocalStore(fileURL: Harbour.temporaryURL()), completion: { _ in added.signal() })
        #expect(added.wait(timeout: .now() + 60) == .success)
        dataStack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `an object is fetched from any thread`() async throws {
        let dataStack = try stack()
        let id = try #require(try dataStack.fetchOne(From<Person>())?.objectID())
        let name = await Task.detached {
            let person: Person? = dataStack.fetchExisting(id)
            return person?.name
        }.value
        #expect(name != nil)
    }

    @Test func `a statement deletes without objects`() throws {
        let dataStack = try stack()
        let count = try dataStack.perform(synchronous: { transaction in
            try transaction.deleteAll(From<Person>().where(\.$age > 3))
        })
        #expect(count == 1)
    }

    // MARK: Observing

    @Test func `lists and objects are observed`() throws {
        let dataStack = try stack()
        let sections = dataStack.publishList(
            From<Person>().sectionBy(\.$age).orderBy(.ascending(\.$age)))
        #expect(sections.snapshot.numberOfSections == 2)
        let monitor = dataStack.monitorList(From<Person>().orderBy(.ascending(\.$name)))
        #expect(monitor.numberOfObjects() == 2)
        let ann = monitor[0]
        #expect(ann.asPublisher(in: dataStack).name == "Ann")
        #expect(ann.asSnapshot(in: dataStack)?.$name == "Ann")
        #expect(ann.asReadOnly(in: dataStack) === ann)
    }

    // MARK: Clauses and queries

    private func sorted<Clause: OrderByClause>(_ clause: Clause) -> Int {
        clause.sortDescriptors.count
    }

    private func grouped<Clause: GroupByClause>(_ clause: Clause) -> [String] { clause.keyPaths }

    @Test func `clauses are made, compared and combined`() throws {
        let dataStack = try stack()
        #expect(sorted(OrderBy<Person>(.ascending(\.$name))) == 1)
        #expect(grouped(GroupBy<Person>("name")) == ["name"])
        let name: ClassName = "Person"
        #expect(name == "Person")
        #expect(!(Into<Person>() == Into<Harbour.Nothing>()))
        let grown = Where<Person> { $0.$age > 3 } && Where<Person>("name != %@", "Zed")
        #expect(try dataStack.fetchCount(From<Person>(), grown) == 1)
        #expect(try dataStack.fetchCount(From<Person>().where { $0.$age > 3 }) == 1)
        // An untyped nil, and the nil of a required property.
        #expect(try dataStack.fetchCount(From<Person>(), Where<Person>("age", isEqualTo: nil)) == 0)
        let none: Int? = nil
        #expect(
            try dataStack.fetchCount(From<Person>(), Where<Person>("age", isEqualTo: none)) == 0)
        let nobody: Person? = nil
        #expect(try dataStack.fetchCount(From<Person>().where(\.$boss == nobody)) == 2)
        #expect(
            try dataStack.fetchCount(
                From<Person>().where(\.$boss == nobody?.asSnapshot(in: dataStack))) == 2)
    }

    @Test func `a bad format is thrown by the fetch`() throws {
        let dataStack = try stack()
        #expect(throws: CoreStoreError.self) {
            try dataStack.fetchAll(From<Person>(), Where<Person>("age >"))
        }
    }

    @Test func `a tweak sets properties of the request, and clauses set the others`() throws {
        let dataStack = try stack()
        let youngest = try dataStack.fetchAll(
            From<Person>().orderBy(.ascending(\.$age)).tweak { request in
                request.fetchLimit = 1
                request.includesPendingChanges = false
                (request.fetchBatchSize, request.returnsObjectsAsFaults) = (20, false)
                request.relationshipKeyPathsForPrefetching = ["staff"]
            })
        #expect(youngest.map(\.name) == ["Ann"])
        let rows = try dataStack.queryAttributes(
            From<Person>(),
            Select<Person, NSDictionary>(
                "name", .sum("age", as: "sum"), .average("age", as: "mean")),
            GroupBy<Person>("name"), OrderBy<Person>(.ascending("name")))
        // Sums of integers are exact: cast them, or ask for the type.
        #expect(rows.map { $0["sum"] as? Decimal } == [3, 4])
        let sum = try dataStack.queryValue(From<Person>(), Select<Person, Int>(.sum(\.$age)))
        #expect(sum == 7)
    }

    // MARK: Values of several storages, names, loggers

    private final class QuietLogger: CoreStoreLogger, Sendable {
        func log(
            level: LogLevel, message: String, fileName: StaticString, lineNumber: Int,
            functionName: StaticString
        ) {}
        func log(
            error: CoreStoreError, message: String, fileName: StaticString, lineNumber: Int,
            functionName: StaticString
        ) {}
        func assert(
            _ condition: @autoclosure () -> Bool, message: @autoclosure () -> String,
            fileName: StaticString, lineNumber: Int, functionName: StaticString
        ) {}
    }

    @Test func `a logger is Sendable, and an error says what the store told`() {
        let logger: any CoreStoreLogger & Sendable = QuietLogger()
        #expect(logger is QuietLogger)
        let error = #expect(throws: CoreStoreError.self) {
            try DataStack(Self.schema).addStorageAndWait(
                LocalStore(fileURL: URL(fileURLWithPath: "/dev/null/none.trellis")))
        }
        #expect(error?.storeError != nil)
        #expect((error.map { $0 as NSError })?.domain == CoreStoreErrorDomain)
    }

    @Test func `an aggregate covers several storages`() throws {
        let dataStack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entityConfigurations: [Entity<Person>("Person"): ["One", "Two"]]))
        try dataStack.addStorageAndWait(InMemoryStore(configuration: "One"))
        try dataStack.addStorageAndWait(InMemoryStore(configuration: "Two"))
        try dataStack.perform(synchronous: { transaction in
            transaction.create(Into<Person>("One")).age = 2
            transaction.create(Into<Person>("Two")).age = 5
        })
        #expect(try dataStack.queryValue(From<Person>(), Select<Person, Int>(.sum(\.$age))) == 7)
    }
}

extension Harbour {
    /// A class of no schema.
    class Nothing: CoreStoreObject {}
}
