import PageStore
import TestSupport
import Testing

@testable import RecordStore

/// Counters of the catalog that have come to their end: what needs one more is refused, and
/// nothing else is.
@Suite struct RecordCounterEndTests {
    private typealias Store = NumberTests.Store
    private typealias Ending = NumberTests.Ending

    /// A file of three stones and a tree whose catalog was changed.
    private func files(
        _ change: (Catalog, WriteTransaction) throws -> Void
    ) throws -> FaultyFileSystem {
        let store = try Store()
        try store.add(3)
        try add(1, "Tree", to: store.database)
        try store.database.close()
        let engine = try Engine.open(path: "numbers", files: store.files)
        let editor = try engine.beginWrite()
        try change(try #require(try Catalog.open(editor)), editor)
        _ = try editor.commit()
        try engine.close()
        return store.files
    }

    private func add(_ count: Int, _ name: String, to database: RecordDatabase) throws {
        let entity = try #require(database.schema.entity(named: name))
        let transaction = try database.beginWrite()
        do {
            var batch = RecordBatch()
            let row = entity.emptyRow()
            defer { row.deallocate() }
            for _ in 0..<count {
                let number = try transaction.allocateNumber(in: entity.hierarchy)
                batch.insert(entity, number, row: row)
            }
            try transaction.apply(batch)
            try transaction.commit()
        } catch {
            transaction.rollback()
            throw error
        }
    }

    private func numbers(_ name: String, _ database: RecordDatabase) throws -> [UInt64] {
        let entity = try #require(database.schema.entity(named: name))
        let cursor = try database.snapshot().recordCursor(entity.hierarchy)
        var numbers: [UInt64] = []
        while try cursor.next() { numbers.append(cursor.number.rawValue) }
        return numbers
    }

    private static let numberMax: UInt64 = 1 << 62

    @Test(
        arguments: ["number", "reserved"],
        [numberMax - 2, numberMax - 1, numberMax, numberMax + 1, .max - 1, .max])
    func `object numbers that are used up refuse objects of that hierarchy`(
        _ key: String, _ last: UInt64
    ) throws {
        let files = try files { catalog, editor in
            try catalog.setCounter("\(key)/1", last, in: editor)
        }
        let left = Int(Self.numberMax - min(last, Self.numberMax))
        let expected = [1, 2, 3] + (Self.numberMax - UInt64(left)..<Self.numberMax).map { $0 + 1 }
        var store = try Store(files)
        for ending in [Ending.none, .close, .powerCut, .processDeath] {
            if ending == .none { for _ in 0..<left { try store.add() } }
            for count in [1, 5] {
                let error = #expect(throws: StoreError.self) { try store.add(count) }
                #expect(error?.code == .tooLarge, "\(ending)")
                // The counter may be damaged, and a caller must find it.
                #expect(error?.page != nil, "\(ending)")
            }
            #expect(try numbers("Stone", store.database) == expected, "\(ending)")
            #expect(try store.database.snapshot().check() == [], "\(ending)")
            // Other hierarchies have numbers of their own.
            let treeCount = try numbers("Tree", store.database).count
            try add(2, "Tree", to: store.database)
            #expect(try numbers("Tree", store.database).count == treeCount + 2)
            store = try ending.next(store)
        }
        try store.database.close()
    }

    @Test(arguments: [UInt64(Int.max), UInt64(Int.max) + 1, .max])
    func `a count of records that cannot be raised refuses records`(_ count: UInt64) throws {
        let files = try files { catalog, editor in
            try catalog.setCounter("count/1", count, in: editor)
        }
        let store = try Store(files)
        let error = #expect(throws: StoreError.self) { try store.add() }
        #expect(error?.code == .corrupt)
        #expect(try numbers("Stone", store.database) == [1, 2, 3])
        try add(1, "Tree", to: store.database)
        // No file has so many: the count is damage, and a check tells.
        #expect(try store.database.snapshot().check().count == 1)
        let next = try Ending.close.next(store)
        #expect(try numbers("Stone", next.database) == [1, 2, 3])
        #expect(try numbers("Tree", next.database).count == 2)
        try next.database.close()
    }

    // MARK: The layout

    private func open(
        _ files: FaultyFileSystem, _ names: [String] = [], attributes: [String] = []
    ) throws -> RecordDatabase {
        var schema = NumberTests.schema
        for name in names {
            schema.entities.append(
                EntityDescription(
                    name: name, className: name,
                    attributes: [AttributeDescription(name: "n", type: .int64, isOptional: true)]))
        }
        for name in attributes {
            schema.entities[0].attributes.append(
                AttributeDescription(name: name, type: .int64, isOptional: true))
        }
        let later = schema
        return try RecordDatabase.open(
            .file("numbers"), schema: later, files: files, route: { _ in [MigrationStep(later)] })
    }

    private func layoutFiles(
        _ change: (inout StoredLayout) -> Void
    ) throws -> FaultyFileSystem {
        try files { catalog, editor in
            let bytes = try #require(try catalog.entry(Catalog.layoutKey, of: editor))
            var layout = try StoredLayout(bytes, page: catalog.root.root)
            change(&layout)
            try catalog.setEntry(Catalog.layoutKey, layout.bytes, in: editor)
        }
    }

    /// The file is what it was, for those who ask nothing new of it.
    private func expectUnchanged(
        _ files: FaultyFileSystem, stones: [UInt64],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for survivor in [files.powerCut(), files.processDeath()] {
            let reader = try RecordDatabase.openReadOnly(path: "numbers", files: survivor)
            #expect(try numbers("Stone", reader) == stones, sourceLocation: sourceLocation)
            #expect(try reader.snapshot().check() == [], sourceLocation: sourceLocation)
            try reader.close()
        }
    }

    @Test(arguments: 0...2) func `tags that are used up refuse new entities`(_ left: Int) throws {
        let files = try layoutFiles({ layout in
            layout.entities.append(StoredLayout.Entity(name: "", tag: .max - UInt16(left)))
        })
        var names: [String] = []
        for number in 0..<left {
            names.append("New\(number)")
            let database = try open(files, names)
            try add(2, names[number], to: database)
            #expect(try numbers(names[number], database).count == 2)
            #expect(try database.snapshot().check() == [])
            try database.close()
        }
        let error = #expect(throws: StoreError.self) { try open(files, names + ["Last"]) }
        #expect(error?.code == .tooLarge)
        try expectUnchanged(files, stones: [1, 2, 3])
        let database = try open(files, names)
        try add(1, "Stone", to: database)
        for name in names { #expect(try numbers(name, database).count == 2) }
        #expect(try numbers("Stone", database).count == 4)
        #expect(try database.snapshot().check() == [])
        try database.close()
    }

    @Test(arguments: 0...2) func `slots that are used up refuse new properties`(
        _ left: Int
    ) throws {
        let files = try layoutFiles({ layout in
            layout.entities[0].slotCounts.append(UInt16(RowLayout.slotCountMax - left))
        })
        var names: [String] = []
        for number in 0..<left {
            names.append("new\(number)")
            let database = try open(files, attributes: names)
            try add(1, "Stone", to: database)
            #expect(try database.snapshot().check() == [])
            try database.close()
        }
        let error = #expect(throws: StoreError.self) {
            try open(files, attributes: names + ["last"])
        }
        #expect(error?.code == .tooLarge)
        let database = try open(files, attributes: names)
        #expect(try numbers("Stone", database).count == 3 + left)
        try add(1, "Tree", to: database)
        #expect(try database.snapshot().check() == [])
        let stones = try numbers("Stone", database)
        try database.close()
        try expectUnchanged(files, stones: stones)
    }
}
