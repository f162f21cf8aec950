import ObjectGraph
import Testing

/// Differences at run time for a program written for CoreStore 9: code that compiles and behaves
/// otherwise. `PortingTests` has the differences that the compiler reports.
@MainActor @Suite struct PortedBehaviourTests {
    private class Base: CoreStoreObject {
        @Field.Stored("inherited") var inherited: Int = 1
    }

    private class Person: Base {
        @Field.Stored("name") var name: String = ""
        @Field.Stored("age") var age: Int = 0
        @Field.Stored("uuid", dynamicInitialValue: { UUID() }) var uuid: UUID
        @Field.Stored("page") var page: URL?
    }

    /// The entity of ``Person``, declared in another order.
    private enum Reordered {
        class Person: CoreStoreObject {
            @Field.Stored("page") var page: URL?
            @Field.Stored("age") var age: Int = 0
            @Field.Stored("uuid", dynamicInitialValue: { UUID() }) var uuid: UUID
            @Field.Stored("name") var name: String = ""
            @Field.Stored("inherited") var inherited: Int = 1
        }
    }

    /// The next version of the model: numbers became decimals, which rewrites rows.
    private enum Next {
        class Person: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Stored("age") var age: Double = 0
        }
    }

    private class Other: CoreStoreObject {
        @Field.Stored("text") var text: String = ""
    }

    private let url = Harbour.temporaryURL()

    private func stack<O: CoreStoreObject>(_ type: O.Type, _ name: String = "Person") -> DataStack {
        DataStack(CoreStoreSchema(modelVersion: "V1", entities: [Entity<O>(name)]))
    }

    /// Fills a file, and closes it.
    private func fill() throws {
        let dataStack = stack(Person.self)
        try dataStack.addStorageAndWait(LocalStore(fileURL: url))
        try dataStack.perform(synchronous: { transaction in
            let person = transaction.create(Into<Person>())
            (person.name, person.age, person.inherited) = ("Ann", 3, 7)
        })
        dataStack.unsafeRemoveAllPersistentStoresAndWait()
    }

    private func memory() throws -> DataStack {
        let dataStack = stack(Person.self)
        try dataStack.addStorageAndWait(InMemoryStore())
        try dataStack.perform(synchronous: { transaction in
            for (name, age) in [("Ann", 3), ("Ben", 4), ("Cid", 8)] {
                let person = transaction.create(Into<Person>())
                (person.name, person.age) = (name, age)
            }
        })
        return dataStack
    }

    // MARK: Files and models

    @Test func `the order of declarations is no part of the model`() throws {
        try fill()
        defer { Harbour.remove(url) }
        let dataStack = stack(Reordered.Person.self)
        try dataStack.addStorageAndWait(
            LocalStore(fileURL: url, localStorageOptions: .recreateStoreOnModelMismatch))
        let person = try #require(try dataStack.fetchOne(From<Reordered.Person>()))
        #expect((person.name, person.age, person.inherited) == ("Ann", 3, 7))
        dataStack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `a read-only opening with another model erases nothing`() throws {
        try fill()
        defer { Harbour.remove(url) }
        var options = EngineOptions()
        options.isReadOnly = true
        let before = try Data(contentsOf: url)
        #expect(throws: CoreStoreError.self) {
            try stack(Other.self, "Other").addStorageAndWait(
                LocalStore(
                    fileURL: url, localStorageOptions: .recreateStoreOnModelMismatch,
                    engineOptions: options))
        }
        #expect(try Data(contentsOf: url) == before)
    }

    @Test func `a lightweight migration is made where the storage is added`() throws {
        try fill()
        defer { Harbour.remove(url) }
        let refused = stack(Next.Person.self)
        #expect(throws: CoreStoreError.self) {
            try refused.addStorageAndWait(LocalStore(fileURL: url))
        }
        let dataStack = stack(Next.Person.self)
        try dataStack.addStorageAndWait(
            LocalStore(
                fileURL: url,
                localStorageOptions: [.allowSynchronousLightweightMigration, .allowDataLoss]))
        #expect(try dataStack.fetchOne(From<Next.Person>())?.age == 3)
        dataStack.unsafeRemoveAllPersistentStoresAndWait()
    }

    /// Adds a storage; returns the progress that it told, when it is done.
    private func add(_ storage: LocalStore, to dataStack: DataStack) async -> Progress? {
        let (results, continuation) = AsyncStream<Bool>.makeStream()
        let progress = dataStack.addStorage(storage) { result in
            if case .success = result { continuation.yield(true) }
            continuation.finish()
        }
        for await isAdded in results { #expect(isAdded) }
        return progress
    }

    @Test func `adding a storage reports migration progress, or nil without migration`()
        async throws
    {
        try fill()
        defer { Harbour.remove(url) }
        let migrated = stack(Next.Person.self)
        let progress = await add(
            LocalStore(fileURL: url, localStorageOptions: .allowDataLoss), to: migrated)
        #expect(progress?.isFinished == true)
        #expect(try migrated.fetchOne(From<Next.Person>())?.age == 3)
        migrated.unsafeRemoveAllPersistentStoresAndWait()
        let again = stack(Next.Person.self)
        #expect(await add(LocalStore(fileURL: url), to: again) == nil)
        #expect(try again.fetchCount(From<Next.Person>()) == 1)
        again.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `the options of a storage, its name and its folder are known`() {
        let storage = LocalStore(fileName: "own.trellis", localStorageOptions: .allowDataLoss)
        #expect(storage.fileURL.lastPathComponent == "own.trellis")
        #expect(storage.localStorageOptions == .allowDataLoss)
    }

    // MARK: Objects and IDs

    @Test func `a superclass without an entity of its own has its properties stored`() throws {
        let dataStack = try memory()
        try dataStack.perform(synchronous: { transaction in
            try transaction.fetchOne(From<Person>().where(\.$name == "Ann"))?.inherited = 9
        })
        #expect(try dataStack.fetchCount(From<Person>().where(\.$inherited == 9)) == 1)
    }

    @Test func `values assigned to a deleted object are not stored`() throws {
        let dataStack = try memory()
        try dataStack.perform(synchronous: { transaction in
            let ann = try #require(try transaction.fetchOne(From<Person>().where(\.$name == "Ann")))
            transaction.delete(ann)
            ann.name = "Eve"
            #expect(ann.isDeleted && ann.name == "Eve")
        })
        #expect(try dataStack.fetchCount(From<Person>().where(\.$name == "Eve")) == 0)
    }

    @Test func `an ID is lasting at once, and no other object ever gets it`() throws {
        struct Cancelled: Error {}
        let dataStack = try memory()
        var kept: NSManagedObjectID?
        #expect(throws: CoreStoreError.self) {
            try dataStack.perform(synchronous: { transaction in
                kept = transaction.create(Into<Person>()).objectID()
                throw Cancelled()
            })
        }
        let id = try #require(kept)
        #expect(!id.isTemporaryID)
        let new = try dataStack.perform(synchronous: { transaction in
            (0..<5).map { _ in transaction.create(Into<Person>()).objectID() }
        })
        #expect(!new.contains(id))
        #expect(dataStack.fetchExisting(id) as Person? == nil)
        #expect(id.uriRepresentation().scheme == "trellis")
    }

    // MARK: Conditions and queries

    @Test func `sums are decimals, and UUIDs and URLs keep their types`() throws {
        let dataStack = try memory()
        let page = try #require(URL(string: "https://example.org"))
        let uuid = try dataStack.perform(synchronous: { transaction in
            let ann = try #require(try transaction.fetchOne(From<Person>().where(\.$name == "Ann")))
            ann.page = page
            return ann.uuid
        })
        let sums = try dataStack.queryAttributes(
            From<Person>(),
            Select<Person, NSDictionary>(.sum("age", as: "sum"), .average("age", as: "mean")))
        #expect(sums.first?["sum"] as? Decimal == 15)
        #expect(sums.first?["mean"] as? Decimal == 5)
        let rows = try dataStack.queryAttributes(
            From<Person>(), Select<Person, NSDictionary>("uuid", "page"),
            Where<Person>(\.$name == "Ann"))
        #expect(rows.first?["uuid"] as? UUID == uuid)
        #expect(rows.first?["page"] as? URL == page)
    }

    @Test func `an object is found by its UUID`() throws {
        let dataStack = try memory()
        let uuid = try #require(try dataStack.fetchOne(From<Person>())?.uuid)
        #expect(try dataStack.fetchCount(From<Person>().where(\.$uuid == uuid)) == 1)
        #expect(try dataStack.fetchCount(From<Person>(), Where<Person>("uuid == %@", uuid)) == 1)
    }

    @Test func `an aggregate of no property is left out`() throws {
        let dataStack = try memory()
        let rows = try dataStack.queryAttributes(
            From<Person>(),
            Select<Person, NSDictionary>(.sum("none", as: "none"), .sum("age", as: "sum")))
        #expect(rows.count == 1)
        #expect(rows.first?["none"] == nil)
        #expect(rows.first?["sum"] as? Decimal == 15)
    }

    @Test func `nil is compared with a required property by its name`() throws {
        let dataStack = try memory()
        let none: Int? = nil
        let ageless = Where<Person>("age", isEqualTo: none)
        #expect(try dataStack.fetchCount(From<Person>(), ageless) == 0)
        #expect(
            try dataStack.fetchCount(
                From<Person>(), Where<Person>("page", isEqualTo: nil as URL?)) == 3)
    }

    // MARK: Transactions

    @Test(arguments: [true, false])
    func `observers are notified of a commit that waits or not`(isWaiting: Bool) async throws {
        let dataStack = try memory()
        let people = dataStack.publishList(From<Person>().orderBy(.ascending(\.$name)))
        try dataStack.perform(
            synchronous: { transaction in transaction.create(Into<Person>()).name = "Dee" },
            waitForAllObservers: isWaiting)
        if isWaiting { #expect(people.snapshot.numberOfItems == 4) }
        for _ in 0..<1_000 where people.snapshot.numberOfItems != 4 {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(people.snapshot.numberOfItems == 4)
    }

    @Test func `an object of the stack is read on another thread`() async throws {
        let dataStack = try memory()
        nonisolated(unsafe) let person = try #require(
            try dataStack.fetchOne(From<Person>().where(\.$name == "Ann")))
        let age = await Task.detached { person.age }.value
        #expect(age == 3)
    }
}
