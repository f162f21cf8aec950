import PageStore
import SampleSchemas
import TestSupport
import Testing

@testable import RecordStore

/// A to-one that becomes a list without an order, with more links than one run of pairs holds.
@Suite struct LinkBuildTests {
    private static func schema(_ owner: RelationshipDescription) -> SchemaDescription {
        SchemaDescription(
            version: owner.kind == .toOne ? "V1" : "V2",
            [
                EntityDescription("Being", optional: ["uid": .int64]),
                EntityDescription(
                    "Person", below: "Being",
                    relationships: [.toManyUnordered("dogs", to: "Dog", inverse: "owner")]),
                EntityDescription("Dog", optional: ["uid": .int64], relationships: [owner]),
            ])
    }

    private static let old = schema(.toOne("owner", to: "Person", inverse: "dogs"))
    private static let new = schema(.toManyUnordered("owner", to: "Person", inverse: "dogs"))

    /// Runs of 32 KiB.
    private static func options(chunkRowsMax: Int?) -> Engine.Options {
        var options = Engine.Options()
        options.pageSizeInBytes = 1024
        options.bulkBytesMin = 512
        options.dirtyBytesMax = 64 << 10
        guard let chunkRowsMax else { return options }
        options.migrationRowsMax = 0
        options.migrationChunkRowsMax = chunkRowsMax
        return options
    }

    /// The owners of dogs, by their numbers.
    private typealias Owners = [ObjectNumber: ObjectNumber]

    private func open(
        _ schema: SchemaDescription, _ files: MemoryFileSystem, chunkRowsMax: Int? = nil
    ) throws -> RecordDatabase {
        try RecordDatabase.open(
            .file("store"), schema: schema, options: Self.options(chunkRowsMax: chunkRowsMax),
            files: files)
    }

    /// A file in which one dog in eight has no owner. Without losses every number has an object.
    private func files(
        _ dogCount: Int, losesPersons: Bool, _ random: inout SeededRandom
    ) throws -> (files: MemoryFileSystem, owners: Owners) {
        let files = MemoryFileSystem()
        let database = try open(Self.old, files)
        let transaction = try database.beginWrite()
        let person = try #require(database.schema.entity(named: "Person"))
        let dog = try #require(database.schema.entity(named: "Dog"))
        var batch = RecordBatch()
        var persons: [ObjectNumber] = []
        for _ in 0..<max(2, dogCount / 3) {
            let row = person.emptyRow()
            defer { row.deallocate() }
            let number = try transaction.allocateNumber(in: person.hierarchy)
            batch.insert(person, number, row: row)
            persons.append(number)
        }
        try transaction.apply(batch)
        if losesPersons {
            var losses = RecordBatch()
            for number in persons where number.rawValue % 5 == 1 {
                losses.delete(number, in: person.hierarchy)
            }
            try transaction.apply(losses)
            persons.removeAll { $0.rawValue % 5 == 1 }
        }
        let field = try #require(dog.field(named: "owner"))
        var owners: Owners = [:]
        batch = RecordBatch()
        for _ in 0..<dogCount {
            let row = dog.emptyRow()
            defer { row.deallocate() }
            let number = try transaction.allocateNumber(in: dog.hierarchy)
            if random.below(8) > 0, let owner = persons.randomElement(using: &random) {
                row.setLink(owner, at: field.byteOffset)
                owners[number] = owner
            }
            batch.insert(dog, number, row: row)
        }
        try transaction.apply(batch)
        try transaction.commit()
        try database.close()
        return (files, owners)
    }

