import Foundation
import ObjectGraph
import Testing

/// Stacks for reading while a program with a later model comes to their file.
@MainActor @Suite struct ReadersBesideTests {
    private enum V1 {
        class Person: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
        }
    }
    private enum V2 {
        class Person: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Stored("city") var city: String = "Oslo"
        }
    }

    private enum V3 {
        class Person: CoreStoreObject {
            @Field.Stored("label", previousVersionKeyPath: "name") var label: String = ""
        }
    }

    private func stack<O: CoreStoreObject>(_ version: String, _ type: O.Type) -> DataStack {
        DataStack(CoreStoreSchema(modelVersion: version, entities: [Entity<O>("Person")]))
    }

    private func readOnly(_ url: URL) -> LocalStore {
        var options = EngineOptions()
        options.isReadOnly = true
        return LocalStore(fileURL: url, engineOptions: options)
    }

    private func withFile(_ body: (URL) async throws -> Void) async throws {
        let url = Harbour.temporaryURL()
        defer { Harbour.remove(url) }
        let dataStack = stack("V1", V1.Person.self)
        try dataStack.addStorageAndWait(LocalStore(fileURL: url))
        try dataStack.perform(synchronous: { $0.create(Into<V1.Person>()).name = "Ada" })
        try dataStack.close()
        try await body(url)
    }

    /// The error that ends a sequence; nil where it ends with its stack.
    nonisolated private static func end(
        of commits: ExternalCommits
    ) async -> CoreStoreError? {
        do throws(CoreStoreError) {
            var iterator = commits.makeAsyncIterator()
            while try await iterator.next() != nil {}
            return nil
        } catch {
            return error
        }
    }

    /// Waits until a stack shows two persons.
    private func awaitBob<O: CoreStoreObject>(_ reader: DataStack, _ type: O.Type) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while try reader.fetchCount(From<O>()) < 2, ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    @Test func `following ends when a later model takes something away, and the content stays`()
        async throws
    {
        try await withFile { url in
            let reader = stack("V1", V1.Person.self)
            try reader.addStorageAndWait(readOnly(url))
            #expect(try reader.fetchOne(From<V1.Person>())?.name == "Ada")
            let commits = reader.externalCommits

            let writer = stack("V3", V3.Person.self)
            try writer.addStorageAndWait(LocalStore(fileURL: url))
            try writer.perform(synchronous: { $0.create(Into<V3.Person>()).label = "Bob" })

            let error = await Self.end(of: commits)
            #expect(error?.storeError?.code == .schemaMismatch)
            #expect(try reader.fetchAll(From<V1.Person>()).map(\.name) == ["Ada"])
            try reader.close()

            let anew = stack("V3", V3.Person.self)
            try anew.addStorageAndWait(readOnly(url))
            let persons = try anew.fetchAll(From<V3.Person>().orderBy(.ascending(\.$label)))
            #expect(persons.map(\.label) == ["Ada", "Bob"])
            try anew.close()
            try writer.close()
        }
    }

    @Test func `a reader with the earlier model goes on when a later model only adds`()
        async throws
    {
        try await withFile { url in
            let reader = stack("V1", V1.Person.self)
            try reader.addStorageAndWait(readOnly(url))
            let ada = try #require(try reader.fetchOne(From<V1.Person>()))
            #expect(ada.name == "Ada")

            let writer = stack("V2", V2.Person.self)
            try writer.addStorageAndWait(LocalStore(fileURL: url))
            try writer.perform(synchronous: { transaction in
                let person = transaction.create(Into<V2.Person>())
                (person.name, person.city) = ("Bob", "Bergen")
                let first = try transaction.fetchOne(From<V2.Person>().where(\.$name == "Ada"))
                first?.name = "Ann"
                first?.city = "Ålesund"
            })
            try await awaitBob(reader, V1.Person.self)
            let persons = try reader.fetchAll(From<V1.Person>().orderBy(.ascending(\.$name)))
            #expect(persons.map(\.name) == ["Ann", "Bob"])
            #expect(ada.name == "Ann")
            #expect(try reader.fetchCount(From<V1.Person>().where(\.$name == "Bob")) == 1)
            try reader.close()
            try writer.close()
        }
    }

    private enum V4 {
        class Person: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
        }
        final class Sailor: Person {
            @Field.Stored("ship") var ship: String = ""
        }
    }

    @Test func `following ends when objects of a known entity may be of a new one below it`()
        async throws
    {
        try await withFile { url in
            let reader = stack("V1", V1.Person.self)
            try reader.addStorageAndWait(readOnly(url))
            #expect(try reader.fetchCount(From<V1.Person>()) == 1)
            let commits = reader.externalCommits

            let writer = DataStack(
                CoreStoreSchema(
                    modelVersion: "V4",
                    entities: [Entity<V4.Person>("Person"), Entity<V4.Sailor>("Sailor")]))
            try writer.addStorageAndWait(LocalStore(fileURL: url))
            try writer.perform(synchronous: { $0.create(Into<V4.Sailor>()).name = "Bob" })

            let error = await Self.end(of: commits)
            #expect(error?.storeError?.code == .schemaMismatch)
            #expect(try reader.fetchAll(From<V1.Person>()).map(\.name) == ["Ada"])
            try reader.close()
            try writer.close()
        }
    }

    @Test func `a reader with a later model goes on when a writer with its model comes`()
        async throws
    {
        try await withFile { url in
            let before = try Data(contentsOf: url)
            let reader = stack("V2", V2.Person.self)
            try reader.addStorageAndWait(readOnly(url))
            #expect(try reader.fetchOne(From<V2.Person>())?.city == "Oslo")
            #expect(try Data(contentsOf: url) == before)

            let writer = stack("V2", V2.Person.self)
            try writer.addStorageAndWait(LocalStore(fileURL: url))
            try writer.perform(synchronous: { transaction in
                let person = transaction.create(Into<V2.Person>())
                (person.name, person.city) = ("Bob", "Bergen")
            })
            try writer.close()
            try await awaitBob(reader, V2.Person.self)
            let persons = try reader.fetchAll(From<V2.Person>().orderBy(.ascending(\.$name)))
            #expect(persons.map(\.name) == ["Ada", "Bob"])
            #expect(persons.map(\.city) == ["Oslo", "Bergen"])
            try reader.close()
        }
    }
}
