import Foundation
import PageStore
import RecordStore
import SampleSchemas
import TestSupport
import Testing

@Suite struct IndexModelTests {
    /// An object as the model of the store keeps it.
    private struct Known {
        var entity: EntityLayout
        var values: [String: Value]
    }

    private static let schema = SchemaDescription([
        EntityDescription(
            "Item",
            optional: ["title": .string, "price": .decimal, "weight": .double, "rank": .int32],
            relationships: [
                .toOne("owner", to: "Item"),
                .toManyUnordered("owned", to: "Item", inverse: "owner"),
            ], indexes: [["title"], ["rank", "price"], ["weight"], ["owner"]],
            uniqueConstraints: [["title", "rank"]]),
        EntityDescription(
            "Box", below: "Item",
            attributes: (0..<70).map { .optional("side\($0)", .int64) },
            indexes: [["side69"]]),
    ])

    private static var options: Engine.Options {
        var options = Engine.Options()
        options.pageSizeInBytes = 4096
        return options
    }

    private func value(
        _ field: FieldLayout, _ known: [ObjectNumber], _ random: inout SeededRandom
    ) -> Value {
        guard random.below(5) > 0 else { return .null }
        switch field.type {
        case .string?:
            // Some are longer than a key and some longer than a record may hold.
            let count = [random.below(4), random.below(4), 900, 3000][random.below(4)]
            return .string(
                String(repeating: "ab", count: count) + ["", "x", "y"][random.below(3)])
        case .decimal?: return .decimal(Decimal(random.below(100)) / 8 - 5)
        case .double?: return .double(Double(random.below(50)) / 4 - 6)
        case nil: return known.randomElement(using: &random).map { .object($0) } ?? .null
        default: return .int(Int64(random.below(20)) - 10)
        }
    }

    /// Every index holds exactly one entry an object, in the order of the columns.
    private func compare(
        _ reader: RecordReader, _ model: [ObjectNumber: Known], _ seed: UInt64
    ) throws {
        for entity in reader.schema.entities {
            let members = model.filter { entity.tags.contains($0.value.entity.tag) }
            #expect(try reader.recordCount(of: entity) == members.count, "seed \(seed)")
        }
        for index in reader.schema.indexes {
            let entity = reader.schema.knownEntity(tag: index.entityTag)
            var expected: [[UInt8]] = []
            for (number, known) in model where entity.tags.contains(known.entity.tag) {
                var key = reader.keyEncoder(columnCount: index.columns.count)
                for column in index.columns {
                    let isEncoded = key.append(
                        known.values[column.name] ?? .null, as: column.content)
                    #expect(isEncoded)
                }
                key.append(number)
                expected.append(key.bytes)
            }
            expected.sort { a, b in a.withView { a in b.withView { a.compare($0) < 0 } } }
            var found: [[UInt8]] = []
            let cursor = reader.indexCursor(index)
            while try cursor.next() {
                var key = reader.keyEncoder(columnCount: 1)
                key.append(cursor.number)
                found.append(cursor.columns.array() + key.bytes)
            }
            #expect(found == expected, "\(index.treeName) seed \(seed)")
        }
        let owned = try #require(reader.schema.entities[0].relationship(named: "owned"))
        for number in model.keys {
            let expected = model.filter { $0.value.values["owner"] == .object(number) }
                .keys.sorted()
            #expect(try reader.linkedNumbers(owned, of: number) == expected, "seed \(seed)")
        }
        for (number, known) in model {
            let row = try #require(try reader.row(number, in: known.entity.hierarchy))
            defer { row.deallocate() }
            for field in known.entity.fields {
                #expect(row.view.value(field) == known.values[field.name] ?? .null)
            }
        }
    }

    private func row(
        _ entity: EntityLayout, _ known: [ObjectNumber], _ random: inout SeededRandom
    ) -> (RowBuffer, [String: Value]) {
        var row = entity.emptyRow()
        var values: [String: Value] = [:]
        for field in entity.fields {
            let value = value(field, known, &random)
            row.setValue(value, field)
            values[field.name] = value
        }
        return (row, values)
    }

