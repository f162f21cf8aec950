import Foundation
import PageStore
import RecordStore
import SampleSchemas
import Testing

/// `trellis migrate` on stores of its own.
@Suite struct MigrateTests {
    /// A file with the JSON of a model, gone when the test is.
    private final class Model {
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("model-\(UUID().uuidString).json").path

        init(_ text: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }

        convenience init(_ schema: SchemaDescription) throws {
            try self.init(SchemaExport.text(schema))
        }

        /// The sample's schema with changes, as version V2.
        convenience init(_ change: (inout SchemaDescription) -> Void) throws {
            try self.init(MigrateTests.changed(change))
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    private static func changed(_ change: (inout SchemaDescription) -> Void) -> SchemaDescription {
        var schema = SampleStore.schema
        schema.modelVersion = "V2"
        change(&schema)
        return schema
    }

    private static func bytes(_ store: SampleStore) throws -> Data {
        try Data(contentsOf: URL(filePath: store.path))
    }

    private static func dump(_ path: String, _ entity: String) throws -> [[String: Any]] {
        let outcome = try Tool.run("dump", path, entity, "--json")
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        return try #require(try outcome.json() as? [[String: Any]])
    }

    /// That a migration is refused with a code and some words, and the file is what it was.
    private func expectRefusal(
        _ store: SampleStore, _ model: Model, _ code: StoreError.Code, _ words: String = "",
        _ arguments: String...
    ) throws {
        let before = try Self.bytes(store)
        let outcome = try Tool.run(["migrate", store.path, "--to", model.path] + arguments)
        #expect(outcome.exitCode == 2, "\(outcome.output)")
        #expect(outcome.errors.hasPrefix("trellis: \(code.rawValue): "), "\(outcome.errors)")
        #expect(words.isEmpty || outcome.errors.contains(words), "\(outcome.errors)")
        #expect(outcome.output.isEmpty)
        #expect(try Self.bytes(store) == before)
    }

    private static let defaults: [(AttributeType, Value, any Equatable & Sendable)] = [
        (.bool, .bool(true), true), (.int8, .int(-8), -8), (.int64, .int(1 << 40), 1 << 40),
        (.uint64, .uint(7), 7), (.float, .float(0.5), 0.5), (.double, .double(-2.25), -2.25),
        (.decimal, .decimal(Decimal(string: "19.99") ?? .nan), "19.99"),
        (.string, .string("Sápmi"), "Sápmi"), (.data, .data([1, 2]), "AQI="),
        (.date, .date(0.5), "2001-01-01T00:00:00.500000Z"),
        (.uuid, .uuid(SampleStore.token), SampleStore.token.uuidString),
        (.url, .url("https://example.com/"), "https://example.com/"),
    ]

    // MARK: What is done

    @Test func `migrate follows a model in JSON and gives old objects its defaults`() throws {
        let store = try SampleStore()
        let schema = Self.changed { schema in
            schema.entities[0].attributes[0].name = "fullName"
            schema.entities[0].attributes[0].previousName = "name"
            schema.entities[0].uniqueConstraints = [["fullName"]]
            schema.entities[0].attributes += Self.defaults.map { type, value, _ in
                AttributeDescription.required("new_\(type.name)", type, default: value)
            }
            schema.entities.append(EntityDescription("Town", required: ["name": .string]))
            schema.entities.reverse()
        }
        let model = try Model(schema)
        let outcome = try Tool.run("migrate", store.path, "--to", model.path)
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(outcome.output.hasPrefix("model V1 → V2\n  the entity Town is new\n"))
        #expect(outcome.output.contains("  Author.name is named Author.fullName now\n"))
        #expect(outcome.output.hasSuffix("\nthe file has the model\n"))

        let authors = try Self.dump(store.path, "Author")
        #expect(authors.count == 40)
        for (index, author) in authors.enumerated() {
            #expect(author["fullName"] as? String == "author \(index + 1) \"ü\"")
            #expect(author["name"] == nil)
            for (type, _, expected) in Self.defaults {
                let found = author["new_\(type.name)"] as? NSObject
                #expect(found == expected as? NSObject, "\(type): \(String(describing: found))")
            }
        }
        #expect(try Tool.run("check", store.path).exitCode == 0)
        let same = try Tool.run("schema", store.path, "--diff", model.path)
        #expect(same.exitCode == 0, "\(same.output)")
        // The program opens it as its own.
        let database = try RecordDatabase.open(.file(store.path), schema: schema)
        #expect(database.schema.description == schema)
        try database.close()

        let before = try Self.bytes(store)
        let again = try Tool.run("migrate", store.path, "--to", model.path)
        #expect(again.exitCode == 0, "\(again.errors)")
        #expect(again.output == "model V2\nnothing is to be done\n")
        #expect(try Self.bytes(store) == before)
    }

    @Test func `migrate accepts another store as the model`() throws {
        let (store, other) = (try SampleStore(), try SampleStore(authorCount: 1))
        let model = try Model { $0.entities[1].attributes[0].isOptional = true }
        #expect(try Tool.run("migrate", other.path, "--to", model.path).exitCode == 0)
        let outcome = try Tool.run("migrate", store.path, "--to", other.path)
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("Book.title may be nil now"))
        #expect(try Tool.run("schema", store.path, "--diff", other.path).exitCode == 0)
        #expect(try Self.dump(store.path, "Book").count == 40)
    }

