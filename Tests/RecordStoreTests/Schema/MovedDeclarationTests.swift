import Foundation
import MigrationProof
import PageStore
import RecordStore
import TestSupport
import Testing

/// Random models whose declarations are reordered: a file is read and written alike in each order.
@Suite struct MovedDeclarationTests {
    private static func moved(
        _ schema: SchemaDescription, _ random: inout SeededRandom
    ) -> SchemaDescription {
        var schema = schema
        schema.entities.shuffle(using: &random)
        for index in schema.entities.indices {
            schema.entities[index].attributes.shuffle(using: &random)
            schema.entities[index].relationships.shuffle(using: &random)
            schema.entities[index].indexes.shuffle(using: &random)
        }
        return schema
    }

    /// Every object by name and number, independent of the order of declarations.
    private func content(_ database: RecordDatabase) throws -> [String: [String]] {
        let reader = try database.snapshot()
        #expect(reader.check() == [])
        var content: [String: [String]] = [:]
        for entity in database.schema.entities {
            #expect(try reader.recordCount(of: entity) >= 0)
            let cursor = reader.recordCursor(entity.hierarchy)
            while try cursor.next() {
                let row = try cursor.row()
                guard row.entityTag == entity.tag else { continue }
                var lines: [String] = []
                for field in entity.fields {
                    lines.append("\(field.name) \(try reader.value(field, of: row))")
                }
                for relationship in entity.relationships {
                    let linked = try reader.linkedNumbers(relationship, of: cursor.number)
                    lines.append("\(relationship.name) \(linked.map(\.rawValue))")
                }
                content["\(entity.name) \(cursor.number.rawValue)"] = lines.sorted()
            }
        }
        return content
    }

    private func slots(_ schema: Schema) -> [String: Int] {
        var slots: [String: Int] = [:]
        for entity in schema.entities {
            slots[entity.name] = Int(entity.tag)
            for field in entity.fields { slots["\(entity.name).\(field.name)"] = field.slot }
        }
        return slots
    }

    @Test func `a file is read and written in every order of its declarations alike`() throws {
        var random = SeededRandom(for: "MovedDeclarationTests")
        var options = Engine.Options()
        options.pageSizeInBytes = 4096
        for round in FuzzRounds(40) {
            let place = "seed \(random.seed), round \(round)"
            let schema = RandomModels.schema(&random)
            let files = MemoryFileSystem()
            var known: [String: [String]] = [:]
            var layout: [String: Int] = [:]
            for step in 0..<4 {
                let order = step == 0 ? schema : Self.moved(schema, &random)
                let database = try RecordDatabase.open(
                    .file("store"), schema: order, options: options, files: files)
                #expect(try content(database) == known, "\(place), step \(step)")
                if step == 0 { layout = slots(database.schema) }
                #expect(slots(database.schema) == layout, "\(place), step \(step)")
                try RandomModels.change(database, &random)
                known = try content(database)
                if random.below(2) == 0 { try database.checkpoint() }
                try database.close()
            }
            let reader = try RecordDatabase.openReadOnly(path: "store", files: files)
            #expect(try content(reader) == known, "\(place)")
            try reader.close()
        }
    }
}
