import PageStore
import Proof
import RecordStore
import SampleSchemas
import Testing

/// A mapping that changes indexed values and blobs of objects that keep their numbers, and drops
/// some, in chunks: until the end the file has its earlier model, with its own indexes, links and
/// blobs.
@Suite struct MappedInPlaceTests {
    private static let bookCount = 12

    private static let old = SchemaDescription([
        EntityDescription(
            "Book", required: ["uid": .int64, "title": .string, "cover": .data],
            relationships: [.toOne("sequel", to: "Book")], indexes: [["title"]],
            uniqueConstraints: [["uid"]]),
        EntityDescription(
            "Reader", required: ["uid": .int64],
            relationships: [.toManyOrdered("books", to: "Book")]),
    ])

    private static let new: SchemaDescription = {
        var new = old
        new.modelVersion = "V2"
        new.entities[0].attributes.append(.required("note", .string))
        return new
    }()

    private static let options: Engine.Options = {
        var options = CrashProof.options
        options.migrationRowsMax = 0
        options.migrationChunkRowsMax = 5
        return options
    }()

    /// Every third book is dropped; titles are reversed, and covers become one byte longer.
    private static let mappings: [EntityMapping] = [
        .transform(from: "Book", to: "Book") { source, make in
            guard case .int(let uid)? = try source.value("uid"), uid % 3 != 0,
                case .string(let title)? = try source.value("title"),
                case .data(let cover)? = try source.value("cover")
            else { return }
            let book = try make()
            #expect(book.set(.int(uid), for: "uid"))
            #expect(book.set(.string(String(title.reversed())), for: "title"))
            #expect(book.set(.data(uid % 2 == 0 ? cover + [1] : cover), for: "cover"))
            #expect(book.set(.string("note \(uid)"), for: "note"))
        }
    ]

    private static func title(_ uid: Int) -> String { "title \(uid * 7 % 12)" }
    private static func cover(_ uid: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(uid), count: uid % 4 < 2 ? 700 : 5)
    }

    private func open(
        _ schema: SchemaDescription, _ files: any FileSystem
    ) throws -> RecordDatabase {
        try RecordDatabase.open(
            .file("store"), schema: schema, options: Self.options, files: files,
            route: { _ in [MigrationStep(schema, mappings: Self.mappings)] })
    }

    private func storeOfOld() throws -> DiskImage {
        let disk = SimulatedDisk(seed: 1)
        let database = try open(Self.old, disk)
        let transaction = try database.beginWrite()
        let book = try #require(database.schema.entity(named: "Book"))
        let reader = try #require(database.schema.entity(named: "Reader"))
        var batch = RecordBatch()
        var numbers: [ObjectNumber] = []
        for uid in 1...Self.bookCount {
            let number = try transaction.allocateNumber(in: book.hierarchy)
            var row = book.emptyRow()
            defer { row.deallocate() }
            row.setValue(.int(Int64(uid)), try #require(book.field(named: "uid")))
            row.setValue(.string(Self.title(uid)), try #require(book.field(named: "title")))
            row.setValue(.data(Self.cover(uid)), try #require(book.field(named: "cover")))
            row.setValue(
                numbers.last.map { .object($0) } ?? .null,
                try #require(book.field(named: "sequel")))
            batch.insert(book, number, row: row)
            numbers.append(number)
        }
        var row = reader.emptyRow()
        defer { row.deallocate() }
        row.setValue(.int(1), try #require(reader.field(named: "uid")))
        let owner = try transaction.allocateNumber(in: reader.hierarchy)
        batch.insert(reader, owner, row: row)
        batch.setLinks(
            try #require(reader.relationship(named: "books")), owner: owner,
            numbers.reversed())
        try transaction.apply(batch)
        _ = try transaction.commit()
        try database.close()
        return disk.image
    }

    /// Compares the content of a file with the content that its model should have.
    private func isNew(_ image: DiskImage, _ place: String) throws -> Bool {
        let database = try RecordDatabase.openReadOnly(
            path: "store", options: Self.options, files: SimulatedDisk(image, seed: 7))
        defer { #expect(throws: Never.self) { try database.close() } }
        let isNew = database.schema.description.modelVersion == "V2"
        let snapshot = try database.snapshot()
        #expect(snapshot.check() == [], "\(place)")
        let book = try #require(database.schema.entity(named: "Book"))
        let reader = try #require(database.schema.entity(named: "Reader"))
        let expected = (1...Self.bookCount).filter { !isNew || $0 % 3 != 0 }
        var found: [Int] = []
        let books = snapshot.recordCursor(book.hierarchy)
        while try books.next() {
            let row = try books.row()
            func value(_ name: String) throws -> Value {
                try snapshot.value(try #require(book.field(named: name)), of: row)
            }
            let uid = Int(books.number.rawValue)
            found.append(uid)
            #expect(try value("uid") == .int(Int64(uid)), "\(place)")
            let (title, cover) = (Self.title(uid), Self.cover(uid))
            #expect(
                try value("title") == .string(isNew ? String(title.reversed()) : title),
                "\(place)")
            #expect(
                try value("cover") == .data(isNew && uid % 2 == 0 ? cover + [1] : cover),
                "\(place)")
            let hasSequel = uid > 1 && expected.contains(uid - 1)
            #expect(
                try value("sequel") == (hasSequel ? .object(ObjectNumber(UInt64(uid - 1))) : .null),
                "\(place)")
        }
        #expect(found == expected, "\(place)")
        let owners = snapshot.recordCursor(reader.hierarchy)
        #expect(try owners.next())
        let list = try snapshot.linkedNumbers(
            try #require(reader.relationship(named: "books")), of: owners.number)
        #expect(list.map { Int($0.rawValue) } == expected.reversed(), "\(place)")
        return isNew
    }

    @Test func `a file keeps its own indexes, links and blobs until the migration ends`() throws {
        let start = try storeOfOld()
        let disk = SimulatedDisk(start, seed: 2, records: true)
        try open(Self.new, disk).close()
        #expect(try isNew(disk.image, "at the end"))
        var image = start
        var wasNew = false
        for (number, effect) in disk.effects.enumerated() {
            image.apply(effect)
            guard case .durableWrite = effect else { continue }
            let place = "call \(number)"
            let now = try isNew(image, place)
            #expect(now || !wasNew, "\(place)")
            wasNew = now
            // The next process completes the migration, or the earlier program discards it.
            let next = SimulatedDisk(image, seed: 3)
            try open(Self.new, next).close()
            #expect(try isNew(next.image, place))
            guard !now else { continue }
            let earlier = SimulatedDisk(image, seed: 3)
            try open(Self.old, earlier).close()
            #expect(try !isNew(earlier.image, place))
        }
        #expect(wasNew)
    }
}