    @Test func `a dry run prints the changes and writes no byte`() throws {
        let store = try SampleStore()
        let before = try Self.bytes(store)
        let model = try Model { schema in
            schema.entities[1].attributes.append(.required("year", .int32, default: .int(1900)))
        }
        let copy = store.path + ".copy"
        let arguments = ["migrate", store.path, "--to", model.path, "--dry-run", "--backup", copy]
        let text = try Tool.run(arguments)
        #expect(text.exitCode == 1, "\(text.errors)")
        #expect(text.output == "model V1 → V2\n  Book.year is new\nthe file would change\n")
        let outcome = try Tool.run(arguments + ["--json"])
        #expect(outcome.exitCode == 1)
        let members = try #require(try outcome.json() as? [String: Any])
        #expect(members["from"] as? String == "V1")
        #expect(members["to"] as? [String] == ["V2"])
        #expect(members["changesFile"] as? Bool == true)
        #expect(members["isDryRun"] as? Bool == true)
        #expect(members["backup"] is NSNull)
        let edits = try #require(members["edits"] as? [[String: Any]])
        #expect(edits.map { $0["edit"] as? String } == ["propertyAdded"])
        #expect(try Self.bytes(store) == before)
        #expect(!FileManager.default.fileExists(atPath: copy))
        // Nothing is to be done for the model of the file.
        let own = try Model(SampleStore.schema)
        let nothing = try Tool.run("migrate", store.path, "--to", own.path, "--dry-run")
        #expect(nothing.exitCode == 0, "\(nothing.errors)")
        #expect(nothing.output == "model V1\nnothing is to be done\n")
    }

    @Test func `a dry run prints how much space a migration needs`() throws {
        let store = try SampleStore()
        let model = try Model { schema in
            schema.entities.append(EntityDescription("Item", isAbstract: true))
            for index in 0..<2 { schema.entities[index].superentityName = "Item" }
        }
        let arguments = ["migrate", store.path, "--to", model.path]
        let text = try Tool.run(arguments + ["--dry-run"])
        #expect(text.exitCode == 1, "\(text.errors)")
        let line = try #require(text.output.split(separator: "\n").dropLast().last)
        #expect(line.hasPrefix("80 objects are written anew, for which about "), "\(line)")
        #expect(line.hasSuffix(" beside it"), "\(line)")
        let outcome = try Tool.run(arguments + ["--dry-run", "--json"])
        let members = try #require(try outcome.json() as? [String: Any])
        #expect(members["objects"] as? Int == 80)
        #expect(members["isTooLarge"] as? Bool == false)
        let bytes = try #require(members["neededBytes"] as? Int)
        #expect(bytes > 4096 && bytes < 1 << 20)
        // A migration that was made needs no forecast.
        let done = try Tool.run(arguments)
        #expect(done.exitCode == 0, "\(done.errors)")
        #expect(!done.output.contains("bytes"), "\(done.output)")
    }

