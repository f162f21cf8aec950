import Foundation
import PageStore
import RecordStore
import SampleSchemas
import TestSupport
import Testing

/// Values that are stored in chunks, in a store that is salvaged.
@Suite struct SalvagedBlobTests {
    private static let schema = SchemaDescription([
        EntityDescription(
            "Film", optional: ["content": .data, "trailer": .data], indexes: [["content"]])
    ])

    /// A film whose two values do not compress.
    private func files(_ values: [[UInt8]]) throws -> MemoryFileSystem {
        let files = MemoryFileSystem()
        let database = try RecordDatabase.open(.file("store"), schema: Self.schema, files: files)
        let film = try #require(database.schema.entity(named: "Film"))
        let transaction = try database.beginWrite()
        var row = film.emptyRow()
        defer { row.deallocate() }
        for (name, value) in zip(["content", "trailer"], values) {
            row.setValue(.data(value), try #require(film.field(named: name)))
        }
        var batch = RecordBatch()
        batch.insert(film, try transaction.allocateNumber(in: film.hierarchy), row: row)
        try transaction.apply(batch)
        try transaction.commit()
        try database.close()
        return files
    }

    /// The values of the film in the salvaged store, which is right.
    private func salvaged(_ files: MemoryFileSystem) throws -> [Value] {
        _ = try Salvage.run(path: "store", to: "salvaged", files: files)
        let database = try RecordDatabase.openReadOnly(path: "salvaged", files: files)
        let reader = try database.snapshot()
        #expect(reader.check() == [])
        let film = try #require(database.schema.entity(named: "Film"))
        let cursor = reader.recordCursor(film.hierarchy)
        #expect(try cursor.next())
        let values = try film.fields.map { try reader.value($0, of: cursor.row()) }
        #expect(try !cursor.next())
        try database.close()
        return values
    }

    @Test(arguments: [100, 65_536, 65_537, 1_048_560, 1_048_561, 2_200_000])
    func `a long value is copied`(_ size: Int) throws {
        var random = SeededRandom(seed: UInt64(size))
        let values = [random.bytes(size), random.bytes(5000)]
        #expect(try salvaged(try files(values)) == values.map { .data($0) })
    }

    @Test(arguments: [10_000, 1_100_000])
    func `a value with a damaged chunk is lost, and leaves no page behind`(_ place: Int) throws {
        var random = SeededRandom(seed: UInt64(place))
        let values = [random.bytes(1_200_000), random.bytes(70_000)]
        let files = try files(values)
        let file = try files.open("store", .readWrite)
        let bytes = ReadBuffer(count: Int(try file.size()))
        _ = try file.read(into: bytes, at: 0)
        let stored = Data(bytes.view.array())
        let found = try #require(stored.range(of: Data(values[0][place..<place + 32])))
        let damage = ByteBuffer(capacity: 8)
        damage.appendUInt64(~bytes.view.uint64(at: found.lowerBound))
        try file.write(damage.view, at: UInt64(found.lowerBound))
        file.close()
        #expect(try salvaged(files) == [.null, .data(values[1])])
    }
}
