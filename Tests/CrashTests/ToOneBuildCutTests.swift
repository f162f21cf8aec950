import PageStore
import Proof
import SampleSchemas
import TestSupport
import Testing

@testable import RecordStore

/// A migration that moves objects with to-one links ends anywhere, and goes on.
@Suite struct ToOneBuildCutTests {
    private static let objectCount = 40

    /// Two to-ones of one hierarchy, one of which has an inverse.
    private static func schema(below root: String?) -> SchemaDescription {
        let item = EntityDescription(
            "Item", below: root, required: ["uid": .int64],
            relationships: [
                .toOne("next", to: "Item"), .toOne("box", to: "Box", inverse: "items"),
            ])
        let box = EntityDescription(
            "Box", below: root, required: ["uid": .int64],
            relationships: [.toManyUnordered("items", to: "Item", inverse: "box")])
        let above = root.map { [EntityDescription($0, isAbstract: true)] } ?? []
        return SchemaDescription(version: root == nil ? "V1" : "V2", above + [item, box])
    }

    private static var options: Engine.Options {
        var options = CrashProof.options
        options.migrationRowsMax = 0
        options.migrationChunkRowsMax = 9
        return options
    }

    private func open(
        _ root: String?, _ files: any FileSystem
    ) throws(StoreError) -> RecordDatabase {
        try RecordDatabase.open(
            .file("store"), schema: Self.schema(below: root), options: Self.options, files: files)
    }

    private func storeOfOld() throws -> DiskImage {
        let disk = SimulatedDisk(seed: 1)
        let database = try open(nil, disk)
        let transaction = try database.beginWrite()
        let item = try #require(database.schema.entity(named: "Item"))
        let box = try #require(database.schema.entity(named: "Box"))
        let (next, owner) = (
            try #require(item.field(named: "next")), try #require(item.field(named: "box"))
        )
        var batch = RecordBatch()
        var last: ObjectNumber?
        var boxes: [ObjectNumber] = []
        for number in 0..<Self.objectCount {
            var row = box.emptyRow()
            defer { row.deallocate() }
            row.setValue(.int(Int64(number)), try #require(box.field(named: "uid")))
            let (own, other) = (
                try transaction.allocateNumber(in: box.hierarchy), Self.objectCount - 1 - number
            )
            boxes.append(own)
            batch.insert(box, own, row: row)
            var link = item.emptyRow()
            defer { link.deallocate() }
            link.setValue(.int(Int64(number)), try #require(item.field(named: "uid")))
            if let last { link.setLink(last, at: next.byteOffset) }
            link.setLink(boxes[min(other, number)], at: owner.byteOffset)
            last = try transaction.allocateNumber(in: item.hierarchy)
            batch.insert(item, last ?? own, row: link)
        }
        try transaction.apply(batch)
        _ = try transaction.commit()
        try database.close()
        return disk.image
    }

    /// Compares the trees with the records, and counts the links.
    private func check(_ database: RecordDatabase, _ place: String) throws {
        let reader = try database.snapshot()
        #expect(reader.check() == [], "\(place)")
        for (name, count) in [("next", Self.objectCount - 1), ("box", Self.objectCount)] {
            let item = try #require(reader.schema.entity(named: "Item"))
            let relationship = try #require(item.relationship(named: name))
            let tree = reader.trees.links(relationship)
            let cursor = Cursor(reader.view, tree: tree)
            var found = 0
            var isMore = try cursor.seekFirst()
            while isMore {
                found += 1
                isMore = try cursor.next()
            }
            #expect(found == count, "\(name), \(place)")
        }
    }

    @Test func `owners are found wherever the migration ended`() throws {
        let start = try storeOfOld()
        let whole = SimulatedDisk(start, seed: 2)
        let counted = FaultInjector(whole, nil)
        let database = try open("Thing", counted)
        try check(database, "whole")
        try database.close()
        var resumedCount = 0
        for call in 1...counted.changeCount {
            let disk = SimulatedDisk(start, seed: 3)
            let dying = FaultInjector(disk, .init(call: call, kind: .error, goesOn: true))
            if let ended = try? open("Thing", dying) { try? ended.close() }
            let again = FaultInjector(SimulatedDisk(disk.image, seed: 4), nil)
            let database = try open("Thing", again)
            try check(database, "call \(call)")
            try database.close()
            if again.changeCount < counted.changeCount / 2 { resumedCount += 1 }
        }
        #expect(resumedCount > 10)
    }
}
