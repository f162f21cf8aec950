import Foundation
import MigrationProof
import PageStore
import SampleSchemas
import TestSupport
import Testing

@testable import RecordStore

/// A file knows the models that it has had: an older program neither migrates nor replaces it.
@Suite struct ModelHistoryTests {
    private static func schema(
        _ version: String, _ attributes: [AttributeDescription] = [], indexes: [[String]] = []
    ) -> SchemaDescription {
        SchemaDescription(
            version: version,
            [
                EntityDescription(
                    "Thing", required: ["id": .int64], attributes: attributes, indexes: indexes)
            ])
    }

    private static let later = AttributeDescription.optional("later", .int64)
    private static let last = AttributeDescription.optional("last", .string)
    private static let first = schema("V1")
    private static let second = schema("V2", [later])
    private static let third = schema("V3", [later, last])
    /// No migration leads to it from the others.
    private static let other = SchemaDescription(
        version: "other", [EntityDescription("Thing", required: ["id": .uuid])])

    private func open(
        _ schema: SchemaDescription, _ files: MemoryFileSystem, earlier: [SchemaDescription] = [],
        recreates: Bool = false, route: MigrationRoute? = nil
    ) throws -> RecordDatabase {
        try RecordDatabase.open(
            .file("store"), schema: schema, files: files, recreatesOnMismatch: recreates,
            route: route, earlier: earlier)
    }

    /// A file that has had these models one after the other, without a value of a later property.
    private func files(_ schemas: SchemaDescription...) throws -> MemoryFileSystem {
        let files = MemoryFileSystem()
        for schema in schemas {
            let database = try open(schema, files)
            if schema.modelVersion == schemas.first?.modelVersion { try insert(3, database) }
            try database.close()
        }
        return files
    }

    private func insert(_ count: Int, _ database: RecordDatabase) throws {
        let transaction = try database.beginWrite()
        let thing = try #require(database.schema.entity(named: "Thing"))
        var batch = RecordBatch()
        for _ in 0..<count {
            var row = thing.emptyRow()
            defer { row.deallocate() }
            for field in thing.fields where field.name == "id" { row.setValue(.int(1), field) }
            batch.insert(thing, try transaction.allocateNumber(in: thing.hierarchy), row: row)
        }
        try transaction.apply(batch)
        try transaction.commit()
    }

    private func history(_ files: MemoryFileSystem) throws -> ModelHistory? {
        var options = Engine.Options()
        options.mode = .reading
        let engine = try Engine.open(path: "store", options: options, files: files)
        defer { try? engine.close() }
        return try #require(CatalogView(try engine.snapshot())).history()
    }

    // MARK: Older programs

