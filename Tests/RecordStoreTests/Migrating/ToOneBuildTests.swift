import PageStore
import SampleSchemas
import TestSupport
import Testing

@testable import RecordStore

/// Objects with to-one links that get other numbers: two hierarchies become one.
@Suite struct ToOneBuildTests {
    private static func schema(below root: String?) -> SchemaDescription {
        let person = EntityDescription(
            "Person", below: root, required: ["uid": .int64],
            relationships: [.toManyUnordered("dogs", to: "Dog", inverse: "owner")])
        let dog = EntityDescription(
            "Dog", below: root, required: ["uid": .int64],
            relationships: [.toOne("owner", to: "Person", inverse: "dogs")])
        let above = root.map { [EntityDescription($0, isAbstract: true)] } ?? []
        return SchemaDescription(version: root == nil ? "V1" : "V2", above + [person, dog])
    }

    private static let old = schema(below: nil)
    private static let new = schema(below: "Being")

    private static func options(isChunked: Bool) -> Engine.Options {
        var options = Engine.Options()
        options.pageSizeInBytes = 1024
        options.bulkBytesMin = 512
        options.dirtyBytesMax = 256 << 10
        options.checkpointsInBackground = false
        guard isChunked else { return options }
        options.migrationRowsMax = 0
        options.migrationChunkBytesMax = 64 << 10
        return options
    }

    private func open(
        _ schema: SchemaDescription, _ files: MemoryFileSystem, isChunked: Bool
    ) throws -> RecordDatabase {
        try RecordDatabase.open(
            .file("store"), schema: schema, options: Self.options(isChunked: isChunked),
            files: files)
    }

    /// A file of three dogs a person, each with any owner or none. The uids of a dog and of its
    /// owner say which they are.
    private func files(
        _ dogCount: Int, _ random: inout SeededRandom
    ) throws -> (files: MemoryFileSystem, owners: [Int64: Int64]) {
        let files = MemoryFileSystem()
        let database = try open(Self.old, files, isChunked: false)
        let transaction = try database.beginWrite()
        func insert(
            _ name: String, _ uid: Int64, owner: ObjectNumber? = nil
        ) throws -> ObjectNumber {
            let entity = try #require(database.schema.entity(named: name))
            var row = entity.emptyRow()
            defer { row.deallocate() }
            let number = try transaction.allocateNumber(in: entity.hierarchy)
            row.setValue(.int(uid), try #require(entity.field(named: "uid")))
            if let owner {
                row.setLink(owner, at: try #require(entity.field(named: "owner")).byteOffset)
            }
            var batch = RecordBatch()
            batch.insert(entity, number, row: row)
            try transaction.apply(batch)
            return number
        }
        let persons = try (0...Int64(dogCount / 3)).map { try insert("Person", $0) }
        var owners: [Int64: Int64] = [:]
        for uid in 0..<Int64(dogCount) {
            let owner = random.below(8) > 0 ? random.below(persons.count) : nil
            owners[uid] = owner.map { Int64($0) }
            _ = try insert("Dog", uid, owner: owner.map { persons[$0] })
        }
        try transaction.commit()
        try database.close()
        return (files, owners)
    }

    private func uids(
        _ name: String, _ reader: RecordReader
    ) throws -> [ObjectNumber: Int64] {
        let entity = try #require(reader.schema.entity(named: name))
        let field = try #require(entity.field(named: "uid"))
        var uids: [ObjectNumber: Int64] = [:]
        let cursor = reader.recordCursor(entity.hierarchy)
        while try cursor.next() {
            let row = try cursor.row()
            guard row.entityTag == entity.tag,
                case .int(let uid) = try reader.value(field, of: row)
            else { continue }
            uids[cursor.number] = uid
        }
        return uids
    }

    @Test(arguments: [0, 1, 4000], [false, true])
    func `objects that move keep their to-one links in both directions`(
        dogCount: Int, isChunked: Bool
    ) throws {
        var random = SeededRandom(for: "ToOneBuildTests")
        let seed = random.seed
        let (files, owners) = try files(dogCount, &random)
        let database = try open(Self.new, files, isChunked: isChunked)
        defer { #expect(throws: Never.self) { try database.close() } }
        let reader = try database.snapshot()
        #expect(reader.check() == [], "seed \(seed)")
        let (persons, dogs) = (try uids("Person", reader), try uids("Dog", reader))
        #expect(dogs.count == dogCount && persons.count == dogCount / 3 + 1)
        let dog = try #require(reader.schema.entity(named: "Dog"))
        let person = try #require(reader.schema.entity(named: "Person"))
        let owner = try #require(dog.relationship(named: "owner"))
        for (number, uid) in dogs {
            let found = try reader.linkedNumbers(owner, of: number)
            #expect(found.count <= 1)
            #expect(found.first.flatMap { persons[$0] } == owners[uid], "seed \(seed)")
        }
        var pairs: [Int64: Int64] = [:]
        for (number, uid) in persons {
            let inverse = try #require(person.relationship(named: "dogs"))
            for dog in try reader.linkedNumbers(inverse, of: number) {
                pairs[try #require(dogs[dog])] = uid
            }
        }
        #expect(pairs == owners, "seed \(seed)")
    }

    /// A bug: a page of the owners' tree was written for nearly each dog, which took 25 GB for
    /// 10,000,000 objects.
    @Test func `moving objects writes no page for each of their links`() throws {
        var random = SeededRandom(for: "ToOneBuildTests written")
        let (files, _) = try files(12_000, &random)
        let size = try files.bytes(of: "store").count
        let database = try open(Self.new, files, isChunked: true)
        let written = database.statistics.bytesWritten
        try database.close()
        #expect(written < 6 * UInt64(size), "\(written) of \(size), seed \(random.seed)")
    }
}
