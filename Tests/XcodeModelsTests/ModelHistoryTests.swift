import ObjectGraph
import RecordStore
import Testing
import XcodeModels

/// Xcode's models as versions of a history: a file of the first follows to classes.
@Suite struct ModelHistoryTests {
    /// The classes of Library.xcdatamodel.
    private enum V1 {
        class Person: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
        }
        class Author: Person {
            @Field.Stored("penName") var penName: String?
            @Field.Relationship("works", deleteRule: .cascade) var works: Set<Book>
        }
        class Book: CoreStoreObject {
            @Field.Stored("title") var title: String = "Untitled"
            @Field.Stored("isbn") var isbn: String = ""
            @Field.Stored("pages") var pages: Int16? = 0
            @Field.Relationship("author", inverse: \.$works) var author: Author?
        }

        static func schema(_ version: ModelVersion = "Library") -> CoreStoreSchema {
            CoreStoreSchema(
                modelVersion: version,
                entities: [
                    Entity<Person>("Person", isAbstract: true), Entity<Author>("Author"),
                    Entity<Book>(
                        "Book", indexes: [[\.$title]], uniqueConstraints: [[\.$isbn]]),
                ])
        }
    }

    /// Classes that come after Library 2.xcdatamodel.
    private enum V3 {
        class Person: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
        }
        class Author: Person {
            @Field.Stored("pseudonym", previousVersionKeyPath: "penName") var pseudonym: String?
            @Field.Relationship("books", deleteRule: .cascade) var books: Set<Book>
        }
        class Book: CoreStoreObject {
            @Field.Stored("heading") var heading: String = "Untitled"
            @Field.Stored("isbn") var isbn: String = ""
            @Field.Stored("pageCount") var pageCount: Int?
            @Field.Stored("acquired") var acquired: Date?
            @Field.Stored("shelf") var shelf: String = "A"
            @Field.Relationship("author", inverse: \.$books) var author: Author?
        }

        static func schema() -> CoreStoreSchema {
            CoreStoreSchema(
                modelVersion: "V3",
                entities: [
                    Entity<Person>("Person", isAbstract: true), Entity<Author>("Author"),
                    Entity<Book>("Book", uniqueConstraints: [[\.$isbn]]),
                ])
        }
    }

    /// The classes of Library 2.xcdatamodel alone.
    private enum V2 {
        class Person: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
        }
        class Author: Person {
            @Field.Stored("penName") var penName: String?
            @Field.Relationship("books", deleteRule: .cascade, previousVersionKeyPath: "works")
            var books: Set<Book>
        }
        class Book: CoreStoreObject {
            @Field.Stored("heading", previousVersionKeyPath: "title") var heading: String = ""
            @Field.Stored("isbn") var isbn: String = ""
            @Field.Stored("pageCount", previousVersionKeyPath: "pages") var pageCount: Int32? = 0
            @Field.Stored("acquired") var acquired: Date?
            @Field.Relationship("author", inverse: \.$books) var author: Author?
        }

        static func schema() -> CoreStoreSchema {
            CoreStoreSchema(
                modelVersion: "V2",
                entities: [
                    Entity<Person>("Person", isAbstract: true), Entity<Author>("Author"),
                    Entity<Book>(
                        "Book", indexes: [[\.$heading]], uniqueConstraints: [[\.$isbn]]),
                ])
        }
    }

    /// Classes after Library 2.xcdatamodel that rename again, by the identifiers that it has.
    private enum V4 {
        class Person: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
        }
        class Author: Person {
            @Field.Relationship("volumes", deleteRule: .cascade, previousVersionKeyPath: "works")
            var volumes: Set<Book>
            @Field.Stored("penName") var penName: String?
        }
        class Book: CoreStoreObject {
            @Field.Stored("headline", previousVersionKeyPath: "title") var headline: String = ""
            @Field.Stored("isbn") var isbn: String = ""
            @Field.Stored("length", previousVersionKeyPath: "pages") var length: Int?
            @Field.Stored("acquired") var acquired: Date?
            @Field.Relationship("author", inverse: \.$volumes) var author: Author?
        }

        static func schema() -> CoreStoreSchema {
            CoreStoreSchema(
                modelVersion: "V4",
                entities: [
                    Entity<Person>("Person", isAbstract: true), Entity<Author>("Author"),
                    Entity<Book>("Book", uniqueConstraints: [[\.$isbn]]),
                ])
        }
    }

    private func models() throws -> [String: XcodeDataModelSchema] {
        let models = try XcodeDataModelSchema.from(modelURL: ModelFiles.library).allSchema
        return Dictionary(uniqueKeysWithValues: models.map { ($0.modelVersion, $0) })
    }

    private func withStore<Result>(
        _ schema: CoreStoreSchema, _ body: (URL) throws -> Result
    ) throws -> Result {
        let folder = try ModelFiles.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appending(path: "library.trellis")
        let stack = DataStack(schema, viewContext: .queue(DispatchQueue(label: "view")))
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        try stack.perform(synchronous: { transaction in
            let author = transaction.create(Into<V1.Author>())
            (author.name, author.penName) = ("Mary Ann Evans", "George Eliot")
            for number in 1...3 {
                let book = transaction.create(Into<V1.Book>())
                (book.title, book.isbn) = ("Book \(number)", "\(number)")
                book.pages = Int16(100 * number)
                book.author = author
            }
        })
        stack.unsafeRemoveAllPersistentStoresAndWait()
        return try body(url)
    }

    @Test func `a model of Xcode and its classes declare the same schema`() throws {
        let models = try models()
        for (version, schema) in [("Library", V1.schema()), ("Library 2", V2.schema())] {
            let model = try #require(models[version]).description(for: nil)
            let edits = SchemaDifference.edits(from: model, to: schema.description(for: nil))
            #expect(edits.isEmpty, "\(edits)")
        }
    }

    @Test func `a file of Xcode's first version follows to classes`() throws {
        // The file's version has another name: its entities say which one it is.
        try withStore(V1.schema("App 1")) { url in
            let queue = DispatchQueue(label: "view")
            let stack = DataStack(
                schemaHistory: SchemaHistory(
                    allSchema: [try #require(models()["Library"]), V2.schema()],
                    migrationChain: ["Library", "V2"]),
                viewContext: .queue(queue))
            let storage = LocalStore(fileURL: url)
            #expect(
                try stack.requiredMigrationsForStorage(storage) == [
                    .lightweight(sourceVersion: "App 1", destinationVersion: "V2")
                ])
            try stack.addStorageAndWait(storage)
            try queue.sync {
                let books = try stack.fetchAll(From<V2.Book>().orderBy(.ascending(\.$heading)))
                #expect(books.map(\.heading) == ["Book 1", "Book 2", "Book 3"])
                #expect(books.map(\.pageCount) == [100, 200, 300])
                #expect(books[0].author?.books.count == 3)
                #expect(books[0].author?.name == "Mary Ann Evans")
            }
        }
    }

    @Test func `a file follows through all of Xcode's versions to later classes`() throws {
        try withStore(V1.schema()) { url in
            let queue = DispatchQueue(label: "view")
            let chain: MigrationChain = ["Library", "Library 2", "V3"]
            let legacy = try XcodeDataModelSchema.from(
                modelURL: ModelFiles.library, migrationChain: chain)
            let stack = DataStack(
                schemaHistory: SchemaHistory(
                    allSchema: legacy.allSchema + [V3.schema()], migrationChain: chain),
                viewContext: .queue(queue))
            #expect(stack.modelVersion == "V3")
            let storage = LocalStore(fileURL: url)
            #expect(
                try stack.requiredMigrationsForStorage(storage) == [
                    .lightweight(sourceVersion: "Library", destinationVersion: "Library 2"),
                    .lightweight(sourceVersion: "Library 2", destinationVersion: "V3"),
                ])
            try stack.addStorageAndWait(storage)
            try queue.sync {
                let author = try #require(try stack.fetchOne(From<V3.Author>()))
                #expect(author.pseudonym == "George Eliot")
                let books = author.books.sorted { $0.heading < $1.heading }
                #expect(books.map(\.heading) == ["Book 1", "Book 2", "Book 3"])
                #expect(books.map(\.pageCount) == [100, 200, 300])
                #expect(books.map(\.shelf) == ["A", "A", "A"])
            }
        }
    }

    /// An identifier stays the same through all versions, as Xcode keeps it.
    @Test(arguments: [["Library", "Library 2", "V4"], ["Library", "V4"]])
    func `a property renamed twice keeps its values`(versions: [ModelVersion]) throws {
        try withStore(V1.schema()) { url in
            let queue = DispatchQueue(label: "view")
            let models = try models()
            let stack = DataStack(
                schemaHistory: SchemaHistory(
                    allSchema: versions.compactMap { models[$0] } + [V4.schema()],
                    migrationChain: MigrationChain(versions)),
                viewContext: .queue(queue))
            try stack.addStorageAndWait(LocalStore(fileURL: url))
            try queue.sync {
                let author = try #require(try stack.fetchOne(From<V4.Author>()))
                let books = author.volumes.sorted { $0.headline < $1.headline }
                #expect(books.map(\.headline) == ["Book 1", "Book 2", "Book 3"])
                #expect(books.map(\.length) == [100, 200, 300])
            }
        }
    }

    @Test func `a configuration of a model is that of its classes`() throws {
        let classes = CoreStoreSchema(
            modelVersion: "Library",
            entityConfigurations: [
                Entity<V1.Person>("Person", isAbstract: true): [],
                Entity<V1.Author>("Author"): ["People"],
                Entity<V1.Book>("Book", uniqueConstraints: [[\.$isbn]]): [],
            ])
        let contents = ModelFiles.library.appending(path: "Library.xcdatamodel/contents")
        let text = try String(contentsOf: contents, encoding: .utf8).replacing(
            "    <elements>",
            with: "<configuration name='People'><memberEntity name='Author'/></configuration>"
                + "<elements>")
        let model = try ModelFiles.withModel(Array(text.utf8)) { url in
            try XcodeDataModelSchema(modelName: "Library", modelVersionFileURL: url)
        }
        let people = classes.description(for: "People")
        #expect(people.entities.map(\.name) == ["Author"])
        #expect(
            SchemaDifference.edits(from: model.description(for: "People"), to: people).isEmpty)
    }

    @Test func `a model without classes is no current version`() async {
        await #expect(processExitsWith: .failure) {
            let models = try XcodeDataModelSchema.from(modelURL: ModelFiles.library)
            _ = SchemaHistory(
                allSchema: models.allSchema,
                migrationChain: ["Library", "Library 2", "Library 3"])
        }
        // A model alone is read without ending the process.
        await #expect(processExitsWith: .success) {
            let models = try XcodeDataModelSchema.from(modelURL: ModelFiles.library)
            _ = SchemaHistory(
                allSchema: models.allSchema + [CoreStoreSchema(modelVersion: "V4", entities: [])],
                migrationChain: ["Library", "Library 2", "Library 3", "V4"])
        }
    }
}