    @Test func `an older program migrated a file backwards where nothing was lost by it`() throws {
        let files = try files(Self.first, Self.second, Self.third)
        let before = try files.bytes(of: "store")
        let identity = try files.identity("store")
        for schema in [Self.first, Self.second] {
            for recreates in [false, true] {
                for allowed in [LossPermission.none, .all] {
                    let error = #expect(throws: StoreError.self) {
                        try open(
                            schema, files, recreates: recreates,
                            route: { _ in [MigrationStep(schema, allowedLoss: allowed)] })
                    }
                    #expect(error?.code == .newerModel)
                    #expect(error?.message.contains("“V3”") == true)
                    #expect(error?.message.contains(" since 2") == true, "\(error?.message ?? "")")
                }
                // A chain that ends before the file's model does not contain it.
                let error = #expect(throws: StoreError.self) {
                    try open(schema, files, recreates: recreates, route: { _ in nil })
                }
                #expect(error?.code == .newerModel)
            }
            let error = #expect(throws: StoreError.self) {
                try RecordDatabase.forecast(path: "store", schema: schema, files: files)
            }
            #expect(error?.code == .newerModel)
        }
        #expect(try files.bytes(of: "store") == before)
        #expect(try files.identity("store") == identity)
        try open(Self.third, files).close()
    }

    @Test func `a file has the history of its models, its own last`() throws {
        let files = try files(Self.first)
        #expect(try history(files) == nil)
        try open(Self.schema("V1b", indexes: [["id"]]), files).close()
        #expect(try history(files) == nil)
        try open(Self.second, files).close()
        try open(Self.third, files).close()
        let found = try #require(try history(files)).models
        #expect(found.map(\.version) == ["V1b", "V2", "V3"])
        #expect(
            found.map(\.fingerprint) == [Self.first, Self.second, Self.third].map(\.fingerprint))
        #expect(found[0].commitNumber == 0 && found[0].time == 0)
        #expect(0 < found[1].commitNumber && found[1].commitNumber < found[2].commitNumber)
        #expect(0 < found[1].time && found[1].time <= found[2].time)
        let reader = try RecordDatabase.openReadOnly(path: "store", files: files)
        #expect(try reader.snapshot().check() == [])
        try reader.close()
    }

    @Test func `versions that are passed over are in the history too`() throws {
        let files = try files(Self.first)
        try open(
            Self.third, files,
            route: { _ in
                [
                    MigrationStep(Self.second, isNamed: true),
                    MigrationStep(Self.third, isNamed: true),
                ]
            }
        ).close()
        #expect(try #require(try history(files)).models.map(\.version) == ["V1", "V2", "V3"])
        #expect(throws: StoreError.self) { try open(Self.second, files, recreates: true) }
    }

    @Test func `a program that names the file's model may migrate to an earlier one`() throws {
        let files = try files(Self.first, Self.second)
        let again = Self.schema("V3")
        let step = MigrationStep(again, allowedLoss: .all, isNamed: true)
        try open(again, files, route: { _ in [step] }).close()
        #expect(try #require(try history(files)).models.map(\.version) == ["V2", "V3"])
        // A program with the file's model is not older, whatever the version's name.
        try open(Self.first, files).close()
        #expect(throws: StoreError.self) { try open(Self.second, files) }
    }

    @Test func `a new file records the earlier versions of the program's chain`() throws {
        let files = MemoryFileSystem()
        try open(Self.third, files, earlier: [Self.first, Self.second]).close()
        let before = try files.bytes(of: "store")
        for schema in [Self.first, Self.second] {
            let error = #expect(throws: StoreError.self) {
                try open(schema, files, recreates: true, route: { _ in nil })
            }
            #expect(error?.code == .newerModel)
        }
        #expect(try files.bytes(of: "store") == before)
        let found = try #require(try history(files)).models
        #expect(found.map(\.version) == ["V1", "V2", "V3"])
        // A file that is made anew knows them as well.
        try open(Self.other, files, earlier: [Self.second], recreates: true).close()
        #expect(try #require(try history(files)).models.map(\.version) == ["V2", "other"])
    }

    @Test func `an opening without another model describes no earlier version and writes nothing`()
        throws
    {
        let files = try files(Self.first, Self.second)
        let before = try files.bytes(of: "store")
        var askedCount = 0
        func earlier() -> [SchemaDescription] {
            askedCount += 1
            return [Self.first]
        }
        for schema in [Self.second, Self.schema("V2b", [Self.later])] {
            try RecordDatabase.open(
                .file("store"), schema: schema, files: files, earlier: earlier()
            ).close()
        }
        #expect(askedCount == 0)
        #expect(try files.bytes(of: "store") == before)
        try RecordDatabase.open(
            .file("store"), schema: Self.third, files: files, earlier: earlier()
        ).close()
        #expect(askedCount == 1)
    }

    /// The file's model is V2, whose history lacks V1: a program with V1 removes the property that
    /// it does not declare, because it has no values.
    @Test func `a newer program was refused after an older one had used a file without a history`()
        throws
    {
        let files = try files(Self.second)
        #expect(try history(files) == nil)
        try open(Self.first, files).close()
        #expect(try #require(try history(files)).models.map(\.version) == ["V1"])
        try open(Self.second, files).close()
        #expect(try #require(try history(files)).models.map(\.version) == ["V1", "V2"])
        #expect(throws: StoreError.self) { try open(Self.first, files) }
        // With a history or a chain, a model that only lacks properties is known to be later.
        let again = Self.schema("V3", [Self.last])
        try open(Self.third, files).close()
        try open(again, files).close()
        #expect(
            try #require(try history(files)).models.map(\.version) == ["V1", "V2", "V3", "V3"])
        let chained = try self.files(Self.second)
        try open(
            Self.first, chained, route: { _ in [MigrationStep(Self.first, isNamed: true)] }
        ).close()
        #expect(try #require(try history(chained)).models.map(\.version) == ["V2", "V1"])
    }

    @Test func `the oldest of more than 64 models are forgotten`() throws {
        let files = try files(Self.first)
        for number in 2...70 {
            let name = AttributeDescription.optional("n\(number)", .bool)
            try open(Self.schema("V\(number)", [name]), files).close()
        }
        let found = try #require(try history(files)).models
        #expect(found.map(\.version) == (7...70).map { "V\($0)" })
        // A forgotten model is not known to be older.
        try open(Self.first, files).close()
    }

    // MARK: Replacing

    @Test func `a file was replaced although it could have been migrated`() throws {
        let files = try files(Self.first)
        let before = try files.bytes(of: "store")
        let identity = try files.identity("store")
        // A model that only lacks a property with values may belong to an older program.
        var without = Self.first
        without.entities[0].attributes.removeFirst()
        var refusals = [try refusal(without, files, MigrationLimit.mappings)]
        // The objects would be rewritten.
        var wider = Self.first
        wider.entities[0].attributes[0].type = .double
        refusals.append(try refusal(wider, files, .layout))
        // A mapping would be called.
        let mapping = [EntityMapping.copy(from: "Thing", to: "Thing")]
        refusals.append(
            try refusal(
                Self.second, files, .records,
                [MigrationStep(Self.second, mappings: mapping)]))
        // More steps than one.
        refusals.append(
            try refusal(
                Self.third, files, .mappings,
                [MigrationStep(Self.second), MigrationStep(Self.third)]))
        #expect(refusals == Array(repeating: .schemaMismatch, count: refusals.count))
        // All of them are refused before a transaction begins.
        #expect(try files.bytes(of: "store") == before)
        #expect(try files.identity("store") == identity)
    }

    /// The refusal is found in a transaction, and beginning one makes the file writable: it starts
    /// a new log and writes the other superblock. So the bytes differ after the rollback; the
    /// content does not.
    @Test func `a file was replaced because objects lacked a required value`() throws {
        let files = try files(Self.first, Self.second)
        let identity = try files.identity("store")
        let before = try history(files)
        let required = AttributeDescription.required("required", .int64)
        let schema = Self.schema("required", [Self.later, required])
        #expect(try refusal(schema, files, .mappings) == .schemaMismatch)
        #expect(try files.identity("store") == identity)
        #expect(try history(files) == before)
        let reader = try RecordDatabase.openReadOnly(path: "store", files: files)
        #expect(reader.schema.description == Self.second)
        let thing = try #require(reader.schema.entity(named: "Thing"))
        let snapshot = try reader.snapshot()
        #expect(try snapshot.recordCount(of: thing) == 3)
        #expect(snapshot.check() == [])
        try reader.close()
    }

    @Test func `a file whose values would be lost is replaced by an unrelated model`() throws {
        var unrelated = Self.second
        unrelated.entities[0].attributes.removeFirst()
        for allowsLoss in [false, true] {
            let files = try files(Self.first)
            let step = MigrationStep(unrelated, allowedLoss: allowsLoss ? .all : .none)
            let database = try open(unrelated, files, recreates: true, route: { _ in [step] })
            let thing = try #require(database.schema.entity(named: "Thing"))
            let count = try database.snapshot().recordCount(of: thing)
            #expect(count == (allowsLoss ? 3 : 0))
            try database.close()
        }
    }

    private func refusal(
        _ schema: SchemaDescription, _ files: MemoryFileSystem, _ limit: MigrationLimit,
        _ steps: [MigrationStep]? = nil
    ) throws -> StoreError.Code? {
        let steps = steps ?? [MigrationStep(schema)]
        let error = #expect(throws: StoreError.self) {
            try RecordDatabase.open(
                .file("store"), schema: schema, files: files, recreatesOnMismatch: true,
                route: { _ in steps }, limit: limit, isOneStep: true
            ).close()
        }
        return error?.code
    }

    @Test func `a file that cannot be migrated is replaced`() throws {
        for route in [{ _ in nil }, { _ in [MigrationStep(Self.other)] }] as [MigrationRoute] {
            let files = try files(Self.first, Self.second)
            try open(Self.other, files, recreates: true, route: route).close()
            #expect(try history(files) == nil)
            let reader = try RecordDatabase.openReadOnly(path: "store", files: files)
            #expect(reader.schema.description == Self.other)
            try reader.close()
        }
    }

    // MARK: The saved form

    @Test func `two models have one fingerprint if a file of one fits the other`()
        throws
    {
        var random = SeededRandom(for: "ModelHistoryTests")
        for round in FuzzRounds(300) {
            let schema = RandomModels.changing(&random)
            var shuffled = schema
            shuffled.modelVersion = "another"
            shuffled.entities.shuffle(using: &random)
            for index in shuffled.entities.indices {
                shuffled.entities[index].attributes.shuffle(using: &random)
                shuffled.entities[index].indexes = []
                shuffled.entities[index].uniqueConstraints = []
            }
            #expect(shuffled.fingerprint == schema.fingerprint)
            let changed = RandomModels.changed(schema, &random)
            let isSame = changed.fingerprint == schema.fingerprint
            #expect(
                isSame == !SchemaDifference.needsMigration(from: schema, to: changed),
                "seed \(random.seed), round \(round)")
        }
    }

    @Test func `a model history is read as it was written, and damage to it is reported`() throws {
        var history = ModelHistory(of: Self.first)
        history.add(
            [Self.second, Self.third], earlier: [Self.other, Self.first], commitNumber: 7, time: 9)
        #expect(history.models.map(\.version) == ["V1", "other", "V2", "V3"])
        let bytes = history.bytes
        #expect(try ModelHistory(bytes, page: PageID(1)) == history)
        for count in bytes.indices {
            #expect(throws: StoreError.self) {
                try ModelHistory(Array(bytes[..<count]), page: PageID(1))
            }
        }
        #expect(throws: StoreError.self) { try ModelHistory(bytes + [0], page: PageID(1)) }
        var newer = bytes
        newer[0] = 2
        let error = #expect(throws: StoreError.self) { try ModelHistory(newer, page: PageID(1)) }
        #expect(error?.code == .newerFormat)
        var random = SeededRandom(for: "ModelHistoryTests.damage")
        for _ in FuzzRounds(2000) {
            var damaged = bytes
            for _ in 0...random.below(3) {
                damaged[random.below(damaged.count)] = UInt8(truncatingIfNeeded: random.next())
            }
            _ = try? ModelHistory(damaged, page: PageID(1))
        }
        var long = Self.first
        long.modelVersion = String(repeating: "é", count: 3000)
        let cut = try ModelHistory(ModelHistory(of: long).bytes, page: PageID(1))
        #expect(cut.models.map(\.version) == [String(repeating: "é", count: 512)])
    }

    @Test func `check finds a history that does not end with the file's model`() throws {
        let files = try files(Self.first, Self.second)
        let engine = try Engine.open(path: "store", files: files)
        let editor = try engine.beginWrite()
        let catalog = try #require(try Catalog.open(editor))
        for (history, words) in [
            (ModelHistory(of: Self.first).bytes, "is not the file's"), ([1, 0], "is too short"),
        ] {
            try catalog.setEntry(Catalog.historyKey, history, in: editor)
            let schema = try catalog.resolvedSchema(editor)
            let trees = try TreeTable.open(schema, catalog, editor).table
            let reader = RecordReader(
                schema: schema, view: editor, catalog: catalog, trees: trees)
            let findings = reader.check().map { "\($0)" }
            #expect(findings.count == 1 && findings[0].contains(words), "\(findings)")
        }
        editor.rollback()
        try engine.close()
    }

    @Test func `a salvaged store refuses an older program as the old one did`() throws {
        let files = try files(Self.first, Self.second)
        _ = try Salvage.run(path: "store", to: "salvaged", files: files)
        let error = #expect(throws: StoreError.self) {
            try RecordDatabase.open(
                .file("salvaged"), schema: Self.first, files: files, recreatesOnMismatch: true)
        }
        #expect(error?.code == .newerModel)
        let reader = try RecordDatabase.openReadOnly(path: "salvaged", files: files)
        #expect(try reader.snapshot().check() == [])
        try reader.close()
    }

    /// A bug: commits in the log of an earlier process were stored anew before the refusal, or when
    /// the file was closed after it.
    @Test(arguments: [third, other, first])
    func `a refused opening leaves the file as it is, also with a log`(
        model: SchemaDescription
    ) throws {
        let files = try files(Self.first, Self.second)
        let writer = try open(Self.second, files)
        try insert(2, writer)
        try writer.checkpoint()
        try insert(2, writer)
        let bytes = try files.bytes(of: "store")
        let left = MemoryFileSystem()
        let file = try left.open("store", .createNew)
        try bytes.withView { view throws(StoreError) in try file.write(view, at: 0) }
        file.close()
        try left.open("backup", .createNew).close()
        #expect(throws: StoreError.self) {
            _ = try RecordDatabase.open(
                .file("store"), schema: model, files: left, backup: "backup")
        }
        #expect(try left.bytes(of: "store") == bytes)
        #expect(try left.bytes(of: "backup") == [])
        try writer.close()
    }
}
