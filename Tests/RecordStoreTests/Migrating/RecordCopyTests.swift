import PageStore
import SampleSchemas
import Testing

@testable import RecordStore

/// A migration in chunks copies the records of a hierarchy when a pass changes them.
@Suite struct RecordCopyTests {
    private static let count = 40

    private static func schema(_ version: String, age: AttributeType) -> SchemaDescription {
        SchemaDescription(
            version: version,
            [
                EntityDescription(
                    "Person", required: ["uid": .int64, "age": age], indexes: [["age"]]),
                EntityDescription(
                    "Dog", required: ["uid": .int64],
                    relationships: [.toOne("owner", to: "Person")], indexes: [["uid"]]),
            ])
    }

    private static let old = schema("V1", age: .int32)
    private static let new = schema("V2", age: .double)

    private static var options: Engine.Options {
        var options = Engine.Options()
        (options.migrationRowsMax, options.migrationChunkRowsMax) = (0, 7)
        return options
    }

    /// Each dog is its owner's.
    private func store() throws -> MemoryFileSystem {
        let files = MemoryFileSystem()
        let database = try RecordDatabase.open(.file("store"), schema: Self.old, files: files)
        try database.storeNumbered(["Person", "Dog"], count: Self.count)
        try database.close()
        return files
    }

    /// The trees of a file.
    private func trees(_ files: MemoryFileSystem) throws -> [String: TreeID] {
        var options = Engine.Options()
        options.mode = .reading
        let engine = try Engine.open(path: "store", options: options, files: files)
        let trees = try #require(try CatalogView(engine.snapshot())).trees()
        return Dictionary(trees.map { ($0.name, $0.tree) }) { first, _ in first }
    }

    /// Migrates, and returns the numbers of the owners of all dogs.
    private func migrate(
        _ files: MemoryFileSystem, dropping dropped: Set<Int64>
    ) throws -> [UInt64?] {
        let mapper: RecordMapper = { source, make in
            guard case .int(let uid)? = try source.value("uid"), !dropped.contains(uid) else {
                return
            }
            let person = try make()
            _ = person.set(.int(uid), for: "uid")
            _ = person.set(.double(Double(uid) / 2), for: "age")
        }
        let step = MigrationStep(
            Self.new, mappings: [.transform(from: "Person", to: "Person", mapper)])
        let database = try RecordDatabase.open(
            .file("store"), schema: Self.new, options: Self.options, files: files
        ) { _ in [step] }
        defer { #expect(throws: Never.self) { try database.close() } }
        let reader = try database.snapshot()
        #expect(reader.check() == [])
        let person = try #require(database.schema.entity(named: "Person"))
        #expect(try reader.recordCount(of: person) == Self.count - dropped.count)
        let dog = try #require(database.schema.entity(named: "Dog"))
        let field = try #require(dog.field(named: "owner"))
        var owners: [UInt64?] = []
        let cursor = reader.recordCursor(dog.hierarchy)
        while try cursor.next() {
            owners.append(try cursor.row().link(at: field.byteOffset)?.rawValue)
        }
        return owners
    }

    @Test func `records that no pass changes are not copied`() throws {
        let files = try store()
        let before = try trees(files)
        #expect(try migrate(files, dropping: []) == (1...Self.count).map { UInt64($0) })
        let after = try trees(files)
        #expect(Set(after.keys) == Set(before.keys))
        #expect(after["records/Dog"] == before["records/Dog"])
        #expect(after["records/Person"] != before["records/Person"])
    }

    @Test func `records that lose a link are copied once objects are dropped`() throws {
        let files = try store()
        let before = try trees(files)
        let owners = try migrate(files, dropping: [1, 20, 40])
        #expect(
            owners == (1...Self.count).map { [1, 20, 40].contains($0) ? nil : UInt64($0) })
        let after = try trees(files)
        #expect(Set(after.keys) == Set(before.keys))
        #expect(after["records/Dog"] != before["records/Dog"])
    }
}
