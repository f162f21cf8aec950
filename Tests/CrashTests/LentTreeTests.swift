import PageStore
import Proof
import SampleSchemas
import Testing

@testable import RecordStore

/// Trees shared by both models of an unfinished migration belong to the earlier model.
@Suite struct LentTreeTests {
    /// Dogs have owners; stones are unrelated.
    private static func schema(_ version: String, weight: AttributeType) -> SchemaDescription {
        SchemaDescription(
            version: version,
            [
                EntityDescription("Stone", required: ["uid": .int64, "weight": weight]),
                EntityDescription(
                    "Dog", required: ["uid": .int64], relationships: [.toOne("owner", to: "Person")]
                ),
                EntityDescription("Person", required: ["uid": .int64]),
            ])
    }

    private static let old = schema("V1", weight: .int32)
    private static let new = schema("V2", weight: .double)

    private static var options: Engine.Options {
        var options = CrashProof.options
        options.migrationRowsMax = 0
        options.migrationChunkRowsMax = 3
        return options
    }

    /// A store in which the owner of dog 2 was deleted but the link to it remains.
    private func store() throws -> DiskImage {
        let disk = SimulatedDisk(seed: 1)
        let database = try RecordDatabase.open(
            .file("store"), schema: Self.old, options: Self.options, files: disk)
        try database.storeNumbered(["Stone", "Person", "Dog"], count: 12)
        try database.close()
        let engine = try Engine.open(path: "store", options: Self.options, files: disk)
        let editor = try engine.beginWrite()
        let catalog = try #require(try Catalog.open(editor))
        let people = try #require(try catalog.tree("records/Person", of: editor))
        try editor.remove(RecordKey.bytes(ObjectNumber(2)).span, from: people)
        let person = try #require(Schema(Self.old).entity(named: "Person"))
        try catalog.setCounter(Catalog.countKey(person.tag), 11, in: editor)
        try editor.commit()
        try engine.close()
        return disk.image
    }

    /// The model of a file, and the owner of the dog with number 2.
    private func found(_ image: DiskImage) throws -> (version: String, owner: ObjectNumber?) {
        let database = try RecordDatabase.openReadOnly(
            path: "store", options: Self.options, files: SimulatedDisk(image, seed: 7))
        defer { #expect(throws: Never.self) { try database.close() } }
        let dog = try #require(database.schema.entity(named: "Dog"))
        let field = try #require(dog.field(named: "owner"))
        let reader = try database.snapshot()
        let owner = try reader.withRow(ObjectNumber(2), in: dog.hierarchy) {
            $0.link(at: field.byteOffset)
        }
        return (database.schema.description.modelVersion, try #require(owner))
    }

    private func migrate(_ files: any FileSystem) throws {
        let mapper: RecordMapper = { source, make in
            let stone = try make()
            for name in ["uid", "weight"] {
                if let value = try source.value(name) { _ = stone.set(value, for: name) }
            }
        }
        let step = MigrationStep(
            Self.new, mappings: [.transform(from: "Stone", to: "Stone", mapper)])
        try RecordDatabase.open(
            .file("store"), schema: Self.new, options: Self.options, files: files
        ) { _ in [step] }.close()
    }

    @Test func `dangling links were cleared in a tree that the earlier model still used`() throws {
        let start = try store()
        #expect(try found(start).owner == ObjectNumber(2))
        let disk = SimulatedDisk(start, seed: 2, records: true)
        try migrate(disk)
        var image = start
        var (earlierCount, laterCount) = (0, 0)
        for effect in disk.effects {
            image.apply(effect)
            guard case .durableWrite = effect else { continue }
            let (version, owner) = try found(image)
            #expect(owner == ObjectNumber(2), "\(version)")
            if version == "V1" { earlierCount += 1 } else { laterCount += 1 }
        }
        #expect(earlierCount > 5 && laterCount > 0)
    }
}
