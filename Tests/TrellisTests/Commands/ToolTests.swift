import Foundation
import PageStore
import RecordStore
import Testing

/// The tool on whole stores.
@Suite struct ToolTests {
    @Test func `info counts the objects of each entity`() throws {
        let store = try SampleStore()
        let outcome = try Tool.run("info", store.path, "--json")
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        let members = try #require(try outcome.json() as? [String: Any])
        #expect(members["objects"] as? [String: Int] == ["Author": 40, "Book": 40])
        #expect(members["modelVersion"] as? String == "V1")
        #expect(members["pageSizeInBytes"] as? Int == 16_384)
        #expect((members["damage"] as? [Any])?.isEmpty == true)
        let text = try Tool.run("info", store.path)
        #expect(text.output.contains("objects Author"))
    }

    @Test func `check finds nothing in a whole store`() throws {
        let store = try SampleStore()
        let text = try Tool.run("check", store.path)
        #expect(text.exitCode == 0)
        #expect(text.output == "nothing wrong was found\n")
        let json = try Tool.run("check", "--json", store.path)
        let members = try #require(try json.json() as? [String: Any])
        #expect((members["findings"] as? [Any])?.isEmpty == true)
    }

    @Test func `schema shows entities with their properties`() throws {
        let store = try SampleStore()
        let text = try Tool.run("schema", store.path).output
        #expect(text.contains("entity Author"))
        #expect(text.contains("  fee: decimal?"))
        #expect(text.contains("  books → Book (toManyUnordered, nullify, inverse author)"))
        #expect(text.contains("  unique name"))
        let json = try Tool.run("schema", store.path, "--json")
        let members = try #require(try json.json() as? [String: Any])
        #expect((members["entities"] as? [Any])?.count == 2)
    }

    @Test func `schema --diff lists what makes another schema of the file's`() throws {
        let store = try SampleStore()
        let json = store.path + ".json"
        defer { try? FileManager.default.removeItem(atPath: json) }
        try Data(try Tool.run("schema", store.path, "--json").output.utf8)
            .write(to: URL(filePath: json))
        for other in [store.path, json] {
            let same = try Tool.run("schema", store.path, "--diff", other)
            #expect(same.exitCode == 0, "\(same.errors)")
            #expect(same.output == "the schemas are the same\n")
        }
        var schema = SampleStore.schema
        schema.entities.reverse()
        schema.entities[1].attributes.reverse()
        schema.entities[1].attributes.removeFirst()
        schema.entities[0].attributes[0].type = .data
        try JSONEncoder().encode(schema).write(to: URL(filePath: json))
        let text = try Tool.run("schema", store.path, "--diff", json)
        #expect(text.exitCode == 1)
        let lines = ["Author.token is gone", "Book.title: its type was string and is data"]
        #expect(text.output == lines.joined(separator: "\n") + "\n")
        let outcome = try Tool.run("schema", store.path, "--diff", json, "--json")
        #expect(outcome.exitCode == 1)
        let edits = try #require(try outcome.json() as? [[String: Any]])
        #expect(edits.map { $0["edit"] as? String } == ["propertyRemoved", "typeChanged"])
        #expect(edits[1]["entity"] as? String == "Book")
        #expect(edits[1]["property"] as? String == "title")
        #expect(edits[1]["from"] as? String == "string")
        #expect(edits[1]["to"] as? String == "data")
        #expect(edits[1]["needsMigration"] as? Bool == true)
    }

    @Test func `schema --diff reports a model that it cannot read`() throws {
        let store = try SampleStore()
        let other = store.path + ".json"
        defer { try? FileManager.default.removeItem(atPath: other) }
        for text in ["", "{", "[1]", "{\"modelVersion\": \"V1\", \"entities\": 3}"] {
            try Data(text.utf8).write(to: URL(filePath: other))
            let outcome = try Tool.run("schema", store.path, "--diff", other)
            #expect(outcome.exitCode == 2, "\(text): \(outcome.output)")
            #expect(outcome.errors.contains(other), "\(text): \(outcome.errors)")
        }
        var broken = SampleStore.schema
        broken.entities[0].relationships[0].destinationEntityName = "Nothing"
        try JSONEncoder().encode(broken).write(to: URL(filePath: other))
        let outcome = try Tool.run("schema", store.path, "--diff", other)
        #expect(outcome.exitCode == 2)
        #expect(outcome.errors.contains("invalidModel"))
    }

