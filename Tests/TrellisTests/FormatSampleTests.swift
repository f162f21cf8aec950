import Foundation
import PageStore
import RecordStore
import SampleSchemas
import Testing

/// The stores in `spec/samples/`: what a released version wrote stays readable.
@Suite struct FormatSampleTests {
    private static let samples = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "spec/samples")

    /// A sample in a place of its own: reading leaves the original alone, whatever goes wrong.
    private func copy(_ name: String) throws -> URL {
        let copy = FileManager.default.temporaryDirectory
            .appending(path: "sample-\(UUID().uuidString).trellis")
        try FileManager.default.copyItem(at: Self.samples.appending(path: name), to: copy)
        return copy
    }

    @Test(arguments: ["kinds-v1", "deltas-v1", "strange-v1", "chunks-v1"], ["Thing", "Box"])
    func `the samples of the first version read as they were written`(
        sample: String, entity: String
    ) throws {
        let store = try copy("\(sample).trellis")
        defer { try? FileManager.default.removeItem(at: store) }
        let outcome = try Tool.run("dump", store.path, entity, "--json")
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        let expected = try String(
            contentsOf: Self.samples.appending(path: "\(sample).\(entity).json"), encoding: .utf8)
        #expect(outcome.output == expected)
    }

    @Test(arguments: ["copying-v1", "dropping-v1"], ["Pot", "Plant"])
    func `the samples of unfinished migrations read as they were written`(
        sample: String, entity: String
    ) throws {
        try `the samples of the first version read as they were written`(
            sample: sample, entity: entity)
    }

    @Test func `the sample of a store with four models reads as it was written`() throws {
        for entity in ["Person", "Child"] {
            try `the samples of the first version read as they were written`(
                sample: "layouts-v1", entity: entity)
        }
        let store = try copy("layouts-v1.trellis")
        defer { try? FileManager.default.removeItem(at: store) }
        let history = try Tool.run("schema", store.path, "--history", "--json")
        let object = try #require(try history.json() as? [String: Any])
        let models = try #require(object["models"] as? [[String: Any]])
        #expect(models.compactMap { $0["modelVersion"] as? String } == ["V1", "V2", "V3", "V4"])
        // The fingerprints are part of the format.
        #expect(
            models.compactMap { $0["fingerprint"] as? String }
                == LayoutSampleMaker.versions.map { "\($0.fingerprint)" })
        let before = try Data(contentsOf: store)
        for schema in LayoutSampleMaker.versions.dropLast() {
            let error = #expect(throws: StoreError.self) {
                try RecordDatabase.open(
                    .file(store.path), schema: schema, recreatesOnMismatch: true)
            }
            #expect(error?.code == .newerModel)
        }
        #expect(try Data(contentsOf: store) == before)
    }

    @Test func `the sample of a store with moved objects reads as it was written`() throws {
        for entity in ["Person", "Firm"] {
            try `the samples of the first version read as they were written`(
                sample: "moved-v1", entity: entity)
        }
        let store = try copy("moved-v1.trellis")
        defer { try? FileManager.default.removeItem(at: store) }
        let history = try Tool.run("schema", store.path, "--history")
        #expect(
            history.output.hasSuffix(
                """
                moved 1  Company  Company  +3
                moved 2  Company  Firm  +0
                moved 2  Town  removed

                """), "\(history.output)")
        let json = try Tool.run("schema", store.path, "--history", "--json").json()
        let object = try #require(json as? [String: Any])
        let moved = try #require(object["moved"] as? [[String: Any]])
        #expect(
            moved.compactMap { $0["earlierName"] as? String } == ["Company", "Company", "Town"])
        #expect(moved.compactMap { $0["laterName"] as? String } == ["Company", "Firm"])
        #expect(moved.compactMap { $0["generation"] as? Int } == [1, 2, 2])
        #expect(moved.compactMap { $0["offset"] as? Int } == [3, 0, 0])
    }

    @Test(arguments: ["cities-v1", "torn-v1"])
    func `the samples of cities read as they were written`(sample: String) throws {
        try `the samples of the first version read as they were written`(
            sample: sample, entity: "City")
    }

    /// One entry of `damage.json`: chapter 12 of the specification.
    private struct Damage: Decodable {
        var name: String
        var sample: String
        /// The entity whose objects are asked for.
        var entity: String
        /// Where the file is cut off.
        var length: Int?
        /// Hexadecimal digits by the offset of the bytes that they replace.
        var bytes: [String: String]?
        var error: String?
        var objects: String?

        func applied(to sample: Data) throws -> Data {
            var damaged = sample
            for (offset, digits) in bytes ?? [:] {
                let start = try #require(Int(offset))
                let pairs = Array(digits)
                for index in 0..<(pairs.count / 2) {
                    let pair = String(pairs[(2 * index)...(2 * index + 1)])
                    damaged[start + index] = try #require(UInt8(pair, radix: 16))
                }
            }
            return damaged.prefix(length ?? damaged.count)
        }
    }

    @Test func `damaged samples lead to the errors of the specification`() throws {
        let list = try Data(contentsOf: Self.samples.appending(path: "damage.json"))
        let entries = try JSONDecoder().decode([Damage].self, from: list)
        #expect(entries.count >= 156)
        let path = FileManager.default.temporaryDirectory
            .appending(path: "damaged-\(UUID().uuidString).trellis")
        defer { try? FileManager.default.removeItem(at: path) }
        for entry in entries {
            let sample = Self.samples.appending(path: "\(entry.sample).trellis")
            try entry.applied(to: Data(contentsOf: sample)).write(to: path)
            let outcome = try Tool.run("dump", path.path, entry.entity, "--json")
            if let error = entry.error {
                #expect(outcome.errors.hasPrefix("trellis: \(error): "), "\(entry.name)")
            } else {
                let objects = Self.samples.appending(path: try #require(entry.objects))
                #expect(
                    try outcome.output == String(contentsOf: objects, encoding: .utf8),
                    "\(entry.name)")
                #expect(outcome.exitCode == 0 && outcome.errors.isEmpty, "\(entry.name)")
            }
        }
    }

    @Test(arguments: [
        "cities-v1", "torn-v1", "kinds-v1", "deltas-v1", "strange-v1", "chunks-v1", "copying-v1",
        "dropping-v1", "layouts-v1", "moved-v1",
    ])
    func `nothing is wrong with the samples`(sample: String) throws {
        let store = try copy("\(sample).trellis")
        defer { try? FileManager.default.removeItem(at: store) }
        let outcome = try Tool.run("check", store.path)
        #expect(outcome.output == "nothing wrong was found\n")
    }

    @Test(arguments: ["copying-v1", "dropping-v1"])
    func `an interrupted migration is discarded on request`(sample: String) throws {
        let store = try copy("\(sample).trellis")
        defer { try? FileManager.default.removeItem(at: store) }
        let schema = try Tool.run("schema", store.path, "--json").output
        let before = try Tool.run("dump", store.path, "Pot", "--json").output
        for (isLeft, words) in [
            (true, "what an interrupted migration has left is dropped\n"),
            (false, "no migration was interrupted\n"),
        ] {
            let stats = try Tool.run("stats", store.path).output
            #expect((stats.contains("next/") || stats.contains("old/")) == isLeft, "\(stats)")
            let outcome = try Tool.run("migrate", store.path, "--discard")
            #expect(outcome.exitCode == 0, "\(outcome.errors)")
            #expect(outcome.output == words)
        }
        let check = try Tool.run("check", store.path)
        #expect(check.output == "nothing wrong was found\n")
        #expect(try Tool.run("schema", store.path, "--json").output == schema)
        #expect(try Tool.run("dump", store.path, "Pot", "--json").output == before)
    }

    @Test func `discarding a migration creates no store and accepts no model`() throws {
        let store = try copy("copying-v1.trellis")
        defer { try? FileManager.default.removeItem(at: store) }
        let missing = store.path + ".no"
        let outcome = try Tool.run("migrate", missing, "--discard")
        #expect(outcome.exitCode == 2)
        #expect(outcome.errors.contains("notFound"), "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: missing))
        let before = try Data(contentsOf: store)
        for arguments in [
            [], ["--discard", "--to", store.path], ["--discard", "--dry-run"],
            ["--discard", "--allow-any-loss"], ["--discard", "--backup", missing],
        ] {
            let outcome = try Tool.run(["migrate", store.path] + arguments)
            #expect(outcome.exitCode == 64, "\(arguments)")
            #expect(try Data(contentsOf: store) == before)
        }
    }

    @Test func `the sample can be written on`() throws {
        let store = try copy("kinds-v1.trellis")
        defer { try? FileManager.default.removeItem(at: store) }
        let database = try RecordDatabase.open(.file(store.path), schema: SampleMaker.schema)
        let transaction = try database.beginWrite()
        try SampleMaker.addBox("new", to: transaction)
        _ = try transaction.commit()
        try database.close()
        let outcome = try Tool.run("check", store.path)
        #expect(outcome.output == "nothing wrong was found\n", "\(outcome.errors)")
        let boxes = try #require(
            try Tool.run("dump", store.path, "Box", "--json").json() as? [[String: Any]])
        #expect(boxes.last?["name"] as? String == "new")
    }

    /// Not a proof: it makes the samples of a new format version, in the folder that it is given.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["TRELLIS_MAKE_SAMPLE"] != nil))
    func `a new sample holds every kind of value`() throws {
        let path = try #require(ProcessInfo.processInfo.environment["TRELLIS_MAKE_SAMPLE"])
        try SampleMaker.make(at: path + "/kinds-v1.trellis")
        try LayoutSampleMaker.make(at: path + "/layouts-v1.trellis")
        try MoveSampleMaker.make(at: path + "/moved-v1.trellis")
        for (sample, entities) in [
            ("kinds-v1", ["Thing", "Box"]), ("layouts-v1", ["Person", "Child"]),
            ("moved-v1", ["Person", "Firm"]),
        ] {
            for entity in entities {
                let outcome = try Tool.run("dump", path + "/\(sample).trellis", entity, "--json")
                #expect(outcome.exitCode == 0)
                try Data(outcome.output.utf8).write(
                    to: URL(filePath: path + "/\(sample).\(entity).json"))
            }
        }
    }
}