    @Test func `a new index changes the file, and another class does not`() throws {
        let store = try SampleStore()
        let before = try Self.bytes(store)
        let renamed = try Model { $0.entities[0].className = "Writer" }
        let outcome = try Tool.run("migrate", store.path, "--to", renamed.path)
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(outcome.output.hasSuffix("\nnothing is to be done\n"))
        #expect(try Self.bytes(store) == before)
        let indexed = try Model { $0.entities[1].indexes = [["title"]] }
        for (isDry, code, last) in [
            (true, 1, "the file would change"), (false, 0, "the file has the model"),
            (true, 0, "nothing is to be done"),
        ] as [(Bool, Int32, String)] {
            let outcome = try Tool.run(
                ["migrate", store.path, "--to", indexed.path] + (isDry ? ["--dry-run"] : []))
            #expect(outcome.exitCode == code, "\(outcome.errors)")
            #expect(outcome.output.hasSuffix("\(last)\n"), "\(outcome.output)")
        }
        #expect(try Tool.run("tree", store.path).output.contains("index/Book/title"))
        #expect(try Tool.run("check", store.path).exitCode == 0)
    }

    @Test func `values are dropped with a permission alone`() throws {
        let store = try SampleStore()
        let model = try Model { $0.entities[0].attributes.removeLast() }
        for arguments in [[], ["--dry-run"]] {
            let before = try Self.bytes(store)
            let outcome = try Tool.run(["migrate", store.path, "--to", model.path] + arguments)
            #expect(outcome.exitCode == 2)
            #expect(outcome.errors.contains("schemaMismatch: Author.token is gone, and object 1"))
            #expect(try Self.bytes(store) == before)
        }
        let dry = try Tool.run(
            "migrate", store.path, "--to", model.path, "--allow-any-loss", "--dry-run")
        #expect(dry.exitCode == 1, "\(dry.errors)")
        #expect(dry.output.contains("Author.token is gone"))
        #expect(try Self.dump(store.path, "Author")[0]["token"] != nil)
        let outcome = try Tool.run("migrate", store.path, "--to", model.path, "--allow-any-loss")
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        let authors = try Self.dump(store.path, "Author")
        #expect(authors.count == 40)
        #expect(authors.allSatisfy { $0["token"] == nil && $0["fee"] != nil })
        #expect(try Tool.run("check", store.path).exitCode == 0)
    }

    @Test func `only the named values are dropped`() throws {
        let store = try SampleStore()
        let model = try Model { schema in
            schema.entities[0].attributes.removeLast(2)
        }
        let names = SampleStore.schema.entities[0].attributes.suffix(2).map { "Author.\($0.name)" }
        let before = try Self.bytes(store)
        for (arguments, code, words) in [
            ([names[0]], 2, "\(names[1]) is gone"), ([names[1]], 2, "\(names[0]) is gone"),
            (names + ["Author.nothing"], 2, "named Author.nothing"),
        ] as [([String], Int32, String)] {
            let outcome = try Tool.run(
                ["migrate", store.path, "--to", model.path, "--allow-loss"] + arguments)
            #expect(outcome.exitCode == code, "\(outcome.output)")
            #expect(outcome.errors.contains(words), "\(outcome.errors)")
            #expect(try Self.bytes(store) == before)
        }
        let both = try Tool.run(
            ["migrate", store.path, "--allow-any-loss", "--to", model.path, "--allow-loss"]
                + names)
        #expect(both.exitCode == 64)
        let outcome = try Tool.run(
            ["migrate", store.path, "--to", model.path, "--allow-loss"] + names)
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(try Self.dump(store.path, "Author").count == 40)
        #expect(try Tool.run("check", store.path).exitCode == 0)
    }

