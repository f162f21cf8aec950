import SampleSchemas
import TestSupport
import Testing

@testable import PageStore
@testable import RecordStore

/// Files whose newest pages are lost while older versions of them are left: what they lack is told.
@Suite struct StaleSalvageTests {
    private static let schema = SchemaDescription([
        EntityDescription(
            "Player", required: ["name": .string],
            relationships: [
                .toManyUnordered("clubs", to: "Club", inverse: "members"),
                .toManyUnordered("likes", to: "Club"),
            ]),
        EntityDescription("Club", relationships: [.toManyOrdered("members", to: "Player")]),
    ])

    private let files = MemoryFileSystem()

    private func open(
        _ path: String = "store", _ schema: SchemaDescription = schema
    ) throws -> RecordDatabase {
        try RecordDatabase.open(.file(path), schema: schema, options: .small, files: files)
    }

    /// The first objects of an entity, which are made where there are none.
    private func numbers(
        _ count: UInt64, of name: String, _ transaction: RecordTransaction
    ) throws -> [ObjectNumber] {
        let entity = try #require(transaction.schema.entity(named: name))
        return try (1...count).map { number in
            let known = ObjectNumber(number)
            if try transaction.contains(known, in: entity.hierarchy) { return known }
            let row = entity.emptyRow()
            defer { row.deallocate() }
            var batch = RecordBatch()
            let number = try transaction.allocateNumber(in: entity.hierarchy)
            batch.insert(entity, number, row: row)
            try transaction.apply(batch)
            return number
        }
    }

    /// Gives the first player these clubs, in both relationships.
    private func link(_ clubs: Range<Int>, in database: RecordDatabase) throws {
        let transaction = try database.beginWrite()
        let player = try numbers(3, of: "Player", transaction)[0]
        let all = try numbers(20, of: "Club", transaction)
        let entity = try #require(database.schema.entity(named: "Player"))
        for name in ["clubs", "likes"] {
            var batch = RecordBatch()
            batch.setLinks(
                try #require(entity.relationship(named: name)), owner: player, Array(all[clubs]))
            try transaction.apply(batch)
        }
        _ = try transaction.commit()
        try database.checkpoint()
    }

    private func links(_ name: String, _ path: String) throws -> [UInt64] {
        let reader = try open(path).snapshot()
        #expect(reader.check() == [])
        let entity = try #require(reader.schema.entity(named: "Player"))
        let relationship = try #require(entity.relationship(named: name))
        return try reader.linkedNumbers(relationship, of: ObjectNumber(1)).map(\.rawValue).sorted()
    }

    /// Makes the newest version of each page of a tree unreadable.
    private func lose(_ tree: String) throws {
        let pages = try SalvagedPages.scan(path: "store", files: files)
        var visited: Set<PageID> = []
        let root = tree == "catalog" ? pages.catalogRoot : SalvagedCatalog(pages).roots[tree]
        _ = SalvagedTree(root: root, pages, visited: &visited)
        try #require(!visited.isEmpty)
        let file = try files.open("store", .readWrite)
        for id in visited {
            guard case .extent(let address)? = pages.sources[id]?.content else { continue }
            try [UInt8](repeating: 0, count: 64).withView { view throws(StoreError) in
                try file.write(
                    view, at: address.unit * UInt64(pages.identity.unitSizeInBytes))
            }
        }
        file.close()
    }

    @Test(arguments: ["clubs", "members", "likes"])
    func `links that were removed came back from an older page`(_ name: String) throws {
        let database = try open()
        try link(0..<10, in: database)
        try link(5..<15, in: database)
        let tree = try #require(database.schema.relationships.first { $0.name == name }).treeName
        try database.close()
        try lose(tree)
        let report = try Salvage.run(path: "store", to: "new", files: files)
        let expected = (6...15).map { UInt64($0) }
        if name == "likes" {
            // Nothing else knows them.
            #expect(report.losses.contains { $0.tree == tree && $0.what.contains("after") })
        } else {
            #expect(try links("likes", "new") == expected)
        }
        #expect(try links("clubs", "new") == expected)
    }

    @Test func `commits that the log had lost between others were not missed`() throws {
        let database = try open()
        for number in 0..<4 {
            let transaction = try database.beginWrite()
            _ = try numbers(UInt64(number + 1), of: number == 2 ? "Club" : "Player", transaction)
            _ = try transaction.commit()
        }
        var options = Engine.Options.small
        options.mode = .reading
        let engine = try Engine.open(path: "store", options: options, files: files)
        let groups = try engine.logFrames().filter { $0.type == .group }
        try engine.close()
        let damaged = groups[groups.count - 2].byteOffset + UInt64(FrameLayout.groupSize) + 20
        let file = try files.open("store", .readWrite)
        try [UInt8(0xA5)].withView { view throws(StoreError) in
            try file.write(view, at: damaged)
        }
        let copy = MemoryFileSystem()
        let bytes = try files.bytes(of: "store")
        let copied = try copy.open("store", .createNew)
        try bytes.withView { view throws(StoreError) in try copied.write(view, at: 0) }
        copied.close()
        let report = try Salvage.run(path: "store", to: "new", files: copy)
        #expect(report.losses.contains { $0.tree == "log" }, "\(report.losses)")
    }

    @Test func `an older catalog passed for the newest one`() throws {
        let first = SchemaDescription([EntityDescription("Player", required: ["name": .string])])
        // The schema lies in the catalog's own page, and in no blob.
        let old = try RecordDatabase.open(.file("store"), schema: first, files: files)
        let made = try old.beginWrite()
        _ = try numbers(3, of: "Player", made)
        _ = try made.commit()
        try old.checkpoint()
        try old.close()
        let database = try open()
        try link(0..<10, in: database)
        try database.close()
        try lose("catalog")
        let alone = try Salvage.run(path: "store", to: "alone", files: files)
        #expect(alone.losses.contains { $0.tree == "catalog" }, "\(alone.losses)")
        let lent = try Salvage.run(
            path: "store", to: "lent", lent: try Schema(Self.schema), files: files)
        #expect(lent.losses.contains { $0.tree == "catalog" })
        #expect(lent.objects.contains { $0.entity == "Club" && $0.count == 20 })
    }
}
