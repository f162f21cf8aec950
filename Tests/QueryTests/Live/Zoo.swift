import RecordStore
import SampleSchemas
import TestSupport
import Testing

@testable import Query

/// A store of animals, their owners and the owners' cities that changes at random.
final class Zoo {
    /// - Parameter isIndexed: whether some orders and conditions have an index.
    static func schema(isIndexed: Bool) -> SchemaDescription {
        SchemaDescription([
            EntityDescription(
                "Animal",
                optional: ["name": .string, "age": .int32, "weight": .double, "tame": .bool],
                relationships: [
                    .toOne("owner", to: "Person", inverse: "pets"), .toOne("parent", to: "Animal"),
                    .toManyUnordered("friends", to: "Animal", inverse: "friends"),
                ], indexes: isIndexed ? [["name"], ["age"], ["weight"]] : []),
            EntityDescription("Dog", below: "Animal", optional: ["tricks": .int64]),
            EntityDescription(
                "Person", optional: ["name": .string, "born": .date],
                relationships: [
                    .toOne("city", to: "City"), .toManyUnordered("pets", to: "Animal"),
                ]),
            EntityDescription("City", optional: ["name": .string, "size": .int64]),
        ])
    }

    static let texts = [
        "", "a", "A", "ab", "b", "the same long beginning of many names, one",
        "the same long beginning of many names, two",
        "the same long beginning of many names, twofold",
    ]

    let database: RecordDatabase
    var random: SeededRandom
    /// The entities of the objects of a hierarchy, by its root's name.
    private(set) var objects: [String: [ObjectNumber: String]] = [
        "Animal": [:], "Person": [:], "City": [:],
    ]

    init(_ random: SeededRandom) throws {
        self.random = random
        let isIndexed = self.random.below(2) == 0
        database = try RecordDatabase.open(.memory, schema: Self.schema(isIndexed: isIndexed))
    }

    private func entity(_ name: String) throws -> EntityLayout {
        try #require(database.schema.entity(named: name))
    }

    private func some(_ root: String) -> ObjectNumber? {
        let numbers = (objects[root] ?? [:]).keys.sorted()
        return numbers.isEmpty ? nil : numbers[random.below(numbers.count)]
    }

    func value(_ type: AttributeType) -> Value {
        if random.below(6) == 0 { return .null }
        switch type {
        case .string: return .string(Self.texts[random.below(Self.texts.count)])
        case .double: return .double([-1.5, 0, -0.0, 2.5, .nan][random.below(5)])
        case .date: return .date(Double(random.below(3)))
        case .bool: return .bool(random.below(2) == 0)
        default: return .int(Int64(random.below(6)))
        }
    }

    // MARK: Changes