    @Test func `the name in a refusal is one that permits the loss`() throws {
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("migrate-\(UUID().uuidString).trellis").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        func schema(_ version: String, _ attributes: KeyValuePairs<String, AttributeType>)
            -> SchemaDescription
        {
            SchemaDescription(
                version: version,
                [
                    EntityDescription("Animal", optional: attributes),
                    EntityDescription("Dog", below: "Animal"),
                ])
        }
        let database = try RecordDatabase.open(
            .file(path), schema: schema("V1", ["nickname": .string, "age": .int64]))
        let dog = try #require(database.schema.entity(named: "Dog"))
        let transaction = try database.beginWrite()
        var row = dog.emptyRow()
        row.setValue(.string("Rex"), try #require(dog.field(named: "nickname")))
        var batch = RecordBatch()
        batch.insert(dog, try transaction.allocateNumber(in: dog.hierarchy), row: row)
        row.deallocate()
        try transaction.apply(batch)
        _ = try transaction.commit()
        try database.close()
        let model = try Model(schema("V2", ["age": .int64]))
        let refused = try Tool.run("migrate", path, "--to", model.path)
        #expect(refused.exitCode == 2 && refused.errors.contains("Dog.nickname is gone"))
        let outcome = try Tool.run(
            "migrate", path, "--to", model.path, "--allow-loss", "Dog.nickname")
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(try Self.dump(path, "Dog").count == 1)
    }

    @Test func `a backup is of the old model`() throws {
        let store = try SampleStore()
        let copy = store.path + ".copy"
        defer { try? FileManager.default.removeItem(atPath: copy) }
        let dumps = try ["Author", "Book"].map {
            try Tool.run("dump", store.path, $0, "--json").output
        }
        let model = try Model { schema in
            schema.entities[0].attributes.removeLast()
            schema.entities[1].attributes[0].isOptional = true
        }
        let outcome = try Tool.run(
            "migrate", store.path, "--to", model.path, "--allow-any-loss", "--backup", copy,
            "--json")
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        let members = try #require(try outcome.json() as? [String: Any])
        #expect(members["backup"] as? String == copy)
        #expect(
            try ["Author", "Book"].map { try Tool.run("dump", copy, $0, "--json").output } == dumps)
        let database = try RecordDatabase.open(.file(copy), schema: SampleStore.schema)
        #expect(database.schema.description == SampleStore.schema)
        try database.close()
        // A backup is never written over, and without it nothing is migrated.
        let next = try Model { schema in
            schema.entities[0].attributes.removeLast()
            schema.entities[1].attributes[0].isOptional = true
            schema.entities[1].attributes.append(.optional("year", .int32))
        }
        try expectRefusal(store, next, .invalidArgument, copy, "--backup", copy)
        // The model that the backup has is an earlier one of the store.
        try expectRefusal(store, try Model { _ in }, .newerModel, "earlier than that of the file")
    }