/// Makes the sample store: every type of attribute, every kind of link, a blob, a branch, and
/// commits that only the log holds.
enum SampleMaker {
    private static let types = AttributeType.allCases

    static let schema = SchemaDescription([
        EntityDescription(
            "Thing", attributes: types.map { .optional("\($0.name)Value", $0) },
            relationships: [.toOne("box", to: "Box", inverse: "things")],
            indexes: [["stringValue"], ["int8Value", "dateValue"]]),
        EntityDescription("LargeThing", below: "Thing", required: ["note": .string]),
        EntityDescription(
            "Box", required: ["name": .string],
            relationships: [
                .toManyUnordered("things", to: "Thing"), .toManyOrdered("favorites", to: "Thing"),
                .toManyUnordered("near", to: "Box", inverse: "nearOf"),
                .toManyUnordered("nearOf", to: "Box"),
            ], uniqueConstraints: [["name"]]),
    ])

    static func make(at path: String) throws {
        let folder = FileManager.default.temporaryDirectory
        let working = folder.appending(path: "maker-\(UUID().uuidString).trellis")
        defer { try? FileManager.default.removeItem(at: working) }
        var options = Engine.Options()
        options.pageSizeInBytes = 4096
        options.unitSizeInBytes = 512
        options.logSegmentSizeInBytes = 8192
        let database = try RecordDatabase.open(
            .file(working.path), schema: schema, options: options)
        let first = try database.beginWrite()
        for index in 0..<60 { try addThing(index, to: first) }
        _ = try first.commit()
        try database.checkpoint()
        // The rest is in the log alone when the copy is made, as after a crash.
        let second = try database.beginWrite()
        try addBox("first", to: second)
        try addBox("second", to: second)
        try link(second)
        _ = try second.commit()
        try FileManager.default.copyItem(at: working, to: URL(filePath: path))
        try database.close()
    }