    /// Commits some changes and returns them.
    func commit(changeCount: Int) throws -> (changes: ChangeSet, after: RecordSnapshot) {
        let transaction = try database.beginWrite(notesChanges: true)
        for _ in 0..<changeCount { try change(transaction) }
        let staged = try transaction.stage(.durable)
        try staged.finish()
        return (try #require(staged.changes), try staged.snapshot())
    }

    private func change(_ transaction: RecordTransaction) throws {
        let root = ["Animal", "Animal", "Animal", "Person", "City"][random.below(5)]
        switch random.below(10) {
        case 0..<3: try insert(root, transaction)
        case 3..<5: try delete(root, transaction)
        case 5: try changeFriends(transaction)
        default: try update(root, transaction)
        }
    }

    private func insert(_ root: String, _ transaction: RecordTransaction) throws {
        let entity = try entity(root == "Animal" && random.below(3) == 0 ? "Dog" : root)
        let number = try transaction.allocateNumber(in: entity.hierarchy)
        var row = entity.emptyRow()
        defer { row.deallocate() }
        for field in entity.fields { set(field, of: &row, in: entity) }
        var batch = RecordBatch()
        batch.insert(entity, number, row: row)
        try transaction.apply(batch)
        objects[root]?[number] = entity.name
    }

    private func set(_ field: FieldLayout, of row: inout RowBuffer, in entity: EntityLayout) {
        if let type = field.type {
            row.setValue(value(type), field)
        } else if let relationship = entity.relationship(named: field.name) {
            let target = database.schema.knownEntity(tag: relationship.destinationTag)
            let number = random.below(4) == 0 ? nil : some(target.name)
            row.setLink(number, at: field.byteOffset)
        }
    }

    private func update(_ root: String, _ transaction: RecordTransaction) throws {
        guard let number = some(root), let name = objects[root]?[number] else { return }
        let entity = try entity(name)
        var row = try #require(try transaction.row(number, in: entity.hierarchy))
        defer { row.deallocate() }
        set(entity.fields[random.below(entity.fields.count)], of: &row, in: entity)
        var batch = RecordBatch()
        batch.update(entity, number, row: row)
        try transaction.apply(batch)
    }

    /// Deletes an object, and the to-one links to it first.
    private func delete(_ root: String, _ transaction: RecordTransaction) throws {
        guard let number = some(root), let name = objects[root]?[number] else { return }
        let target = try entity(name)
        for relationship in database.schema.relationships(to: target) {
            guard relationship.kind == .toOne, let offset = relationship.byteOffset else {
                continue
            }
            var sources: [ObjectNumber] = []
            try transaction.forEachSource(of: relationship, target: number) { sources.append($0) }
            for source in sources where source != number {
                let root = database.schema.knownEntity(tag: relationship.sourceTag).hierarchy
                let row = try #require(try transaction.row(source, in: root))
                defer { row.deallocate() }
                row.setLink(nil, at: offset)
                var batch = RecordBatch()
                batch.update(
                    database.schema.knownEntity(tag: row.view.entityTag), source, row: row)
                try transaction.apply(batch)
            }
        }
        var batch = RecordBatch()
        batch.delete(number, in: target.hierarchy)
        try transaction.apply(batch)
        objects[root]?[number] = nil
    }

    private func changeFriends(_ transaction: RecordTransaction) throws {
        guard let owner = some("Animal"), let other = some("Animal") else { return }
        let friends = try #require(try entity("Animal").relationship(named: "friends"))
        var batch = RecordBatch()
        if try transaction.linkedNumbers(friends, of: owner).contains(other) {
            batch.removeLink(friends, owner: owner, target: other)
        } else {
            batch.addLink(friends, owner: owner, target: other)
        }
        try transaction.apply(batch)
    }

    // MARK: Requests

    private static let paths = [
        ["name"], ["age"], ["weight"], ["tame"], ["owner", "name"], ["owner", "born"],
        ["owner", "city", "name"], ["owner", "city", "size"], ["parent", "age"],
        ["parent", "owner", "name"],
    ]

    private func type(_ path: [String]) -> AttributeType {
        switch path.last {
        case "name": .string
        case "weight": .double
        case "born": .date
        case "tame": .bool
        case "size": .int64
        default: .int32
        }
    }

    private func somePath() -> [String] { Self.paths[random.below(Self.paths.count)] }

    private func comparison() -> Condition {
        let path = somePath()
        let operations: [Comparison.Operation] = [.equal, .notEqual, .less, .greaterOrEqual]
        switch random.below(12) {
        case 0:
            let target = some("Person").map { number in
                Operand.object(
                    ObjectReference(
                        storeID: database.storeID, entityName: "Person", number: number))
            }
            return .comparison(Comparison(.keyPath(["owner"]), .equal, target ?? .constant(.null)))
        case 1:
            return .comparison(Comparison(.keyPath(["parent"]), .notEqual, .constant(.null)))
        default:
            return .comparison(
                Comparison(
                    .keyPath(path), operations[random.below(operations.count)],
                    .constant(value(type(path)))))
        }
    }

    private func condition() -> Condition {
        switch random.below(6) {
        case 0, 1: .constant(true)
        case 2: .and([comparison(), comparison()])
        case 3: .or([comparison(), comparison()])
        case 4: .not(comparison())
        default: comparison()
        }
    }

    /// A condition across a to-many relationship.
    private func refetchedCondition() -> Condition {
        func less(_ path: [String], _ value: Int64) -> Condition {
            .comparison(Comparison(.keyPath(path), .less, .constant(.int(value))))
        }
        switch random.below(5) {
        case 0: return less(["friends", "@count"], 2)
        case 1: return less(["owner", "pets", "@count"], 3)
        case 2: return less(["friends", "age", "@sum"], 4)
        case 3:
            return .comparison(
                Comparison(
                    .keyPath(["friends", "owner", "name"]), .equal, .constant(.string("a")),
                    quantifier: .any))
        default:
            let name = Comparison(
                .variable("f", ["owner", "city", "name"]), .notEqual, .constant(.string("b")))
            return .comparison(
                Comparison(
                    .function(
                        "count",
                        [
                            .subquery(
                                .keyPath(["friends"]), variable: "f", .comparison(name))
                        ]), .less, .constant(.int(2))))
        }
    }

    /// - Parameter isKept: whether each change says which objects it concerns.
    func request(isKept: Bool) -> ListRequest {
        let entityName = random.below(4) == 0 ? "Dog" : "Animal"
        var fetch = FetchRequest(condition: condition())
        fetch.includesSubentities = random.below(5) > 0
        for _ in 0..<random.below(4) {
            let path = random.below(8) == 0 ? ["owner"] : somePath()
            fetch.sortKeys.append(SortKey(path: path, isAscending: random.below(3) > 0))
        }
        if random.below(3) == 0 {
            fetch.limit = [0, 1, 5, 20][random.below(4)]
            fetch.offset = [0, 0, 1, 7][random.below(4)]
        }
        if !isKept {
            if random.below(3) > 0 {
                fetch.condition = .and([fetch.condition ?? .constant(true), refetchedCondition()])
            } else {
                let path = [["friends", "@count"], ["owner", "pets", "@count"]][random.below(2)]
                fetch.sortKeys.insert(SortKey(path: path), at: 0)
            }
        }
        var request = ListRequest(entityName, fetch)
        let first = fetch.sortKeys.first?.path
        switch random.below(4) {
        case 0: request.section = .path(somePath()) { "\($0)" }
        case 1:
            if let first { request.section = .path(first) { "\($0)".prefix(14).description } }
        case 2: request.section = .computed { _, number in "\(number.rawValue / 9)" }
        default: break
        }
        if random.below(3) == 0 { request.watchedPaths = [["owner", "name"], ["parent", "age"]] }
        return request
    }
}
