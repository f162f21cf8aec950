import PageStore
import Proof
import RecordStore
import Testing

/// A migration that writes records, cut at any of its calls: the file has the old model with all
/// it held, or the new one with all of it.
@Suite struct MigrationCutTests {
    private static let objectCount = 40

    private static let uid = AttributeDescription(name: "uid", type: .int64)

    /// Two roots; each pot leads to a plant.
    private static let old = SchemaDescription(
        modelVersion: "V1",
        entities: [
            EntityDescription(
                name: "Pot", className: "Pot",
                attributes: [uid, AttributeDescription(name: "size", type: .int32)],
                relationships: [
                    RelationshipDescription(
                        name: "plant", destinationEntityName: "Plant", kind: .toOne)
                ], indexes: [["size"]]),
            EntityDescription(
                name: "Plant", className: "Plant",
                attributes: [uid, AttributeDescription(name: "picture", type: .data)]),
        ])

    /// One root, another type, a list and its inverse.
    private static let new = SchemaDescription(
        modelVersion: "V2",
        entities: [
            EntityDescription(
                name: "Thing", className: "Thing", isAbstract: true, attributes: [uid],
                uniqueConstraints: [["uid"]]),
            EntityDescription(
                name: "Pot", className: "Pot", superentityName: "Thing",
                attributes: [AttributeDescription(name: "size", type: .double)],
                relationships: [
                    RelationshipDescription(
                        name: "plant", destinationEntityName: "Plant", inverseName: "pots",
                        kind: .toManyOrdered)
                ], indexes: [["size"]]),
            EntityDescription(
                name: "Plant", className: "Plant", superentityName: "Thing",
                attributes: [AttributeDescription(name: "picture", type: .data)],
                relationships: [
                    RelationshipDescription(
                        name: "pots", destinationEntityName: "Pot", inverseName: "plant",
                        kind: .toManyUnordered)
                ]),
        ])

    private func storeOfOld() throws -> DiskImage {
        let disk = SimulatedDisk(seed: 1)
        let database = try RecordDatabase.open(
            .file("store"), schema: Self.old, options: CrashProof.options, files: disk)
        let transaction = try database.beginWrite()
        let pot = try #require(database.schema.entity(named: "Pot"))
        let plant = try #require(database.schema.entity(named: "Plant"))
        var batch = RecordBatch()
        for uid in 1...Self.objectCount {
            let number = try transaction.allocateNumber(in: plant.hierarchy)
            var row = plant.emptyRow()
            defer { row.deallocate() }
            row.setValue(.int(Int64(uid + 1000)), try #require(plant.field(named: "uid")))
            // Some are too large for a page.
            let picture = [UInt8](repeating: UInt8(uid), count: uid.isMultiple(of: 4) ? 900 : 9)
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

    private func migrate(_ files: any FileSystem) throws(StoreError) {
        try RecordDatabase.open(
            .file("store"), schema: Self.new, options: CrashProof.options, files: files
        ).close()
    }

    /// Which model a file has, with all that it held.
    private func found(_ image: DiskImage, _ place: String) throws -> String {
        let database = try RecordDatabase.openReadOnly(
            path: "store", options: CrashProof.options, files: SimulatedDisk(image, seed: 7))
        defer { #expect(throws: Never.self) { try database.close() } }
        let reader = try database.snapshot()
        #expect(reader.check() == [], "\(place)")
        let pot = try #require(database.schema.entity(named: "Pot"))
        let plant = try #require(database.schema.entity(named: "Plant"))
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
        #expect(uids.count == Self.objectCount, "\(place)")
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
        #expect(potCount == Self.objectCount, "\(place)")
        return database.schema.description.modelVersion
    }

    @Test func `each cut leaves the old model or the new one, and the migration is done again`()
        throws
    {
        let start = try storeOfOld()
        let disk = SimulatedDisk(start, seed: 2, records: true)
        try migrate(disk)
        var medium = PowerCut(start, seed: 3)
        var seen: Set<String> = []
        var wasNew = false
        for (call, effect) in disk.effects.enumerated() {
            try medium.forEachImage(running: effect) { image in
                let place = "call \(call), \(effect.name), \(image.name)"
                let version = try found(image.disk, place)
                seen.insert(version)
                guard image.name == "none" else { return }
                #expect(version == "V2" || !wasNew, "\(place)")
                wasNew = version == "V2"
                let next = SimulatedDisk(image.disk, seed: 4)
                try migrate(next)
                #expect(try found(next.image, place) == "V2")
            }
            medium.complete(effect)
        }
        #expect(seen == ["V1", "V2"])
        #expect(try found(medium.visible, "the end") == "V2")
    }
}