    private static func value(_ type: AttributeType, _ index: Int) -> Value {
        let small = index % 100
        let sign = index % 2 == 0 ? 1 : -1
        return switch type {
        case .bool: .bool(index % 3 == 0)
        case .int8, .int16, .int32: .int(Int64(small * sign))
        case .int64: .int(index == 0 ? .min : .max - Int64(index))
        case .uint8, .uint16, .uint32: .uint(UInt64(small))
        case .uint64: .uint(.max - UInt64(index))
        case .float: .float(Float(index) / 4)
        case .double: .double(Double(index * sign) / 8 + 0.5)
        case .decimal: .decimal(Decimal(index * sign) / 100)
        case .string: .string("thing \(index) é “”\n")
        case .data: .data((0..<UInt8(small)).map { $0 })
        case .date: .date(Double(index) * 86_400.5)
        case .uuid:
            .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(small))))
        case .url: .url("https://example.org/\(index)")
        }
    }

    private static func addThing(_ index: Int, to transaction: RecordTransaction) throws {
        let name = index % 10 == 9 ? "LargeThing" : "Thing"
        let entity = try #require(transaction.schema.entity(named: name))
        var row = entity.emptyRow()
        defer { row.deallocate() }
        for (position, type) in types.enumerated() where (index + position) % 7 != 6 {
            let field = try #require(entity.field(named: "\(type.name)Value"))
            row.setValue(value(type, index), field)
        }
        if let note = entity.field(named: "note") {
            // A blob: more than a quarter of a page.
            row.setValue(.string(String(repeating: "note \(index) ", count: 200)), note)
        }
        var batch = RecordBatch()
        batch.insert(entity, try transaction.allocateNumber(in: entity.hierarchy), row: row)
        try transaction.apply(batch)
    }

    static func addBox(_ name: String, to transaction: RecordTransaction) throws {
        let box = try #require(transaction.schema.entity(named: "Box"))
        var row = box.emptyRow()
        defer { row.deallocate() }
        row.setValue(.string(name), try #require(box.field(named: "name")))
        var batch = RecordBatch()
        batch.insert(box, try transaction.allocateNumber(in: box.hierarchy), row: row)
        try transaction.apply(batch)
    }

    private static func link(_ transaction: RecordTransaction) throws {
        let box = try #require(transaction.schema.entity(named: "Box"))
        let first = ObjectNumber(1)
        var batch = RecordBatch()
        batch.setLinks(
            try #require(box.relationship(named: "favorites")), owner: first,
            [ObjectNumber(9), ObjectNumber(3), ObjectNumber(40)])
        batch.setLinks(
            try #require(box.relationship(named: "near")), owner: first, [ObjectNumber(2)])
        try transaction.apply(batch)
        let thing = try #require(transaction.schema.entity(named: "Thing"))
        let field = try #require(thing.field(named: "box"))
        for number in [ObjectNumber(1), ObjectNumber(5)] {
            let row = try #require(try transaction.row(number, in: thing.hierarchy))
            defer { row.deallocate() }
            row.setLink(first, at: field.byteOffset)
            var change = RecordBatch()
            change.update(thing, number, row: row)
            try transaction.apply(change)
        }
    }
}
