import Foundation
import PageStore
import SampleSchemas
import TestSupport
import Testing

@testable import RecordStore

/// The identities of objects that migrations have moved.
@Suite struct MovedObjectsTests {
    private typealias Move = MovedObjects.Move

    private func moved(_ generations: [Move]...) -> MovedObjects {
        var moved = MovedObjects()
        for moves in generations { moved.add(moves) }
        return moved
    }

    private func place(
        _ moved: MovedObjects, _ entity: String, _ number: UInt64, _ generation: UInt32
    ) -> String? {
        moved.resolve(entity, ObjectNumber(number), generation: generation)
            .map { "\($0.entity) \($0.number.rawValue)" }
    }

    @Test func `an identity follows the moves after its own generation`() {
        let moved = moved(
            [Move("Company", "Company", offset: 10), Move("Person", "Person")],
            [Move("Company", "Firm")], [Move("Firm", "Firm", offset: 100)])
        #expect(moved.moves.map(\.generation) == [1, 2, 3])
        #expect(place(moved, "Company", 500, 0) == "Firm 610")
        #expect(place(moved, "Company", 500, 1) == "Firm 600")
        #expect(place(moved, "Company", 500, 2) == "Company 500")
        #expect(place(moved, "Firm", 500, 3) == "Firm 500")
        #expect(place(moved, "Firm", 500, 4) == nil)
        #expect(place(moved, "Person", 7, 0) == "Person 7")
        #expect(moved.generations == ["Company": 2, "Firm": 3])
        #expect(place(MovedObjects(), "Person", 7, 0) == "Person 7")
        #expect(place(MovedObjects(), "Person", 7, 1) == nil)
    }

    @Test func `names that two entities exchange lead to the other one`() {
        let moved = moved([Move("A", "B"), Move("B", "A")])
        #expect(place(moved, "A", 1, 0) == "B 1")
        #expect(place(moved, "B", 1, 0) == "A 1")
        #expect(place(moved, "A", 1, 1) == "A 1")
    }

    @Test func `a name that is used again does not lead to objects that were removed`() {
        let moved = moved([Move("Town", nil)])
        #expect(place(moved, "Town", 1, 0) == nil)
        #expect(moved.generations["Town"] == 1)
        #expect(place(moved, "Town", 1, 1) == "Town 1")
    }

    @Test func `no identity has a number beyond the last one`() {
        let max = NumberReserve.numberMax
        let moved = moved([Move("A", "A", offset: max)], [Move("A", "A", offset: max)])
        #expect(place(moved, "A", 0, 1) == "A \(max)")
        for number in [1, max, .max] { #expect(place(moved, "A", number, 1) == nil) }
        #expect(place(moved, "A", 0, 0) == nil || max == 0)
    }

    @Test func `moves are read as they were written, and damage to them is reported`() throws {
        let moved = moved(
            [Move("Company", "Company", offset: 10), Move("Ærø", "B")], [Move("B", nil)])
        let bytes = moved.bytes
        #expect(try MovedObjects(bytes, page: PageID(1)) == moved)
        #expect(try MovedObjects(MovedObjects().bytes, page: PageID(1)) == MovedObjects())
        let ends = [4, 34, 56]
        for count in bytes.indices where !ends.contains(count) {
            let error = #expect(throws: StoreError.self, "\(count)") {
                try MovedObjects(Array(bytes[..<count]), page: PageID(1))
            }
            #expect(error?.code == .corrupt && error?.page == 1)
        }
        var newer = bytes
        newer[0] = 2
        let error = #expect(throws: StoreError.self) { try MovedObjects(newer, page: PageID(1)) }
        #expect(error?.code == .newerFormat)
        var random = SeededRandom(for: "MovedObjectsTests")
        for _ in FuzzRounds(2000) {
            var damaged = bytes
            for _ in 0...random.below(3) {
                damaged[random.below(damaged.count)] = UInt8(truncatingIfNeeded: random.next())
            }
            guard let read = try? MovedObjects(damaged, page: PageID(1)) else { continue }
            _ = place(read, "Company", random.next(), UInt32(random.below(3)))
        }
    }

