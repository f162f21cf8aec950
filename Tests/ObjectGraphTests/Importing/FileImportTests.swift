import ObjectGraph
import Testing

/// A class whose sources have names.
private protocol Named: ImportableUniqueObject
where ImportSource == [String: Any], UniqueIDType == String {}

extension Named {
    static var uniqueIDKeyPath: String { "name" }
    static func uniqueID(
        from source: ImportSource, in transaction: BaseDataTransaction
    ) throws -> String? {
        source["name"] as? String
    }
}

private final class City: CoreStoreObject, Named {
    @Field.Stored("name") var name: String = ""
    @Field.Stored("people") var people: Int = 0

    func update(from source: ImportSource, in transaction: BaseDataTransaction) throws {
        people = source["people"] as? Int ?? Int(source["people"] as? String ?? "") ?? 0
    }
}

/// Notes the sources that were applied to it, a digit each.
private final class Tally: CoreStoreObject, Named {
    @Field.Stored("name") var name: String = ""
    @Field.Stored("sum") var sum: Int = 0

    static func shouldUpdate(
        from source: ImportSource, in transaction: BaseDataTransaction
    ) -> Bool {
        source["value"] != nil
    }
    func update(from source: ImportSource, in transaction: BaseDataTransaction) throws {
        sum = 10 * sum + (source["value"] as? Int ?? 0)
    }
}

/// Imports of files, which are read in parts.
@Suite struct FileImportTests {
    private let queue = DispatchQueue(label: "view")