    /// Trees are filled either entry by entry or bottom-up.
    @Test(arguments: [false, true])
    func `indexes links and counters agree with a full scan after random batches`(
        isBuilt: Bool
    ) throws {
        var random = SeededRandom(for: "IndexModelTests")
        var options = Self.options
        if isBuilt { options.bulkBytesMin = 1 }
        let database = try RecordDatabase.open(.memory, schema: Self.schema, options: options)
        var model: [ObjectNumber: Known] = [:]
        for round in 0..<12 {
            let transaction = try database.beginWrite()
            var batch = RecordBatch()
            let before = model
            var touched = before
            let known = Array(before.keys)
            for number in known where random.below(3) == 0 {
                guard let old = before[number] else { continue }
                if random.below(3) == 0 {
                    batch.delete(number, in: old.entity.hierarchy)
                    touched[number] = nil
                } else {
                    let (row, values) = row(old.entity, known, &random)
                    defer { row.deallocate() }
                    batch.update(old.entity, number, row: row)
                    touched[number]?.values = values
                }
            }
            for _ in 0..<20 {
                let entity = database.schema.entities[random.below(2)]
                let number = try transaction.allocateNumber(in: entity.hierarchy)
                let (row, values) = row(entity, known, &random)
                defer { row.deallocate() }
                batch.insert(entity, number, row: row)
                touched[number] = Known(entity: entity, values: values)
            }
            try transaction.apply(batch)
            try compare(transaction, touched, random.seed)
            if round % 4 == 3 {
                transaction.rollback()
            } else {
                _ = try transaction.commit()
                model = touched
            }
            try compare(try database.snapshot(), model, random.seed)
        }
    }

    @Test func `a unique check distinguishes long texts with a common prefix`() throws {
        let database = try RecordDatabase.open(
            .memory, schema: Self.schema, options: Self.options)
        let item = try #require(database.schema.entity(named: "Item"))
        let constraint = try #require(database.schema.indexes.first { $0.isUnique })
        let title = try #require(item.field(named: "title"))
        let rank = try #require(item.field(named: "rank"))
        let transaction = try database.beginWrite()
        defer { transaction.rollback() }
        let text = String(repeating: "z", count: 5000)
        var rows: [RowBuffer] = []
        for ending in ["a", "b", "a"] {
            var row = item.emptyRow()
            row.setValue(.string(text + ending), title)
            row.setValue(.int(1), rank)
            rows.append(row)
        }
        defer { for row in rows { row.deallocate() } }
        var batch = RecordBatch()
        batch.insert(item, ObjectNumber(1), row: rows[0])
        try transaction.apply(batch)
        func other(_ row: RowBuffer) throws -> ObjectNumber? {
            try transaction.otherNumber(
                matching: constraint, row: row.view, besides: ObjectNumber(9))
        }
        #expect(try other(rows[1]) == nil)
        #expect(try other(rows[2]) == ObjectNumber(1))
    }

    @Test(arguments: [false, true])
    func `an index declared later is built when the file opens`(isBottomUp: Bool) throws {
        var options = Engine.Options()
        if isBottomUp { options.bulkBytesMin = 1 }
        let path = FileManager.default.temporaryDirectory
            .appending(path: "index-\(UUID().uuidString).trellis").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        var plain = Self.schema
        plain.entities[0].indexes = []
        do {
            let database = try RecordDatabase.open(.file(path), schema: plain)
            let item = try #require(database.schema.entity(named: "Item"))
            let transaction = try database.beginWrite()
            var row = item.emptyRow()
            defer { row.deallocate() }
            let title = try #require(item.field(named: "title"))
            row.setValue(.string(String(repeating: "q", count: 9000)), title)
            var batch = RecordBatch()
            batch.insert(item, try transaction.allocateNumber(in: item.hierarchy), row: row)
            try transaction.apply(batch)
            _ = try transaction.commit()
            try database.close()
        }
        let database = try RecordDatabase.open(
            .file(path), schema: Self.schema, options: options)
        let snapshot = try database.snapshot()
        for index in database.schema.indexes where index.entityTag == 1 {
            let cursor = snapshot.indexCursor(index)
            #expect(try cursor.next(), "\(index.treeName)")
        }
        #expect(snapshot.check() == [])
        try database.close()
        let readOnly = try RecordDatabase.openReadOnly(path: path)
        #expect(readOnly.schema.description == Self.schema)
        try readOnly.close()

        var other = Self.schema
        other.entities[0].relationships[1].inverseName = nil
        let error = #expect(throws: StoreError.self) {
            _ = try RecordDatabase.open(.file(path), schema: other, limit: .layout)
        }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.message.contains("Item.owner") == true)
    }
}
