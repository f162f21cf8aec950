import Foundation
import PageStore
import RecordStore
import SampleSchemas
import Testing

/// `spec/samples/` holds one small store a format version: every later version of the engine opens
/// them and finds what `spec/samples/README.md` says.
@Suite struct SampleTests {
    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("spec/samples")

    private static let schema = SchemaDescription([
        EntityDescription(
            "City",
            attributes: [
                .required("name", .string, default: .string("")),
                .required("people", .int64, default: .int(0)), .optional("area", .decimal),
            ], relationships: [.toOne("twin", to: "City")], indexes: [["people"]],
            uniqueConstraints: [["name"]])
    ])

    private static var options: Engine.Options {
        var options = Engine.Options()
        options.pageSizeInBytes = 1024
        options.unitSizeInBytes = 128
        options.logSegmentSizeInBytes = 16_384
        return options
    }

    /// Writes the sample of the current version: `TRELLIS_WRITE_SAMPLE` is the path of the file.
    private static func write(to path: String) throws {
        try? FileManager.default.removeItem(atPath: path)
        let database = try RecordDatabase.open(.file(path), schema: schema, options: options)
        let entity = try #require(database.schema.entity(named: "City"))
        for (index, city) in cities.enumerated() {
            let transaction = try database.beginWrite()
            var batch = RecordBatch()
            var row = entity.emptyRow()
            defer { row.deallocate() }
            for (name, value) in zip(["name", "people", "area", "twin"], city) {
                row.setValue(value, try #require(entity.field(named: name)))
            }
            batch.insert(entity, try transaction.allocateNumber(in: entity.hierarchy), row: row)
            try transaction.apply(batch)
            _ = try transaction.commit()
            // The first city is in the map, the others are in the log.
            if index == 0 { try database.checkpoint() }
        }
    }

    @Test func `the sample of format version 1 opens and holds its cities`() throws {
        if let path = ProcessInfo.processInfo.environment["TRELLIS_WRITE_SAMPLE"] {
            try Self.write(to: path)
        }
        let file = Self.folder.appendingPathComponent("cities-v1.trellis").path
        let database = try RecordDatabase.openReadOnly(path: file)
        defer { try? database.close() }
        #expect(database.schema.description.modelVersion == "V1")
        let entity = try #require(database.schema.entity(named: "City"))
        let snapshot = try database.snapshot()
        #expect(try snapshot.recordCount(of: entity) == 3)
        let cursor = snapshot.recordCursor(entity.hierarchy)
        for expected in Self.cities {
            #expect(try cursor.next())
            let row = try cursor.row()
            let values = try ["name", "people", "area", "twin"].map { name in
                row.value(try #require(entity.field(named: name)))
            }
            #expect(values == expected)
        }
        #expect(try cursor.next() == false)
    }

    private static let cities: [[Value]] = [
        [.string("Oslo"), .int(709_037), .decimal(Decimal(string: "454.12") ?? 0), .null],
        [.string("Lima"), .int(10_004_141), .null, .object(ObjectNumber(1))],
        [
            .string("Ærøskøbing"), .int(945), .decimal(Decimal(string: "1.9") ?? 0),
            .object(ObjectNumber(1)),
        ],
    ]
}
