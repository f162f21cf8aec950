import Foundation
import ObjectGraph
import Testing

/// A program's classes change, and its file follows: nothing of the old model is kept anywhere.
@Suite struct MigrationTests {
    enum V1 {
        final class Person: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Stored("age") var age: Int16 = 0
            @Field.Relationship("pets", inverse: \.$owner) var pets: [Pet]
        }
        final class Pet: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Relationship("owner") var owner: Person?
        }
    }

    enum V2 {
        final class Person: CoreStoreObject {
            /// Renamed.
            @Field.Stored("fullName", previousVersionKeyPath: "name") var fullName: String = ""
            /// Wider, and optional.
            @Field.Stored("age") var age: Int?
            /// New properties, declared before the others.
            @Field.Stored("country") var country: String = "Sápmi"
            @Field.Stored("born") var born: Date?
            @Field.Relationship("pets", inverse: \.$owner) var pets: [Pet]
            @Field.Relationship("best") var best: Pet?
            @Field.Relationship("friends") var friends: Set<Person>
        }
        final class Pet: CoreStoreObject {
            @Field.Stored("legs") var legs: Int = 4
            @Field.Stored("name") var name: String = ""
            @Field.Relationship("owner") var owner: Person?
        }
        final class Town: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
        }
    }

    enum V3 {
        final class Person: CoreStoreObject {
            @Field.Stored("label", previousVersionKeyPath: "fullName") var label: String = ""
            @Field.Stored("age") var age: Int?
            @Field.Stored("country") var country: String = "none"
            @Field.Stored("born") var born: Date?
            @Field.Relationship("pets", inverse: \.$owner) var pets: [Pet]
            @Field.Relationship("best") var best: Pet?
            @Field.Relationship("friends") var friends: Set<Person>
        }
        final class Pet: CoreStoreObject {
            @Field.Stored("legs") var legs: Int = 4
            @Field.Stored("name") var name: String = ""
            @Field.Relationship("owner") var owner: Person?
        }
        final class Town: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
        }
    }

    /// One of two classes is removed, with the links to it.
    enum Alone {
        final class Person: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
        }
        final class Pet: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
        }
    }

    private let first = CoreStoreSchema(
        modelVersion: "V1", entities: [Entity<V1.Person>("Person"), Entity<V1.Pet>("Pet")])
    private let second = CoreStoreSchema(
        modelVersion: "V2",
        entities: [
            Entity<V2.Person>("Person", indexes: [[\.$country, \.$age]]), Entity<V2.Pet>("Pet"),
            Entity<V2.Town>("Town"),
        ])
    private let third = CoreStoreSchema(
        modelVersion: "V3",
        entities: [
            Entity<V3.Person>("Person"), Entity<V3.Pet>("Pet"), Entity<V3.Town>("Town"),
        ])

    private let queue = DispatchQueue(label: "view")

    /// A stack of the last version, with a chain of all where there are several.
    private func makeStack(_ schemas: CoreStoreSchema...) -> DataStack {
        let chain = schemas.count == 1 ? [] : schemas.map(\.modelVersion)
        return DataStack(
            schemaHistory: SchemaHistory(
                allSchema: schemas, migrationChain: MigrationChain(chain)),
            viewContext: .queue(queue))
    }

    private let url = FileManager.default.temporaryDirectory
        .appendingPathComponent("migration-\(UUID().uuidString).trellis")

    private func fill() throws {
        let stack = makeStack(first)
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        try stack.perform { transaction in
            for number in 1...100 {
                let person = transaction.create(Into<V1.Person>())
                person.name = "Person \(number)"
                person.age = Int16(number)
                let pet = transaction.create(Into<V1.Pet>())
                pet.name = "Pet \(number)"
                pet.owner = person
            }
        }
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    private func remove() { try? FileManager.default.removeItem(at: url) }

    private func checkSecond(_ stack: DataStack) throws {
        try queue.sync { try checkPeople(stack) }
    }

    private func checkPeople(_ stack: DataStack) throws {
        let people = try stack.fetchAll(From<V2.Person>().orderBy(.ascending(\.$age)))
        #expect(people.map(\.fullName) == (1...100).map { "Person \($0)" })
        #expect(people.allSatisfy { $0.country == "Sápmi" && $0.born == nil && $0.best == nil })
        #expect(people.map(\.age) == (1...100).map { $0 })
        #expect(people.allSatisfy { $0.pets.count == 1 && $0.friends.isEmpty })
        #expect(people.first?.pets.first?.legs == 4)
        #expect(
            try stack.fetchCount(From<V2.Person>().where(\.$country == "Sápmi" && \.$age > 90))
                == 10)
        #expect(try stack.fetchCount(From<V2.Pet>().where(\.$legs == 4)) == 100)
        #expect(
            try stack.queryValue(From<V2.Pet>().select(Int.self, .sum(\.$legs))) == 400)
        #expect(try stack.fetchCount(From<V2.Town>()) == 0)
    }

    @Test func `a file is migrated to the classes when it is added`() throws {
        defer { remove() }
        try fill()
        for _ in 0..<2 {
            let stack = makeStack(second)
            try stack.addStorageAndWait(LocalStore(fileURL: url))
            try checkSecond(stack)
            stack.unsafeRemoveAllPersistentStoresAndWait()
        }
        // Later objects are written in the new layout.
        let stack = makeStack(second)
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        try stack.perform { transaction in
            let person = try #require(
                try transaction.fetchOne(From<V2.Person>().where(\.$fullName == "Person 7")))
            person.country = "Inari"
            person.best = person.pets.first
            person.friends = Set(
                try transaction.fetchAll(From<V2.Person>().where(\.$age < 3)))
            try transaction.deleteAll(From<V2.Person>().where(\.$age > 98))
            transaction.create(Into<V2.Town>()).name = "Inari"
        }
        stack.unsafeRemoveAllPersistentStoresAndWait()
        let reader = makeStack(second)
        try reader.addStorageAndWait(LocalStore(fileURL: url))
        try queue.sync {
            let person = try #require(
                try reader.fetchOne(From<V2.Person>().where(\.$country == "Inari")))
            #expect(person.best?.name == "Pet 7")
            #expect(Set(person.friends.map(\.fullName)) == ["Person 1", "Person 2"])
            #expect(try reader.fetchCount(From<V2.Person>()) == 98)
            #expect(try reader.fetchCount(From<V2.Pet>().where(\.$owner == nil)) == 2)
        }
        reader.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `an older program does not open a file that was migrated`() throws {
        defer { remove() }
        try fill()
        let stack = makeStack(second)
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        stack.unsafeRemoveAllPersistentStoresAndWait()
        let older = makeStack(first)
        let error = #expect(throws: CoreStoreError.self) {
            try older.addStorageAndWait(LocalStore(fileURL: url))
        }
        #expect(error?.storeError?.code == .newerModel)
        let again = makeStack(second)
        try again.addStorageAndWait(LocalStore(fileURL: url))
        try checkSecond(again)
        again.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `a store that may be recreated is migrated where that is possible`() throws {
        defer { remove() }
        try fill()
        let stack = makeStack(second)
        try stack.addStorageAndWait(
            LocalStore(fileURL: url, localStorageOptions: .recreateStoreOnModelMismatch))
        try checkSecond(stack)
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `the required migration steps are known before and follow the chain`() throws {
        defer { remove() }
        let direct = makeStack(second)
        #expect(try direct.requiredMigrationsForStorage(LocalStore(fileURL: url)) == [])
        try fill()
        let one = MigrationType.lightweight(sourceVersion: "V1", destinationVersion: "V2")
        let two = MigrationType.lightweight(sourceVersion: "V2", destinationVersion: "V3")
        #expect(try direct.requiredMigrationsForStorage(LocalStore(fileURL: url)) == [one])
        let chained = makeStack(first, second, third)
        #expect(try chained.requiredMigrationsForStorage(LocalStore(fileURL: url)) == [one, two])
        #expect(one.isLightweightMigration && one.hasMigration && !one.isHeavyweightMigration)
        // Without the version between, “fullName” is not known to have been “name”.
        let jump = #expect(throws: CoreStoreError.self) {
            try makeStack(third).requiredMigrationsForStorage(LocalStore(fileURL: url))
        }
        expectNoMapping(jump, .schemaMismatch)
        let single = LocalStore(
            fileURL: url, localStorageOptions: .preventProgressiveMigration)
        #expect(throws: CoreStoreError.progressiveMigrationRequired(localStoreURL: url)) {
            try chained.requiredMigrationsForStorage(single)
        }
        #expect(throws: CoreStoreError.progressiveMigrationRequired(localStoreURL: url)) {
            try chained.addStorageAndWait(single)
        }
        try chained.addStorageAndWait(LocalStore(fileURL: url))
        try queue.sync {
            let people = try chained.fetchAll(From<V3.Person>().orderBy(.ascending(\.$age)))
            #expect(people.map(\.label) == (1...100).map { "Person \($0)" })
            // The default of the version in which the property came.
            #expect(people.allSatisfy { $0.country == "Sápmi" })
        }
        chained.unsafeRemoveAllPersistentStoresAndWait()
        #expect(try chained.requiredMigrationsForStorage(LocalStore(fileURL: url)) == [])
    }

    /// A bug: the forecast left out a version that only adds an index, and the opening counted it.
    @Test func `a version that only adds an index is a step of the forecast`() async throws {
        defer { remove() }
        try fill()
        let indexed = CoreStoreSchema(
            modelVersion: "V2i",
            entities: [
                Entity<V2.Person>("Person", indexes: [[\.$country, \.$age], [\.$age]]),
                Entity<V2.Pet>("Pet"), Entity<V2.Town>("Town"),
            ])
        let stack = makeStack(first, second, indexed)
        let one = MigrationType.lightweight(sourceVersion: "V1", destinationVersion: "V2")
        let two = MigrationType.lightweight(sourceVersion: "V2", destinationVersion: "V2i")
        #expect(try stack.requiredMigrationsForStorage(LocalStore(fileURL: url)) == [one, two])
        let single = LocalStore(
            fileURL: url, localStorageOptions: .preventProgressiveMigration)
        #expect(throws: CoreStoreError.progressiveMigrationRequired(localStoreURL: url)) {
            try stack.requiredMigrationsForStorage(single)
        }
        #expect(try await upgrade(stack).steps == [one, two])
        #expect(try stack.requiredMigrationsForStorage(LocalStore(fileURL: url)) == [])
    }

    /// A bug: the model of a configuration that no entity has is empty, and so was the file then.
    @Test func `an upgrade by a misspelt configuration emptied the file`() async throws {
        defer { remove() }
        try fill()
        let stack = makeStack(second)
        let misspelt = LocalStore(
            fileURL: url, configuration: "Typo", localStorageOptions: .allowDataLoss)
        #expect(throws: CoreStoreError.self) { try stack.requiredMigrationsForStorage(misspelt) }
        #expect(throws: CoreStoreError.self) {
            try stack.upgradeStorageIfNeeded(misspelt) { _ in }
        }
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        try checkSecond(stack)
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `a chain without the file's version is refused`() throws {
        defer { remove() }
        try fill()
        let chained = makeStack(second, third)
        let planned = #expect(throws: CoreStoreError.self) {
            try chained.requiredMigrationsForStorage(LocalStore(fileURL: url))
        }
        expectNoMapping(planned, .schemaMismatch)
        let error = #expect(throws: CoreStoreError.self) {
            try chained.addStorageAndWait(LocalStore(fileURL: url))
        }
        #expect(error?.storeError?.code == .schemaMismatch)
    }

    private func expectNoMapping(
        _ error: CoreStoreError?, _ code: StoreError.Code, _ version: ModelVersion = "V3"
    ) {
        guard case .mappingModelNotFound(url, _, version)? = error else {
            Issue.record("\(error.map { "\($0)" } ?? "nothing was thrown")")
            return
        }
        #expect(error?.storeError?.code == code)
    }

    @Test func `a file is upgraded without being added`() async throws {
        defer { remove() }
        let stack = makeStack(second)
        let missing = #expect(throws: CoreStoreError.self) {
            try stack.upgradeStorageIfNeeded(LocalStore(fileURL: url)) { _ in }
        }
        #expect(missing?.storeError?.code == .notFound)
        try fill()
        let taken = try await upgrade(stack)
        #expect(
            taken.steps == [.lightweight(sourceVersion: "V1", destinationVersion: "V2")])
        #expect(taken.hadProgress)
        let again = try await upgrade(stack)
        #expect(again.steps == [])
        #expect(!again.hadProgress)
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        try checkSecond(stack)
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    /// A bug: the second call, or a storage that was added meanwhile, found the file open.
    @Test func `upgrades of one file wait for each other`() async throws {
        defer { remove() }
        try fill()
        let (results, continuation) = AsyncStream<MigrationResult>.makeStream()
        let stacks = [makeStack(second), makeStack(second)]
        for stack in stacks + stacks {
            try stack.upgradeStorageIfNeeded(LocalStore(fileURL: url)) { continuation.yield($0) }
        }
        try stacks[0].addStorageAndWait(LocalStore(fileURL: url))
        var steps: [Int] = []
        for await result in results {
            steps.append(try result.get().count)
            if steps.count == 4 { break }
        }
        // Adding the storage may have come first.
        #expect(steps.reduce(0, +) <= 1)
        try checkSecond(stacks[0])
        stacks[0].unsafeRemoveAllPersistentStoresAndWait()
    }

    private func upgrade(
        _ stack: DataStack
    ) async throws -> (steps: [MigrationType], hadProgress: Bool) {
        let (results, continuation) = AsyncStream<MigrationResult>.makeStream()
        let progress = try stack.upgradeStorageIfNeeded(LocalStore(fileURL: url)) {
            continuation.yield($0)
        }
        for await result in results { return (try result.get(), progress != nil) }
        return ([], false)
    }

    @Test func `a storage that is added in the background reports its migration`() async throws {
        defer { remove() }
        try fill()
        let stack = makeStack(second)
        for isFirst in [true, false] {
            let (results, continuation) = AsyncStream<SetupResult<LocalStore>>.makeStream()
            let progress = stack.addStorage(LocalStore(fileURL: url)) { continuation.yield($0) }
            #expect((progress != nil) == isFirst)
            for await result in results {
                _ = try result.get()
                break
            }
            if let progress { #expect(progress.isFinished) }
            try checkSecond(stack)
            stack.unsafeRemoveAllPersistentStoresAndWait()
        }
    }

    /// A bug: the entity of an ID was looked up by position, as if tags had no gaps.
    @Test func `IDs name their own entity when another one is gone`() throws {
        func check<O: CoreStoreObject>(_ type: O.Type, _ name: String) throws {
            defer { remove() }
            try fill()
            let stack = makeStack(
                CoreStoreSchema(modelVersion: "V2", entities: [Entity<O>(name)]))
            try stack.addStorageAndWait(
                LocalStore(fileURL: url, localStorageOptions: .allowDataLoss))
            try stack.perform { transaction in _ = transaction.create(Into<O>()) }
            try queue.sync {
                let objects = try stack.fetchAll(From<O>())
                #expect(objects.count == 101)
                for object in objects {
                    let id = object.objectID()
                    #expect(id.entityName == name)
                    #expect(stack.fetchExisting(id) as O? === object)
                    let url = id.uriRepresentation()
                    #expect(url.absoluteString.contains("/\(name)/"))
                }
            }
            stack.unsafeRemoveAllPersistentStoresAndWait()
        }
        try check(Alone.Person.self, "Person")
        try check(Alone.Pet.self, "Pet")
    }
}
