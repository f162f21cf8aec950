import PageStore
import Proof
import RecordStore
import SampleSchemas
import TestSupport

/// Files as one program sees them that goes on with the values that its closures have made.
struct ProgramFiles: ForwardingFileSystem {
    let base: any FileSystem

    func open(_ path: String, _ mode: FileMode) throws(StoreError) -> any StoreFile {
        try base.open(path, mode)
    }
    func programIdentity() -> UInt64 { 1 }
}

/// A store on a simulated disk, with the model and the objects that it has.
struct RewriteStore {
    static let path = "store"

    var schema: SchemaDescription
    var image = DiskImage()
    var world = RewriteWorld()
    /// Of every opening: a file keeps the sizes that it was made with.
    let options: Engine.Options
    private let salts: Salts

    /// Makes each disk another one, whose log has salts of its own.
    private final class Salts {
        var random: SeededRandom

        init(seed: UInt64) { random = SeededRandom(seed: seed) }
    }

    init(_ schema: SchemaDescription, _ random: inout SeededRandom) {
        self.schema = schema
        // Small pages make deep trees, and blobs of most texts.
        var options = CrashProof.options
        if random.below(2) == 0 {
            options = Engine.Options()
            options.pageSizeInBytes = 4096
            options.checkpointsInBackground = false
        }
        self.options = options
        salts = Salts(seed: random.next())
    }

    /// Options by which every migration that writes records goes in small chunks.
    func chunked(_ random: inout SeededRandom) -> Engine.Options {
        var options = options
        options.migrationRowsMax = 0
        options.migrationChunkRowsMax = 1 + random.below(30)
        options.migrationDropPagesMax = 1 + random.below(8)
        return options
    }

    func disk(records: Bool = false) -> SimulatedDisk { disk(image, records: records) }

    func disk(_ image: DiskImage, records: Bool = false) -> SimulatedDisk {
        SimulatedDisk(image, seed: salts.random.next(), records: records)
    }

    func open(
        _ schema: SchemaDescription, _ files: any FileSystem, _ steps: [MigrationStep]? = nil,
        _ options: Engine.Options? = nil
    ) throws(StoreError) -> RecordDatabase {
        try RecordDatabase.open(
            .file(Self.path), schema: schema, options: options ?? self.options,
            files: ProgramFiles(base: files), route: { _ in steps })
    }

    /// The content of a file by its own schema, which is returned with it.
    func content(_ image: DiskImage) throws -> (schema: SchemaDescription, world: RewriteWorld) {
        let database = try RecordDatabase.openReadOnly(
            path: Self.path, options: options, files: disk(image))
        let content = (database.schema.description, try RewriteWorld(database))
        try database.close()
        return content
    }

    /// Throws if a tree of a migration is left, or a page that belongs to no tree.
    func checkPages(_ image: DiskImage, mayBeUnfinished: Bool = false) throws {
        var options = options
        options.mode = .reading
        let engine = try Engine.open(path: Self.path, options: options, files: disk(image))
        let snapshot = try engine.snapshot()
        let trees = try known(try CatalogView(snapshot)).trees()
        if !mayBeUnfinished {
            for tree in trees {
                let isLeft = tree.name.hasPrefix("next/") || tree.name.hasPrefix("old/")
                try hold(!isLeft, "the tree \(tree.name) is left")
            }
        }
        let findings = StoreCheck.run(snapshot, knownTrees: trees.map(\.tree))
        try hold(findings.isEmpty, "\(findings)")
        try engine.close()
    }

    mutating func fill(_ lastUID: inout Int64, _ random: inout SeededRandom) throws {
        let disk = disk()
        let database = try open(schema, disk)
        try RewriteFilling.fill(database, world, &lastUID, &random)
        let lastNumbers = world.lastNumbers
        world = try RewriteWorld(database)
        world.lastNumbers.merge(lastNumbers) { max($0, $1) }
        if random.below(2) == 0 { try database.checkpoint() }
        try database.close()
        image = disk.image
    }
}
