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

    @Test func `following ends when a later model comes, and the earlier content stays`()
        async throws
    {
        try await withFile { url in
            let reader = stack("V1", V1.Person.self)
            try reader.addStorageAndWait(readOnly(url))
            #expect(try reader.fetchOne(From<V1.Person>())?.name == "Ada")
            let commits = reader.externalCommits

            let writer = stack("V2", V2.Person.self)
            try writer.addStorageAndWait(LocalStore(fileURL: url))
            try writer.perform(synchronous: { $0.create(Into<V2.Person>()).name = "Bob" })

            let error = await Self.end(of: commits)
            #expect(error?.storeError?.code == .schemaMismatch)
            #expect(try reader.fetchAll(From<V1.Person>()).map(\.name) == ["Ada"])
            try reader.close()

            let anew = stack("V2", V2.Person.self)
            try anew.addStorageAndWait(readOnly(url))
            let persons = try anew.fetchAll(From<V2.Person>().orderBy(.ascending(\.$name)))
            #expect(persons.map(\.name) == ["Ada", "Bob"])
            #expect(persons.map(\.city) == ["Oslo", "Oslo"])
            try anew.close()
            try writer.close()
        }
    }

    @Test func `a reader with a later model is refused until a writer has migrated the file`()
        async throws
    {
        try await withFile { url in
            let before = try Data(contentsOf: url)
            let reader = stack("V2", V2.Person.self)
            let error = #expect(throws: CoreStoreError.self) {
                try reader.addStorageAndWait(readOnly(url))
            }
            #expect(error?.storeError?.code == .schemaMismatch)
            #expect(try Data(contentsOf: url) == before)

            let writer = stack("V2", V2.Person.self)
            try writer.addStorageAndWait(LocalStore(fileURL: url))
            try writer.close()
            try reader.addStorageAndWait(readOnly(url))
            #expect(try reader.fetchOne(From<V2.Person>())?.city == "Oslo")
            try reader.close()
        }
    }
}
