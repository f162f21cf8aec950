import RecordStore
import SampleSchemas
import Testing

@testable import Query

/// Four people, their kids and the kids' pets: a store small enough to know by heart.
///
/// | name | age | height | money | active | born | flags | boss | kids (ordered), age | pets     |
/// |------|-----|--------|-------|--------|------|-------|------|---------------------|----------|
/// | Ada  | 36  | 1.75   | 10.50 | true   | 100  | 6     |      | Ben 4, Cy nil       | Rex, Pip |
/// | Bob  | 50  | 1.5    | -2    | false  | 0.5  | 1     | Ada  |                     |          |
/// | Cat  | nil | nil    | nil   | nil    | nil  | nil   | Bob  | Dee 7               |          |
/// | nil  | 7   | NaN    | 0     | true   | -5   | 0     | Cat  | Eve nil             | Rex      |
enum Village {
    private static let reserved = [
        "size", "first", "in", "any", "self", "no", "null", "contains", "like", "end", "not",
    ]

    static let schema = SchemaDescription([
        EntityDescription(
            "Person",
            optional: [
                "name": .string, "age": .int32, "height": .double, "money": .decimal,
                "active": .bool, "born": .date, "flags": .int64, "key": .uuid, "home": .url,
                "photo": .data, "naïve 🐶": .string, "total": .uint64,
            ], attributes: reserved.map { .optional($0, .int32) },
            relationships: [
                .toOne("boss", to: "Person"),
                .toManyUnordered("team", to: "Person", inverse: "boss"),
                .toManyOrdered("kids", to: "Kid", inverse: "parent"),
            ], indexes: [["name"], ["age"], ["active", "age"], ["money"]]),
        EntityDescription(
            "Kid", optional: ["name": .string, "age": .int32],
            relationships: [
                .toOne("parent", to: "Person"),
                .toManyUnordered("pets", to: "Pet", inverse: "owner"),
            ]),
        EntityDescription(
            "Pet", optional: ["name": .string], relationships: [.toOne("owner", to: "Kid")]),
    ])

    private struct Builder {
        let database: RecordDatabase
        let transaction: RecordTransaction

        func add(
            to batch: inout RecordBatch, _ entityName: String, _ values: [String: Value],
            links: [String: ObjectNumber] = [:]
        ) throws -> ObjectNumber {
            let entity = try #require(database.schema.entity(named: entityName))
            let number = try transaction.allocateNumber(in: entity.hierarchy)
            var row = entity.emptyRow()
            defer { row.deallocate() }
            for (name, value) in values {
                row.setValue(value, try #require(entity.field(named: name)))
            }
            for (name, target) in links {
                row.setLink(target, at: try #require(entity.field(named: name)).byteOffset)
            }
            batch.insert(entity, number, row: row)
            return number
        }
    }

    private static func build() throws -> RecordDatabase {
        let database = try RecordDatabase.open(.memory, schema: schema)
        let builder = Builder(database: database, transaction: try database.beginWrite())
        var batch = RecordBatch()
        let ada = try builder.add(
            to: &batch, "Person",
            [
                "name": .string("Ada"), "age": .int(36), "height": .double(1.75),
                "money": .decimal(10.5), "active": .bool(true), "born": .date(100),
                "flags": .int(6), "total": .uint(.max), "home": .url("https://a.example/Ada"),
                "photo": .data([1, 2]), "naïve 🐶": .string("yes"),
            ].merging(reserved.map { ($0, .int(1)) }) { first, _ in first })
        let bob = try builder.add(
            to: &batch, "Person",
            [
                "name": .string("Bob"), "age": .int(50), "height": .double(1.5),
                "money": .decimal(-2), "active": .bool(false), "born": .date(0.5),
                "flags": .int(1), "size": .int(3),
            ], links: ["boss": ada])
        let cat = try builder.add(
            to: &batch, "Person", ["name": .string("Cat")], links: ["boss": bob])
        let nobody = try builder.add(
            to: &batch, "Person",
            [
                "age": .int(7), "height": .double(.nan), "money": .decimal(0),
                "active": .bool(true), "born": .date(-5), "flags": .int(0),
            ], links: ["boss": cat])
        var kids: [String: ObjectNumber] = [:]
        for (name, age, parent) in [
            ("Ben", Value.int(4), ada), ("Cy", .null, ada), ("Dee", .int(7), cat),
            ("Eve", .null, nobody),
        ] {
            kids[name] = try builder.add(
                to: &batch, "Kid", ["name": .string(name), "age": age], links: ["parent": parent])
        }
        let person = try #require(database.schema.entity(named: "Person"))
        let ordered = try #require(person.relationship(named: "kids"))
        for (parent, names) in [(ada, ["Ben", "Cy"]), (cat, ["Dee"]), (nobody, ["Eve"])] {
            batch.setLinks(ordered, owner: parent, names.compactMap { kids[$0] })
        }
        for (name, owner) in [("Rex", "Ben"), ("Pip", "Ben"), ("Rex", "Eve")] {
            _ = try builder.add(
                to: &batch, "Pet", ["name": .string(name)],
                links: ["owner": try #require(kids[owner])])
        }
        try builder.transaction.apply(batch)
        _ = try builder.transaction.commit()
        return database
    }

    private static let shared = Result { try build() }

    // MARK: Asking

    /// The names of the people, in the order of the table; `-` stands for nil. Plan and reference
    /// must agree.
    static func find(_ format: String, _ arguments: FormatArgument...) throws -> [String] {
        try find(try ConditionParser.parse(format, arguments))
    }

    static func find(_ condition: Condition) throws -> [String] {
        let snapshot = try shared.get().snapshot()
        let name = try #require(try snapshot.layout(of: "Person").field(named: "name"))
        var expected: [ObjectNumber] = []
        var names: [String] = []
        try snapshot.forEachMatch(of: condition, in: "Person") { number, row in
            expected.append(number)
            names.append(try snapshot.value(name, of: row).text ?? "-")
        }
        let found = try snapshot.numbers(FetchRequest(condition: condition), of: "Person")
        #expect(found.sorted() == expected, "\(ConditionText.text(condition))")
        return names
    }

    /// Whether a condition without properties is true.
    static func holds(_ format: String, _ arguments: FormatArgument...) throws -> Bool {
        let found = try find(try ConditionParser.parse(format, arguments))
        #expect(found.isEmpty || found.count == 4, "\(format) is not the same of all records")
        return !found.isEmpty
    }

    /// The error of a format that is refused, by the parser or before the first record is read.
    static func refusal(_ format: String, _ arguments: FormatArgument...) -> String? {
        do {
            let condition = try ConditionParser.parse(format, arguments)
            let snapshot = try shared.get().snapshot()
            _ = try snapshot.numbers(
                FetchRequest(condition: condition, limit: 0), of: "Person")
            return nil
        } catch let error as QueryError {
            return error.message
        } catch {
            return nil
        }
    }

    static func person(_ name: String) throws -> FormatArgument {
        let names = ["Ada": 1, "Bob": 2, "Cat": 3, "-": 4]
        return .object(
            ObjectReference(
                storeID: testStoreID, entityName: "Person",
                number: ObjectNumber(UInt64(try #require(names[name])))))
    }
}

extension FormatArgument {
    static let null = FormatArgument.value(.null)
    static func int(_ number: Int64) -> FormatArgument { .value(.int(number)) }
    static func double(_ number: Double) -> FormatArgument { .value(.double(number)) }
    static func text(_ text: String) -> FormatArgument { .value(.string(text)) }
    static func bool(_ flag: Bool) -> FormatArgument { .value(.bool(flag)) }
}
