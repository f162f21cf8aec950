import PageStore
import Proof
import RecordStore
import SampleSchemas
import Testing

/// A store whose objects are rewritten by a migration: two hierarchies become one, a type and a
/// link change, and some values are blobs.
struct PottedPlants {
    /// The number of objects of each entity.
    var objectCount = 40
    var options = CrashProof.options
    /// The mappings from the old model to the new one; nil for inferred ones.
    var mappings: [EntityMapping]?

    /// Two roots; each pot leads to a plant.
    static let old = SchemaDescription([
        EntityDescription(
            "Pot", required: ["uid": .int64, "size": .int32],
            relationships: [.toOne("plant", to: "Plant")], indexes: [["size"]]),
        EntityDescription("Plant", required: ["uid": .int64, "picture": .data]),
    ])

    /// One root, another type, a list and its inverse.
    static let new = SchemaDescription(
        version: "V2",
        [
            EntityDescription(
                "Thing", isAbstract: true, required: ["uid": .int64], uniqueConstraints: [["uid"]]),
            EntityDescription(
                "Pot", below: "Thing", required: ["size": .double],
                relationships: [.toManyOrdered("plant", to: "Plant", inverse: "pots")],
                indexes: [["size"]]),
            EntityDescription(
                "Plant", below: "Thing", required: ["picture": .data],
                relationships: [.toManyUnordered("pots", to: "Pot", inverse: "plant")]),
        ])

    func storeOfOld() throws -> DiskImage {
        let disk = SimulatedDisk(seed: 1)
        let database = try RecordDatabase.open(
            .file("store"), schema: Self.old, options: options, files: disk)
        let transaction = try database.beginWrite()
        let pot = try #require(database.schema.entity(named: "Pot"))
        let plant = try #require(database.schema.entity(named: "Plant"))
        var batch = RecordBatch()
        for uid in 1...objectCount {
            let number = try transaction.allocateNumber(in: plant.hierarchy)
            var row = plant.emptyRow()
            defer { row.deallocate() }
            row.setValue(.int(Int64(uid + 1000)), try #require(plant.field(named: "uid")))
            // Some are too large for a page.
            let picture = [UInt8](
                repeating: UInt8(truncatingIfNeeded: uid), count: uid.isMultiple(of: 4) ? 900 : 9)
            row.setValue(.data(picture), try #require(plant.field(named: "picture")))
            batch.insert(plant, number, row: row)
            var owner = pot.emptyRow()
            defer { owner.deallocate() }
            owner.setValue(.int(Int64(uid)), try #require(pot.field(named: "uid")))
            owner.setValue(.int(Int64(uid * 3)), try #require(pot.field(named: "size")))
            owner.setValue(.object(number), try #require(pot.field(named: "plant")))
            batch.insert(
                pot, try transaction.allocateNumber(in: pot.hierarchy), row: owner)
        }
        try transaction.apply(batch)
        _ = try transaction.commit()
        try database.close()
        return disk.image
    }

    /// Opens the store with the new model.
    func migrate(
        _ files: any FileSystem, _ control: MigrationControl? = nil
    ) throws(StoreError) {
        try RecordDatabase.open(
            .file("store"), schema: Self.new, options: options, files: files,
            route: { _ in [MigrationStep(Self.new, mappings: mappings)] }, control: control
        ).close()
    }

    /// The model of a file, after comparing its whole content.
    func found(_ image: DiskImage, _ place: String) throws -> String {
        let database = try RecordDatabase.openReadOnly(
            path: "store", options: options, files: SimulatedDisk(image, seed: 7))
        defer { #expect(throws: Never.self) { try database.close() } }
        try checkPages(image, place)
        let reader = try database.snapshot()
        #expect(reader.check() == [], "\(place)")
        return try found(reader, place)
    }

    /// The model that a reader sees, after comparing its whole content.
    func found(_ reader: RecordReader, _ place: String) throws -> String {
        let pot = try #require(reader.schema.entity(named: "Pot"))
        let plant = try #require(reader.schema.entity(named: "Plant"))
        let relationship = try #require(pot.relationship(named: "plant"))
        var uids: [ObjectNumber: Value] = [:]
        let plants = reader.recordCursor(plant.hierarchy)
        while try plants.next() {
            let row = try plants.row()
            guard row.entityTag == plant.tag else { continue }
            let uid = try reader.value(try #require(plant.field(named: "uid")), of: row)
            uids[plants.number] = uid
            guard case .int(let number) = uid else { continue }
            let picture = try reader.value(try #require(plant.field(named: "picture")), of: row)
            let size = number.isMultiple(of: 4) ? 900 : 9
            let byte = UInt8(truncatingIfNeeded: number - 1000)
            #expect(picture == .data([UInt8](repeating: byte, count: size)), "\(place)")
        }
        #expect(uids.count == objectCount, "\(place)")
        var potCount = 0
        let pots = reader.recordCursor(pot.hierarchy)
        while try pots.next() {
            let row = try pots.row()
            guard row.entityTag == pot.tag,
                case .int(let uid) = try reader.value(
                    try #require(pot.field(named: "uid")), of: row)
            else { continue }
            potCount += 1
            let size = try reader.value(try #require(pot.field(named: "size")), of: row)
            #expect(size == .int(uid * 3), "\(place)")
            let targets = try reader.linkedNumbers(relationship, of: pots.number)
            #expect(targets.map { uids[$0] } == [.int(uid + 1000)], "\(place)")
        }
        #expect(potCount == objectCount, "\(place)")
        return reader.schema.description.modelVersion
    }

    /// Checks that every page belongs to a tree that the catalog names, including those of a
    /// migration.
    private func checkPages(_ image: DiskImage, _ place: String) throws {
        let snapshot = try engine(image).snapshot()
        let trees = try #require(try CatalogView(snapshot)).trees()
        #expect(StoreCheck.run(snapshot, knownTrees: trees.map(\.tree)) == [], "\(place)")
    }

    /// The trees of an unfinished migration.
    func unfinishedTrees(_ image: DiskImage) throws -> [String] {
        try #require(try CatalogView(try engine(image).snapshot())).trees().map(\.name)
            .filter { $0.hasPrefix("next/") || $0.hasPrefix("old/") }
    }

    /// The number of pages of a tree, including those of a migration; nil if no tree has the name.
    func pageCount(of name: String, _ image: DiskImage) throws -> Int? {
        let snapshot = try engine(image).snapshot()
        let trees = try #require(try CatalogView(snapshot)).trees()
        guard let tree = trees.first(where: { $0.name == name })?.tree else { return nil }
        return try StoreSize.measure(snapshot, trees: [tree]).trees.first?.pages.count
    }

    private func engine(_ image: DiskImage) throws -> Engine {
        var options = options
        options.mode = .reading
        return try Engine.open(
            path: "store", options: options, files: SimulatedDisk(image, seed: 9))
    }
}