    @Test func `schema --diff prints the newer model if a history contains it`() throws {
        let store = try SampleStore()
        let copy = store.path + ".copy"
        defer { try? FileManager.default.removeItem(atPath: copy) }
        let own = try Model(SampleStore.schema)
        let year = AttributeDescription.optional("year", .int32)
        let model = try Model { $0.entities[1].attributes.append(year) }
        func diff(_ path: String, _ other: String) throws -> String {
            let outcome = try Tool.run("schema", path, "--diff", other)
            #expect(outcome.exitCode == 1, "\(outcome.errors)")
            return outcome.output
        }
        // The store has one model: which of the two is newer is not known.
        #expect(try diff(store.path, model.path) == "Book.year is new\n")
        let migration = try Tool.run(
            "migrate", store.path, "--to", model.path, "--backup", copy)
        #expect(migration.exitCode == 0, "\(migration.errors)")
        for older in [own.path, copy] {
            #expect(
                try diff(store.path, older) == """
                    Book.year is gone
                    the other schema is older: the file has had it before its own

                    """)
        }
        #expect(
            try diff(copy, store.path) == """
                Book.year is new
                the other schema is newer: its store has had the file's before

                """)
        #expect(try Tool.run("schema", store.path, "--diff", model.path).exitCode == 0)
    }

    // MARK: What is refused

    @Test func `migrate refuses a model that no migration leads to`() throws {
        let store = try SampleStore()
        try expectRefusal(
            store, try Model { $0.entities[1].attributes[0].type = .uuid }, .schemaMismatch,
            "Book.title")
        let unique = try Model { $0.entities[1].uniqueConstraints = [["title"]] }
        try expectRefusal(store, unique, .duplicateValues, "Book")
    }

    @Test func `objects without a required value refuse a model that has no default`() throws {
        let store = try SampleStore()
        let year = AttributeDescription.required("year", .int32)
        let added = try Model { $0.entities[1].attributes.append(year) }
        let strict = try Model { $0.entities[0].attributes[4].isOptional = false }
        for (model, words) in [
            (added, "schemaMismatch: Book.year is new and required"),
            (strict, "schemaMismatch: Author.token may not be nil any more"),
        ] {
            let outcome = try Tool.run("migrate", store.path, "--to", model.path)
            #expect(outcome.exitCode == 2)
            #expect(outcome.errors.contains(words), "\(outcome.errors)")
            #expect(outcome.output.isEmpty)
        }
        // The old program goes on with it.
        let own = try Model(SampleStore.schema)
        let same = try Tool.run("schema", store.path, "--diff", own.path)
        #expect(same.exitCode == 0, "\(same.output)")
        #expect(try Tool.run("check", store.path).exitCode == 0)
        let authors = try Self.dump(store.path, "Author")
        #expect(authors.count { $0["token"] is NSNull } == 39)

        let filling = try Model { schema in
            schema.entities[0].attributes[4].isOptional = false
            schema.entities[0].attributes[4].defaultValue = .uuid(SampleStore.token)
        }
        #expect(try Tool.run("migrate", store.path, "--to", filling.path).exitCode == 0)
        let token = SampleStore.token.uuidString
        #expect(try Self.dump(store.path, "Author").allSatisfy { $0["token"] as? String == token })
    }

    @Test func `JSON that is not a model is refused`() throws {
        let store = try SampleStore()
        let whole = SchemaExport.text(SampleStore.schema)
        let optional = "\"isCoded\": false,"
        func attribute(_ text: String) -> String {
            whole.replacing(optional, with: "\(optional) \(text),", maxReplacements: 1)
        }
        for text in [
            "", "{}", "[1]", "\u{0}", whole + "x", String(whole.dropLast(10)),
            String(repeating: "[", count: 1_000_000),
            attribute("\"default\": 7"), attribute("\"default\": [\"a\"]"),
            attribute("\"default\": \"\(String(repeating: "x", count: 100_000))\""),
            whole.replacing("\"decimal\"", with: "\"number\""),
            whole.replacing("toOne", with: "toTwo"),
            whole.replacing("\"indexes\"", with: "\"index\""),
            String(repeating: " ", count: SchemaExport.sizeInBytesMax + 1 - whole.utf8.count)
                + whole,
        ] {
            let code: StoreError.Code =
                text.utf8.count > SchemaExport.sizeInBytesMax ? .tooLarge : .notAStore
            try expectRefusal(store, try Model(text), code)
        }
        for change in [
            { $0.entities[0].name = "Book" },
            { $0.entities[0].superentityName = "Author" },
            { $0.entities[0].relationships[0].inverseName = "title" },
            { $0.entities[1].relationships[0].destinationEntityName = "Nothing" },
            { $0.entities[1].relationships[0].minCount = -1 },
            { $0.entities[1].attributes[0].name = "a/b" },
            { $0.entities[1].indexes = [["author", "nothing"]] },
        ] as [(inout SchemaDescription) -> Void] {
            try expectRefusal(store, try Model(change), .invalidModel, "contradicts itself")
        }
        let missing = try Tool.run("migrate", store.path, "--to", store.path + ".no")
        #expect(missing.exitCode == 2)
        #expect(missing.errors.contains("notFound"))
    }

    @Test func `a store that another process writes is refused, and foreseen`() throws {
        let store = try SampleStore()
        let copy = store.path + ".copy"
        let model = try Model { $0.entities[1].attributes[0].isOptional = true }
        let database = try RecordDatabase.open(.file(store.path), schema: SampleStore.schema)
        try expectRefusal(store, model, .lockedByOther)
        try expectRefusal(store, model, .lockedByOther, "", "--backup", copy)
        #expect(!FileManager.default.fileExists(atPath: copy))
        #expect(try Tool.run("migrate", store.path, "--to", model.path, "--dry-run").exitCode == 1)
        try database.close()
        #expect(try Tool.run("migrate", store.path, "--to", model.path).exitCode == 0)
    }

    @Test func `migrate refuses a damaged file and creates no file`() throws {
        let whole = try SampleStore()
        let model = try Model { $0.entities[1].attributes[0].isOptional = true }
        let trees = try #require(
            try Tool.run("tree", whole.path, "--json").json() as? [[String: Any]])
        let root = try #require(trees.first { $0["name"] as? String == "catalog" }?["root"] as? Int)
        let pages = try #require(
            try Tool.run("pages", whole.path, "--json").json() as? [[String: Any]])
        let page = try #require(pages.first { $0["page"] as? Int == root })
        let place = try #require(page["byteOffset"] as? Int)
        try expectRefusal(
            try SampleStore(damaging: whole) { $0[place + 100] ^= 1 }, model, .corrupt)
        try expectRefusal(
            try SampleStore(damaging: whole) { $0 = Data("no store".utf8) }, model, .notAStore)
        let missing = whole.path + ".no"
        let outcome = try Tool.run("migrate", missing, "--to", model.path)
        #expect(outcome.exitCode == 2)
        #expect(outcome.errors.contains("notFound"))
        #expect(!FileManager.default.fileExists(atPath: missing))
    }

    @Test func `a large default is the value of old objects, in an index too`() throws {
        let store = try SampleStore()
        let text = String(repeating: "ü", count: 16_384)
        let model = try Model { schema in
            schema.entities[0].attributes.append(.required("bio", .string, default: .string(text)))
            schema.entities[0].indexes.append(["bio", "name"])
        }
        let outcome = try Tool.run("migrate", store.path, "--to", model.path)
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        let authors = try Self.dump(store.path, "Author")
        #expect(authors.count == 40)
        #expect(authors.allSatisfy { $0["bio"] as? String == text })
        #expect(try Tool.run("check", store.path).exitCode == 0)
    }

    @Test func `a file that a crash left is foreseen as it is, and follows with all commits`()
        throws
    {
        let whole = try SampleStore()
        let database = try RecordDatabase.open(.file(whole.path), schema: SampleStore.schema)
        _ = try SampleStore.addBook(to: database)
        let store = try SampleStore(damaging: whole) { _ in }
        try database.close()
        let before = try Self.bytes(store)
        let model = try Model { schema in
            schema.entities[1].attributes.append(.required("year", .int32, default: .int(1900)))
        }
        #expect(try Tool.run("migrate", store.path, "--to", model.path, "--dry-run").exitCode == 1)
        #expect(try Self.bytes(store) == before)
        #expect(try Tool.run("migrate", store.path, "--to", model.path).exitCode == 0)
        let books = try Self.dump(store.path, "Book")
        #expect(books.count == 41)
        #expect(books.last?["title"] as? String == "late")
        #expect(books.allSatisfy { $0["year"] as? Int == 1900 })
        #expect(try Tool.run("check", store.path).exitCode == 0)
    }
}
