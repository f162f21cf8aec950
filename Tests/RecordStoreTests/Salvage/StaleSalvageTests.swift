import SampleSchemas
import TestSupport
import Testing

@testable import PageStore
@testable import RecordStore

/// Files whose newest pages are lost while older versions of them are left: what they lack is told.
@Suite struct StaleSalvageTests {
    private static let schema = SchemaDescription([
        EntityDescription(
            "Player", optional: ["name": .string],
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

    /// Makes the newest version of each page of a tree unreadable, or of its first leaf alone.
    private func lose(_ tree: String, onlyFirstLeaf: Bool = false) throws {
        let pages = try SalvagedPages.scan(path: "store", files: files)
        var visited: Set<PageID> = []
        let root = tree == "catalog" ? pages.catalogRoot : SalvagedCatalog(pages).roots[tree]
        let leaves = SalvagedTree(root: root, pages, visited: &visited).leaves
        try #require(!visited.isEmpty)
        if onlyFirstLeaf {
            try #require(leaves.count > 1)
            visited = [leaves[0].page]
        }
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

    /// Persons and passports, each of which has one other; and a unique address.
    private static let pairs = SchemaDescription([
        EntityDescription(
            "Person", optional: ["email": .string],
            relationships: [.toOne("passport", to: "Passport", inverse: "owner")],
            uniqueConstraints: [["email"]]),
        EntityDescription("Passport", relationships: [.toOne("owner", to: "Person")]),
    ])

    private func update(
        _ number: ObjectNumber, _ name: String, _ transaction: RecordTransaction,
        _ change: (inout RowBuffer, EntityLayout) throws -> Void
    ) throws {
        let entity = try #require(transaction.schema.entity(named: name))
        var row = try #require(try transaction.row(number, in: entity.hierarchy))
        defer { row.deallocate() }
        try change(&row, entity)
        var batch = RecordBatch()
        batch.update(entity, number, row: row)
        try transaction.apply(batch)
    }

    @Test(arguments: ["records/Person", "records/Passport"])
    func `a salvaged store broke pairs and unique constraints`(_ lost: String) throws {
        let database = try open("store", Self.pairs)
        let count = 60
        for round in 0..<3 {
            let transaction = try database.beginWrite()
            let persons = try numbers(UInt64(count), of: "Person", transaction)
            let passports = try numbers(UInt64(count), of: "Passport", transaction)
            for index in 0..<count {
                // Another passport and another address each time; some have none in between.
                let place = (index + 7 * round) % count
                let isAlone = round == 1 && index % 3 == 0
                try update(persons[index], "Person", transaction) { row, entity in
                    row.setValue(
                        .string("\(place)"), try #require(entity.field(named: "email")))
                    let field = try #require(entity.field(named: "passport"))
                    row.setLink(isAlone ? nil : passports[place], at: field.byteOffset)
                }
                try update(passports[place], "Passport", transaction) { row, entity in
                    let field = try #require(entity.field(named: "owner"))
                    row.setLink(isAlone ? nil : persons[index], at: field.byteOffset)
                }
            }
            _ = try transaction.commit()
            try database.checkpoint()
        }
        #expect(try database.snapshot().check() == [])
        try database.close()
        try lose(lost, onlyFirstLeaf: true)
        let report = try Salvage.run(path: "store", to: "new", files: files)
        let conflicts = report.losses.filter { $0.what.contains("which another object has now") }
        #expect(conflicts.contains { $0.what.contains("passport") || $0.what.contains("owner") })
        #expect(conflicts.contains { $0.what.contains("email") } == (lost == "records/Person"))
        let reader = try open("new", Self.pairs).snapshot()
        #expect(reader.check() == [])
    }
}
