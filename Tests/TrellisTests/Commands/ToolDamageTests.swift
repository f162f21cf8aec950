import Foundation
import PageStore
import RecordStore
import Testing

/// The tool on files that are not what they should be.
@Suite struct ToolDamageTests {
    /// The first byte of the root of a tree.
    private func place(of tree: String, in store: SampleStore) throws -> Int {
        let trees = try #require(
            try Tool.run("tree", store.path, "--json").json() as? [[String: Any]])
        let root = try #require(trees.first { $0["name"] as? String == tree }?["root"] as? Int)
        let pages = try #require(
            try Tool.run("pages", store.path, "--json").json() as? [[String: Any]])
        let page = try #require(pages.first { $0["page"] as? Int == root })
        return try #require(page["byteOffset"] as? Int)
    }

    @Test func `a damaged tree is reported and the others are shown`() throws {
        let whole = try SampleStore()
        let place = try place(of: "records/Book", in: whole)
        let store = try SampleStore(damaging: whole) { $0[place + 100] ^= 1 }
        let check = try Tool.run("check", store.path, "--json")
        #expect(check.exitCode == 1)
        let members = try #require(try check.json() as? [String: Any])
        let findings = try #require(members["findings"] as? [[String: Any]])
        #expect(findings.contains { $0["byteOffset"] as? Int == place })
        #expect(findings.allSatisfy { $0["code"] as? String == "corrupt" })
        let pages = try Tool.run("pages", store.path)
        #expect(pages.exitCode == 1)
        #expect(pages.output.contains("UNREADABLE"))
        let authors = try Tool.run("dump", store.path, "Author", "--json")
        #expect((try authors.json() as? [Any])?.count == 40)
        let books = try Tool.run("dump", store.path, "Book", "--json")
        #expect(books.exitCode == 1)
        #expect((try books.json() as? [Any])?.isEmpty == true)
        #expect(books.errors.contains("contradicts its checksum"))
    }

    /// A bug: `dump` and `schema` called it corrupt.
    @Test func `a store that no program has used is not called damaged`() throws {
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("unused-\(UUID().uuidString).trellis").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Engine.open(path: path).close()
        #expect(try Tool.run("check", path).exitCode == 0)
        for command in [["dump", path, "Author"], ["schema", path]] {
            let outcome = try Tool.run(command)
            #expect(outcome.exitCode == 1)
            #expect(outcome.errors.hasPrefix("trellis: notFound: "), "\(outcome.errors)")
        }
    }

    @Test func `a store without a readable catalog still shows its pages`() throws {
        let whole = try SampleStore()
        let place = try place(of: "catalog", in: whole)
        let store = try SampleStore(damaging: whole) { $0[place + 100] ^= 1 }
        #expect(try Tool.run("check", store.path).exitCode == 1)
        let info = try Tool.run("info", store.path)
        #expect(info.output.contains("generation"))
        #expect(info.errors.contains("contradicts its checksum"))
        #expect(info.output.contains("damaged: "))
        #expect(info.exitCode == 1)
        let summary = try Tool.run("info", store.path, "--json")
        let members = try #require(try summary.json() as? [String: Any])
        #expect((members["damage"] as? [Any])?.count == 1)
        #expect(try Tool.run("schema", store.path).exitCode == 1)
        let pages = try #require(
            try Tool.run("pages", store.path, "--json").json() as? [[String: Any]])
        let readable = pages.filter { $0["error"] is NSNull }
        #expect(readable.count == pages.count - 1)
    }

    @Test func `a dump continues after a leaf that cannot be read`() throws {
        let whole = try SampleStore(authorCount: 2_000)
        let tree = try #require(
            try Tool.run("tree", whole.path, "records/Author", "--json").json() as? [String: Any])
        let root = try #require(tree["root"] as? Int)
        let node = try #require(
            try Tool.run("page", whole.path, "\(root)", "--json").json() as? [String: Any])
        let children = try #require(node["entries"] as? [[String: Any]])
            .compactMap { $0["child"] as? Int }
        try #require(children.count > 3)
        let pages = try #require(
            try Tool.run("pages", whole.path, "--json").json() as? [[String: Any]])
        let lost = try #require(pages.first { $0["page"] as? Int == children[1] })
        let place = try #require(lost["byteOffset"] as? Int)
        let store = try SampleStore(damaging: whole) { $0[place + 100] ^= 1 }

        let dump = try Tool.run("dump", store.path, "Author", "--json")

        #expect(dump.exitCode == 1)
        #expect(dump.errors.contains("page \(children[1])"))
        let numbers = try #require(try dump.json() as? [[String: Any]])
            .compactMap { $0["$number"] as? Int }
        #expect(numbers.count > 1_000 && numbers.count < 2_000)
        #expect(numbers.first == 1)
        #expect(numbers.last == 2_000)
        #expect(numbers == numbers.sorted())
    }

    @Test func `links that cannot be read leave the rest of their objects`() throws {
        let whole = try SampleStore()
        let trees = try #require(
            try Tool.run("tree", whole.path, "--json").json() as? [[String: Any]])
        let names = trees.compactMap { $0["name"] as? String }
        let links = try #require(names.first { $0.hasSuffix("/author") }, "\(names)")
        let place = try place(of: links, in: whole)
        let store = try SampleStore(damaging: whole) { $0[place + 100] ^= 1 }
        let dump = try Tool.run("dump", store.path, "Author", "--json")
        #expect(dump.exitCode == 1)
        let authors = try #require(try dump.json() as? [[String: Any]])
        #expect(authors.count == 40)
        #expect(authors.allSatisfy { $0["name"] is String && $0["books"] is NSNull })
        #expect(dump.errors.contains("Author 1.books cannot be read"))
    }

    @Test func `a truncated file is reported, and its remaining content is shown`() throws {
        let whole = try SampleStore()
        let ends = try SuperblockCopy.read(path: whole.path).copies
            .map { try $0.outcome.get().requiredLength }
        let end = try #require(ends.min())
        let store = try SampleStore(damaging: whole) { $0.removeLast($0.count - Int(end) + 1) }
        let check = try Tool.run("check", store.path)
        #expect(check.exitCode == 1)
        #expect(check.output.contains("bytes and needs"))
        let info = try Tool.run("info", store.path)
        #expect(info.exitCode == 1)
        #expect(info.output.contains("requiredLength"))
        // What is printed may lack the newest commits: a script must not take it for the whole.
        for command in [["tree"], ["stats"], ["schema"], ["dump", "Author"], ["page", "1"]] {
            let rest = command.dropFirst()
            let outcome = try Tool.run([command[0], store.path] + rest)
            #expect(outcome.exitCode == 1, "\(command)")
        }
    }

    #if os(Linux)
        @Test func `output that a full disk did not take is an error`() throws {
            let store = try SampleStore()
            for command in [["dump", "Author", "--json"], ["info"], ["schema", "--json"]] {
                let full = try FileHandle(forWritingTo: URL(fileURLWithPath: "/dev/full"))
                let arguments = [command[0], store.path] + command.dropFirst()
                let outcome = try Tool.run(arguments, output: full)
                #expect(outcome.exitCode == 74, "\(command)")
                #expect(outcome.errors.contains("the output could not be written"))
                #expect(try Tool.run(arguments).exitCode == 0)
            }
        }
    #endif

    @Test func `a file cut below what its newest superblock needs opens with the other`() throws {
        let whole = try SampleStore(authorCount: 400)
        let copies = try SuperblockCopy.read(path: whole.path)
        let ends = try copies.copies.map { try $0.outcome.get() }
            .sorted { $0.generation < $1.generation }.map(\.requiredLength)
        try #require(ends[0] < ends[1], "the test needs a newest superblock that needs more")
        let store = try SampleStore(damaging: whole) { $0.removeLast($0.count - Int(ends[1]) + 1) }
        for command in [["info"], ["schema"], ["dump"]] {
            let rest = command == ["dump"] ? ["Author", "--json"] : []
            let before = try Tool.run(command + [whole.path] + rest)
            let after = try Tool.run(command + [store.path] + rest)
            #expect(after.exitCode == 0, "\(after.errors)")
            if command != ["info"] { #expect(before.output == after.output) }
        }
        let reading = try RecordDatabase.openReadOnly(path: store.path)
        defer { try? reading.close() }
        let author = try #require(reading.schema.entity(named: "Author"))
        #expect(try reading.snapshot().recordCount(of: author) == 400)
    }

    @Test func `a store with both superblocks damaged shows their content`() throws {
        let whole = try SampleStore()
        let store = try SampleStore(damaging: whole) {
            $0[80] ^= 1
            $0[4096 + 80] ^= 1
        }
        let info = try Tool.run("info", store.path, "--json")
        #expect(info.exitCode == 1)
        let members = try #require(try info.json() as? [String: Any])
        #expect((members["superblocks"] as? [Any])?.count == 2)
        #expect(try Tool.run("check", store.path).exitCode == 1)
    }

    @Test func `salvage writes what is left into a new store and names the rest`() throws {
        let whole = try SampleStore(authorCount: 400)
        let place = try place(of: "records/Book", in: whole)
        let store = try SampleStore(damaging: whole) {
            $0.resetBytes(in: 0..<8192)
            $0[place + 100] ^= 1
        }
        let new = store.path + ".new"
        defer { try? FileManager.default.removeItem(atPath: new) }
        let outcome = try Tool.run("salvage", store.path, "--to", new, "--json")
        let members = try #require(try outcome.json() as? [String: Any])
        #expect(members["isVerified"] as? Bool == true)
        #expect((members["objects"] as? [String: Int])?["Author"] == 400)
        #expect(try Tool.run("check", new).output == "nothing wrong was found\n")
        for author in try #require(
            try Tool.run("dump", new, "Author", "--json").json() as? [[String: Any]])
        {
            #expect(author["portrait"] as? String == "AAH/")
        }
        let again = try Tool.run("salvage", store.path, "--to", new)
        #expect(again.exitCode == 1)
        #expect(again.errors.contains("a file of that name already"))
        let complete = try Tool.run("salvage", whole.path, "--to", new + "2")
        defer { try? FileManager.default.removeItem(atPath: new + "2") }
        #expect(complete.exitCode == 0)
        #expect(complete.output.contains("nothing is lost"))
        for entity in ["Author", "Book"] {
            #expect(
                try Tool.run("dump", new + "2", entity, "--json").output
                    == Tool.run("dump", whole.path, entity, "--json").output)
        }
    }

    @Test func `salvage uses another store's schema for a lost one`() throws {
        let whole = try SampleStore()
        let place = try place(of: "catalog", in: whole)
        let store = try SampleStore(damaging: whole) { $0[place + 100] ^= 1 }
        let new = store.path + ".new"
        defer { try? FileManager.default.removeItem(atPath: new) }
        let refused = try Tool.run("salvage", store.path, "--to", new)
        #expect(refused.exitCode == 1)
        #expect(refused.errors.contains("the schema is lost"))
        #expect(!FileManager.default.fileExists(atPath: new))
        let outcome = try Tool.run(
            "salvage", store.path, "--to", new, "--schema-of", whole.path)
        #expect(outcome.exitCode == 1)
        for entity in ["Author", "Book"] {
            #expect(
                try Tool.run("dump", new, entity, "--json").output
                    == Tool.run("dump", whole.path, entity, "--json").output)
        }
    }

    @Test(arguments: ["info", "check", "schema", "pages", "tree", "wal"])
    func `a foreign file is refused`(command: String) throws {
        let whole = try SampleStore()
        let store = try SampleStore(damaging: whole) { $0 = Data("no store at all".utf8) }
        let outcome = try Tool.run(command, store.path)
        #expect(outcome.exitCode == 1)
        let said = outcome.output + outcome.errors
        #expect(said.contains("does not begin as a Trellis store"))
    }

    @Test func `a store that a writer has open is shown and not changed`() throws {
        let store = try SampleStore()
        let database = try RecordDatabase.open(.file(store.path), schema: SampleStore.schema)
        defer { try? database.close() }
        // The log has something in it.
        let transaction = try database.beginWrite()
        _ = try transaction.commit()
        for command in ["info", "check", "schema", "pages", "wal"] {
            let outcome = try Tool.run(command, store.path)
            #expect(outcome.exitCode == 0, "\(command): \(outcome.errors)")
        }
        let copy = store.path + "-copy"
        defer { try? FileManager.default.removeItem(atPath: copy) }
        #expect(try Tool.run("backup", store.path, copy).exitCode == 0)
        #expect(try Tool.run("check", copy).exitCode == 0)
        let vacuum = try Tool.run("vacuum", store.path)
        #expect(vacuum.exitCode == 1)
        #expect(vacuum.errors.contains("another process has the store open for writing"))
    }

    /// One superblock is whole, and names what is behind the file's end: opening for writing takes
    /// such a file for one whose creation did not finish.
    @Test func `vacuum makes no store of a file that is cut off`() throws {
        let whole = try SampleStore()
        let store = try SampleStore(damaging: whole) {
            $0 = Data(count: 4096) + $0.subdata(in: 4096..<8192)
        }
        let before = try Data(contentsOf: URL(fileURLWithPath: store.path))
        let outcome = try Tool.run("vacuum", store.path)
        #expect(outcome.exitCode == 1)
        #expect(outcome.errors.hasPrefix("trellis: truncated: "), "\(outcome.errors)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: store.path)) == before)
    }

    @Test func `a missing file is reported by its path`() throws {
        let outcome = try Tool.run("info", "/nowhere/at-all.trellis")
        #expect(outcome.exitCode == 1)
        #expect(outcome.errors.contains("/nowhere/at-all.trellis"))
    }
}