    @Test(arguments: [0, 1, 200, 3000], [nil, 250])
    func `a list that was a to-one has its links in both directions`(
        dogCount: Int, chunkRowsMax: Int?
    ) throws {
        var random = SeededRandom(for: "LinkBuildTests")
        let seed = random.seed
        for losesPersons in [false, true] {
            let (files, owners) = try files(dogCount, losesPersons: losesPersons, &random)
            let database = try open(Self.new, files, chunkRowsMax: chunkRowsMax)
            let reader = try database.snapshot()
            #expect(reader.check() == [], "seed \(seed)")
            let dog = try #require(database.schema.entity(named: "Dog"))
            let person = try #require(database.schema.entity(named: "Person"))
            let relationship = try #require(dog.relationship(named: "owner"))
            let inverse = try #require(person.relationship(named: "dogs"))
            for number in 1...UInt64(dogCount + 1) {
                let number = ObjectNumber(number)
                let found = try reader.linkedNumbers(relationship, of: number)
                #expect(found == [owners[number]].compactMap { $0 }, "seed \(seed)")
            }
            let dogs = Dictionary(grouping: owners.keys, by: { owners[$0] ?? ObjectNumber(0) })
            for (owner, dogs) in dogs {
                #expect(
                    try reader.linkedNumbers(inverse, of: owner) == dogs.sorted(), "seed \(seed)")
            }
            var count = 0
            try reader.forEachEdge(inverse) { _, _ in count += 1 }
            #expect(count == owners.count, "seed \(seed)")
            try database.close()
            try expectNoRuns(files)
        }
    }

    /// The runs leave no page and no extent in the file.
    private func expectNoRuns(_ files: MemoryFileSystem) throws {
        var options = Self.options(chunkRowsMax: nil)
        options.mode = .reading
        let engine = try Engine.open(path: "store", options: options, files: files)
        let snapshot = try engine.snapshot()
        let known = try #require(try CatalogView(snapshot)).trees().map(\.tree)
        #expect(StoreCheck.run(snapshot, knownTrees: known) == [])
        try engine.close()
    }

    private func withTree(_ body: (PageEditor, TreeID) throws -> Void) throws {
        let engine = try Engine.open(
            path: "store", options: Self.options(chunkRowsMax: nil), files: MemoryFileSystem())
        let editor = try engine.beginWrite()
        try body(editor, editor.createTree())
        editor.rollback()
        try engine.close()
    }

    /// Adds links to one tree, as often as there are counts, and expects all of them in it.
    ///
    /// - Parameter add: adds about as many as a count says, and returns their keys.
    private func expectJoined(
        _ counts: [Int],
        _ add: (PageEditor, TreeID, Int, inout SeededRandom) throws -> [[UInt8]]
    ) throws {
        try withTree { editor, tree in
            var random = SeededRandom(for: "LinkBuildTests")
            let seed = random.seed
            var expected: Set<[UInt8]> = []
            for count in counts { expected.formUnion(try add(editor, tree, count, &random)) }
            var found: [[UInt8]] = []
            let cursor = Cursor(editor, tree: tree)
            var isValid = try cursor.seekFirst()
            while isValid {
                found.append(cursor.key.array())
                isValid = try cursor.next()
            }
            #expect(found == expected.sorted { $0.lexicographicallyPrecedes($1) }, "seed \(seed)")
        }
    }

    @Test func `links that are added to a tree in runs join those it has`() throws {
        try expectJoined([300, 3000, 10, 3000]) { editor, tree, count, random in
            var runs = SortedPairs(editor, isFinal: random.below(2) > 0)
            func number() -> UInt64 {
                random.below(4) > 0
                    ? UInt64(1 + random.below(900)) : random.next() >> UInt64(random.below(64))
            }
            var known: Set<[UInt8]> = []
            for _ in 0..<count {
                let pair = (number(), number())
                guard known.insert(RecordKey.bytes(pair.0, pair.1)).inserted else { continue }
                try runs.insert(ObjectNumber(pair.0), ObjectNumber(pair.1))
            }
            try runs.write(to: tree)
            return Array(known)
        }
    }

    @Test func `links in ascending order join those that a tree has`() throws {
        // The first ones build the tree, and the others are inserted.
        try expectJoined([0, 900, 10, 900]) { editor, tree, count, random in
            var pairs = try AscendingPairs(editor, tree: tree, isFinal: random.below(2) > 0)
            var keys: [[UInt8]] = []
            for first in 0..<UInt64(count) where random.below(2) > 0 {
                for second in 0...UInt64(random.below(3)) {
                    try pairs.insert(ObjectNumber(first), ObjectNumber(second))
                    keys.append(RecordKey.bytes(first, second))
                }
            }
            try pairs.finish()
            return keys
        }
    }

    @Test(arguments: [(2, 1), (2, 2), (1, 9)])
    func `links out of order are refused, for their tree is damaged`(
        _ first: UInt64, _ second: UInt64
    ) throws {
        try withTree { editor, tree in
            var pairs = try AscendingPairs(editor, tree: tree, isFinal: true)
            try pairs.insert(ObjectNumber(2), ObjectNumber(2))
            var code: StoreError.Code?
            do throws(StoreError) {
                try pairs.insert(ObjectNumber(first), ObjectNumber(second))
            } catch {
                code = error.code
            }
            #expect(code == .corrupt)
        }
    }
}