    @Test func `dump prints one array with exact values`() throws {
        let store = try SampleStore()
        let outcome = try Tool.run("dump", store.path, "Author", "--json")
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        let objects = try #require(try outcome.json() as? [[String: Any]])
        #expect(objects.count == 40)
        let first = try #require(objects.first)
        #expect(first["$entity"] as? String == "Author")
        #expect(first["$number"] as? Int == 1)
        #expect(first["name"] as? String == "author 1 \"ü\"")
        #expect(first["fee"] as? String == "0.1")
        #expect(first["born"] as? String == "2001-01-01T00:00:00.250000Z")
        #expect(first["portrait"] as? String == "AAH/")
        #expect(first["token"] as? String == SampleStore.token.uuidString)
        #expect(first["books"] as? [Int] == [1])
        #expect(objects[1]["token"] is NSNull)
        let books = try #require(
            try Tool.run("dump", store.path, "Book", "--json").json() as? [[String: Any]])
        #expect(books.last?["author"] as? Int == 40)
    }

    /// A bug: microseconds were rounded up to seven digits, which is no date.
    @Test func `a date too near to a second for decimals is its seconds`() throws {
        let store = try SampleStore()
        let database = try RecordDatabase.open(.file(store.path), schema: SampleStore.schema)
        let author = try #require(database.schema.entity(named: "Author"))
        let transaction = try database.beginWrite()
        var batch = RecordBatch()
        var row = author.emptyRow()
        defer { row.deallocate() }
        row.setValue(.string("early"), try #require(author.field(named: "name")))
        row.setValue(.date(-1e-20), try #require(author.field(named: "born")))
        batch.insert(author, try transaction.allocateNumber(in: author.hierarchy), row: row)
        // Nor has what is no number digits of its own.
        row.setValue(.string("never"), try #require(author.field(named: "name")))
        let nothing = Double(nan: 5, signaling: false)
        row.setValue(.date(nothing), try #require(author.field(named: "born")))
        batch.insert(author, try transaction.allocateNumber(in: author.hierarchy), row: row)
        try transaction.apply(batch)
        _ = try transaction.commit()
        try database.close()
        let objects = try #require(
            try Tool.run("dump", store.path, "Author", "--json").json() as? [[String: Any]])
        #expect(
            objects.suffix(2).map { $0["born"] as? String }
                == ["-1e-20", "nan"])
    }

    @Test func `dump of an entity that is not there names those that are`() throws {
        let store = try SampleStore()
        let outcome = try Tool.run("dump", store.path, "Pet")
        #expect(outcome.exitCode == 1)
        #expect(outcome.errors.contains("no entity Pet; it has Author, Book"))
    }

    @Test func `tree lists the trees and walks one`() throws {
        let store = try SampleStore(authorCount: 3000)
        let list = try Tool.run("tree", store.path).output
        for name in ["catalog", "counters", "records/Author", "links/Book/author"] {
            #expect(list.contains(name))
        }
        let outcome = try Tool.run("tree", store.path, "records/Author", "--json", "--limit", "2")
        let members = try #require(try outcome.json() as? [String: Any])
        #expect(members["entryCount"] as? Int == 3000)
        #expect((members["entries"] as? [Any])?.count == 2)
        #expect((members["nodesByLevel"] as? [String: Int])?["1"] == 1)
    }

    @Test func `every page that pages lists is shown by page`() throws {
        let store = try SampleStore()
        let pages = try #require(
            try Tool.run("pages", store.path, "--json").json() as? [[String: Any]])
        #expect(pages.count > 5)
        for page in pages.prefix(8) {
            let number = try #require(page["page"] as? Int)
            let shown = try #require(
                try Tool.run("page", store.path, "\(number)", "--json").json() as? [String: Any])
            #expect(shown["kind"] as? String == page["kind"] as? String)
        }
        let missing = try Tool.run("page", store.path, "999999")
        #expect(missing.exitCode == 1)
        #expect(missing.errors.contains("the page does not exist"))
    }

    @Test func `wal shows the frames after the last checkpoint`() throws {
        let store = try SampleStore()
        let database = try RecordDatabase.open(.file(store.path), schema: SampleStore.schema)
        let number = try SampleStore.addBook(to: database)
        // A copy made now is what a crash would leave.
        let copy = try SampleStore(damaging: store) { _ in }
        try database.close()
        let outcome = try Tool.run("wal", copy.path, "--json")
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        let members = try #require(try outcome.json() as? [String: Any])
        let frames = try #require(members["frames"] as? [[String: Any]])
        #expect(frames.contains { $0["type"] as? String == "delta" })
        let commits = frames.compactMap { $0["commit"] as? Int }
        #expect(commits.last == Int(number))
        #expect(try Tool.run("check", copy.path).exitCode == 0)
    }

    @Test func `backup writes a store with the same dump`() throws {
        let store = try SampleStore()
        let copy = store.path + ".copy"
        defer { try? FileManager.default.removeItem(atPath: copy) }
        let outcome = try Tool.run("backup", store.path, copy)
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        for entity in ["Author", "Book"] {
            #expect(
                try Tool.run("dump", copy, entity, "--json").output
                    == Tool.run("dump", store.path, entity, "--json").output)
        }
        #expect(try Tool.run("check", copy).exitCode == 0)
        let again = try Tool.run("compact", store.path, copy)
        #expect(again.exitCode == 1)
        #expect(again.errors.contains("a file of that name already"))
    }

    @Test func `an incremental backup writes only changes and prints their size`() throws {
        let store = try SampleStore(authorCount: 400)
        let copy = store.path + ".copy"
        defer { try? FileManager.default.removeItem(atPath: copy) }
        #expect(try Tool.run("backup", store.path, copy, "--incremental").exitCode == 0)
        let database = try RecordDatabase.open(.file(store.path), schema: SampleStore.schema)
        let book = try #require(database.schema.entity(named: "Book"))
        let transaction = try database.beginWrite()
        var batch = RecordBatch()
        batch.delete(ObjectNumber(7), in: book.hierarchy)
        try transaction.apply(batch)
        _ = try transaction.commit()
        try database.close()
        let outcome = try Tool.run("backup", store.path, copy, "--incremental", "--json")
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        let members = try #require(try outcome.json() as? [String: Any])
        let pages = try #require(members["pagesWritten"] as? Int)
        #expect(pages > 0 && pages < 8)
        for entity in ["Author", "Book"] {
            #expect(
                try Tool.run("dump", copy, entity, "--json").output
                    == Tool.run("dump", store.path, entity, "--json").output)
        }
        #expect(try Tool.run("check", copy).exitCode == 0)
    }

    @Test func `stats prints what the bytes of a file are used for`() throws {
        let store = try SampleStore(authorCount: 3000)
        let outcome = try Tool.run("stats", store.path, "--json")
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        let members = try #require(try outcome.json() as? [String: Any])
        let trees = try #require(members["trees"] as? [[String: Any]])
        let authors = try #require(trees.first { $0["name"] as? String == "records/Author" })
        #expect(authors["entries"] as? Int == 3000)
        #expect(authors["height"] as? Int == 2)
        let fill = try #require(authors["fill"] as? Double)
        #expect(fill > 0.5 && fill <= 1)
        let raw = try #require(authors["rawBytes"] as? Int)
        let stored = try #require(authors["storedBytes"] as? Int)
        #expect(raw > stored && stored > 0)
        // Every byte of the file belongs to something.
        let pages = try #require(
            try Tool.run("pages", store.path, "--json").json() as? [[String: Any]])
        let counted = trees.compactMap { $0["pages"] as? Int }.reduce(0, +)
        #expect(counted == pages.count)
        let text = try Tool.run("stats", store.path).output
        #expect(text.contains("records/Author"))
        #expect(text.contains("freeBytes"))
    }

    @Test func `vacuum keeps what a store holds`() throws {
        let store = try SampleStore()
        let before = try Tool.run("dump", store.path, "Book", "--json").output
        let outcome = try Tool.run("vacuum", store.path, "--json")
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        let members = try #require(try outcome.json() as? [String: Any])
        #expect(members["sizeAfter"] is Int && members["bytesMoved"] is Int)
        #expect(try Tool.run("dump", store.path, "Book", "--json").output == before)
        #expect(try Tool.run("check", store.path).exitCode == 0)
        #expect(try Tool.run("vacuum", store.path + ".no").exitCode == 1)
        #expect(!FileManager.default.fileExists(atPath: store.path + ".no"))
    }
}