    private func stack() throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<City>("City", uniqueConstraints: [[\.$name]]),
                    Entity<Tally>("Tally", uniqueConstraints: [[\.$name]]),
                ]),
            viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        return stack
    }

    private func withFile<Result>(_ text: String, _ body: (URL) throws -> Result) throws -> Result {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("import-\(UUID().uuidString)")
        try Data(text.utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        return try body(url)
    }

    private func run(
        _ text: String, _ format: SourceFormat, progress: Progress? = nil
    ) throws -> (count: Int, cities: [String]) {
        let stack = try stack()
        let count = try withFile(text) { url in
            try stack.perform(synchronous: { transaction in
                try transaction.importUniqueObjects(
                    Into<City>(), file: url, format: format, progress: progress)
            })
        }
        let cities = try queue.sync {
            try stack.fetchAll(From<City>().orderBy(.ascending(\.$name))).map {
                "\($0.name) \($0.people)"
            }
        }
        return (count, cities)
    }

    @Test func `each format gives the same objects`() throws {
        let expected = ["O{s]lo \"x\", \\ 7", "Zürich 4"]
        let json = #"""
            [ {"name": "O{s]lo \"x\", \\", "people": 7, "more": {"a": [{}]}} ,
            {"name": "Zürich", "people": 4}]
            """#
        let lines = #"""
            {"name": "O{s]lo \"x\", \\", "people": 7}

            {"name": "Zürich", "people": 4}
            """#
        let csv = "name,people\r\n\"O{s]lo \"\"x\"\", \\\",7\r\nZürich,4"
        #expect(try run(json, .json).cities == expected)
        #expect(try run(lines, .jsonLines).cities == expected)
        #expect(try run(csv, .csv).cities == expected)
        #expect(try run("[]", .json).count == 0)
        #expect(try run("", .jsonLines).count == 0)
        #expect(try run("name,people\n", .csv).count == 0)
    }

    @Test func `a row of more fields than names is refused before it ends`() throws {
        let error = #expect(throws: CoreStoreError.self) {
            try run("name,people\nOslo,7" + String(repeating: ",", count: 1 << 20), .csv)
        }
        let message = try #require(error.map { "\($0)" })
        #expect(message.contains("more fields than the 2 name(s)"), "\(message)")
        #expect(throws: CoreStoreError.self) { try run("name,people\nOslo", .csv) }
    }

    @Test(arguments: [
        "\u{FEFF}\"name\",\"people\"\n\"Oslo\",\"7\"\n", "\u{FEFF}name,people\nOslo,7",
        "name,people\rOslo,7\r", "\"name\",\"people\"\r\"Oslo\",7", "name,people\r\n\r\nOslo,7\r\n",
    ])
    func `a table with a mark before a quoted name or with returns alone was empty`(
        csv: String
    ) throws {
        #expect(try run(csv, .csv).cities == ["Oslo 7"])
    }

    @Test func `a long file is imported in parts and reports its progress`() throws {
        let progress = Progress(totalUnitCount: 0)
        let text = (0..<2_500).map { #"{"name": "n\#($0 % 2_000)", "people": \#($0)}"# }
            .joined(separator: "\n")
        let (count, cities) = try run(text, .jsonLines, progress: progress)
        #expect(cities.count == 2_000)
        #expect(count == 2_500)
        #expect(cities.contains("n0 2000"))
        #expect(progress.totalUnitCount == Int64(text.utf8.count))
        #expect(progress.completedUnitCount == progress.totalUnitCount)
    }

    @Test func `a repeated source was left out within a part of a file`() throws {
        let stack = try stack()
        // The class declines the first one.
        var lines = [#"{"name": "a"}"#]
        lines += (1...2).map { #"{"name": "a", "value": \#($0)}"# }
        lines += (0..<1_100).map { #"{"name": "n\#($0)", "value": 4}"# }
        lines.append(#"{"name": "a", "value": 3}"#)
        let count = try withFile(lines.joined(separator: "\n")) { url in
            try stack.perform(synchronous: { transaction in
                try transaction.importUniqueObjects(Into<Tally>(), file: url, format: .jsonLines)
            })
        }
        #expect(count == 1_103)
        let sums = try queue.sync {
            try stack.fetchAll(From<Tally>().orderBy(.ascending(\.$name))).map(\.sum)
        }
        #expect(sums.count == 1_101)
        #expect(sums.first == 123)
    }

    @Test(arguments: [
        ("[{\"name\": \"a\"}", SourceFormat.json), ("[{\"name\": \"a\"},]", .json),
        ("{\"name\": \"a\"}", .json), ("[1]", .json), ("[{\"name\" \"a\"}]", .json),
        ("[{}] x", .json), ("{\"name\": ", .jsonLines), ("[]", .jsonLines),
        ("name,people\na", .csv), ("name\n\"a", .csv), ("name\n\"a\"b", .csv),
    ])
    func `a file that is not in its format fails the transaction`(
        text: String, format: SourceFormat
    ) throws {
        #expect(throws: CoreStoreError.self) { try run(text, format) }
    }

    @Test func `a cancelled import throws and stores nothing`() throws {
        let progress = Progress(totalUnitCount: 0)
        progress.cancel()
        let failure = #expect(throws: CoreStoreError.self) {
            try run(#"{"name": "a"}"#, .jsonLines, progress: progress)
        }
        #expect(failure == .userCancelled)
    }

    @Test func `a file that is not there is an error`() throws {
        let stack = try stack()
        let url = URL(fileURLWithPath: "/nowhere/\(UUID().uuidString)")
        let error = #expect(throws: CoreStoreError.self) {
            try stack.perform(synchronous: { transaction in
                _ = try transaction.importObjects(Into<City>(), file: url, format: .csv)
            })
        }
        #expect(error?.localizedDescription.contains(url.path) == true)
    }

    @Test(arguments: [
        ("{\"name\": \"a\"}\n\n{\"name\": ", SourceFormat.jsonLines, "line 3 cannot be read: JSON"),
        ("name,people\na,1\nb,2,3\n", .csv, "line 3 cannot be read: a row has more fields"),
        ("[{\"name\": \"a\"}\n,\n]", .json, "line 3 cannot be read: it is no array"),
    ])
    func `an error names the file and the line`(
        text: String, format: SourceFormat, message: String
    ) throws {
        let error = #expect(throws: CoreStoreError.self) { try run(text, format) }
        let description = try #require(error?.localizedDescription)
        #expect(description.contains("/import-") && description.contains(message))
    }

    @Test func `a source of a file links to one in a later part`() throws {
        let guild = try Guild()
        let lines = (0..<2_500).map { number in
            #"{"code": "\#(number)", "master": "\#((number + 1) % 2_500)"}"#
        }
        let count = try withFile(lines.joined(separator: "\n")) { url in
            try guild.change { transaction in
                try transaction.importUniqueObjects(
                    Into<Fellow>(), file: url, format: .jsonLines)
            }
        }
        #expect(count == 2_500)
        let found = try guild.lines()
        #expect(found.count == 2_500)
        #expect(
            found.contains(#"0 “” of 1, pupils ["2499"], friends [], badges [], notes []"#))
        #expect(
            found.contains(#"2499 “” of 0, pupils ["2498"], friends [], badges [], notes []"#))
    }
}
