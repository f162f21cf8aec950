import Foundation
import PageStore
import RecordStore
import SampleSchemas
import TestSupport

/// Random models, and random objects of them.
package enum RandomModels {
    package static func schema(_ random: inout SeededRandom) -> SchemaDescription {
        var entities: [EntityDescription] = []
        for index in 0..<(2 + random.below(5)) {
            var entity = EntityDescription("E\(index)")
            if index > 0, random.below(3) == 0 {
                entity.superentityName = "E\(random.below(index))"
            }
            let wide = random.below(8) == 0 ? 66 : 0
            for number in 0..<(wide + random.below(6)) {
                let type = AttributeType.allCases[random.below(AttributeType.allCases.count)]
                entity.attributes.append(.optional("e\(index)a\(number)", type))
            }
            entities.append(entity)
        }
        for index in entities.indices {
            for number in 0..<random.below(4) {
                let target = random.below(entities.count)
                let name = "e\(index)r\(number)"
                let kinds: [RelationshipDescription.Kind] = [
                    .toOne, .toOne, .toManyUnordered, .toManyOrdered,
                ]
                entities[index].relationships.append(
                    RelationshipDescription(
                        name: name, destinationEntityName: "E\(target)",
                        kind: kinds[random.below(4)]))
                guard random.below(2) == 0 else { continue }
                entities[target].relationships.append(
                    .toManyUnordered("\(name)Back", to: "E\(index)", inverse: name))
            }
            let columns =
                entities[index].attributes.map(\.name)
                + entities[index].relationships.filter { $0.kind == .toOne }.map(\.name)
            for _ in 0..<random.below(3) where !columns.isEmpty {
                let names = Set(
                    (0...random.below(3)).map { _ in columns[random.below(columns.count)] })
                entities[index].indexes.append(Array(names))
            }
        }
        return SchemaDescription(entities)
    }

    package static func value(
        _ type: AttributeType, isOptional: Bool = true, _ random: inout SeededRandom
    ) -> Value {
        guard !isOptional || random.below(6) > 0 else { return .null }
        switch type {
        case .bool: return .bool(random.below(2) == 0)
        case .int8, .int16, .int32, .int64: return .int(Int64(random.below(200)) - 100)
        case .uint8, .uint16, .uint32, .uint64: return .uint(UInt64(random.below(200)))
        case .float: return .float(Float(random.below(100)) / 4)
        case .double: return .double(Double(random.below(100)) / 4)
        case .decimal: return .decimal(Decimal(random.below(1000)) / 8)
        case .string:
            return .string(String(repeating: "ä", count: [0, 3, 40, 900][random.below(4)]))
        case .data: return .data(random.bytes([0, 5, 50, 2000][random.below(4)]))
        case .date: return .date(Double(random.below(100_000)))
        case .uuid: return .uuid(uuid(&random))
        case .url: return .url("https://example.org/\(random.below(100))")
        }
    }

    private static func uuid(_ random: inout SeededRandom) -> UUID {
        let bytes = random.bytes(16)
        return UUID(
            uuid: (
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
                bytes[8], bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
            ))
    }

    /// Adds objects, changes some and links them.
    package static func change(_ database: RecordDatabase, _ random: inout SeededRandom) throws {
        let transaction = try database.beginWrite()
        var batch = RecordBatch()
        var numbers: [String: [ObjectNumber]] = [:]
        let entities = database.schema.entities.sorted { $0.name < $1.name }
        for entity in entities {
            let cursor = transaction.recordCursor(entity.hierarchy)
            while try cursor.next() {
                guard try cursor.row().entityTag == entity.tag else { continue }
                numbers[entity.name, default: []].append(cursor.number)
            }
            for _ in 0..<random.below(6) {
                let number = try transaction.allocateNumber(in: entity.hierarchy)
                var row = entity.emptyRow()
                defer { row.deallocate() }
                for field in entity.fields.sorted(by: { $0.name < $1.name }) {
                    guard let type = field.type else { continue }
                    row.setValue(value(type, isOptional: field.isOptional, &random), field)
                }
                batch.insert(entity, number, row: row)
                numbers[entity.name, default: []].append(number)
            }
        }
        try transaction.apply(batch)
        try link(entities, numbers, transaction, &random)
        _ = try transaction.commit()
    }

    package static func link(
        _ entities: [EntityLayout], _ numbers: [String: [ObjectNumber]],
        _ transaction: RecordTransaction, _ random: inout SeededRandom
    ) throws {
        var batch = RecordBatch()
        for entity in entities {
            for relationship in entity.relationships.sorted(by: { $0.name < $1.name })
            where relationship.sourceTag == entity.tag {
                let target = transaction.schema.knownEntity(tag: relationship.destinationTag)
                for owner in numbers[entity.name] ?? [] where random.below(2) == 0 {
                    guard let found = numbers[target.name]?.randomElement(using: &random) else {
                        continue
                    }
                    guard let field = relationship.field else {
                        let isFree = relationship.inverseID == nil
                        if isFree { batch.setLinks(relationship, owner: owner, [found]) }
                        continue
                    }
                    guard var row = try transaction.row(owner, in: entity.hierarchy) else {
                        continue
                    }
                    defer { row.deallocate() }
                    row.setValue(.object(found), field)
                    var one = RecordBatch()
                    one.update(entity, owner, row: row)
                    try transaction.apply(one)
                }
            }
        }
        try transaction.apply(batch)
    }
}
