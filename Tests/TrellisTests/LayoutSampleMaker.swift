import Foundation
import PageStore
import RecordStore
import SampleSchemas
import Testing

/// Makes the sample of a store that has had four models: records of several slot counts, initial
/// values, a retired slot, an entity that is gone, and the history.
enum LayoutSampleMaker {
    private static func attribute(
        _ name: String, _ type: AttributeType, _ value: Value = .null, previousName: String? = nil
    ) -> AttributeDescription {
        AttributeDescription(
            name: name, type: type, isOptional: value == .null, defaultValue: value,
            previousName: previousName)
    }

    private static let older = [
        attribute("name", .string), attribute("age", .int16), attribute("picture", .data),
    ]
    private static let newer = [
        attribute("country", .string, .string("Sápmi")), attribute("height", .double, .double(1.5)),
        attribute("born", .date),
    ]

    private static func version(
        _ number: Int, _ attributes: [AttributeDescription], _ children: [AttributeDescription],
        _ others: [EntityDescription] = [], indexes: [[String]] = []
    ) -> SchemaDescription {
        SchemaDescription(
            version: "V\(number)",
            [
                EntityDescription(
                    "Person", attributes: attributes, relationships: [.toOne("best", to: "Person")],
                    indexes: indexes),
                EntityDescription("Child", below: "Person", attributes: children),
            ] + others)
    }

    static let versions: [SchemaDescription] = {
        let town = EntityDescription("Town", attributes: [attribute("name", .string)])
        let school = [attribute("school", .string)]
        return [
            version(1, older, [], [town]),
            version(2, older + newer, school, [town], indexes: [["country", "age"]]),
            // A slot retires, and an entity goes.
            version(
                3, Array((older + newer).filter { $0.name != "age" }), school,
                indexes: [["country"]]),
            version(
                4,
                (older + newer).filter { $0.name != "age" && $0.name != "name" } + [
                    attribute("fullName", .string, previousName: "name"),
                    attribute(
                        "token", .uuid,
                        .uuid(
                            UUID(
                                uuid: (
                                    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
                                )))),
                    attribute("price", .decimal, .decimal(Decimal(string: "-12.5") ?? 0)),
                ], school, indexes: [["country"], ["token"]]),
        ]
    }()

    static func make(at path: String) throws {
        var options = Engine.Options()
        options.pageSizeInBytes = 1024
        options.unitSizeInBytes = 128
        options.logSegmentSizeInBytes = 8192
        for schema in versions {
            let database = try RecordDatabase.open(
                .file(path), schema: schema, options: options,
                route: { _ in [MigrationStep(schema, allowedLoss: .all)] })
            try fill(database)
            try database.close()
        }
    }

    /// Two persons and a child, with every other value.
    private static func fill(_ database: RecordDatabase) throws {
        let transaction = try database.beginWrite()
        var batch = RecordBatch()
        for (index, name) in ["Person", "Child", "Person"].enumerated() {
            let entity = try #require(database.schema.entity(named: name))
            let number = try transaction.allocateNumber(in: entity.hierarchy)
            var row = entity.emptyRow()
            defer { row.deallocate() }
            for field in entity.fields {
                switch field.name {
                case "name", "fullName": row.setValue(.string("\(name) \(number.rawValue)"), field)
                case "age" where index != 1: row.setValue(.int(Int64(30 + index)), field)
                // Some are blobs.
                case "picture" where index > 0:
                    row.setValue(.data(.init(repeating: 7, count: index == 2 ? 900 : 9)), field)
                case "country" where index == 0: row.setValue(.string("Inari"), field)
                case "school" where index == 1: row.setValue(.string("first"), field)
                case "best" where number.rawValue > 1:
                    row.setValue(.object(ObjectNumber(number.rawValue - 1)), field)
                default: break
                }
            }
            batch.insert(entity, number, row: row)
        }
        try transaction.apply(batch)
        _ = try transaction.commit()
    }
}
