import Foundation
import ObjectGraph
import Testing

/// A stack that is opened for reading has a later model than its file.
@Suite struct UnmigratedReaderTests {
    enum V1 {
        final class Person: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Stored("age") var age: Int16 = 0
            @Field.Stored("code") var code: UInt8 = 0
            @Field.Stored("note") var note: String?
            @Field.Relationship("pets", inverse: \.$owner) var pets: [Pet]
            @Field.Relationship("likes") var likes: Set<Pet>
        }
        final class Pet: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Relationship("owner") var owner: Person?
        }
    }

    enum V2 {
        final class Human: CoreStoreObject {
            @Field.Stored("country") var country: String = "Sápmi"
            @Field.Stored("fullName", previousVersionKeyPath: "name") var fullName: String = ""
            @Field.Stored("age") var age: Int?
            @Field.Stored("code") var code: Int32 = 0
            @Field.Stored("note") var note: String?
            @Field.Relationship("pets", inverse: \.$owner) var pets: [Pet]
            @Field.Relationship("liked", previousVersionKeyPath: "likes") var liked: Set<Pet>
            @Field.Relationship("best") var best: Pet?
            @Field.Relationship("friends") var friends: [Human]
            @Field.Relationship("town", inverse: \.$people) var town: Town?
        }
        final class Pet: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Stored("legs") var legs: Int = 4
            @Field.Relationship("owner") var owner: Human?
        }
        final class Town: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Relationship("people") var people: Set<Human>
        }
    }

    private static let first = CoreStoreSchema(
        modelVersion: "V1",
        entities: [
            Entity<V1.Person>("Person", indexes: [[\.$name], [\.$age], [\.$code]]),
            Entity<V1.Pet>("Pet"),
        ])
    private static let second = CoreStoreSchema(
        modelVersion: "V2",
        entities: [
            Entity<V2.Human>(
                "Human", previousName: "Person",
                indexes: [[\.$fullName], [\.$code], [\.$country]]),
            Entity<V2.Pet>("Pet", indexes: [[\.$name]]), Entity<V2.Town>("Town"),
        ])

    private let queue = DispatchQueue(label: "view")
    private let url = Zoo.temporaryURL()

    private func stack(_ schemas: CoreStoreSchema...) -> DataStack {
        let chain = schemas.count == 1 ? [] : schemas.map(\.modelVersion)
        return DataStack(
            schemaHistory: SchemaHistory(allSchema: schemas, migrationChain: MigrationChain(chain)),
            viewContext: .queue(queue))
    }

    private func readOnly(
        _ options: LocalStorageOptions = .none, _ providers: [any SchemaMappingProvider] = []
    ) -> LocalStore {
        var engineOptions = EngineOptions()
        engineOptions.isReadOnly = true
        return LocalStore(
            fileURL: url, migrationMappingProviders: providers, localStorageOptions: options,
            engineOptions: engineOptions)
    }

    /// Writes ten persons, each with a pet, by the first model.
    private func fill(_ writer: DataStack) throws {
        try writer.addStorageAndWait(LocalStore(fileURL: url))
        try writer.perform(synchronous: { transaction in
            for number in 1...10 {
                let person = transaction.create(Into<V1.Person>())
                person.name = "Person \(number)"
                person.age = Int16(10 * number)
                person.code = UInt8(number)
                let pet = transaction.create(Into<V1.Pet>())
                pet.name = "Pet \(number)"
                pet.owner = person
                person.likes = [pet]
            }
        })
    }

    private func withFile(_ body: () throws -> Void) throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let writer = stack(Self.first)
        try fill(writer)
        try writer.close()
        try body()
    }

    private let all = From<V2.Human>().orderBy(.ascending(\.$age))

    @Test func `a later model reads a file that is not migrated`() throws {
        try withFile { () throws in
            let before = try Data(contentsOf: url)
            let steps = try stack(Self.second).requiredMigrationsForStorage(readOnly())
            #expect(steps.map(\.destinationVersion) == ["V2"])
            let reader = stack(Self.second)
            try reader.addStorageAndWait(readOnly())
            try queue.sync { () throws in
                let people = try reader.fetchAll(all)
                #expect(people.map(\.fullName) == (1...10).map { "Person \($0)" })
                #expect(people.map(\.age) == (1...10).map { 10 * $0 })
                #expect(people.map(\.code) == (1...10).map { Int32($0) })
                #expect(people.allSatisfy { $0.country == "Sápmi" && $0.note == nil })
                #expect(people.map { $0.pets.map(\.name) } == (1...10).map { ["Pet \($0)"] })
                #expect(people.map { $0.liked.map(\.name) } == (1...10).map { ["Pet \($0)"] })
                #expect(people.allSatisfy { $0.best == nil && $0.friends.isEmpty })
                #expect(people.allSatisfy { $0.town == nil && $0.pets.first?.legs == 4 })
                let town = try reader.fetchOne(From<V2.Town>())
                #expect(town == nil)
            }
            try reader.close()
            #expect(try Data(contentsOf: url) == before)
        }
    }

    @Test func `conditions and orders use earlier and later properties`() throws {
        try withFile { () throws in
            let reader = stack(Self.second)
            try reader.addStorageAndWait(readOnly())
            try queue.sync { () throws in
                func names(_ clause: Where<V2.Human>) throws -> [String] {
                    try reader.fetchAll(
                        From<V2.Human>().where(clause).orderBy(.ascending(\.$fullName))
                    ).map(\.fullName)
                }
                #expect(try names(\.$fullName == "Person 3") == ["Person 3"])
                #expect(try names(\.$country == "Sápmi" && \.$age > 90) == ["Person 10"])
                #expect(try names(\.$country == "Oslo").isEmpty)
                #expect(try names(\.$code >= 9) == ["Person 10", "Person 9"])
                #expect(try names(\.$age == nil).isEmpty)
                let last = From<V2.Human>()
                    .orderBy(.ascending(\.$country), .descending(\.$code))
                #expect(try reader.fetchOne(last)?.fullName == "Person 10")
                let owner = From<V2.Pet>().where((\.$owner ~ \.$fullName) == "Person 4")
                #expect(try reader.fetchAll(owner).map(\.name) == ["Pet 4"])
                #expect(
                    try reader.queryValue(From<V2.Pet>().select(Int.self, .sum(\.$legs))) == 40)
                #expect(try reader.fetchCount(From<V2.Town>()) == 0)
                #expect(try reader.fetchCount(From<V2.Town>().where(\.$name == "Oslo")) == 0)
                #expect(try reader.fetchCount(From<V2.Human>()) == 10)
            }
            try reader.close()
        }
    }

    @Test func `the file's indexes are used where their keys stay valid`() throws {
        try withFile { () throws in
            let reader = stack(Self.second)
            try reader.addStorageAndWait(readOnly())
            try queue.sync { () throws in
                func access(_ clause: Where<V2.Human>) throws -> String {
                    try reader.explain(From<V2.Human>().where(clause))
                }
                #expect(try access(\.$fullName == "Person 3").contains("the index on fullName"))
                #expect(try access(\.$age == 30).contains("the index on age"))
                // Signed numbers have other keys than unsigned ones.
                #expect(try access(\.$code == 3).contains("scan"))
                #expect(try access(\.$country == "Oslo").contains("scan"))
                #expect(
                    try reader.explain(From<V2.Pet>().where(\.$name == "Pet 1")).contains("scan"))
            }
            try reader.close()
        }
    }

    @Test func `a reader follows a writer that keeps the earlier model`() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let writer = stack(Self.first)
        try fill(writer)
        let reader = stack(Self.second)
        try reader.addStorageAndWait(readOnly())
        try queue.sync { () throws in #expect(try reader.fetchCount(all) == 10) }
        try writer.perform(synchronous: { transaction in
            let person = transaction.create(Into<V1.Person>())
            (person.name, person.age) = ("Late", 5)
            let oldest = try transaction.fetchOne(
                From<V1.Person>().orderBy(.descending(\.$age)))
            transaction.delete(oldest)
        })
        let end = ContinuousClock.now + .seconds(60)
        let late = From<V2.Human>().where(\.$fullName == "Late")
        while try queue.sync(execute: { () throws in try reader.fetchCount(late) }) == 0,
            ContinuousClock.now < end
        {
            Thread.sleep(forTimeInterval: 0.005)
        }
        try queue.sync { () throws in
            let people = try reader.fetchAll(all)
            #expect(people.map(\.fullName) == ["Late"] + (1...9).map { "Person \($0)" })
            #expect(people.allSatisfy { $0.country == "Sápmi" && $0.friends.isEmpty })
        }
        try writer.close()
        try reader.close()
    }

    @Test func `a reader ends when the migration drops an index that it uses`() async throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let first = stack(Self.first)
        try fill(first)
        try first.close()
        let reader = stack(Self.second)
        try reader.addStorageAndWait(readOnly())
        try queue.sync { () throws in #expect(try reader.fetchCount(all) == 10) }
        let commits = reader.externalCommits
        let writer = stack(Self.second)
        try writer.addStorageAndWait(LocalStore(fileURL: url))
        try writer.perform(synchronous: { $0.create(Into<V2.Town>()).name = "Oslo" })
        try writer.close()
        var code: StoreError.Code?
        do throws(CoreStoreError) {
            var iterator = commits.makeAsyncIterator()
            while try await iterator.next() != nil {}
        } catch {
            code = error.storeError?.code
        }
        #expect(code == .schemaMismatch)
        // The view stays where it was.
        try queue.sync { () throws in
            #expect(try reader.fetchCount(From<V2.Town>()) == 0)
            #expect(try reader.fetchAll(all).count == 10)
        }
        try reader.close()
        let anew = stack(Self.second)
        try anew.addStorageAndWait(readOnly())
        try queue.sync { () throws in #expect(try anew.fetchCount(From<V2.Town>()) == 1) }
        try anew.close()
    }

    // MARK: Chains

    enum V3 {
        final class Person: CoreStoreObject {
            @Field.Stored("label", previousVersionKeyPath: "fullName") var label: String = ""
            @Field.Stored("country") var country: String = "none"
            @Field.Stored("age") var age: Int?
            @Field.Stored("code") var code: Int = 0
            @Field.Stored("note") var note: String?
            @Field.Relationship("pets", inverse: \.$owner) var pets: [Pet]
            @Field.Relationship("likes", previousVersionKeyPath: "liked") var likes: Set<Pet>
            @Field.Relationship("best") var best: Pet?
            @Field.Relationship("friends") var friends: [Person]
            @Field.Relationship("town", inverse: \.$people) var town: Town?
        }
        final class Pet: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Stored("legs") var legs: Int = 2
            @Field.Relationship("owner") var owner: Person?
        }
        final class Town: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Relationship("people") var people: Set<Person>
        }
    }

    private static let third = CoreStoreSchema(
        modelVersion: "V3",
        entities: [
            Entity<V3.Person>("Person", previousName: "Human"), Entity<V3.Pet>("Pet"),
            Entity<V3.Town>("Town"),
        ])

    @Test func `a chain of several steps is read through`() throws {
        try withFile { () throws in
            let before = try Data(contentsOf: url)
            let reader = stack(Self.first, Self.second, Self.third)
            try reader.addStorageAndWait(readOnly())
            try queue.sync { () throws in
                let people = try reader.fetchAll(
                    From<V3.Person>().orderBy(.ascending(\.$code)))
                #expect(people.map(\.label) == (1...10).map { "Person \($0)" })
                // The default of the version in which the property came.
                #expect(people.allSatisfy { $0.country == "Sápmi" })
                #expect(people.map { $0.likes.map(\.name) } == (1...10).map { ["Pet \($0)"] })
                #expect(people.allSatisfy { $0.pets.first?.legs == 4 })
            }
            try reader.close()
            #expect(try Data(contentsOf: url) == before)
        }
    }

    @Test func `a chain with a mapping is refused`() throws {
        try withFile { () throws in
            let provider = CustomSchemaMappingProvider(from: "V2", to: "V3")
            #expect(
                try refusal(
                    stack(Self.first, Self.second, Self.third), readOnly(.none, [provider]))
                    == .schemaMismatch)
        }
    }

    // MARK: Refusals

    enum Refused {
        final class WithoutNote: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Stored("age") var age: Int16 = 0
            @Field.Stored("code") var code: UInt8 = 0
            @Field.Relationship("pets", inverse: \.$owner) var pets: [PetA]
            @Field.Relationship("likes") var likes: Set<PetA>
        }
        final class PetA: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Relationship("owner") var owner: WithoutNote?
        }
        final class WithNote: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Stored("age") var age: Int16 = 0
            @Field.Stored("code") var code: UInt8 = 0
            @Field.Stored("note") var note: String = "none"
            @Field.Relationship("pets", inverse: \.$owner) var pets: [PetB]
            @Field.Relationship("likes") var likes: Set<PetB>
        }
        final class PetB: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Relationship("owner") var owner: WithNote?
        }
        final class Fraction: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Stored("age") var age: Double = 0
            @Field.Stored("code") var code: UInt8 = 0
            @Field.Stored("note") var note: String?
            @Field.Relationship("pets", inverse: \.$owner) var pets: [PetC]
            @Field.Relationship("likes") var likes: Set<PetC>
        }
        final class PetC: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Relationship("owner") var owner: Fraction?
        }
        final class Ordered: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Stored("age") var age: Int16 = 0
            @Field.Stored("code") var code: UInt8 = 0
            @Field.Stored("note") var note: String?
            @Field.Relationship("pets", inverse: \.$owner) var pets: [PetD]
            @Field.Relationship("likes") var likes: [PetD]
        }
        final class PetD: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Relationship("owner") var owner: Ordered?
        }
        final class LongDefault: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Stored("age") var age: Int16 = 0
            @Field.Stored("code") var code: UInt8 = 0
            @Field.Stored("note") var note: String?
            @Field.Stored("text") var text: String = String(repeating: "long ", count: 300)
            @Field.Relationship("pets", inverse: \.$owner) var pets: [PetE]
            @Field.Relationship("likes") var likes: Set<PetE>
        }
        final class PetE: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Relationship("owner") var owner: LongDefault?
        }
        final class Initial: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Stored("age") var age: Int16 = 0
            @Field.Stored("code") var code: UInt8 = 0
            @Field.Stored("note") var note: String?
            @Field.Stored("id", dynamicInitialValue: { UUID() }) var id: UUID
            @Field.Relationship("pets", inverse: \.$owner) var pets: [PetF]
            @Field.Relationship("likes") var likes: Set<PetF>
        }
        final class PetF: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Relationship("owner") var owner: Initial?
        }
        final class Alone: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Stored("age") var age: Int16 = 0
            @Field.Stored("code") var code: UInt8 = 0
            @Field.Stored("note") var note: String?
        }
    }

    private static let refused: [String: [DynamicEntity]] = [
        "a property is removed": [
            Entity<Refused.WithoutNote>("Person"), Entity<Refused.PetA>("Pet"),
        ],
        "a value becomes required": [
            Entity<Refused.WithNote>("Person"), Entity<Refused.PetB>("Pet"),
        ],
        "a number becomes a fraction": [
            Entity<Refused.Fraction>("Person"), Entity<Refused.PetC>("Pet"),
        ],
        "links get an order": [Entity<Refused.Ordered>("Person"), Entity<Refused.PetD>("Pet")],
        "a default is long": [
            Entity<Refused.LongDefault>("Person"), Entity<Refused.PetE>("Pet"),
        ],
        "a closure makes values": [Entity<Refused.Initial>("Person"), Entity<Refused.PetF>("Pet")],
        "an entity is removed": [Entity<Refused.Alone>("Person")],
    ]

    private func refusal(_ stack: DataStack, _ storage: LocalStore) throws -> StoreError.Code? {
        let before = try Data(contentsOf: url)
        let error = #expect(throws: CoreStoreError.self) {
            try stack.addStorageAndWait(storage)
        }
        #expect(try Data(contentsOf: url) == before)
        return error?.storeError?.code
    }

    @Test(arguments: refused.keys.sorted())
    func `a model is refused for which objects would be looked at`(kind: String) throws {
        try withFile { () throws in
            let model = CoreStoreSchema(
                modelVersion: "later", entities: Self.refused[kind] ?? [])
            let choices: [LocalStorageOptions] = [
                .none, .recreateStoreOnModelMismatch, .allowDataLoss,
            ]
            for options in choices {
                #expect(try refusal(stack(model), readOnly(options)) == .schemaMismatch)
            }
        }
    }

    /// A bug: the asynchronous call answered that the asynchronous call was needed.
    @Test func `a reader is not told to migrate in the background`() async throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let writer = stack(Self.first)
        try fill(writer)
        try writer.close()
        let model = CoreStoreSchema(
            modelVersion: "later", entities: Self.refused["a number becomes a fraction"] ?? [])
        let storage = readOnly(.allowSynchronousLightweightMigration)
        let result = await withCheckedContinuation { continuation in
            stack(model).addStorage(storage) { continuation.resume(returning: $0) }
        }
        guard case .failure(.internalError) = result else {
            Issue.record("\(result)")
            return
        }
    }

    @Test func `an older program is refused when it reads`() throws {
        try withFile { () throws in
            let writer = stack(Self.second)
            try writer.addStorageAndWait(LocalStore(fileURL: url))
            try writer.close()
            #expect(try refusal(stack(Self.first), readOnly()) == .newerModel)
        }
    }

    // MARK: Other ways to open

    @Test func `a reader migrates nothing and has no progress`() async throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let writer = stack(Self.first)
        try fill(writer)
        try writer.close()
        let before = try Data(contentsOf: url)
        let result = await withCheckedContinuation { continuation in
            let reader = stack(Self.second)
            let progress = reader.addStorage(readOnly()) { result in
                continuation.resume(returning: Result { try result.get() })
                withExtendedLifetime(reader) {}
            }
            #expect(progress == nil)
        }
        #expect(throws: Never.self) { try result.get() }
        #expect(try Data(contentsOf: url) == before)
    }

    @Test func `a file that is opened for reading cannot be upgraded`() async throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let writer = stack(Self.first)
        try fill(writer)
        try writer.close()
        let before = try Data(contentsOf: url)
        let code = await withCheckedContinuation { continuation in
            let reader = stack(Self.second)
            do throws(CoreStoreError) {
                try reader.upgradeStorageIfNeeded(readOnly()) { result in
                    var code: StoreError.Code?
                    if case .failure(let error) = result { code = error.storeError?.code }
                    continuation.resume(returning: code)
                    withExtendedLifetime(reader) {}
                }
            } catch {
                continuation.resume(returning: error.storeError?.code)
            }
        }
        #expect(code == .schemaMismatch)
        #expect(try Data(contentsOf: url) == before)
    }
}
