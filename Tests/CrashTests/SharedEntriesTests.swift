import PageStore
import Proof
import SampleSchemas
import Testing

@testable import RecordStore

/// A migration that only clears slots copies records and leaves their index and their to-one links
/// to both models. The copy is compared with them all the same.
@Suite struct SharedEntriesTests {
    private static func schema(_ version: String, _ attributes: [AttributeDescription])
        -> SchemaDescription
    {
        var dog = EntityDescription(
            "Dog", required: ["uid": .int64], relationships: [.toOne("owner", to: "Person")],
            indexes: [["uid"]])
        dog.attributes += attributes
        return SchemaDescription(
            version: version, [dog, EntityDescription("Person", required: ["uid": .int64])])
    }

    private static let old = schema("V1", [.optional("weight", .int64)])
    private static let new = schema("V2", [])

    private static var options: Engine.Options {
        var options = CrashProof.options
        (options.migrationRowsMax, options.migrationChunkRowsMax) = (0, 5)
        return options
    }

    private func store() throws -> DiskImage {
        let disk = SimulatedDisk(seed: 1)
        let database = try RecordDatabase.open(
            .file("store"), schema: Self.old, options: Self.options, files: disk)
        try database.storeNumbered(["Person", "Dog"], count: 12)
        try database.close()
        return disk.image
    }

    private func migrate(_ files: any FileSystem) throws {
        try RecordDatabase.open(
            .file("store"), schema: Self.new, options: Self.options, files: files
        ) { _ in [MigrationStep(Self.new, allowedLoss: .all)] }.close()
    }

    private func version(_ image: DiskImage) throws -> String {
        let database = try RecordDatabase.openReadOnly(
            path: "store", options: Self.options, files: SimulatedDisk(image, seed: 7))
        defer { #expect(throws: Never.self) { try database.close() } }
        #expect(try database.snapshot().check() == [])
        return database.schema.description.modelVersion
    }

    /// The last state before the later model becomes the file's, after a change of the copy.
    private func tampered(
        _ change: (WriteTransaction, Catalog) throws -> Void
    ) throws -> SimulatedDisk {
        let start = try store()
        let whole = SimulatedDisk(start, seed: 2, records: true)
        try migrate(whole)
        var (image, last) = (start, start)
        for effect in whole.effects {
            image.apply(effect)
            if case .durableWrite = effect, try version(image) == "V1" { last = image }
        }
        let disk = SimulatedDisk(last, seed: 5)
        try disk.changeCopy(Self.options, change)
        return disk
    }

    /// Exchanges what the copy has of two dogs: of all of a record, or of its link alone.
    private func exchange(
        ofLinks: Bool, _ editor: WriteTransaction, _ copy: Catalog
    ) throws {
        let tree = try #require(try copy.tree("records/Dog", of: editor))
        let dog = try #require(copy.resolvedSchema(editor).entity(named: "Dog"))
        let owner = try #require(dog.field(named: "owner")).byteOffset
        let keys = [3, 4].map { RecordKey.bytes(ObjectNumber($0)) }
        var rows: [[UInt8]] = []
        for key in keys {
            let cursor = Cursor(editor, tree: tree)
            try #require(try cursor.seek(key.span))
            rows.append(try cursor.value().array())
        }
        for (index, key) in keys.enumerated() {
            let row = RowBuffer(
                copying: rows[ofLinks ? index : 1 - index].withView { RowView(checked: $0) })
            defer { row.deallocate() }
            row.setLink(ObjectNumber(UInt64(ofLinks ? 4 - index : 3 + index)), at: owner)
            let bytes = row.view.bytes.array()
            _ = try editor.insert(key.span, bytes.span, into: tree)
        }
    }

    @Test func `trees of both models are shared`() throws {
        _ = try tampered { editor, copy in
            for name in ["index/Dog/uid", "links/Dog/owner"] {
                let tree = try #require(try copy.tree(name, of: editor))
                #expect(copy.lentTrees.contains(tree), "\(name)")
            }
        }
    }

    @Test(arguments: [(false, "index/Dog/uid"), (true, "links/Dog/owner")])
    func `two records of a copy are exchanged`(ofLinks: Bool, name: String) throws {
        let disk = try tampered { try exchange(ofLinks: ofLinks, $0, $1) }
        let error = #expect(throws: StoreError.self) { try migrate(disk) }
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains(name) == true, "\(error as Any)")
        #expect(try version(disk.image) == "V1")
        try migrate(disk)
        #expect(try version(disk.image) == "V2")
    }
}
