import PageStore
import Proof
import Testing

@testable import RecordStore

/// The result of a migration is compared with the file's model before it replaces that, and `check`
/// compares it with its ledgers.
@Suite struct MigrationVerificationTests {
    private static let plants: PottedPlants = {
        var plants = PottedPlants(objectCount: 12)
        plants.options.migrationRowsMax = 0
        plants.options.migrationChunkRowsMax = 9
        return plants
    }()

    /// The last state before the later model becomes the file's, with the whole copy.
    private static let copied = Result { try lastImage(before: "V2") }
    /// The first state after that, with everything that is to be dropped.
    private static let switched = Result {
        let images = try Self.images()
        return try #require(
            images.first { try plants.found($0, "after") == "V2" })
    }

    private static func images() throws -> [DiskImage] {
        let start = try plants.storeOfOld()
        let disk = SimulatedDisk(start, seed: 2, records: true)
        try plants.migrate(disk)
        var image = start
        return disk.effects.compactMap { effect in
            image.apply(effect)
            guard case .durableWrite = effect else { return nil }
            return image
        }
    }

    private static func lastImage(before version: String) throws -> DiskImage {
        try #require(try images().last { try plants.found($0, "before") != version })
    }

    private struct Copy {
        let editor: WriteTransaction
        let live: Catalog
        let catalog: Catalog
        let schema: Schema

        func tree(_ name: String) throws -> TreeID {
            try #require(try catalog.tree(name, of: editor))
        }

        /// The first entry of a tree whose value satisfies the test.
        func entry(
            _ name: String, where isWanted: ([UInt8]) -> Bool = { _ in true }
        ) throws -> (tree: TreeID, key: [UInt8], value: [UInt8]) {
            let tree = try tree(name)
            let cursor = Cursor(editor, tree: tree)
            var isValid = try cursor.seekFirst()
            while isValid {
                let value = try cursor.value().array()
                if isWanted(value) { return (tree, cursor.key.array(), value) }
                isValid = try cursor.next()
            }
            throw StoreError(.notFound, "no entry passes")
        }

        func tag(_ entity: String) throws -> UInt16 {
            try #require(schema.entity(named: entity)).tag
        }

        /// Changes the first record of an entity.
        func change(_ entity: String, _ body: (inout RowBuffer, EntityLayout) throws -> Void) throws
        {
            let layout = try #require(schema.entity(named: entity))
            let (tree, key, value) = try entry("records/Thing") { value in
                value.withView { $0.uint16(at: RowLayout.entityTag) } == layout.tag
            }
            var row = RowBuffer(copying: value.withView { RowView(checked: $0) })
            defer { row.deallocate() }
            try body(&row, layout)
            let bytes = row.view.bytes.array()
            _ = try editor.insert(key.span, bytes.span, into: tree)
        }
    }

    /// Changes the copy as if a pass had written the change.
    private func tampered(_ change: (Copy) throws -> Void) throws -> SimulatedDisk {
        let disk = SimulatedDisk(try Self.copied.get(), seed: 5)
        try disk.changeCopy(Self.plants.options) { editor, catalog in
            try change(
                Copy(
                    editor: editor, live: #require(try Catalog.open(editor)), catalog: catalog,
                    schema: catalog.resolvedSchema(editor)))
        }
        return disk
    }

    private static let lies: [(name: String, change: @Sendable (Copy) throws -> Void)] = [
        (
            "objects",
            { copy in
                let (tree, key, value) = try copy.entry("records/Thing")
                try copy.editor.remove(key.span, from: tree)
                let tag = value.withView { $0.uint16(at: RowLayout.entityTag) }
                let count = try copy.catalog.counter(Catalog.countKey(tag), of: copy.editor)
                try copy.catalog.setCounter(Catalog.countKey(tag), count - 1, in: copy.editor)
            }
        ),
        (
            "the counter",
            { copy in
                let key = Catalog.countKey(try copy.tag("Pot"))
                try copy.catalog.setCounter(key, 11, in: copy.editor)
            }
        ),
        (
            "never given out",
            { copy in
                let root = try #require(copy.schema.entity(named: "Thing"))
                let key = Catalog.numberKey(root.hierarchy)
                try copy.catalog.setCounter(key, 3, in: copy.editor)
            }
        ),
        (
            "other values of Plant.picture",
            { copy in
                try copy.change("Plant") { row, plant in
                    let field = try #require(plant.field(named: "picture"))
                    row.setValue(.data([7, 7]), field)
                }
            }
        ),
        (
            "a tree unique/Thing/uid",
            { copy in
                let (tree, key, _) = try copy.entry("unique/Thing/uid")
                try copy.editor.remove(key.span, from: tree)
            }
        ),
        (
            "a tree index/Pot/size",
            { copy in
                try copy.change("Pot") { row, pot in
                    row.setValue(.double(1.5), try #require(pot.field(named: "size")))
                }
            }
        ),
        (
            "links of",
            { copy in
                let (tree, key, _) = try copy.entry("links/Plant/pots")
                try copy.editor.remove(key.span, from: tree)
            }
        ),
    ]

    @Test(arguments: lies.indices)
    func `a migrated copy that differs from the file's model is refused`(index: Int) throws {
        let lie = Self.lies[index]
        let disk = try tampered(lie.change)
        let error = #expect(throws: StoreError.self) { try Self.plants.migrate(disk) }
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains(lie.name) == true, "\(error as Any)")
        #expect(try Self.plants.found(disk.image, lie.name) == "V1")
        #expect(try Self.plants.unfinishedTrees(disk.image) == [])
        try Self.plants.migrate(disk)
        #expect(try Self.plants.found(disk.image, "again") == "V2")
    }

    // MARK: Ledgers

    private func findings(_ disk: SimulatedDisk) throws -> [String] {
        let database = try RecordDatabase.openReadOnly(
            path: "store", options: Self.plants.options, files: disk)
        defer { #expect(throws: Never.self) { try database.close() } }
        return try database.snapshot().check().map(\.description)
    }

    private static func insert(
        _ key: [UInt8], into tree: TreeID, _ editor: WriteTransaction
    ) throws {
        let value: [UInt8] = []
        _ = try editor.insert(key.span, value.span, into: tree)
    }

    /// The ID of a blob that a record of the file's model uses.
    private static func ownBlob(_ copy: Copy) throws -> [UInt8] {
        let plant = try #require(
            try copy.live.resolvedSchema(copy.editor).entity(named: "Plant"))
        let offset = try #require(plant.field(named: "picture")).byteOffset
        let cursor = Cursor(
            copy.editor, tree: try #require(try copy.live.tree("records/Plant", of: copy.editor)))
        var isValid = try cursor.seekFirst()
        while isValid {
            let row = RowView(checked: try cursor.value())
            if row.isBlob(at: offset) { return row.heapBytes(at: offset).array() }
            isValid = try cursor.next()
        }
        throw StoreError(.notFound, "no record has a blob")
    }

    @Test func `a false blob ledger is reported`() throws {
        let made = MigrationShadow.prefix + "blobs/made"
        let freed = MigrationShadow.prefix + "blobs/freed"
        func change(
            _ key: String, _ body: (Copy, TreeID) throws -> Void
        ) throws -> [String] {
            try findings(
                tampered { copy in
                    try body(copy, #require(try copy.live.tree(ofKey: key, of: copy.editor)))
                })
        }
        #expect(try findings(tampered { _ in }) == [])
        let lost = try change(made) { copy, tree in
            let cursor = Cursor(copy.editor, tree: tree)
            try #require(try cursor.seekFirst())
            let key = cursor.key.array()
            try copy.editor.remove(key.span, from: tree)
        }
        #expect(lost.count == 1 && lost[0].contains("nothing names the blob"), "\(lost)")
        let shared = try change(made) { copy, tree in
            try Self.insert(Self.ownBlob(copy), into: tree, copy.editor)
        }
        #expect(shared.count == 1 && shared[0].contains("as well"), "\(shared)")
        let strange = BlobID(page: PageID(99_999), sizeInBytes: 700).encoded()
        let missing = try change(made) { copy, tree in
            try Self.insert(strange, into: tree, copy.editor)
        }
        #expect(missing.count == 1 && missing[0].contains("is not there"), "\(missing)")
        let dropped = try change(freed) { copy, tree in
            try Self.insert(strange, into: tree, copy.editor)
        }
        #expect(dropped.count == 1 && dropped[0].contains("does not have"), "\(dropped)")
        let short = try change(freed) { copy, tree in
            try Self.insert([1, 2, 3], into: tree, copy.editor)
        }
        #expect(short.count == 1 && short[0].contains("no name of one"), "\(short)")
    }

    @Test func `blobs listed for deletion that a record uses are reported`() throws {
        let disk = SimulatedDisk(try Self.switched.get(), seed: 5)
        #expect(try findings(disk) == [])
        let engine = try Engine.open(path: "store", options: Self.plants.options, files: disk)
        let editor = try engine.beginWrite()
        let catalog = try #require(try Catalog.open(editor))
        let ledger = try #require(try catalog.tree(ofKey: ReplacedTrees.blobsKey, of: editor))
        let schema = try catalog.resolvedSchema(editor)
        let plant = try #require(schema.entity(named: "Plant"))
        let offset = try #require(plant.field(named: "picture")).byteOffset
        let cursor = Cursor(
            editor, tree: try #require(try catalog.tree("records/Thing", of: editor)))
        var names: [[UInt8]] = []
        var isValid = try cursor.seekFirst()
        while isValid {
            let row = RowView(checked: try cursor.value())
            if row.entityTag == plant.tag, row.isBlob(at: offset) {
                names.append(row.heapBytes(at: offset).array())
            }
            isValid = try cursor.next()
        }
        try Self.insert(#require(names.first), into: ledger, editor)
        try editor.commit()
        try engine.close()
        let found = try findings(disk)
        #expect(found.count == 1 && found[0].contains("as well"), "\(found)")
    }

    @Test func `a blob that no record refers to is found without a migration`() throws {
        let disk = SimulatedDisk(try Self.plants.storeOfOld(), seed: 5)
        #expect(try findings(disk) == [])
        let engine = try Engine.open(path: "store", options: Self.plants.options, files: disk)
        let editor = try engine.beginWrite()
        _ = try editor.createBlob([UInt8](repeating: 1, count: 3000).span)
        try editor.commit()
        try engine.close()
        let found = try findings(disk)
        #expect(found.count == 1 && found[0].contains("nothing names the blob"), "\(found)")
    }
}
