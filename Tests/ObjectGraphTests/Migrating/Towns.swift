import Foundation
import ObjectGraph
import PageStore
import Proof
import RecordStore
import Testing

/// A store on a simulated disk whose migrations are finished by closures: persons get towns of
/// their own, of equal persons one is left, and towns then learn their sizes.
struct Towns {
    enum V1 {
        final class Person: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Stored("townName") var townName: String = ""
            @Field.Stored("photo") var photo: Data?
        }
    }

    enum V2 {
        final class Person: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Stored("townName") var townName: String = ""
            @Field.Stored("photo") var photo: Data?
            @Field.Relationship("town", inverse: \.$people) var town: Town?
        }
        final class Town: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Relationship("people") var people: Set<Person>
        }
    }

    enum V3 {
        final class Person: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Stored("photo") var photo: Data?
            @Field.Relationship("town", inverse: \.$people) var town: Town?
        }
        final class Town: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Stored("size") var size: Double = 0
            @Field.Relationship("people") var people: Set<Person>
        }
    }

    typealias Finishing = CustomSchemaMappingProvider.Finishing

    static let first = CoreStoreSchema(
        modelVersion: "V1", entities: [Entity<V1.Person>("Person")])
    static let second = CoreStoreSchema(
        modelVersion: "V2",
        entities: [
            Entity<V2.Person>("Person"),
            Entity<V2.Town>(
                "Town", uniqueConstraints: [[\.$name]], conflictPolicies: [.error]),
        ])
    static let third = CoreStoreSchema(
        modelVersion: "V3",
        entities: [
            Entity<V3.Person>("Person"),
            Entity<V3.Town>("Town", uniqueConstraints: [[\.$name]]),
        ])

    static let url = URL(fileURLWithPath: "/towns")
    static let personCount = 9

    /// The first version's objects; number 4 is there twice, and some values are large.
    static func photo(_ number: Int) -> Data? {
        number.isMultiple(of: 3) ? Data(repeating: UInt8(number), count: 9000) : nil
    }

    var options = ObjectGraph.EngineOptions()

    init() { options.pageSizeInBytes = 4096 }

    func fill(_ disk: SimulatedDisk) throws {
        let stack = DataStack(Self.first)
        try stack.addStorageAndWait(
            LocalStore(fileURL: Self.url, files: disk, engineOptions: options))
        try stack.perform { transaction in
            for number in [1, 2, 3, 4, 4, 5, 6, 7, 8] {
                let person = transaction.create(Into<V1.Person>())
                person.name = "P\(number)"
                person.townName = number.isMultiple(of: 2) ? "Even" : "Odd"
                person.photo = Self.photo(number)
            }
        }
        try stack.close()
    }

    // MARK: Closures

    /// Makes the towns, and deletes all but one of equal persons.
    static let makingTowns: Finishing = { transaction in
        var known: Set<String> = []
        for person in try transaction.fetchAll(From<V2.Person>()) {
            guard known.insert(person.name).inserted else {
                transaction.delete(person)
                continue
            }
            let name = person.townName
            let town = try transaction.fetchOne(From<V2.Town>().where(\.$name == name))
            person.town = town ?? transaction.create(Into<V2.Town>())
            person.town?.name = name
        }
    }

    /// Sets sizes and photos.
    static let measuring: Finishing = { transaction in
        for town in try transaction.fetchAll(From<V3.Town>()) {
            town.size = Double(town.people.count)
        }
        for person in try transaction.fetchAll(From<V3.Person>()) {
            switch person.name {
            case "P1": person.photo = Data(repeating: 1, count: 20_000)
            case "P3": person.photo = nil
            case "P6": person.photo = Data(repeating: 66, count: 9000)
            default: break
            }
        }
    }

    // MARK: Migrating

    func storage(
        _ files: any FileSystem, _ second: Finishing?, _ third: Finishing?,
        _ localOptions: LocalStorageOptions = nil
    ) -> LocalStore {
        LocalStore(
            fileURL: Self.url, files: files,
            migrationMappingProviders: [
                CustomSchemaMappingProvider(from: "V1", to: "V2", finishing: second),
                CustomSchemaMappingProvider(from: "V2", to: "V3", finishing: third),
            ], localStorageOptions: localOptions, engineOptions: options)
    }

    static func stack(_ last: CoreStoreSchema, viewContext: ViewContext = .main) -> DataStack {
        let schemas = [first, second, third]
        let end = schemas.firstIndex { $0.modelVersion == last.modelVersion } ?? 0
        let known = Array(schemas[...end])
        return DataStack(
            schemaHistory: SchemaHistory(
                allSchema: known, migrationChain: MigrationChain(known.map(\.modelVersion))),
            viewContext: viewContext)
    }

    /// Migrates to the last version, and closes the store.
    func migrate(
        _ files: any FileSystem, _ second: Finishing? = makingTowns,
        _ third: Finishing? = measuring
    ) async throws {
        let stack = Self.stack(Self.third, viewContext: .queue(DispatchQueue(label: "towns")))
        let storage = storage(files, second, third)
        let result: MigrationResult = await withCheckedContinuation { continuation in
            do throws(CoreStoreError) {
                try stack.upgradeStorageIfNeeded(storage) { continuation.resume(returning: $0) }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        _ = try result.get()
    }

    // MARK: Judging

    /// The version of a file, after comparing its whole content and checking its trees.
    func found(_ image: DiskImage, _ place: String) throws -> String {
        let disk = SimulatedDisk(image, seed: 7)
        var readOnly = options
        readOnly.isReadOnly = true
        let database = try RecordDatabase.openReadOnly(path: Self.url.path, files: disk)
        let version = database.schema.description.modelVersion
        let check = try database.snapshot().check()
        #expect(check == [], "\(place)")
        try database.close()
        try checkPages(disk, place)
        guard
            let schema = [Self.first, Self.second, Self.third].first(where: {
                $0.modelVersion == version
            })
        else {
            Issue.record("\(place): the file has the version \(version)")
            return version
        }
        let stack = DataStack(schema)
        try stack.addStorageAndWait(
            LocalStore(fileURL: Self.url, files: disk, engineOptions: readOnly))
        let view = try stack.beginRead()
        switch version {
        case "V1":
            let people = try view.fetchAll(From<V1.Person>())
            #expect(people.count == Self.personCount, "\(place)")
        case "V2":
            let people = try view.fetchAll(From<V2.Person>().orderBy(.ascending(\.$name)))
            #expect(people.map(\.name) == (1...8).map { "P\($0)" }, "\(place)")
            #expect(people.allSatisfy { $0.town?.name == $0.townName }, "\(place)")
            #expect(try view.fetchCount(From<V2.Town>()) == 2, "\(place)")
            for (index, person) in people.enumerated() {
                #expect(person.photo == Self.photo(index + 1), "\(place)")
            }
        default:
            let towns = try view.fetchAll(From<V3.Town>().orderBy(.ascending(\.$name)))
            #expect(towns.map(\.name) == ["Even", "Odd"], "\(place)")
            #expect(towns.map(\.size) == [4, 4], "\(place)")
            #expect(towns.map(\.people.count) == [4, 4], "\(place)")
            let photos = try view.fetchAll(From<V3.Person>().orderBy(.ascending(\.$name)))
                .map { $0.photo?.count }
            #expect(photos == [20_000, nil, nil, nil, nil, 9000, nil, nil], "\(place)")
        }
        try stack.close()
        return version
    }

    /// Every page belongs to a tree that the catalog names, and the blobs to records.
    private func checkPages(_ disk: SimulatedDisk, _ place: String) throws {
        var options = RecordStore.EngineOptions()
        options.mode = .reading
        let engine = try Engine.open(path: Self.url.path, options: options, files: disk)
        let snapshot = try engine.snapshot()
        let trees = try #require(try CatalogView(snapshot)).trees()
        #expect(StoreCheck.run(snapshot, knownTrees: trees.map(\.tree)) == [], "\(place)")
        try engine.close()
    }

    /// The trees of an unfinished migration.
    func unfinishedTrees(_ image: DiskImage) throws -> [String] {
        var options = RecordStore.EngineOptions()
        options.mode = .reading
        let engine = try Engine.open(
            path: Self.url.path, options: options, files: SimulatedDisk(image, seed: 9))
        defer { try? engine.close() }
        return try #require(try CatalogView(try engine.snapshot())).trees().map(\.name)
            .filter { $0.hasPrefix("next/") || $0.hasPrefix("old/") }
    }
}
