import PageStore
import RecordStore
import SampleSchemas
import Testing

/// Makes the sample of a store whose objects have moved: the second model puts companies below one
/// superentity with persons, and the third gives them another name and removes towns.
enum MoveSampleMaker {
    private static let person = EntityDescription("Person", optional: ["name": .string])
    private static let company = EntityDescription("Company", optional: ["title": .string])
    private static let town = EntityDescription("Town", optional: ["name": .string])
    private static let party = EntityDescription("Party", isAbstract: true)

    private static func below(
        _ superentityName: String, _ entity: EntityDescription, renamed name: String? = nil
    ) -> EntityDescription {
        var entity = entity
        entity.superentityName = superentityName
        if let name { (entity.previousName, entity.name) = (entity.name, name) }
        return entity
    }

    /// The models, and how many objects each adds.
    private static let versions: [(SchemaDescription, counts: KeyValuePairs<String, Int>)] = [
        (SchemaDescription(version: "V1", [person, company, town]), ["Person": 3, "Company": 2]),
        (
            SchemaDescription(
                version: "V2", [party, below("Party", person), below("Party", company), town]),
            ["Person": 1, "Company": 1]
        ),
        (
            SchemaDescription(
                version: "V3",
                [party, below("Party", person), below("Party", company, renamed: "Firm")]),
            ["Person": 1, "Firm": 1]
        ),
    ]

    static func make(at path: String) throws {
        var options = Engine.Options()
        options.pageSizeInBytes = 1024
        options.unitSizeInBytes = 128
        options.logSegmentSizeInBytes = 8192
        for (schema, counts) in versions {
            let database = try RecordDatabase.open(.file(path), schema: schema, options: options)
            for (name, count) in counts { try add(count, name, to: database) }
            try database.close()
        }
    }

    private static func add(_ count: Int, _ name: String, to database: RecordDatabase) throws {
        let entity = try #require(database.schema.entity(named: name))
        let transaction = try database.beginWrite()
        var batch = RecordBatch()
        for _ in 0..<count {
            let number = try transaction.allocateNumber(in: entity.hierarchy)
            var row = entity.emptyRow()
            defer { row.deallocate() }
            for field in entity.fields {
                row.setValue(.string("\(name) \(number.rawValue)"), field)
            }
            batch.insert(entity, number, row: row)
        }
        try transaction.apply(batch)
        _ = try transaction.commit()
    }
}