    /// The byte that each damage replaces, and what is said about it.
    @Test(arguments: [
        (4, 0, "generation 0 after 0"), (4, 2, "generation 2 after 0"),
        (34, 3, "generation 3 after 1"), (34, 1, "moves “B” after “Company” in generation 1"),
        (12, 0, "by 0"), (19, 0xC0, "by"),
        (8, 0, "a name that no entity can have"),
    ])
    func `a move that no migration makes is damage`(
        offset: Int, byte: UInt8, words: String
    ) throws {
        let moved = moved([Move("Company", "Company", offset: 10)], [Move("B", "C")])
        var bytes = moved.bytes
        bytes[offset] = byte
        let error = #expect(throws: StoreError.self) { try MovedObjects(bytes, page: PageID(1)) }
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains(words) == true, "\(String(describing: error))")
    }

    @Test func `damaged moves are refused when the file is opened, and found by a check`() throws {
        let files = MemoryFileSystem()
        let schema = SchemaDescription([EntityDescription("Person", optional: ["name": .string])])
        try RecordDatabase.open(.file("store"), schema: schema, files: files).close()
        let engine = try Engine.open(path: "store", files: files)
        let editor = try engine.beginWrite()
        let catalog = try #require(try Catalog.open(editor))
        try catalog.setEntry(Catalog.movedKey, [1, 0], in: editor)
        let trees = try TreeTable.open(Schema(schema), catalog, editor).table
        let reader = RecordReader(
            schema: try Schema(schema), view: editor, catalog: catalog, trees: trees)
        #expect(reader.check().map { "\($0)" }.filter { $0.contains("is too short") }.count == 1)
        try editor.commit()
        try engine.close()
        let error = #expect(throws: StoreError.self) {
            try RecordDatabase.open(.file("store"), schema: schema, files: files)
        }
        #expect(error?.code == .corrupt)
    }

    private func name(_ entity: String, in database: RecordDatabase) -> String? {
        database.schema.entity(named: entity).map { entity in
            let name = database.identities.name(of: entity)
            return "\(name.entity) \(name.generation)"
        }
    }

    @Test func `a reader that foresaw other generations than a writer recorded is ended`() throws {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("moved-\(UUID().uuidString).trellis")
        defer { try? FileManager.default.removeItem(at: url) }
        func schema(_ version: String, _ names: (name: String, previous: String?)...)
            -> SchemaDescription
        {
            var schema = SchemaDescription(
                names.map { EntityDescription($0.name, optional: ["name": .string]) })
            schema.modelVersion = version
            for (index, name) in names.enumerated() {
                schema.entities[index].previousName = name.previous
            }
            return schema
        }
        func open(_ schema: SchemaDescription, reads: Bool = false) throws -> RecordDatabase {
            var options = Engine.Options()
            if reads { options.mode = .reading }
            return try RecordDatabase.open(.file(url.path), schema: schema, options: options)
        }
        let first = schema("V1", ("Company", nil), ("Town", nil))
        let second = schema("V2", ("Company", nil), ("City", "Town"))
        let third = schema("V3", ("Firm", "Company"), ("City", "Town"))
        try open(first).close()
        let reader = try open(third, reads: true)
        defer { try? reader.close() }
        #expect(name("Firm", in: reader) == "Company 0")
        #expect(place(reader.identities.moved, "Company", 1, 1) == "Company 1")
        reader.follow { _ in }
        let commit = try reader.snapshot().commitNumber
        try open(second).close()
        let writer = try open(third)
        #expect(place(writer.identities.moved, "Company", 1, 1) == "Firm 1")
        try writer.close()
        let end = ContinuousClock.now + .seconds(60 * hangMinutes)
        let error = #expect(throws: StoreError.self) {
            while try reader.snapshot().commitNumber == commit, ContinuousClock.now < end {
                Thread.sleep(forTimeInterval: 0.002)
            }
        }
        #expect(error?.code == .schemaMismatch)
    }

    @Test func `a reader of a later model finds objects by their earlier names`() throws {
        let files = MemoryFileSystem()
        let first = SchemaDescription([EntityDescription("Company", optional: ["name": .string])])
        var second = first
        second.modelVersion = "V2"
        (second.entities[0].name, second.entities[0].previousName) = ("Firm", "Company")
        try RecordDatabase.open(.file("store"), schema: first, files: files).close()
        var options = Engine.Options()
        options.mode = .reading
        let reader = try RecordDatabase.open(
            .file("store"), schema: second, options: options, files: files)
        #expect(place(reader.identities.moved, "Company", 1, 0) == "Firm 1")
        #expect(name("Firm", in: reader) == "Company 0")
        try reader.close()
        let writer = try RecordDatabase.open(.file("store"), schema: second, files: files)
        #expect(writer.identities.moved == reader.identities.moved)
        #expect(name("Firm", in: writer) == "Firm 0")
        try writer.close()
        let again = try RecordDatabase.open(.file("store"), schema: second, files: files)
        #expect(again.identities.moved == writer.identities.moved)
        try again.close()
    }
}
